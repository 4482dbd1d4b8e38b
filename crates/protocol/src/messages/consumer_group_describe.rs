//! ConsumerGroupDescribe: state and members of consumer groups (KIP-848).
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for ConsumerGroupDescribe (key 69).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConsumerGroupDescribeRequest {
    pub group_ids: Vec<String>,
    pub include_authorized_operations: bool,
}

plain!(ConsumerGroupDescribeRequest, min 3, group_ids, include_authorized_operations);

/// Answers [`ConsumerGroupDescribeRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConsumerGroupDescribeResponse {
    pub throttle_time_ms: i32,
    pub groups: Vec<DescribedGroup>,
}

plain!(ConsumerGroupDescribeResponse, min 6, throttle_time_ms, groups);

/// In [`ConsumerGroupDescribeResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct DescribedGroup {
    pub error_code: ErrorCode,
    pub error_message: Option<String>,
    pub group_id: String,
    pub group_state: String,
    pub group_epoch: i32,
    pub assignment_epoch: i32,
    pub assignor_name: String,
    pub members: Vec<Member>,
    pub authorized_operations: i32,
}

impl Default for DescribedGroup {
    fn default() -> Self {
        Self {
            error_code: ErrorCode::NONE,
            error_message: None,
            group_id: String::new(),
            group_state: String::new(),
            group_epoch: 0,
            assignment_epoch: 0,
            assignor_name: String::new(),
            members: Vec::new(),
            authorized_operations: i32::MIN,
        }
    }
}

plain!(DescribedGroup, min 20, error_code, error_message, group_id, group_state, group_epoch, assignment_epoch, assignor_name, members, authorized_operations);

/// In [`ConsumerGroupDescribeResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    pub member_id: String,
    pub instance_id: Option<String>,
    pub rack_id: Option<String>,
    pub member_epoch: i32,
    pub client_id: String,
    pub client_host: String,
    pub subscribed_topic_names: Vec<String>,
    pub subscribed_topic_regex: Option<String>,
    pub assignment: Assignment,
    pub target_assignment: Assignment,
    /// Versions 1+.
    pub member_type: i8,
}

impl Default for Member {
    fn default() -> Self {
        Self {
            member_id: String::new(),
            instance_id: None,
            rack_id: None,
            member_epoch: 0,
            client_id: String::new(),
            client_host: String::new(),
            subscribed_topic_names: Vec::new(),
            subscribed_topic_regex: None,
            assignment: Assignment::default(),
            target_assignment: Assignment::default(),
            member_type: -1,
        }
    }
}

impl Wire for Member {
    const MIN_SIZE: usize = 16;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.member_id)?;
        w.put(&self.instance_id)?;
        w.put(&self.rack_id)?;
        w.put(&self.member_epoch)?;
        w.put(&self.client_id)?;
        w.put(&self.client_host)?;
        w.put(&self.subscribed_topic_names)?;
        w.put(&self.subscribed_topic_regex)?;
        w.put(&self.assignment)?;
        w.put(&self.target_assignment)?;
        w.put_in(1.., &self.member_type)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            member_id: r.get()?,
            instance_id: r.get()?,
            rack_id: r.get()?,
            member_epoch: r.get()?,
            client_id: r.get()?,
            client_host: r.get()?,
            subscribed_topic_names: r.get()?,
            subscribed_topic_regex: r.get()?,
            assignment: r.get()?,
            target_assignment: r.get()?,
            member_type: r.get_in_or(1.., -1)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`ConsumerGroupDescribeResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assignment {
    pub topic_partitions: Vec<TopicPartitions>,
}

plain!(Assignment, min 2, topic_partitions);

/// In [`ConsumerGroupDescribeResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopicPartitions {
    pub topic_id: Uuid,
    pub topic_name: String,
    pub partitions: Vec<i32>,
}

plain!(TopicPartitions, min 19, topic_id, topic_name, partitions);
