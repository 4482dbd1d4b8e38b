//! A consumer group's state. Records are the only way in which it changes, so a restart finds it as it was.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use copart_protocol::Uuid;
use copart_protocol::messages::consumer_group_current_member_assignment_key::ConsumerGroupCurrentMemberAssignmentKey;
use copart_protocol::messages::consumer_group_member_metadata_key::ConsumerGroupMemberMetadataKey;
use copart_protocol::messages::consumer_group_metadata_key::ConsumerGroupMetadataKey;
use copart_protocol::messages::consumer_group_metadata_value::ConsumerGroupMetadataValue;
use copart_protocol::messages::consumer_group_regular_expression_key::ConsumerGroupRegularExpressionKey;
use copart_protocol::messages::consumer_group_regular_expression_value::ConsumerGroupRegularExpressionValue;
use copart_protocol::messages::consumer_group_target_assignment_member_key::ConsumerGroupTargetAssignmentMemberKey;
use copart_protocol::messages::consumer_group_target_assignment_member_value::{
    ConsumerGroupTargetAssignmentMemberValue, TopicPartition,
};
use copart_protocol::messages::consumer_group_target_assignment_metadata_key::ConsumerGroupTargetAssignmentMetadataKey;
use copart_protocol::messages::consumer_group_target_assignment_metadata_value::ConsumerGroupTargetAssignmentMetadataValue;

use super::assign::Assignor;
use super::member::{Assignment, Current, Member, MemberState};
use crate::groups::env::{Cluster, Env};
use crate::groups::record::Record;

/// A group.
#[derive(Debug, Default)]
pub(in crate::groups) struct ConsumerGroup {
    pub(in crate::groups) id: String,
    /// Goes up whenever there has to be another assignment.
    pub(in crate::groups) epoch: i32,
    /// Of the topics that the members want, and their partition counts.
    pub(in crate::groups) metadata_hash: i64,
    /// The epoch that `targets` is for.
    pub(in crate::groups) assignment_epoch: i32,
    pub(in crate::groups) members: BTreeMap<String, Member>,
    /// Static members' ids, by `group.instance.id`.
    pub(in crate::groups) statics: HashMap<String, String>,
    /// What members are to have.
    pub(in crate::groups) targets: HashMap<String, Assignment>,
    /// Which topics the members' regular expressions match.
    pub(in crate::groups) regexes: BTreeMap<String, BTreeSet<String>>,
    /// Who has each partition, or has not given it back yet.
    owners: HashMap<(Uuid, i32), String>,
    /// The cluster's version when the metadata was looked at last.
    pub(super) seen: Option<i64>,
}

/// Where a group is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::groups) enum GroupState {
    /// It has no members.
    Empty,
    /// An assignment is due.
    Assigning,
    /// Members are on their way to their assignments.
    Reconciling,
    /// Everybody has what it is to have.
    Stable,
}

impl GroupState {
    /// Kafka's name.
    pub(in crate::groups) fn name(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::Assigning => "Assigning",
            Self::Reconciling => "Reconciling",
            Self::Stable => "Stable",
        }
    }
}

