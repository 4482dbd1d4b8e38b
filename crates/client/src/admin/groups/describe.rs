//! Who is in a group, and which partitions everybody has.

use bytes::Bytes;
use copart_protocol::messages::consumer_group_describe::{
    Assignment, ConsumerGroupDescribeRequest, DescribedGroup as DescribedConsumerGroup,
};
use copart_protocol::messages::consumer_protocol_assignment::ConsumerProtocolAssignment;
use copart_protocol::messages::describe_groups::{DescribeGroupsRequest, DescribedGroup};
use copart_protocol::{Body, ErrorCode};

use super::{GroupKind, in_group, to_coordinator};
use crate::admin::call::{Answered, Call, Found, Time, outcome};
use crate::admin::{Admin, Results};
use crate::cluster::Route;
use crate::{Error, ErrorKind, Result, TopicPartition};

/// A group as its coordinator describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupDescription {
    /// Its id.
    pub group: String,
    /// Its kind: classic or consumer.
    pub kind: GroupKind,
    /// Its state, in Kafka's words, such as `Stable` or `Empty`.
    pub state: String,
    /// What the members of a classic group are, such as `consumer` or `connect`.
    pub protocol_type: Option<String>,
    /// How partitions are assigned, such as `range` or `uniform`.
    pub assignor: String,
    /// Its members.
    pub members: Vec<GroupMember>,
}

/// A member of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupMember {
    /// The id that the coordinator knows it by.
    pub member_id: String,
    /// Its name of its own, if it is a static member (KIP-345).
    pub instance_id: Option<String>,
    /// What its client calls itself.
    pub client_id: String,
    /// Where it connects from.
    pub host: String,
    /// What it has.
    pub assignment: MemberAssignment,
}

/// What a member has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemberAssignment {
    /// These partitions.
    Partitions(Vec<TopicPartition>),
    /// Something that only members of its kind can read.
    Opaque(Bytes),
}

impl MemberAssignment {
    /// The partitions, if they are that.
    pub fn partitions(&self) -> &[TopicPartition] {
        match self {
            Self::Partitions(partitions) => partitions,
            Self::Opaque(_) => &[],
        }
    }
}

impl Admin {
    /// Describes groups of either kind: it is asked for as one of coordinators' first (KIP-848), and if it is
    /// not one, as a classic group.
    ///
    /// # Errors
    /// For each group: that there is none such (`GROUP_ID_NOT_FOUND`), or that we may not see it.
    pub async fn describe_groups<N: Into<String>>(
        &self,
        groups: impl IntoIterator<Item = N>,
    ) -> Results<String, GroupDescription> {
        let groups: Vec<String> = groups.into_iter().map(Into::into).collect();
        let mut entries: Vec<_> = self.run(ConsumerGroups, groups).await.into_iter().collect();
        let is_other = |outcome: &Result<GroupDescription>| {
            outcome.as_ref().is_err_and(|error| {
                error.kind() == ErrorKind::UnsupportedVersion
                    || error.code() == Some(ErrorCode::GROUP_ID_NOT_FOUND)
            })
        };
        let classic = entries.iter().filter(|(_, outcome)| is_other(outcome));
        let classic: Vec<String> = classic.map(|(group, _)| group.clone()).collect();
        if !classic.is_empty() {
            let mut described = self.run(ClassicGroups, classic).await.into_iter();
            for (_, outcome) in entries.iter_mut().filter(|(_, outcome)| is_other(outcome)) {
                if let Some((_, classic)) = described.next() {
                    *outcome = classic;
                }
            }
        }
        Results::new(entries)
    }
}

struct ConsumerGroups;

impl Call for ConsumerGroups {
    type Request = ConsumerGroupDescribeRequest;
    type Key = String;
    type Value = GroupDescription;

    const REPEATABLE: bool = true;

    fn route(&self, group: &String) -> Route {
        to_coordinator(group)
    }

    fn request(&self, groups: &[String], _: i16, _: Time) -> ConsumerGroupDescribeRequest {
        ConsumerGroupDescribeRequest {
            group_ids: groups.to_vec(),
            include_authorized_operations: false,
        }
    }

    fn answer(&self, answered: Answered<Self>, found: &mut Found<String, GroupDescription>) {
        found.throttle(answered.response.throttle_time_ms);
        for group in answered.response.groups {
            let outcome = outcome(group.error_code, group.error_message.as_deref());
            let id = group.group_id.clone();
            found.item(id, outcome.map(|()| consumer_group(group)));
        }
    }

    fn name(group: &String, error: Error) -> Error {
        in_group(group, error)
    }
}

fn consumer_group(group: DescribedConsumerGroup) -> GroupDescription {
    let members = group.members.into_iter().map(|member| GroupMember {
        member_id: member.member_id,
        instance_id: member.instance_id,
        client_id: member.client_id,
        host: member.client_host,
        assignment: MemberAssignment::Partitions(assigned(member.assignment)),
    });
    GroupDescription {
        group: group.group_id,
        kind: GroupKind::Consumer,
        state: group.group_state,
        protocol_type: None,
        assignor: group.assignor_name,
        members: members.collect(),
    }
}

