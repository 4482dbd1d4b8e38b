//! What groups have committed.

use std::collections::{BTreeMap, HashMap, HashSet};

use copart_protocol::Uuid;
use copart_protocol::messages::offset_commit_key::OffsetCommitKey;
use copart_protocol::messages::offset_commit_value::OffsetCommitValue;

use super::record::Record;

/// A committed offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Committed {
    pub(crate) offset: i64,
    /// -1 if the client did not say.
    pub(crate) leader_epoch: i32,
    pub(crate) metadata: String,
    pub(crate) commit_ms: i64,
    /// -1 unless the client asked for a retention of its own, as clients before Kafka 2.1 could.
    pub(crate) expire_ms: i64,
    /// Of the topic that it was committed for. Zero in records of Kafka before 4.1.
    pub(crate) topic_id: Uuid,
}

impl From<OffsetCommitValue> for Committed {
    fn from(value: OffsetCommitValue) -> Self {
        Self {
            offset: value.offset,
            leader_epoch: value.leader_epoch,
            metadata: value.metadata,
            commit_ms: value.commit_timestamp,
            expire_ms: value.expire_timestamp,
            topic_id: value.topic_id,
        }
    }
}

impl Committed {
    /// Is it of another topic than the one that has the name now?
    pub(crate) fn is_of(&self, topic_id: Uuid) -> bool {
        self.topic_id.is_zero() || topic_id.is_zero() || self.topic_id == topic_id
    }
}

type OfGroup = BTreeMap<String, BTreeMap<i32, Committed>>;

/// Offsets of all groups of a coordinator.
#[derive(Debug, Default)]
pub(super) struct Offsets {
    groups: HashMap<String, OfGroup>,
    /// What transactions have committed that are still open, by their producer's id.
    open: HashMap<i64, Vec<(OffsetCommitKey, Option<OffsetCommitValue>)>>,
}

impl Offsets {
    /// Takes note of a record; those of a transaction count when it has ended.
    pub(super) fn apply(
        &mut self,
        key: OffsetCommitKey,
        value: Option<OffsetCommitValue>,
        producer: Option<i64>,
    ) {
        if let Some(producer) = producer {
            self.open.entry(producer).or_default().push((key, value));
            return;
        }
        match value {
            Some(value) => {
                let topics = self.groups.entry(key.group).or_default();
                let partitions = topics.entry(key.topic).or_default();
                partitions.insert(key.partition, value.into());
            }
            None => {
                if let Some(topics) = self.groups.get_mut(&key.group) {
                    if let Some(partitions) = topics.get_mut(&key.topic) {
                        partitions.remove(&key.partition);
                    }
                    topics.retain(|_, partitions| !partitions.is_empty());
                }
                self.groups.retain(|_, topics| !topics.is_empty());
            }
        }
    }

    /// A transaction has ended. Returns the groups that it committed offsets of.
    pub(super) fn transaction_ended(&mut self, producer: i64, commit: bool) -> HashSet<String> {
        let ended = self.open.remove(&producer).unwrap_or_default();
        let mut groups = HashSet::new();
        for (key, value) in ended {
            if commit {
                groups.insert(key.group.clone());
                self.apply(key, value, None);
            }
        }
        groups
    }

    pub(super) fn get(&self, group: &str, topic: &str, partition: i32) -> Option<&Committed> {
        self.groups.get(group)?.get(topic)?.get(&partition)
    }

    /// All that a group has committed.
    pub(super) fn of(&self, group: &str) -> Option<&OfGroup> {
        self.groups.get(group)
    }

    /// Has an open transaction committed it?
    pub(super) fn is_open(&self, group: &str, topic: &str, partition: i32) -> bool {
        let mut open = self.open.values().flatten();
        open.any(|(key, _)| key.group == group && key.topic == topic && key.partition == partition)
    }

    /// Has an open transaction committed anything of the group?
    pub(super) fn has_open(&self, group: &str) -> bool {
        let mut open = self.open.values().flatten();
        open.any(|(key, _)| key.group == group)
    }

    /// Tombstones of what a group has committed, as far as `gone` says so.
    pub(super) fn tombstones(
        &self,
        group: &str,
        mut gone: impl FnMut(&str, i32, &Committed) -> bool,
    ) -> Vec<Record> {
        let topics = self.groups.get(group).into_iter().flatten();
        let mut records = Vec::new();
        for (topic, partitions) in topics {
            for (partition, committed) in partitions {
                if gone(topic, *partition, committed) {
                    records.push(tombstone(group, topic, *partition));
                }
            }
        }
        records
    }

    /// The groups that have committed anything.
    pub(super) fn groups(&self) -> impl Iterator<Item = &String> {
        self.groups.keys()
    }
}

fn tombstone(group: &str, topic: &str, partition: i32) -> Record {
    let key = OffsetCommitKey {
        group: group.to_owned(),
        topic: topic.to_owned(),
        partition,
    };
    Record::OffsetCommit(key, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(topic: &str, partition: i32) -> OffsetCommitKey {
        OffsetCommitKey {
            group: "g".to_owned(),
            topic: topic.to_owned(),
            partition,
        }
    }

    fn value(offset: i64) -> Option<OffsetCommitValue> {
        Some(OffsetCommitValue {
            offset,
            ..Default::default()
        })
    }

    #[test]
    fn the_last_commit_counts_and_a_tombstone_takes_it_back() {
        let mut offsets = Offsets::default();
        offsets.apply(key("t", 0), value(1), None);
        offsets.apply(key("t", 0), value(2), None);
        offsets.apply(key("t", 1), value(3), None);
        assert_eq!(offsets.get("g", "t", 0).expect("committed").offset, 2);
        let gone = offsets.tombstones("g", |_, _, committed| committed.offset == 2);
        assert_eq!(gone, [Record::OffsetCommit(key("t", 0), None)]);
        offsets.apply(key("t", 0), None, None);
        assert_eq!(offsets.get("g", "t", 0), None);
        offsets.apply(key("t", 1), None, None);
        assert_eq!(offsets.groups().count(), 0);
    }

    #[test]
    fn offsets_of_a_transaction_count_when_it_commits() {
        let mut offsets = Offsets::default();
        offsets.apply(key("t", 0), value(1), None);
        offsets.apply(key("t", 0), value(2), Some(77));
        assert!(offsets.is_open("g", "t", 0) && !offsets.is_open("g", "t", 1));
        assert_eq!(offsets.get("g", "t", 0).expect("committed").offset, 1);
        assert!(offsets.transaction_ended(77, false).is_empty());
        assert!(!offsets.has_open("g"));
        assert_eq!(offsets.get("g", "t", 0).expect("committed").offset, 1);
        offsets.apply(key("t", 0), value(3), Some(77));
        assert!(offsets.transaction_ended(77, true).contains("g"));
        assert_eq!(offsets.get("g", "t", 0).expect("committed").offset, 3);
    }
}
