//! What a partitioner sees of a topic.

use std::time::Duration;

use crate::producer::topic::PartitionHandle;

/// A topic as a partitioner sees it now.
#[derive(Clone, Copy)]
pub struct TopicView<'a> {
    name: &'a str,
    partitions: &'a [std::sync::Arc<PartitionHandle>],
}

impl<'a> TopicView<'a> {
    pub(crate) fn new(name: &'a str, partitions: &'a [std::sync::Arc<PartitionHandle>]) -> Self {
        Self { name, partitions }
    }

    /// The topic's name.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// How many partitions it has.
    pub fn partition_count(&self) -> usize {
        self.partitions.len()
    }

    /// The node that leads a partition; `None` if none does, or there is no such partition.
    pub fn leader(&self, partition: usize) -> Option<i32> {
        self.partitions.get(partition)?.leader()
    }

    /// Whether a partition's leader stands in the rack that the client was told it stands in.
    pub fn is_in_client_rack(&self, partition: usize) -> bool {
        self.partitions
            .get(partition)
            .is_some_and(|one| one.is_near())
    }

    /// Batches of a partition that are full and not on their way yet.
    pub fn backlog(&self, partition: usize) -> usize {
        self.partitions
            .get(partition)
            .map_or(0, |one| one.backlog())
    }

    /// How long the partition's leader has taken nothing though something waits.
    pub(crate) fn blocked(&self, partition: usize) -> Option<Duration> {
        self.partitions.get(partition)?.blocked()
    }
}

impl std::fmt::Debug for TopicView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TopicView")
            .field("name", &self.name)
            .field("partitions", &self.partitions.len())
            .finish()
    }
}
