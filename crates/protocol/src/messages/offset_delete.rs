//! OffsetDelete: deletes a group's committed offsets.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for OffsetDelete (key 47).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OffsetDeleteRequest {
    pub group_id: String,
    pub topics: Vec<OffsetDeleteRequestTopic>,
}

plain!(OffsetDeleteRequest, min 6, group_id, topics);

/// In [`OffsetDeleteRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OffsetDeleteRequestTopic {
    pub name: String,
    pub partitions: Vec<OffsetDeleteRequestPartition>,
}

plain!(OffsetDeleteRequestTopic, min 6, name, partitions);

/// In [`OffsetDeleteRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OffsetDeleteRequestPartition {
    pub partition_index: i32,
}

plain!(OffsetDeleteRequestPartition, min 4, partition_index);

/// Answers [`OffsetDeleteRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OffsetDeleteResponse {
    pub error_code: ErrorCode,
    pub throttle_time_ms: i32,
    pub topics: Vec<OffsetDeleteResponseTopic>,
}

plain!(OffsetDeleteResponse, min 10, error_code, throttle_time_ms, topics);

/// In [`OffsetDeleteResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OffsetDeleteResponseTopic {
    pub name: String,
    pub partitions: Vec<OffsetDeleteResponsePartition>,
}

plain!(OffsetDeleteResponseTopic, min 6, name, partitions);

/// In [`OffsetDeleteResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OffsetDeleteResponsePartition {
    pub partition_index: i32,
    pub error_code: ErrorCode,
}

plain!(OffsetDeleteResponsePartition, min 6, partition_index, error_code);
