//! ElectLeaders: has partition leaders elected anew.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for ElectLeaders (key 43).
#[derive(Clone, Debug, PartialEq)]
pub struct ElectLeadersRequest {
    /// Versions 1+.
    pub election_type: i8,
    pub topic_partitions: Option<Vec<TopicPartitions>>,
    pub timeout_ms: i32,
}

impl Default for ElectLeadersRequest {
    fn default() -> Self {
        Self {
            election_type: 0,
            topic_partitions: Some(Vec::new()),
            timeout_ms: 60000,
        }
    }
}

impl Wire for ElectLeadersRequest {
    const MIN_SIZE: usize = 7;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.need_in(1.., "election_type", &self.election_type)?;
        w.put(&self.topic_partitions)?;
        w.put(&self.timeout_ms)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            election_type: r.get_in(1..)?,
            topic_partitions: r.get()?,
            timeout_ms: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`ElectLeadersRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopicPartitions {
    pub topic: String,
    pub partitions: Vec<i32>,
}

plain!(TopicPartitions, min 3, topic, partitions);

/// Answers [`ElectLeadersRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ElectLeadersResponse {
    pub throttle_time_ms: i32,
    /// Versions 1+.
    pub error_code: ErrorCode,
    pub replica_election_results: Vec<ReplicaElectionResult>,
}

impl Wire for ElectLeadersResponse {
    const MIN_SIZE: usize = 8;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.throttle_time_ms)?;
        w.need_in(1.., "error_code", &self.error_code)?;
        w.put(&self.replica_election_results)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            throttle_time_ms: r.get()?,
            error_code: r.get_in(1..)?,
            replica_election_results: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`ElectLeadersResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplicaElectionResult {
    pub topic: String,
    pub partition_result: Vec<PartitionResult>,
}

plain!(ReplicaElectionResult, min 3, topic, partition_result);

/// In [`ElectLeadersResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartitionResult {
    pub partition_id: i32,
    pub error_code: ErrorCode,
    pub error_message: Option<String>,
}

plain!(PartitionResult, min 8, partition_id, error_code, error_message);
