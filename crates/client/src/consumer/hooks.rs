//! Code of the program's that runs when partitions come and go.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use super::committer::Committer;
use crate::net::BoxFuture;
use crate::{Error, ErrorKind, Result, Start, TopicPartition};

/// What a hook is told.
#[derive(Clone, Debug)]
pub struct Rebalance {
    partitions: Arc<[TopicPartition]>,
    committer: Committer,
    starts: Arc<Mutex<HashMap<TopicPartition, Start>>>,
}

impl Rebalance {
    pub(crate) fn new(partitions: Vec<TopicPartition>, committer: Committer) -> Self {
        Self {
            partitions: partitions.into(),
            committer,
            starts: Arc::default(),
        }
    }

    /// The partitions that came, or go.
    pub fn partitions(&self) -> &[TopicPartition] {
        &self.partitions
    }

    /// Commits. Of partitions that are given up it is the last chance; of those that were lost it is refused.
    pub fn committer(&self) -> &Committer {
        &self.committer
    }

    /// Begins there with a partition that came, whatever is committed: where offsets are kept elsewhere, for one. Without
    /// effect in other hooks.
    ///
    /// # Errors
    /// When the partition is none of those that came, or the place cannot be one.
    pub fn start_of(&self, partition: impl Into<TopicPartition>, start: Start) -> Result<()> {
        let partition = partition.into();
        let violation = start.violation().or_else(|| {
            let other = !self.partitions.contains(&partition);
            other.then(|| "is none of the partitions that were assigned".to_owned())
        });
        if let Some(violation) = violation {
            let error = Error::new(ErrorKind::Config, violation);
            return Err(error.in_partition(partition.topic, partition.partition));
        }
        let mut starts = self.starts.lock().unwrap_or_else(PoisonError::into_inner);
        starts.insert(partition, start);
        Ok(())
    }

    pub(crate) fn take_starts(&self) -> HashMap<TopicPartition, Start> {
        let mut starts = self.starts.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut starts)
    }
}

type Hook = Arc<dyn Fn(Rebalance) -> BoxFuture<'static, ()> + Send + Sync>;

/// Those that were given.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    pub(crate) assigned: Option<Hook>,
    pub(crate) revoked: Option<Hook>,
    pub(crate) lost: Option<Hook>,
}

pub(crate) fn hook<F, Fut>(code: F) -> Hook
where
    F: Fn(Rebalance) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    Arc::new(move |rebalance| Box::pin(code(rebalance)))
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks")
            .field("assigned", &self.assigned.is_some())
            .field("revoked", &self.revoked.is_some())
            .field("lost", &self.lost.is_some())
            .finish()
    }
}
