//! DescribeQuorum: state of the controller quorum.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for DescribeQuorum (key 55).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescribeQuorumRequest {
    pub topics: Vec<TopicData>,
}

plain!(DescribeQuorumRequest, min 2, topics);

/// In [`DescribeQuorumRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopicData {
    pub topic_name: String,
    pub partitions: Vec<PartitionData>,
}

plain!(TopicData, min 3, topic_name, partitions);

/// In [`DescribeQuorumRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartitionData {
    pub partition_index: i32,
}

plain!(PartitionData, min 5, partition_index);

/// Answers [`DescribeQuorumRequest`].
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeQuorumResponse {
    pub error_code: ErrorCode,
    /// Versions 2+.
    pub error_message: Option<String>,
    pub topics: Vec<TopicDataResponse>,
    /// Versions 2+.
    pub nodes: Vec<Node>,
}

impl Default for DescribeQuorumResponse {
    fn default() -> Self {
        Self {
            error_code: ErrorCode::NONE,
            error_message: Some(String::new()),
            topics: Vec::new(),
            nodes: Vec::new(),
        }
    }
}

impl Wire for DescribeQuorumResponse {
    const MIN_SIZE: usize = 4;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.error_code)?;
        w.put_in(2.., &self.error_message)?;
        w.put(&self.topics)?;
        w.need_in(2.., "nodes", &self.nodes)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            error_code: r.get()?,
            error_message: r.get_in_or(2.., Some(String::new()))?,
            topics: r.get()?,
            nodes: r.get_in(2..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`DescribeQuorumResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopicDataResponse {
    pub topic_name: String,
    pub partitions: Vec<PartitionDataResponse>,
}

plain!(TopicDataResponse, min 3, topic_name, partitions);

/// In [`DescribeQuorumResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionDataResponse {
    pub partition_index: i32,
    pub error_code: ErrorCode,
    /// Versions 2+.
    pub error_message: Option<String>,
    pub leader_id: i32,
    pub leader_epoch: i32,
    pub high_watermark: i64,
    pub current_voters: Vec<ReplicaState>,
    pub observers: Vec<ReplicaState>,
}

impl Default for PartitionDataResponse {
    fn default() -> Self {
        Self {
            partition_index: 0,
            error_code: ErrorCode::NONE,
            error_message: Some(String::new()),
            leader_id: 0,
            leader_epoch: 0,
            high_watermark: 0,
            current_voters: Vec::new(),
            observers: Vec::new(),
        }
    }
}

impl Wire for PartitionDataResponse {
    const MIN_SIZE: usize = 25;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.partition_index)?;
        w.put(&self.error_code)?;
        w.put_in(2.., &self.error_message)?;
        w.put(&self.leader_id)?;
        w.put(&self.leader_epoch)?;
        w.put(&self.high_watermark)?;
        w.put(&self.current_voters)?;
        w.put(&self.observers)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            partition_index: r.get()?,
            error_code: r.get()?,
            error_message: r.get_in_or(2.., Some(String::new()))?,
            leader_id: r.get()?,
            leader_epoch: r.get()?,
            high_watermark: r.get()?,
            current_voters: r.get()?,
            observers: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`DescribeQuorumResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct ReplicaState {
    pub replica_id: i32,
    /// Versions 2+.
    pub replica_directory_id: Uuid,
    pub log_end_offset: i64,
    /// Versions 1+.
    pub last_fetch_timestamp: i64,
    /// Versions 1+.
    pub last_caught_up_timestamp: i64,
}

impl Default for ReplicaState {
    fn default() -> Self {
        Self {
            replica_id: 0,
            replica_directory_id: Uuid::ZERO,
            log_end_offset: 0,
            last_fetch_timestamp: -1,
            last_caught_up_timestamp: -1,
        }
    }
}

impl Wire for ReplicaState {
    const MIN_SIZE: usize = 13;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.replica_id)?;
        w.need_in(2.., "replica_directory_id", &self.replica_directory_id)?;
        w.put(&self.log_end_offset)?;
        w.put_in(1.., &self.last_fetch_timestamp)?;
        w.put_in(1.., &self.last_caught_up_timestamp)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            replica_id: r.get()?,
            replica_directory_id: r.get_in(2..)?,
            log_end_offset: r.get()?,
            last_fetch_timestamp: r.get_in_or(1.., -1)?,
            last_caught_up_timestamp: r.get_in_or(1.., -1)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`DescribeQuorumResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    pub node_id: i32,
    pub listeners: Vec<Listener>,
}

plain!(Node, min 6, node_id, listeners);

/// In [`DescribeQuorumResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listener {
    pub name: String,
    pub host: String,
    pub port: u16,
}

plain!(Listener, min 5, name, host, port);
