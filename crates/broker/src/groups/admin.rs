//! What administrators ask of a coordinator: listing, describing and deleting groups.

use copart_protocol::ErrorCode;
use copart_protocol::messages::consumer_group_describe::DescribedGroup as DescribedConsumerGroup;
use copart_protocol::messages::describe_groups::DescribedGroup;
use copart_protocol::messages::list_groups::ListedGroup;

use super::coordinator::{Coordinator, Group};
use super::embedded::CONSUMER;
use super::env::{Cluster, GroupError, GroupResult};
use super::offsets::Committed;
use super::record::Record;

impl Coordinator {
    /// ListGroups: those in one of the states and of one of the types; of any, if none is named.
    pub(crate) fn list(&self, states: &[String], types: &[String]) -> Vec<ListedGroup> {
        let among = |names: &[String], name: &str| {
            names.is_empty() || names.iter().any(|it| it.trim().eq_ignore_ascii_case(name))
        };
        let listed = self.groups.iter().map(|(id, group)| match group {
            Group::Classic(group) => ListedGroup {
                group_id: id.clone(),
                protocol_type: group.protocol_type.clone().unwrap_or_default(),
                group_state: group.state.name().to_owned(),
                group_type: "classic".to_owned(),
            },
            Group::Consumer(group) => ListedGroup {
                group_id: id.clone(),
                protocol_type: CONSUMER.to_owned(),
                group_state: group.state().name().to_owned(),
                group_type: CONSUMER.to_owned(),
            },
        });
        let mut listed: Vec<ListedGroup> = listed
            .filter(|it| among(states, &it.group_state) && among(types, &it.group_type))
            .collect();
        listed.sort_by(|a, b| a.group_id.cmp(&b.group_id));
        listed
    }

    /// DescribeGroups: a classic group.
    pub(crate) fn describe(&self, id: &str) -> GroupResult<DescribedGroup> {
        match self.groups.get(id) {
            Some(Group::Classic(group)) => Ok(group.describe()),
            Some(Group::Consumer(_)) => Err(GroupError::new(
                ErrorCode::GROUP_ID_NOT_FOUND,
                format!("Group {id} is not a classic group."),
            )),
            None => Err(GroupError::new(
                ErrorCode::GROUP_ID_NOT_FOUND,
                format!("Group {id} not found."),
            )),
        }
    }

    /// ConsumerGroupDescribe: a consumer group.
    pub(crate) fn describe_consumer(
        &self,
        id: &str,
        cluster: &dyn Cluster,
    ) -> GroupResult<DescribedConsumerGroup> {
        self.consumer_group(id).map(|group| group.describe(cluster))
    }

    /// DeleteGroups: a group without members, and its offsets.
    pub(crate) fn delete(&mut self, id: &str) -> GroupResult<()> {
        if id.is_empty() {
            return Err(ErrorCode::INVALID_GROUP_ID.into());
        }
        let Some(group) = self.groups.get(id) else {
            return Err(GroupError::new(
                ErrorCode::GROUP_ID_NOT_FOUND,
                format!("Group {id} not found."),
            ));
        };
        if !group.is_empty() {
            return Err(GroupError::new(
                ErrorCode::NON_EMPTY_GROUP,
                format!("Group {id} has members."),
            ));
        }
        let everything = |_: &str, _: i32, _: &Committed| true;
        for record in self.offsets.tombstones(id, everything) {
            if let Record::OffsetCommit(key, value) = &record {
                self.offsets.apply(key.clone(), value.clone(), None);
            }
            self.out.records.push(record);
        }
        self.out.records.extend(group.tombstones());
        self.groups.remove(id);
        Ok(())
    }
}
