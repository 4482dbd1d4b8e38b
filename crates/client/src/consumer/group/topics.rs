//! What a member knows of topics.

use std::collections::BTreeMap;
use std::sync::Arc;

use copart_protocol::Uuid;

/// A topic, as members see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TopicInfo {
    /// Zero from brokers before 2.8.
    pub(crate) id: Uuid,
    /// Kafka's own topics match no pattern.
    pub(crate) is_internal: bool,
    /// For each partition, the racks of its replicas, as far as they are known.
    pub(crate) partitions: Vec<Vec<Arc<str>>>,
}

impl TopicInfo {
    /// How many partitions it has.
    pub(crate) fn count(&self) -> i32 {
        i32::try_from(self.partitions.len()).unwrap_or(i32::MAX)
    }
}

/// Topics by their names. `None`: the cluster said that there is no such topic, or that it is not to be seen. A topic
/// that is not there at all was not asked for yet.
pub(crate) type Topics = BTreeMap<Arc<str>, Option<TopicInfo>>;