fn assigned(assignment: Assignment) -> Vec<TopicPartition> {
    let topics = assignment.topic_partitions.into_iter();
    let partitions = topics.flat_map(|topic| {
        let name = topic.topic_name;
        let partitions = topic.partitions.into_iter();
        partitions.map(move |partition| TopicPartition::new(name.as_str(), partition))
    });
    sorted(partitions)
}

struct ClassicGroups;

impl Call for ClassicGroups {
    type Request = DescribeGroupsRequest;
    type Key = String;
    type Value = GroupDescription;

    const REPEATABLE: bool = true;

    fn route(&self, group: &String) -> Route {
        to_coordinator(group)
    }

    fn request(&self, groups: &[String], _: i16, _: Time) -> DescribeGroupsRequest {
        DescribeGroupsRequest {
            groups: groups.to_vec(),
            include_authorized_operations: false,
        }
    }

    fn answer(&self, answered: Answered<Self>, found: &mut Found<String, GroupDescription>) {
        found.throttle(answered.response.throttle_time_ms);
        for group in answered.response.groups {
            let mut outcome = outcome(group.error_code, group.error_message.as_deref());
            // Before version 6, this is how a broker says that it knows no such group.
            if outcome.is_ok() && group.group_state == "Dead" {
                let code = ErrorCode::GROUP_ID_NOT_FOUND;
                outcome = Err(Error::from_code(code, Some("the group is dead")));
            }
            let id = group.group_id.clone();
            found.item(id, outcome.map(|()| classic_group(group)));
        }
    }

    fn name(group: &String, error: Error) -> Error {
        in_group(group, error)
    }
}

fn classic_group(group: DescribedGroup) -> GroupDescription {
    let consumers = group.protocol_type == "consumer";
    let members = group.members.into_iter().map(|member| GroupMember {
        member_id: member.member_id,
        instance_id: member.group_instance_id,
        client_id: member.client_id,
        host: member.client_host,
        assignment: classic_assignment(member.member_assignment, consumers),
    });
    GroupDescription {
        group: group.group_id,
        kind: GroupKind::Classic,
        state: group.group_state,
        protocol_type: Some(group.protocol_type),
        assignor: group.protocol_data,
        members: members.collect(),
    }
}

/// What the group's leader gave to a member. Brokers pass it on without reading it.
fn classic_assignment(bytes: Bytes, consumers: bool) -> MemberAssignment {
    // A member that has joined and was not assigned anything yet.
    if bytes.is_empty() {
        return MemberAssignment::Partitions(Vec::new());
    }
    match consumers.then(|| read_assignment(bytes.clone())).flatten() {
        Some(partitions) => MemberAssignment::Partitions(partitions),
        None => MemberAssignment::Opaque(bytes),
    }
}

fn read_assignment(mut bytes: Bytes) -> Option<Vec<TopicPartition>> {
    if bytes.len() < 2 {
        return None;
    }
    let head = bytes.split_to(2);
    let version = i16::from_be_bytes([head[0], head[1]]);
    // Later versions only add to what is there.
    let version = version.min(ConsumerProtocolAssignment::VERSIONS.max);
    let assignment = ConsumerProtocolAssignment::decode(version, bytes).ok()?;
    let topics = assignment.assigned_partitions.into_iter();
    let partitions = topics.flat_map(|topic| {
        let name = topic.topic;
        let partitions = topic.partitions.into_iter();
        partitions.map(move |partition| TopicPartition::new(name.as_str(), partition))
    });
    Some(sorted(partitions))
}

fn sorted(partitions: impl Iterator<Item = TopicPartition>) -> Vec<TopicPartition> {
    let mut partitions: Vec<_> = partitions.collect();
    partitions.sort();
    partitions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classic_assignments_are_read_or_left_as_they_are() {
        // Version 1, two topics, no user data.
        let bytes = b"\0\x01\0\0\0\x02\0\x01b\0\0\0\x01\0\0\0\x02\0\x01a\0\0\0\x02\0\0\0\x01\0\0\0\0\xff\xff\xff\xff";
        let read = classic_assignment(Bytes::from_static(bytes), true);
        let expected = [("a", 0), ("a", 1), ("b", 2)].map(TopicPartition::from);
        assert_eq!(read.partitions(), expected);
        for (bytes, consumers) in [(&bytes[..], false), (&bytes[..9], true), (b"\0", true)] {
            let bytes = Bytes::copy_from_slice(bytes);
            let read = classic_assignment(bytes.clone(), consumers);
            assert_eq!(read, MemberAssignment::Opaque(bytes));
        }
        let none = classic_assignment(Bytes::new(), true);
        assert_eq!(none, MemberAssignment::Partitions(Vec::new()));
    }
}
