//! ListOffsets: finds offsets by timestamp, or the earliest, latest and other special ones.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for ListOffsets (key 2).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListOffsetsRequest {
    pub replica_id: i32,
    /// Versions 2+.
    pub isolation_level: i8,
    pub topics: Vec<ListOffsetsTopic>,
    /// Versions 10+.
    pub timeout_ms: i32,
}

impl Wire for ListOffsetsRequest {
    const MIN_SIZE: usize = 7;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.replica_id)?;
        w.need_in(2.., "isolation_level", &self.isolation_level)?;
        w.put(&self.topics)?;
        w.put_in(10.., &self.timeout_ms)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            replica_id: r.get()?,
            isolation_level: r.get_in(2..)?,
            topics: r.get()?,
            timeout_ms: r.get_in(10..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`ListOffsetsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListOffsetsTopic {
    pub name: String,
    pub partitions: Vec<ListOffsetsPartition>,
}

plain!(ListOffsetsTopic, min 3, name, partitions);

/// In [`ListOffsetsRequest`].
#[derive(Clone, Debug, PartialEq)]
pub struct ListOffsetsPartition {
    pub partition_index: i32,
    /// Versions 4+.
    pub current_leader_epoch: i32,
    pub timestamp: i64,
}

impl Default for ListOffsetsPartition {
    fn default() -> Self {
        Self {
            partition_index: 0,
            current_leader_epoch: -1,
            timestamp: 0,
        }
    }
}

impl Wire for ListOffsetsPartition {
    const MIN_SIZE: usize = 12;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.partition_index)?;
        w.put_in(4.., &self.current_leader_epoch)?;
        w.put(&self.timestamp)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            partition_index: r.get()?,
            current_leader_epoch: r.get_in_or(4.., -1)?,
            timestamp: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// Answers [`ListOffsetsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListOffsetsResponse {
    /// Versions 2+.
    pub throttle_time_ms: i32,
    pub topics: Vec<ListOffsetsTopicResponse>,
}

impl Wire for ListOffsetsResponse {
    const MIN_SIZE: usize = 4;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_in(2.., &self.throttle_time_ms)?;
        w.put(&self.topics)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            throttle_time_ms: r.get_in(2..)?,
            topics: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`ListOffsetsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListOffsetsTopicResponse {
    pub name: String,
    pub partitions: Vec<ListOffsetsPartitionResponse>,
}

plain!(ListOffsetsTopicResponse, min 3, name, partitions);

/// In [`ListOffsetsResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct ListOffsetsPartitionResponse {
    pub partition_index: i32,
    pub error_code: ErrorCode,
    pub timestamp: i64,
    pub offset: i64,
    /// Versions 4+.
    pub leader_epoch: i32,
}

impl Default for ListOffsetsPartitionResponse {
    fn default() -> Self {
        Self {
            partition_index: 0,
            error_code: ErrorCode::NONE,
            timestamp: -1,
            offset: -1,
            leader_epoch: -1,
        }
    }
}

impl Wire for ListOffsetsPartitionResponse {
    const MIN_SIZE: usize = 22;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.partition_index)?;
        w.put(&self.error_code)?;
        w.put(&self.timestamp)?;
        w.put(&self.offset)?;
        w.need_in_or(4.., "leader_epoch", &self.leader_epoch, &-1)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            partition_index: r.get()?,
            error_code: r.get()?,
            timestamp: r.get()?,
            offset: r.get()?,
            leader_epoch: r.get_in_or(4.., -1)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}
