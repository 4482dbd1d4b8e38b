//! Committing, from wherever in the program.

use std::fmt;
use std::sync::Arc;

use super::offsets::Committed;
use super::shared::Shared;
use crate::{Result, TopicPartition};

/// Commits a consumer's offsets: an owned handle for another task, or for a [hook](super::ConsumerBuilder::on_revoked).
/// Cheap to clone. It does not keep the consumer alive.
#[derive(Clone)]
pub struct Committer {
    shared: Arc<Shared>,
}

impl Committer {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        Self {
            shared: Arc::clone(shared),
        }
    }

    /// Commits what was processed: of each partition up to the first record that is not
    /// [done](super::GroupBatch::done). Waits for the answer.
    ///
    /// What passes by itself is tried again, for a minute at most: a coordinator that moves or loads, a rebalance.
    ///
    /// # Errors
    /// - [`Revoked`](crate::ErrorKind::Revoked): a partition is not this consumer's any more; the others are committed.
    /// - [`Timeout`](crate::ErrorKind::Timeout): with the last reason.
    /// - [`Authorization`](crate::ErrorKind::Authorization), [`Broker`](crate::ErrorKind::Broker): the coordinator
    ///   refuses.
    /// - [`Closed`](crate::ErrorKind::Closed).
    ///
    /// # Cancel safety
    /// Cancel-safe: a commit that was begun goes on without whoever asked for it.
    pub async fn commit(&self) -> Result<()> {
        let offsets = self.shared.progress().uncommitted(None);
        self.shared.commit(offsets).await
    }

    /// As [`commit`](Self::commit), and does not wait. A failure is logged as a warning; what was not committed is so
    /// the next time.
    pub fn commit_soon(&self) {
        let offsets = self.shared.progress().uncommitted(None);
        self.shared.commit_soon(offsets);
    }

    /// Commits these offsets, whatever was processed: the next one to be processed of each partition. Waits for the
    /// answer. It does not change what the consumer reads next.
    ///
    /// # Errors
    /// As [`commit`](Self::commit). If one of the partitions is not this consumer's, nothing is committed.
    ///
    /// # Cancel safety
    /// Cancel-safe: a commit that was begun goes on without whoever asked for it.
    pub async fn commit_offsets<P, O>(
        &self,
        offsets: impl IntoIterator<Item = (P, O)>,
    ) -> Result<()>
    where
        P: Into<TopicPartition>,
        O: Into<Committed>,
    {
        let offsets = offsets.into_iter();
        let offsets = offsets.map(|(partition, offset)| (partition.into(), offset.into()));
        let offsets = self.shared.to_commit(offsets)?;
        self.shared.commit(offsets).await
    }

    /// The partitions that the consumer has, sorted.
    pub fn assignment(&self) -> Vec<TopicPartition> {
        self.shared.progress().assignment()
    }

    /// The first offset of a partition that was not processed; `None` if that is not known, or the partition is not this
    /// consumer's.
    pub fn processed(&self, partition: impl Into<TopicPartition>) -> Option<i64> {
        let processed = self.shared.progress().processed(&partition.into());
        processed.map(|position| position.offset)
    }
}

impl fmt::Debug for Committer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Committer")
            .field("group", &self.shared.settings.group)
            .finish_non_exhaustive()
    }
}
