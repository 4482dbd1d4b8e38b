//! All partitions of the broker, whichever node leads them.
//!
//! - [`Partition`]: one of them.
//! - [`Partitions`]: finds them by topic name or id.
//! - [`GroupCommit`]: makes what was written durable.
//! - [`Watch`]: waits for something to happen.

mod commit;
mod partition;
mod replay;
mod waiters;

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use copart_protocol::{ErrorCode, Uuid};

pub(crate) use commit::GroupCommit;
pub(crate) use partition::{Leadership, Partition, Refusal, TopicName};
pub(crate) use waiters::Watch;

/// A topic's partitions, by number.
#[derive(Clone, Debug)]
struct Topic {
    name: Arc<TopicName>,
    partitions: Vec<Arc<Partition>>,
}

/// How requests name a topic: the older versions by its name, the newer ones by its id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TopicKey {
    Name(String),
    Id(Uuid),
}

impl TopicKey {
    /// From the two fields of which a request has one.
    pub(crate) fn new(name: &str, id: Uuid) -> Self {
        if id.is_zero() {
            Self::Name(name.to_owned())
        } else {
            Self::Id(id)
        }
    }
}

/// Finds partitions.
#[derive(Debug, Default)]
pub(crate) struct Partitions(RwLock<Tables>);

#[derive(Debug, Default)]
struct Tables {
    by_id: HashMap<Uuid, Topic>,
    ids: HashMap<String, Uuid>,
}

impl Partitions {
    /// The partition, or the error that a client gets for asking.
    pub(crate) fn find(&self, topic: &TopicKey, index: i32) -> Result<Arc<Partition>, ErrorCode> {
        let tables = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let topic = match topic {
            TopicKey::Id(id) => tables.by_id.get(id).ok_or(ErrorCode::UNKNOWN_TOPIC_ID)?,
            TopicKey::Name(name) => tables
                .ids
                .get(name)
                .and_then(|id| tables.by_id.get(id))
                .ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)?,
        };
        usize::try_from(index)
            .ok()
            .and_then(|index| topic.partitions.get(index))
            .cloned()
            .ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)
    }

    /// How many partitions a topic has: none if it is not there.
    pub(crate) fn count(&self, topic: &str) -> i32 {
        let tables = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let topic = tables.ids.get(topic).and_then(|id| tables.by_id.get(id));
        topic.map_or(0, |topic| topic.partitions.len() as i32)
    }

    /// The partitions of a topic.
    pub(crate) fn of(&self, id: Uuid) -> Vec<Arc<Partition>> {
        let tables = self.0.read().unwrap_or_else(PoisonError::into_inner);
        tables
            .by_id
            .get(&id)
            .map_or_else(Vec::new, |topic| topic.partitions.clone())
    }

    /// All partitions, in no order.
    pub(crate) fn all(&self) -> Vec<Arc<Partition>> {
        let tables = self.0.read().unwrap_or_else(PoisonError::into_inner);
        tables
            .by_id
            .values()
            .flat_map(|topic| topic.partitions.iter().cloned())
            .collect()
    }

    /// Adds partitions behind those that a topic has.
    pub(crate) fn add(&self, name: &Arc<TopicName>, partitions: Vec<Arc<Partition>>) {
        let mut tables = self.0.write().unwrap_or_else(PoisonError::into_inner);
        tables.ids.insert(name.name.clone(), name.id);
        tables
            .by_id
            .entry(name.id)
            .or_insert_with(|| Topic {
                name: name.clone(),
                partitions: Vec::new(),
            })
            .partitions
            .extend(partitions);
    }

    /// Takes a topic's partitions out.
    pub(crate) fn remove(&self, id: Uuid) -> Vec<Arc<Partition>> {
        let mut tables = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let Some(topic) = tables.by_id.remove(&id) else {
            return Vec::new();
        };
        // A topic of the same name may be there already.
        if tables.ids.get(&topic.name.name) == Some(&id) {
            tables.ids.remove(&topic.name.name);
        }
        topic.partitions
    }
}
