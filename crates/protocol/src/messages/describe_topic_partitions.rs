//! DescribeTopicPartitions: topics with their partitions, page by page.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for DescribeTopicPartitions (key 75).
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeTopicPartitionsRequest {
    pub topics: Vec<TopicRequest>,
    pub response_partition_limit: i32,
    pub cursor: Option<Cursor>,
}

impl Default for DescribeTopicPartitionsRequest {
    fn default() -> Self {
        Self {
            topics: Vec::new(),
            response_partition_limit: 2000,
            cursor: None,
        }
    }
}

plain!(DescribeTopicPartitionsRequest, min 7, topics, response_partition_limit, cursor);

/// In [`DescribeTopicPartitionsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopicRequest {
    pub name: String,
}

plain!(TopicRequest, min 2, name);

/// In [`DescribeTopicPartitionsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cursor {
    pub topic_name: String,
    pub partition_index: i32,
}

plain!(Cursor, min 6, topic_name, partition_index);

/// Answers [`DescribeTopicPartitionsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescribeTopicPartitionsResponse {
    pub throttle_time_ms: i32,
    pub topics: Vec<DescribeTopicPartitionsResponseTopic>,
    pub next_cursor: Option<Cursor>,
}

plain!(DescribeTopicPartitionsResponse, min 7, throttle_time_ms, topics, next_cursor);

/// In [`DescribeTopicPartitionsResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeTopicPartitionsResponseTopic {
    pub error_code: ErrorCode,
    pub name: Option<String>,
    pub topic_id: Uuid,
    pub is_internal: bool,
    pub partitions: Vec<DescribeTopicPartitionsResponsePartition>,
    pub topic_authorized_operations: i32,
}

impl Default for DescribeTopicPartitionsResponseTopic {
    fn default() -> Self {
        Self {
            error_code: ErrorCode::NONE,
            name: Some(String::new()),
            topic_id: Uuid::ZERO,
            is_internal: false,
            partitions: Vec::new(),
            topic_authorized_operations: i32::MIN,
        }
    }
}

plain!(DescribeTopicPartitionsResponseTopic, min 26, error_code, name, topic_id, is_internal, partitions, topic_authorized_operations);

/// In [`DescribeTopicPartitionsResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeTopicPartitionsResponsePartition {
    pub error_code: ErrorCode,
    pub partition_index: i32,
    pub leader_id: i32,
    pub leader_epoch: i32,
    pub replica_nodes: Vec<i32>,
    pub isr_nodes: Vec<i32>,
    pub eligible_leader_replicas: Option<Vec<i32>>,
    pub last_known_elr: Option<Vec<i32>>,
    pub offline_replicas: Vec<i32>,
}

impl Default for DescribeTopicPartitionsResponsePartition {
    fn default() -> Self {
        Self {
            error_code: ErrorCode::NONE,
            partition_index: 0,
            leader_id: 0,
            leader_epoch: -1,
            replica_nodes: Vec::new(),
            isr_nodes: Vec::new(),
            eligible_leader_replicas: Some(Vec::new()),
            last_known_elr: Some(Vec::new()),
            offline_replicas: Vec::new(),
        }
    }
}

plain!(DescribeTopicPartitionsResponsePartition, min 20, error_code, partition_index, leader_id, leader_epoch, replica_nodes, isr_nodes, eligible_leader_replicas, last_known_elr, offline_replicas);