impl ConsumerGroup {
    pub(in crate::groups) fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            ..Self::default()
        }
    }

    pub(in crate::groups) fn state(&self) -> GroupState {
        let reconciled = |member: &Member| {
            member.state == MemberState::Stable && member.epoch == self.assignment_epoch
        };
        if self.members.is_empty() {
            GroupState::Empty
        } else if self.epoch > self.assignment_epoch {
            GroupState::Assigning
        } else if self.members.values().all(reconciled) {
            GroupState::Stable
        } else {
            GroupState::Reconciling
        }
    }

    /// Does another member than this one have the partition?
    pub(super) fn is_taken(&self, member: &str, topic: Uuid, partition: i32) -> bool {
        let owner = self.owners.get(&(topic, partition));
        owner.is_some_and(|owner| owner != member)
    }

    pub(in crate::groups) fn target(&self, member: &str) -> Assignment {
        self.targets.get(member).cloned().unwrap_or_default()
    }

    /// The topics that a member wants, by name.
    pub(super) fn wanted<'a>(&'a self, member: &'a Member) -> impl Iterator<Item = &'a String> {
        let matched = member.regex.as_ref().and_then(|it| self.regexes.get(it));
        member.topics.iter().chain(matched.into_iter().flatten())
    }

    /// The topics that a member wants and that are there.
    pub(super) fn subscribed(&self, member: &Member, cluster: &dyn Cluster) -> BTreeSet<Uuid> {
        let wanted = self.wanted(member);
        wanted
            .filter_map(|name| cluster.topic(name))
            .map(|it| it.id)
            .collect()
    }

    /// The topics that any member wants.
    pub(in crate::groups) fn all_wanted(&self) -> BTreeSet<String> {
        let members = self.members.values();
        members
            .flat_map(|member| self.wanted(member).cloned())
            .collect()
    }

    /// The assignor that most members ask for.
    pub(super) fn assignor(&self) -> Assignor {
        let mut votes: BTreeMap<Assignor, usize> = BTreeMap::new();
        for member in self.members.values() {
            let asked = member.assignor.as_deref().and_then(Assignor::named);
            if let Some(assignor) = asked {
                *votes.entry(assignor).or_default() += 1;
            }
        }
        // The last of equals is the greatest for `max_by_key`; the first shall win.
        let most = votes.into_iter().rev().max_by_key(|(_, count)| *count);
        most.map_or_else(Assignor::default, |(assignor, _)| assignor)
    }

    /// Do all members speak the classic protocol, so that it could be a classic group?
    pub(in crate::groups) fn is_all_classic(&self) -> bool {
        !self.members.is_empty() && self.members.values().all(|it| it.classic.is_some())
    }

    /// Makes a change, and has it stored.
    pub(in crate::groups) fn write(&mut self, env: &mut Env<'_>, record: Record) {
        self.apply(&record);
        env.write(record);
    }

    /// Takes note of a record of this group.
    pub(in crate::groups) fn apply(&mut self, record: &Record) {
        match record {
            Record::ConsumerGroup(_, Some(value)) => {
                self.epoch = value.epoch;
                self.metadata_hash = value.metadata_hash;
            }
            Record::ConsumerTarget(_, Some(value)) => {
                self.assignment_epoch = value.assignment_epoch
            }
            Record::ConsumerTarget(_, None) => self.assignment_epoch = -1,
            Record::ConsumerMember(key, Some(value)) => {
                let id = &key.member_id;
                let member = self.members.entry(id.clone());
                let member = member.or_insert_with(|| Member::new(id));
                member.set_metadata(value.clone());
                if let Some(instance) = &member.instance {
                    self.statics.insert(instance.clone(), id.clone());
                }
            }
            Record::ConsumerMember(key, None) => self.remove_member(&key.member_id),
            Record::ConsumerMemberTarget(key, value) => match value {
                Some(value) => {
                    let target = value.topic_partitions.iter();
                    let target =
                        target.map(|it| (it.topic_id, it.partitions.iter().copied().collect()));
                    self.targets.insert(key.member_id.clone(), target.collect());
                }
                None => _ = self.targets.remove(&key.member_id),
            },
            Record::ConsumerMemberCurrent(key, value) => {
                self.release(&key.member_id);
                let id = &key.member_id;
                match value {
                    Some(value) => {
                        let member = self.members.entry(id.clone());
                        let member = member.or_insert_with(|| Member::new(id));
                        member.set_current(value.clone());
                        let has = [&member.assigned, &member.revoking].map(places);
                        for place in has.into_iter().flatten() {
                            self.owners.insert(place, id.clone());
                        }
                    }
                    None => {
                        if let Some(member) = self.members.get_mut(id) {
                            member.epoch = super::LEAVE;
                            member.previous_epoch = super::LEAVE;
                            member.assigned = Current::new();
                            member.revoking = Current::new();
                        }
                    }
                }
            }
            Record::ConsumerRegex(key, value) => {
                let expression = key.regular_expression.clone();
                match value {
                    Some(value) => {
                        let topics = value.topics.iter().cloned().collect();
                        self.regexes.insert(expression, topics);
                    }
                    None => _ = self.regexes.remove(&expression),
                }
            }
            Record::ConsumerGroup(_, None) | Record::Group(..) | Record::OffsetCommit(..) => {}
        }
    }

    fn remove_member(&mut self, id: &str) {
        self.release(id);
        self.targets.remove(id);
        let Some(member) = self.members.remove(id) else {
            return;
        };
        if let Some(instance) = member.instance
            && self.statics.get(&instance).map(String::as_str) == Some(id)
        {
            self.statics.remove(&instance);
        }
    }

    /// Takes a member's partitions away from it.
    fn release(&mut self, id: &str) {
        let Some(member) = self.members.get(id) else {
            return;
        };
        for place in [&member.assigned, &member.revoking]
            .map(places)
            .into_iter()
            .flatten()
        {
            if self.owners.get(&place).map(String::as_str) == Some(id) {
                self.owners.remove(&place);
            }
        }
    }

    pub(super) fn epoch_record(&self, epoch: i32, metadata_hash: i64) -> Record {
        let key = ConsumerGroupMetadataKey {
            group_id: self.id.clone(),
        };
        let value = ConsumerGroupMetadataValue {
            epoch,
            metadata_hash,
        };
        Record::ConsumerGroup(key, Some(value))
    }

    pub(super) fn target_record(&self, assignment_epoch: i32, assignment_timestamp: i64) -> Record {
        let key = ConsumerGroupTargetAssignmentMetadataKey {
            group_id: self.id.clone(),
        };
        let value = ConsumerGroupTargetAssignmentMetadataValue {
            assignment_epoch,
            assignment_timestamp,
        };
        Record::ConsumerTarget(key, Some(value))
    }

    pub(super) fn member_target_record(&self, member: &str, target: &Assignment) -> Record {
        let key = ConsumerGroupTargetAssignmentMemberKey {
            group_id: self.id.clone(),
            member_id: member.to_owned(),
        };
        let topics = target.iter().map(|(topic, partitions)| TopicPartition {
            topic_id: *topic,
            partitions: partitions.iter().copied().collect(),
        });
        let value = ConsumerGroupTargetAssignmentMemberValue {
            topic_partitions: topics.collect(),
        };
        Record::ConsumerMemberTarget(key, Some(value))
    }

    pub(super) fn member_record(&self, member: &Member) -> Record {
        let key = ConsumerGroupMemberMetadataKey {
            group_id: self.id.clone(),
            member_id: member.id.clone(),
        };
        Record::ConsumerMember(key, Some(member.to_metadata()))
    }

    pub(super) fn current_record(&self, member: &Member) -> Record {
        let key = ConsumerGroupCurrentMemberAssignmentKey {
            group_id: self.id.clone(),
            member_id: member.id.clone(),
        };
        Record::ConsumerMemberCurrent(key, Some(member.to_current()))
    }

    pub(super) fn regex_key(&self, expression: &str) -> ConsumerGroupRegularExpressionKey {
        ConsumerGroupRegularExpressionKey {
            group_id: self.id.clone(),
            regular_expression: expression.to_owned(),
        }
    }

    pub(super) fn regex_record(
        &self,
        expression: &str,
        topics: &BTreeSet<String>,
        env: &Env<'_>,
    ) -> Record {
        let value = ConsumerGroupRegularExpressionValue {
            topics: topics.iter().cloned().collect(),
            version: env.cluster.version(),
            timestamp: env.now.ms,
        };
        Record::ConsumerRegex(self.regex_key(expression), Some(value))
    }

    /// What takes all of the group away, but for its offsets.
    pub(in crate::groups) fn tombstones(&self) -> Vec<Record> {
        let mut records = Vec::new();
        for member in self.members.keys() {
            records.extend(remove_records(&self.id, member));
        }
        let regexes = self.regexes.keys();
        records.extend(regexes.map(|it| Record::ConsumerRegex(self.regex_key(it), None)));
        let group_id = self.id.clone();
        let key = ConsumerGroupTargetAssignmentMetadataKey { group_id };
        records.push(Record::ConsumerTarget(key, None));
        let group_id = self.id.clone();
        let key = ConsumerGroupMetadataKey { group_id };
        records.push(Record::ConsumerGroup(key, None));
        records
    }

    /// All of the group as records, as if it began with them.
    pub(in crate::groups) fn records(&self, now_ms: i64) -> Vec<Record> {
        let mut records = Vec::new();
        records.extend(self.members.values().map(|it| self.member_record(it)));
        records.push(self.epoch_record(self.epoch, self.metadata_hash));
        let targets = self.targets.iter();
        records.extend(targets.map(|(id, target)| self.member_target_record(id, target)));
        records.push(self.target_record(self.assignment_epoch, now_ms));
        records.extend(self.members.values().map(|it| self.current_record(it)));
        records
    }
}

/// What takes a member out of its group.
pub(in crate::groups) fn remove_records(group: &str, member: &str) -> [Record; 3] {
    let current = ConsumerGroupCurrentMemberAssignmentKey {
        group_id: group.to_owned(),
        member_id: member.to_owned(),
    };
    let target = ConsumerGroupTargetAssignmentMemberKey {
        group_id: group.to_owned(),
        member_id: member.to_owned(),
    };
    let metadata = ConsumerGroupMemberMetadataKey {
        group_id: group.to_owned(),
        member_id: member.to_owned(),
    };
    [
        Record::ConsumerMemberCurrent(current, None),
        Record::ConsumerMemberTarget(target, None),
        Record::ConsumerMember(metadata, None),
    ]
}

/// The partitions, one by one.
fn places(current: &Current) -> Vec<(Uuid, i32)> {
    let topics = current.iter();
    topics
        .flat_map(|(topic, partitions)| partitions.keys().map(|partition| (*topic, *partition)))
        .collect()
}
