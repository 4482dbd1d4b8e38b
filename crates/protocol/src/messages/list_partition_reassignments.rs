//! ListPartitionReassignments: partitions that are being moved.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for ListPartitionReassignments (key 46).
#[derive(Clone, Debug, PartialEq)]
pub struct ListPartitionReassignmentsRequest {
    pub timeout_ms: i32,
    pub topics: Option<Vec<ListPartitionReassignmentsTopics>>,
}

impl Default for ListPartitionReassignmentsRequest {
    fn default() -> Self {
        Self {
            timeout_ms: 60000,
            topics: None,
        }
    }
}

plain!(ListPartitionReassignmentsRequest, min 6, timeout_ms, topics);

/// In [`ListPartitionReassignmentsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListPartitionReassignmentsTopics {
    pub name: String,
    pub partition_indexes: Vec<i32>,
}

plain!(ListPartitionReassignmentsTopics, min 3, name, partition_indexes);

/// Answers [`ListPartitionReassignmentsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListPartitionReassignmentsResponse {
    pub throttle_time_ms: i32,
    pub error_code: ErrorCode,
    pub error_message: Option<String>,
    pub topics: Vec<OngoingTopicReassignment>,
}

plain!(ListPartitionReassignmentsResponse, min 9, throttle_time_ms, error_code, error_message, topics);

/// In [`ListPartitionReassignmentsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OngoingTopicReassignment {
    pub name: String,
    pub partitions: Vec<OngoingPartitionReassignment>,
}

plain!(OngoingTopicReassignment, min 3, name, partitions);

/// In [`ListPartitionReassignmentsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OngoingPartitionReassignment {
    pub partition_index: i32,
    pub replicas: Vec<i32>,
    pub adding_replicas: Vec<i32>,
    pub removing_replicas: Vec<i32>,
}

plain!(OngoingPartitionReassignment, min 8, partition_index, replicas, adding_replicas, removing_replicas);
