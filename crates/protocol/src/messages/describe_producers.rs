//! DescribeProducers: producers that are active on partitions.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for DescribeProducers (key 61).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescribeProducersRequest {
    pub topics: Vec<TopicRequest>,
}

plain!(DescribeProducersRequest, min 2, topics);

/// In [`DescribeProducersRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopicRequest {
    pub name: String,
    pub partition_indexes: Vec<i32>,
}

plain!(TopicRequest, min 3, name, partition_indexes);

/// Answers [`DescribeProducersRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescribeProducersResponse {
    pub throttle_time_ms: i32,
    pub topics: Vec<TopicResponse>,
}

plain!(DescribeProducersResponse, min 6, throttle_time_ms, topics);

/// In [`DescribeProducersResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopicResponse {
    pub name: String,
    pub partitions: Vec<PartitionResponse>,
}

plain!(TopicResponse, min 3, name, partitions);

/// In [`DescribeProducersResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartitionResponse {
    pub partition_index: i32,
    pub error_code: ErrorCode,
    pub error_message: Option<String>,
    pub active_producers: Vec<ProducerState>,
}

plain!(PartitionResponse, min 9, partition_index, error_code, error_message, active_producers);

/// In [`DescribeProducersResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct ProducerState {
    pub producer_id: i64,
    pub producer_epoch: i32,
    pub last_sequence: i32,
    pub last_timestamp: i64,
    pub coordinator_epoch: i32,
    pub current_txn_start_offset: i64,
}

impl Default for ProducerState {
    fn default() -> Self {
        Self {
            producer_id: 0,
            producer_epoch: 0,
            last_sequence: -1,
            last_timestamp: -1,
            coordinator_epoch: 0,
            current_txn_start_offset: -1,
        }
    }
}

plain!(ProducerState, min 37, producer_id, producer_epoch, last_sequence, last_timestamp, coordinator_epoch, current_txn_start_offset);
