//! ConsumerGroupHeartbeat: joins, stays in and leaves a consumer group (KIP-848).
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for ConsumerGroupHeartbeat (key 68).
#[derive(Clone, Debug, PartialEq)]
pub struct ConsumerGroupHeartbeatRequest {
    pub group_id: String,
    pub member_id: String,
    pub member_epoch: i32,
    pub instance_id: Option<String>,
    pub rack_id: Option<String>,
    pub rebalance_timeout_ms: i32,
    pub subscribed_topic_names: Option<Vec<String>>,
    /// Versions 1+.
    pub subscribed_topic_regex: Option<String>,
    pub server_assignor: Option<String>,
    pub topic_partitions: Option<Vec<TopicPartitions>>,
}

impl Default for ConsumerGroupHeartbeatRequest {
    fn default() -> Self {
        Self {
            group_id: String::new(),
            member_id: String::new(),
            member_epoch: 0,
            instance_id: None,
            rack_id: None,
            rebalance_timeout_ms: -1,
            subscribed_topic_names: None,
            subscribed_topic_regex: None,
            server_assignor: None,
            topic_partitions: None,
        }
    }
}

impl Wire for ConsumerGroupHeartbeatRequest {
    const MIN_SIZE: usize = 16;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.group_id)?;
        w.put(&self.member_id)?;
        w.put(&self.member_epoch)?;
        w.put(&self.instance_id)?;
        w.put(&self.rack_id)?;
        w.put(&self.rebalance_timeout_ms)?;
        w.put(&self.subscribed_topic_names)?;
        w.need_in(1.., "subscribed_topic_regex", &self.subscribed_topic_regex)?;
        w.put(&self.server_assignor)?;
        w.put(&self.topic_partitions)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            group_id: r.get()?,
            member_id: r.get()?,
            member_epoch: r.get()?,
            instance_id: r.get()?,
            rack_id: r.get()?,
            rebalance_timeout_ms: r.get()?,
            subscribed_topic_names: r.get()?,
            subscribed_topic_regex: r.get_in(1..)?,
            server_assignor: r.get()?,
            topic_partitions: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`ConsumerGroupHeartbeatRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopicPartitions {
    pub topic_id: Uuid,
    pub partitions: Vec<i32>,
}

plain!(TopicPartitions, min 18, topic_id, partitions);

/// Answers [`ConsumerGroupHeartbeatRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConsumerGroupHeartbeatResponse {
    pub throttle_time_ms: i32,
    pub error_code: ErrorCode,
    pub error_message: Option<String>,
    pub member_id: Option<String>,
    pub member_epoch: i32,
    pub heartbeat_interval_ms: i32,
    pub assignment: Option<Assignment>,
}

plain!(ConsumerGroupHeartbeatResponse, min 18, throttle_time_ms, error_code, error_message, member_id, member_epoch, heartbeat_interval_ms, assignment);

/// In [`ConsumerGroupHeartbeatResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assignment {
    pub topic_partitions: Vec<TopicPartitions>,
}

plain!(Assignment, min 2, topic_partitions);
