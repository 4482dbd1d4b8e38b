//! A member of a consumer group.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use copart_protocol::Uuid;
use copart_protocol::messages::consumer_group_current_member_assignment_value::{
    ConsumerGroupCurrentMemberAssignmentValue, TopicPartitions,
};
use copart_protocol::messages::consumer_group_member_metadata_value::{
    ClassicMemberMetadata, ClassicProtocol, ConsumerGroupMemberMetadataValue,
};

/// Partitions by topic.
pub(in crate::groups) type Assignment = BTreeMap<Uuid, BTreeSet<i32>>;

/// Partitions by topic, each with the epoch in which the member got it.
pub(in crate::groups) type Current = BTreeMap<Uuid, BTreeMap<i32, i32>>;

/// How far a member is on its way to its assignment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::groups) enum MemberState {
    /// It has what its epoch's assignment says. From both others; or new.
    #[default]
    Stable,
    /// It was told to give partitions back, and did not say that it has. From both others.
    UnrevokedPartitions,
    /// It waits for partitions that others have not given back. From both others.
    UnreleasedPartitions,
}

impl MemberState {
    fn number(self) -> i8 {
        match self {
            Self::Stable => 0,
            Self::UnrevokedPartitions => 1,
            Self::UnreleasedPartitions => 2,
        }
    }

    /// A state of a later release is taken for one in which there is something to do.
    fn from_number(number: i8) -> Self {
        match number {
            0 => Self::Stable,
            1 => Self::UnrevokedPartitions,
            _ => Self::UnreleasedPartitions,
        }
    }
}

/// What a member has of the classic protocol, if it speaks that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::groups) struct ClassicSide {
    pub(in crate::groups) session_timeout_ms: i32,
    /// Its assignors, each with its subscription.
    pub(in crate::groups) protocols: Vec<(String, Bytes)>,
}

/// A member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::groups) struct Member {
    pub(in crate::groups) id: String,
    /// `group.instance.id`, of a static member.
    pub(in crate::groups) instance: Option<String>,
    pub(in crate::groups) rack: Option<String>,
    pub(in crate::groups) client_id: String,
    pub(in crate::groups) client_host: String,
    pub(in crate::groups) topics: BTreeSet<String>,
    /// A regular expression for more topics.
    pub(in crate::groups) regex: Option<String>,
    pub(in crate::groups) rebalance_timeout_ms: i32,
    /// The assignor that it would like.
    pub(in crate::groups) assignor: Option<String>,
    pub(in crate::groups) classic: Option<ClassicSide>,
    /// The epoch that its last answer named.
    pub(in crate::groups) epoch: i32,
    /// The one before: the answer that named the last one may have been lost.
    pub(in crate::groups) previous_epoch: i32,
    pub(in crate::groups) state: MemberState,
    pub(in crate::groups) assigned: Current,
    /// What it still has to give back.
    pub(in crate::groups) revoking: Current,
}

impl Member {
    pub(in crate::groups) fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            instance: None,
            rack: None,
            client_id: String::new(),
            client_host: String::new(),
            topics: BTreeSet::new(),
            regex: None,
            rebalance_timeout_ms: -1,
            assignor: None,
            classic: None,
            epoch: 0,
            previous_epoch: -1,
            state: MemberState::Stable,
            assigned: Current::new(),
            revoking: Current::new(),
        }
    }

    /// What it wants, as it is stored.
    pub(super) fn to_metadata(&self) -> ConsumerGroupMemberMetadataValue {
        ConsumerGroupMemberMetadataValue {
            instance_id: self.instance.clone(),
            rack_id: self.rack.clone(),
            client_id: self.client_id.clone(),
            client_host: self.client_host.clone(),
            subscribed_topic_names: self.topics.iter().cloned().collect(),
            subscribed_topic_regex: self.regex.clone(),
            rebalance_timeout_ms: self.rebalance_timeout_ms,
            server_assignor: self.assignor.clone(),
            classic_member_metadata: self.classic.as_ref().map(|classic| ClassicMemberMetadata {
                session_timeout_ms: classic.session_timeout_ms,
                supported_protocols: classic
                    .protocols
                    .iter()
                    .map(|(name, metadata)| ClassicProtocol {
                        name: name.clone(),
                        metadata: metadata.clone(),
                    })
                    .collect(),
            }),
        }
    }

    pub(super) fn set_metadata(&mut self, value: ConsumerGroupMemberMetadataValue) {
        self.instance = value.instance_id;
        self.rack = value.rack_id;
        self.client_id = value.client_id;
        self.client_host = value.client_host;
        self.topics = value.subscribed_topic_names.into_iter().collect();
        self.regex = value
            .subscribed_topic_regex
            .filter(|regex| !regex.is_empty());
        self.rebalance_timeout_ms = value.rebalance_timeout_ms;
        self.assignor = value.server_assignor;
        self.classic = value.classic_member_metadata.map(|classic| ClassicSide {
            session_timeout_ms: classic.session_timeout_ms,
            protocols: classic
                .supported_protocols
                .into_iter()
                .map(|protocol| (protocol.name, protocol.metadata))
                .collect(),
        });
    }

    /// What it has, as it is stored.
    pub(super) fn to_current(&self) -> ConsumerGroupCurrentMemberAssignmentValue {
        ConsumerGroupCurrentMemberAssignmentValue {
            member_epoch: self.epoch,
            previous_member_epoch: self.previous_epoch,
            state: self.state.number(),
            assigned_partitions: to_stored(&self.assigned),
            partitions_pending_revocation: to_stored(&self.revoking),
        }
    }

    pub(super) fn set_current(&mut self, value: ConsumerGroupCurrentMemberAssignmentValue) {
        self.epoch = value.member_epoch;
        self.previous_epoch = value.previous_member_epoch;
        self.state = MemberState::from_number(value.state);
        self.assigned = from_stored(value.assigned_partitions, value.member_epoch);
        self.revoking = from_stored(value.partitions_pending_revocation, value.member_epoch);
    }
}

fn to_stored(current: &Current) -> Vec<TopicPartitions> {
    let topics = current
        .iter()
        .map(|(topic_id, partitions)| TopicPartitions {
            topic_id: *topic_id,
            partitions: partitions.keys().copied().collect(),
            assignment_epochs: Some(partitions.values().copied().collect()),
        });
    topics.collect()
}

/// Kafka before 4.3 stored no epochs. The member's own is what it would not be fenced with.
fn from_stored(topics: Vec<TopicPartitions>, member_epoch: i32) -> Current {
    let topics = topics.into_iter().map(|topic| {
        let epochs = topic.assignment_epochs.unwrap_or_default();
        let partitions = topic.partitions.into_iter().enumerate();
        let partitions = partitions.map(|(index, partition)| {
            let epoch = epochs.get(index).copied().unwrap_or(member_epoch);
            (partition, epoch)
        });
        (topic.topic_id, partitions.collect())
    });
    topics.collect()
}

/// Without the epochs.
pub(in crate::groups) fn plain(current: &Current) -> Assignment {
    let topics = current.iter();
    topics
        .map(|(topic, partitions)| (*topic, partitions.keys().copied().collect()))
        .collect()
}

/// All in one epoch.
pub(in crate::groups) fn current(assignment: &Assignment, epoch: i32) -> Current {
    let with_epoch =
        |partitions: &BTreeSet<i32>| partitions.iter().map(|it| (*it, epoch)).collect();
    let topics = assignment.iter();
    topics
        .map(|(topic, partitions)| (*topic, with_epoch(partitions)))
        .collect()
}
