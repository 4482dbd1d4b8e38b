//! CreatePartitions: raises the partition count of topics.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for CreatePartitions (key 37).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CreatePartitionsRequest {
    pub topics: Vec<CreatePartitionsTopic>,
    pub timeout_ms: i32,
    pub validate_only: bool,
}

plain!(CreatePartitionsRequest, min 7, topics, timeout_ms, validate_only);

/// In [`CreatePartitionsRequest`].
#[derive(Clone, Debug, PartialEq)]
pub struct CreatePartitionsTopic {
    pub name: String,
    pub count: i32,
    pub assignments: Option<Vec<CreatePartitionsAssignment>>,
}

impl Default for CreatePartitionsTopic {
    fn default() -> Self {
        Self {
            name: String::new(),
            count: 0,
            assignments: Some(Vec::new()),
        }
    }
}

plain!(CreatePartitionsTopic, min 7, name, count, assignments);

/// In [`CreatePartitionsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CreatePartitionsAssignment {
    pub broker_ids: Vec<i32>,
}

plain!(CreatePartitionsAssignment, min 2, broker_ids);

/// Answers [`CreatePartitionsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CreatePartitionsResponse {
    pub throttle_time_ms: i32,
    pub results: Vec<CreatePartitionsTopicResult>,
}

plain!(CreatePartitionsResponse, min 6, throttle_time_ms, results);

/// In [`CreatePartitionsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CreatePartitionsTopicResult {
    pub name: String,
    pub error_code: ErrorCode,
    pub error_message: Option<String>,
}

plain!(CreatePartitionsTopicResult, min 5, name, error_code, error_message);
