//! Partitions that come and go while a reader is at work.

use std::sync::Arc;

use super::config::Start;
use super::core::{Bound, Origin};
use super::handle::Reader;
use super::shared::Shared;
use crate::{Error, ErrorKind, Result, TopicPartition};

impl Shared {
    /// Reads partitions from now on, or tells why that does not begin. Those that are read already stay as they
    /// are.
    pub(crate) fn assign(
        &self,
        partitions: impl IntoIterator<Item = (TopicPartition, Result<Origin>, Bound)>,
    ) {
        let view = self.cluster.view();
        let mut topics: Vec<Arc<str>> = Vec::new();
        {
            let mut core = self.core();
            for (partition, origin, bound) in partitions {
                if !topics.contains(&partition.topic) {
                    topics.push(Arc::clone(&partition.topic));
                }
                match origin {
                    Ok(origin) => core.assign(partition, origin, bound),
                    Err(error) => core.assign_failed(partition, error),
                }
            }
            for topic in topics.iter().filter_map(|name| view.topic(name)) {
                core.set_topic(topic);
            }
        }
        for topic in &topics {
            self.hold(topic);
            if view.topic(topic).is_none() {
                self.cluster.refresh_soon();
            }
        }
        self.wake_reader();
        self.stir();
    }

    /// Reads these partitions no more. What was fetched of them is forgotten.
    pub(crate) fn revoke<'a>(&self, partitions: impl IntoIterator<Item = &'a TopicPartition>) {
        let rest = {
            let mut core = self.core();
            for partition in partitions {
                core.revoke(partition);
            }
            core.partitions()
        };
        self.release_topics(&rest);
        self.wake_reader();
        self.stir();
    }
}

impl Reader {
    /// Reads one more partition, from `start` on. One that is read already stays as it is; one that there
    /// is not yet is waited for.
    ///
    /// # Errors
    /// When the place cannot be one, or partitions' numbers do not begin so low.
    pub fn assign(&mut self, partition: impl Into<TopicPartition>, start: Start) -> Result<()> {
        let partition = partition.into();
        let number = (partition.partition < 0).then(|| "numbers begin at 0".to_owned());
        if let Some(violation) = start.violation().or(number) {
            let error = Error::new(ErrorKind::Config, violation);
            return Err(error.in_partition(partition.topic, partition.partition));
        }
        let shared = self.shared();
        let bound = shared.settings.bound_of(&partition);
        shared.assign([(partition, Ok(start.origin()), bound)]);
        Ok(())
    }

    /// Reads a partition no more, and forgets what was fetched of it and not handed out. Says whether it was
    /// read.
    pub fn revoke(&mut self, partition: impl Into<TopicPartition>) -> bool {
        let partition = partition.into();
        let was_read = self.assignment().contains(&partition);
        self.forget(&partition);
        self.shared().revoke([&partition]);
        was_read
    }

    /// The partitions that are read, as [`partitions`](Self::partitions) has them: those that were named when the
    /// reader was built, of topics all that there are, and what was [assigned](Self::assign) since.
    pub fn assignment(&self) -> Vec<TopicPartition> {
        self.partitions()
    }
}
