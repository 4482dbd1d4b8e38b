//! Topics and their partitions.

use std::collections::BTreeMap;
use std::sync::Arc;

use copart_protocol::Uuid;

use super::Node;
use crate::configs::TopicConfig;

/// A topic.
#[derive(Clone, Debug)]
pub(crate) struct Topic {
    pub(crate) name: String,
    /// Another one each time a topic of this name is made.
    pub(crate) id: Uuid,
    /// The effective settings.
    pub(crate) config: Arc<TopicConfig>,
    /// The settings that were made for this topic.
    pub(crate) overrides: BTreeMap<String, String>,
    pub(crate) partitions: Vec<Partition>,
}

impl Topic {
    /// Does the broker itself write it?
    pub(crate) fn internal(&self) -> bool {
        is_internal(&self.name)
    }

    pub(crate) fn partition(&self, index: i32) -> Option<&Partition> {
        self.partitions.get(usize::try_from(index).ok()?)
    }
}

/// Is this the name of a topic that the broker itself writes?
pub(crate) fn is_internal(name: &str) -> bool {
    matches!(
        name,
        "__consumer_offsets" | "__transaction_state" | "__share_group_state"
    )
}

/// A partition: who holds it, and who leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Partition {
    /// `None` while no replica may lead.
    pub(crate) leader: Option<i32>,
    /// Goes up whenever the leader is another one.
    pub(crate) leader_epoch: i32,
    /// Goes up whenever anything here changes.
    pub(crate) partition_epoch: i32,
    /// In the order of preference.
    pub(crate) replicas: Vec<i32>,
    /// Those that have all acknowledged records.
    pub(crate) isr: Vec<i32>,
    /// Replicas that a reassignment is adding.
    pub(crate) adding: Vec<i32>,
    /// Replicas that a reassignment will remove.
    pub(crate) removing: Vec<i32>,
}

impl Partition {
    /// The replicas on nodes that do not run.
    pub(crate) fn offline(&self, nodes: &[Node]) -> Vec<i32> {
        let runs = |id: i32| nodes.iter().any(|node| node.id == id && node.running);
        let replicas = self.replicas.iter().copied();
        replicas.filter(|&id| !runs(id)).collect()
    }

    /// Is it being moved?
    pub(crate) fn is_reassigning(&self) -> bool {
        !self.adding.is_empty() || !self.removing.is_empty()
    }
}
