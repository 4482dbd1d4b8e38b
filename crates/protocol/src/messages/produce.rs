//! Produce: appends record batches to partitions.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for Produce (key 0).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProduceRequest {
    pub transactional_id: Option<String>,
    pub acks: i16,
    pub timeout_ms: i32,
    pub topic_data: Vec<TopicProduceData>,
}

plain!(ProduceRequest, min 9, transactional_id, acks, timeout_ms, topic_data);

/// In [`ProduceRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopicProduceData {
    /// Versions 3-12.
    pub name: String,
    /// Versions 13+.
    pub topic_id: Uuid,
    pub partition_data: Vec<PartitionProduceData>,
}

impl Wire for TopicProduceData {
    const MIN_SIZE: usize = 3;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_in(3..=12, &self.name)?;
        w.put_in(13.., &self.topic_id)?;
        w.put(&self.partition_data)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            name: r.get_in(3..=12)?,
            topic_id: r.get_in(13..)?,
            partition_data: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`ProduceRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartitionProduceData {
    pub index: i32,
    pub records: Bytes,
}

impl Wire for PartitionProduceData {
    const MIN_SIZE: usize = 6;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.index)?;
        w.put(&self.records)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            index: r.get()?,
            records: r.records()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// Answers [`ProduceRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProduceResponse {
    pub responses: Vec<TopicProduceResponse>,
    pub throttle_time_ms: i32,
    /// Versions 10+.
    pub node_endpoints: Vec<NodeEndpoint>,
}

impl Wire for ProduceResponse {
    const MIN_SIZE: usize = 6;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.responses)?;
        w.put(&self.throttle_time_ms)?;
        w.tags(|t| {
            t.need(0, 10.., "node_endpoints", &self.node_endpoints)?;
            Ok(())
        })
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let mut value = Self {
            responses: r.get()?,
            throttle_time_ms: r.get()?,
            node_endpoints: Vec::new(),
        };
        r.tags(|r, tag| {
            match tag {
                0 if r.version() >= 10 => value.node_endpoints = r.get()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(value)
    }
}

/// In [`ProduceResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopicProduceResponse {
    /// Versions 3-12.
    pub name: String,
    /// Versions 13+.
    pub topic_id: Uuid,
    pub partition_responses: Vec<PartitionProduceResponse>,
}

impl Wire for TopicProduceResponse {
    const MIN_SIZE: usize = 3;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_in(3..=12, &self.name)?;
        w.put_in(13.., &self.topic_id)?;
        w.put(&self.partition_responses)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            name: r.get_in(3..=12)?,
            topic_id: r.get_in(13..)?,
            partition_responses: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`ProduceResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionProduceResponse {
    pub index: i32,
    pub error_code: ErrorCode,
    pub base_offset: i64,
    pub log_append_time_ms: i64,
    /// Versions 5+.
    pub log_start_offset: i64,
    /// Versions 8+.
    pub record_errors: Vec<BatchIndexAndErrorMessage>,
    /// Versions 8+.
    pub error_message: Option<String>,
    /// Versions 10+.
    pub current_leader: LeaderIdAndEpoch,
}

impl Default for PartitionProduceResponse {
    fn default() -> Self {
        Self {
            index: 0,
            error_code: ErrorCode::NONE,
            base_offset: 0,
            log_append_time_ms: -1,
            log_start_offset: -1,
            record_errors: Vec::new(),
            error_message: None,
            current_leader: LeaderIdAndEpoch::default(),
        }
    }
}

impl Wire for PartitionProduceResponse {
    const MIN_SIZE: usize = 22;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.index)?;
        w.put(&self.error_code)?;
        w.put(&self.base_offset)?;
        w.put(&self.log_append_time_ms)?;
        w.put_in(5.., &self.log_start_offset)?;
        w.put_in(8.., &self.record_errors)?;
        w.put_in(8.., &self.error_message)?;
        w.tags(|t| {
            t.need(0, 10.., "current_leader", &self.current_leader)?;
            Ok(())
        })
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let mut value = Self {
            index: r.get()?,
            error_code: r.get()?,
            base_offset: r.get()?,
            log_append_time_ms: r.get()?,
            log_start_offset: r.get_in_or(5.., -1)?,
            record_errors: r.get_in(8..)?,
            error_message: r.get_in(8..)?,
            current_leader: LeaderIdAndEpoch::default(),
        };
        r.tags(|r, tag| {
            match tag {
                0 if r.version() >= 10 => value.current_leader = r.get()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(value)
    }
}

/// In [`ProduceResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchIndexAndErrorMessage {
    pub batch_index: i32,
    pub batch_index_error_message: Option<String>,
}

plain!(BatchIndexAndErrorMessage, min 6, batch_index, batch_index_error_message);

/// In [`ProduceResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct LeaderIdAndEpoch {
    pub leader_id: i32,
    pub leader_epoch: i32,
}

impl Default for LeaderIdAndEpoch {
    fn default() -> Self {
        Self {
            leader_id: -1,
            leader_epoch: -1,
        }
    }
}

plain!(LeaderIdAndEpoch, min 9, leader_id, leader_epoch);

/// In [`ProduceResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeEndpoint {
    pub node_id: i32,
    pub host: String,
    pub port: i32,
    pub rack: Option<String>,
}

plain!(NodeEndpoint, min 11, node_id, host, port, rack);
