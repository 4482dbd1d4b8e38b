//! DeleteRecords: moves partitions' log start offsets forward.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for DeleteRecords (key 21).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeleteRecordsRequest {
    pub topics: Vec<DeleteRecordsTopic>,
    pub timeout_ms: i32,
}

plain!(DeleteRecordsRequest, min 6, topics, timeout_ms);

/// In [`DeleteRecordsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeleteRecordsTopic {
    pub name: String,
    pub partitions: Vec<DeleteRecordsPartition>,
}

plain!(DeleteRecordsTopic, min 3, name, partitions);

/// In [`DeleteRecordsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeleteRecordsPartition {
    pub partition_index: i32,
    pub offset: i64,
}

plain!(DeleteRecordsPartition, min 12, partition_index, offset);

/// Answers [`DeleteRecordsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeleteRecordsResponse {
    pub throttle_time_ms: i32,
    pub topics: Vec<DeleteRecordsTopicResult>,
}

plain!(DeleteRecordsResponse, min 6, throttle_time_ms, topics);

/// In [`DeleteRecordsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeleteRecordsTopicResult {
    pub name: String,
    pub partitions: Vec<DeleteRecordsPartitionResult>,
}

plain!(DeleteRecordsTopicResult, min 3, name, partitions);

/// In [`DeleteRecordsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeleteRecordsPartitionResult {
    pub partition_index: i32,
    pub low_watermark: i64,
    pub error_code: ErrorCode,
}

plain!(DeleteRecordsPartitionResult, min 14, partition_index, low_watermark, error_code);
