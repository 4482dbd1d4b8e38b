//! AlterPartitionReassignments: starts or cancels moving partitions to other brokers.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for AlterPartitionReassignments (key 45).
#[derive(Clone, Debug, PartialEq)]
pub struct AlterPartitionReassignmentsRequest {
    pub timeout_ms: i32,
    /// Versions 1+.
    pub allow_replication_factor_change: bool,
    pub topics: Vec<ReassignableTopic>,
}

impl Default for AlterPartitionReassignmentsRequest {
    fn default() -> Self {
        Self {
            timeout_ms: 60000,
            allow_replication_factor_change: true,
            topics: Vec::new(),
        }
    }
}

impl Wire for AlterPartitionReassignmentsRequest {
    const MIN_SIZE: usize = 6;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.timeout_ms)?;
        w.need_in_or(
            1..,
            "allow_replication_factor_change",
            &self.allow_replication_factor_change,
            &true,
        )?;
        w.put(&self.topics)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            timeout_ms: r.get()?,
            allow_replication_factor_change: r.get_in_or(1.., true)?,
            topics: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`AlterPartitionReassignmentsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReassignableTopic {
    pub name: String,
    pub partitions: Vec<ReassignablePartition>,
}

plain!(ReassignableTopic, min 3, name, partitions);

/// In [`AlterPartitionReassignmentsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReassignablePartition {
    pub partition_index: i32,
    pub replicas: Option<Vec<i32>>,
}

plain!(ReassignablePartition, min 6, partition_index, replicas);

/// Answers [`AlterPartitionReassignmentsRequest`].
#[derive(Clone, Debug, PartialEq)]
pub struct AlterPartitionReassignmentsResponse {
    pub throttle_time_ms: i32,
    /// Versions 1+.
    pub allow_replication_factor_change: bool,
    pub error_code: ErrorCode,
    pub error_message: Option<String>,
    pub responses: Vec<ReassignableTopicResponse>,
}

impl Default for AlterPartitionReassignmentsResponse {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            allow_replication_factor_change: true,
            error_code: ErrorCode::NONE,
            error_message: None,
            responses: Vec::new(),
        }
    }
}

impl Wire for AlterPartitionReassignmentsResponse {
    const MIN_SIZE: usize = 9;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.throttle_time_ms)?;
        w.put_in(1.., &self.allow_replication_factor_change)?;
        w.put(&self.error_code)?;
        w.put(&self.error_message)?;
        w.put(&self.responses)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            throttle_time_ms: r.get()?,
            allow_replication_factor_change: r.get_in_or(1.., true)?,
            error_code: r.get()?,
            error_message: r.get()?,
            responses: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`AlterPartitionReassignmentsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReassignableTopicResponse {
    pub name: String,
    pub partitions: Vec<ReassignablePartitionResponse>,
}

plain!(ReassignableTopicResponse, min 3, name, partitions);

/// In [`AlterPartitionReassignmentsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReassignablePartitionResponse {
    pub partition_index: i32,
    pub error_code: ErrorCode,
    pub error_message: Option<String>,
}

plain!(ReassignablePartitionResponse, min 8, partition_index, error_code, error_message);
