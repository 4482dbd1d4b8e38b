//! A consumer group as ConsumerGroupDescribe shows it.

use copart_protocol::messages::consumer_group_describe as m;

use super::group::ConsumerGroup;
use super::member::{Assignment, plain};
use crate::groups::env::Cluster;

impl ConsumerGroup {
    pub(in crate::groups) fn describe(&self, cluster: &dyn Cluster) -> m::DescribedGroup {
        let members = self.members.values().map(|member| m::Member {
            member_id: member.id.clone(),
            instance_id: member.instance.clone(),
            rack_id: member.rack.clone(),
            member_epoch: member.epoch,
            client_id: member.client_id.clone(),
            client_host: member.client_host.clone(),
            subscribed_topic_names: member.topics.iter().cloned().collect(),
            subscribed_topic_regex: member.regex.clone(),
            assignment: shown(&plain(&member.assigned), cluster),
            target_assignment: shown(&self.target(&member.id), cluster),
            // KIP-1099: 0 speaks the classic protocol, 1 the consumer protocol.
            member_type: i8::from(member.classic.is_none()),
        });
        m::DescribedGroup {
            group_id: self.id.clone(),
            group_state: self.state().name().to_owned(),
            group_epoch: self.epoch,
            assignment_epoch: self.assignment_epoch,
            assignor_name: self.assignor().name().to_owned(),
            members: members.collect(),
            ..m::DescribedGroup::default()
        }
    }
}

/// Topics that are deleted have no name any more, and are not shown.
fn shown(assignment: &Assignment, cluster: &dyn Cluster) -> m::Assignment {
    let topics = assignment.iter().filter_map(|(topic_id, partitions)| {
        Some(m::TopicPartitions {
            topic_id: *topic_id,
            topic_name: cluster.topic_name(*topic_id)?,
            partitions: partitions.iter().copied().collect(),
        })
    });
    m::Assignment {
        topic_partitions: topics.collect(),
    }
}
