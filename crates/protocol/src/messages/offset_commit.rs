//! OffsetCommit: stores how far a group has processed partitions.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for OffsetCommit (key 8).
#[derive(Clone, Debug, PartialEq)]
pub struct OffsetCommitRequest {
    pub group_id: String,
    pub generation_id_or_member_epoch: i32,
    pub member_id: String,
    /// Versions 2-4.
    pub retention_time_ms: i64,
    /// Versions 7+.
    pub group_instance_id: Option<String>,
    pub topics: Vec<OffsetCommitRequestTopic>,
}

impl Default for OffsetCommitRequest {
    fn default() -> Self {
        Self {
            group_id: String::new(),
            generation_id_or_member_epoch: -1,
            member_id: String::new(),
            retention_time_ms: -1,
            group_instance_id: None,
            topics: Vec::new(),
        }
    }
}

impl Wire for OffsetCommitRequest {
    const MIN_SIZE: usize = 9;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.group_id)?;
        w.put(&self.generation_id_or_member_epoch)?;
        w.put(&self.member_id)?;
        w.put_in(2..=4, &self.retention_time_ms)?;
        w.need_in(7.., "group_instance_id", &self.group_instance_id)?;
        w.put(&self.topics)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            group_id: r.get()?,
            generation_id_or_member_epoch: r.get()?,
            member_id: r.get()?,
            retention_time_ms: r.get_in_or(2..=4, -1)?,
            group_instance_id: r.get_in(7..)?,
            topics: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`OffsetCommitRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OffsetCommitRequestTopic {
    /// Versions 2-9.
    pub name: String,
    /// Versions 10+.
    pub topic_id: Uuid,
    pub partitions: Vec<OffsetCommitRequestPartition>,
}

impl Wire for OffsetCommitRequestTopic {
    const MIN_SIZE: usize = 3;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_in(2..=9, &self.name)?;
        w.put_in(10.., &self.topic_id)?;
        w.put(&self.partitions)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            name: r.get_in(2..=9)?,
            topic_id: r.get_in(10..)?,
            partitions: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`OffsetCommitRequest`].
#[derive(Clone, Debug, PartialEq)]
pub struct OffsetCommitRequestPartition {
    pub partition_index: i32,
    pub committed_offset: i64,
    /// Versions 6+.
    pub committed_leader_epoch: i32,
    pub committed_metadata: Option<String>,
}

impl Default for OffsetCommitRequestPartition {
    fn default() -> Self {
        Self {
            partition_index: 0,
            committed_offset: 0,
            committed_leader_epoch: -1,
            committed_metadata: Some(String::new()),
        }
    }
}

impl Wire for OffsetCommitRequestPartition {
    const MIN_SIZE: usize = 14;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.partition_index)?;
        w.put(&self.committed_offset)?;
        w.put_in(6.., &self.committed_leader_epoch)?;
        w.put(&self.committed_metadata)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            partition_index: r.get()?,
            committed_offset: r.get()?,
            committed_leader_epoch: r.get_in_or(6.., -1)?,
            committed_metadata: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// Answers [`OffsetCommitRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OffsetCommitResponse {
    /// Versions 3+.
    pub throttle_time_ms: i32,
    pub topics: Vec<OffsetCommitResponseTopic>,
}

impl Wire for OffsetCommitResponse {
    const MIN_SIZE: usize = 4;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_in(3.., &self.throttle_time_ms)?;
        w.put(&self.topics)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            throttle_time_ms: r.get_in(3..)?,
            topics: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`OffsetCommitResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OffsetCommitResponseTopic {
    /// Versions 2-9.
    pub name: String,
    /// Versions 10+.
    pub topic_id: Uuid,
    pub partitions: Vec<OffsetCommitResponsePartition>,
}

impl Wire for OffsetCommitResponseTopic {
    const MIN_SIZE: usize = 3;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_in(2..=9, &self.name)?;
        w.put_in(10.., &self.topic_id)?;
        w.put(&self.partitions)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            name: r.get_in(2..=9)?,
            topic_id: r.get_in(10..)?,
            partitions: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`OffsetCommitResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OffsetCommitResponsePartition {
    pub partition_index: i32,
    pub error_code: ErrorCode,
}

plain!(OffsetCommitResponsePartition, min 6, partition_index, error_code);
