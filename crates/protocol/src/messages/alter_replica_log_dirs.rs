//! AlterReplicaLogDirs: moves replicas between log directories.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for AlterReplicaLogDirs (key 34).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlterReplicaLogDirsRequest {
    pub dirs: Vec<AlterReplicaLogDir>,
}

plain!(AlterReplicaLogDirsRequest, min 2, dirs);

/// In [`AlterReplicaLogDirsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlterReplicaLogDir {
    pub path: String,
    pub topics: Vec<AlterReplicaLogDirTopic>,
}

plain!(AlterReplicaLogDir, min 3, path, topics);

/// In [`AlterReplicaLogDirsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlterReplicaLogDirTopic {
    pub name: String,
    pub partitions: Vec<i32>,
}

plain!(AlterReplicaLogDirTopic, min 3, name, partitions);

/// Answers [`AlterReplicaLogDirsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlterReplicaLogDirsResponse {
    pub throttle_time_ms: i32,
    pub results: Vec<AlterReplicaLogDirTopicResult>,
}

plain!(AlterReplicaLogDirsResponse, min 6, throttle_time_ms, results);

/// In [`AlterReplicaLogDirsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlterReplicaLogDirTopicResult {
    pub topic_name: String,
    pub partitions: Vec<AlterReplicaLogDirPartitionResult>,
}

plain!(AlterReplicaLogDirTopicResult, min 3, topic_name, partitions);

/// In [`AlterReplicaLogDirsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlterReplicaLogDirPartitionResult {
    pub partition_index: i32,
    pub error_code: ErrorCode,
}

plain!(AlterReplicaLogDirPartitionResult, min 6, partition_index, error_code);
