//! What a change means for the rest of the broker.

use copart_protocol::Uuid;

/// What a change of the cluster's state means for logs, connections and
/// waiting requests, in the order in which it happened.
pub(crate) type Changes = Vec<Change>;

/// One thing that is different now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// There is a partition more.
    PartitionCreated {
        topic: String,
        id: Uuid,
        partition: i32,
    },
    /// A partition is gone, with its topic.
    PartitionDeleted {
        topic: String,
        id: Uuid,
        partition: i32,
    },
    /// A partition has another leader, leader epoch, ISR or replica set.
    /// Requests that wait on the partition should look again.
    PartitionChanged {
        topic: String,
        id: Uuid,
        partition: i32,
        /// The leader epoch went up: what waits at the leader of before must
        /// be answered.
        new_leader_epoch: bool,
    },
    /// A topic's effective settings changed: see [`Topic::config`](super::Topic).
    TopicConfigChanged { topic: String, id: Uuid },
    /// Settings of a broker changed, or of all of them (`None`).
    BrokerConfigChanged { node: Option<i32> },
    /// A group's settings changed.
    GroupConfigChanged { group: String },
    /// A node started or stopped.
    NodeChanged { id: i32, running: bool },
}

impl Change {
    /// The topic that it is about.
    pub(crate) fn topic_id(&self) -> Option<Uuid> {
        match self {
            Self::PartitionCreated { id, .. }
            | Self::PartitionDeleted { id, .. }
            | Self::PartitionChanged { id, .. }
            | Self::TopicConfigChanged { id, .. } => Some(*id),
            Self::BrokerConfigChanged { .. }
            | Self::GroupConfigChanged { .. }
            | Self::NodeChanged { .. } => None,
        }
    }
}
