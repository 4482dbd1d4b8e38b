//! OffsetFetch: reads what groups have committed.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for OffsetFetch (key 9).
#[derive(Clone, Debug, PartialEq)]
pub struct OffsetFetchRequest {
    /// Versions 1-7.
    pub group_id: String,
    /// Versions 1-7. Null in versions 2+.
    pub topics: Option<Vec<OffsetFetchRequestTopic>>,
    /// Versions 8+.
    pub groups: Vec<OffsetFetchRequestGroup>,
    /// Versions 7+.
    pub require_stable: bool,
}

impl Default for OffsetFetchRequest {
    fn default() -> Self {
        Self {
            group_id: String::new(),
            topics: Some(Vec::new()),
            groups: Vec::new(),
            require_stable: false,
        }
    }
}

impl Wire for OffsetFetchRequest {
    const MIN_SIZE: usize = 3;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.need_in(1..=7, "group_id", &self.group_id)?;
        if w.has(1..=7) {
            w.put_nullable_from(2, "topics", &self.topics)?;
        } else {
            w.absent("topics", &self.topics, &Some(Vec::new()))?;
        }
        w.need_in(8.., "groups", &self.groups)?;
        w.need_in(7.., "require_stable", &self.require_stable)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            group_id: r.get_in(1..=7)?,
            topics: if r.has(1..=7) {
                r.get_nullable_from(2)?
            } else {
                Some(Vec::new())
            },
            groups: r.get_in(8..)?,
            require_stable: r.get_in(7..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`OffsetFetchRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OffsetFetchRequestTopic {
    pub name: String,
    pub partition_indexes: Vec<i32>,
}

plain!(OffsetFetchRequestTopic, min 3, name, partition_indexes);

/// In [`OffsetFetchRequest`].
#[derive(Clone, Debug, PartialEq)]
pub struct OffsetFetchRequestGroup {
    pub group_id: String,
    /// Versions 9+.
    pub member_id: Option<String>,
    /// Versions 9+.
    pub member_epoch: i32,
    pub topics: Option<Vec<OffsetFetchRequestTopics>>,
}

impl Default for OffsetFetchRequestGroup {
    fn default() -> Self {
        Self {
            group_id: String::new(),
            member_id: None,
            member_epoch: -1,
            topics: Some(Vec::new()),
        }
    }
}

impl Wire for OffsetFetchRequestGroup {
    const MIN_SIZE: usize = 3;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.group_id)?;
        w.put_in(9.., &self.member_id)?;
        w.put_in(9.., &self.member_epoch)?;
        w.put(&self.topics)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            group_id: r.get()?,
            member_id: r.get_in(9..)?,
            member_epoch: r.get_in_or(9.., -1)?,
            topics: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`OffsetFetchRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OffsetFetchRequestTopics {
    /// Versions 8-9.
    pub name: String,
    /// Versions 10+.
    pub topic_id: Uuid,
    pub partition_indexes: Vec<i32>,
}

impl Wire for OffsetFetchRequestTopics {
    const MIN_SIZE: usize = 3;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_in(8..=9, &self.name)?;
        w.put_in(10.., &self.topic_id)?;
        w.put(&self.partition_indexes)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            name: r.get_in(8..=9)?,
            topic_id: r.get_in(10..)?,
            partition_indexes: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// Answers [`OffsetFetchRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OffsetFetchResponse {
    /// Versions 3+.
    pub throttle_time_ms: i32,
    /// Versions 1-7.
    pub topics: Vec<OffsetFetchResponseTopic>,
    /// Versions 2-7.
    pub error_code: ErrorCode,
    /// Versions 8+.
    pub groups: Vec<OffsetFetchResponseGroup>,
}

impl Wire for OffsetFetchResponse {
    const MIN_SIZE: usize = 4;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_in(3.., &self.throttle_time_ms)?;
        w.need_in(1..=7, "topics", &self.topics)?;
        w.put_in(2..=7, &self.error_code)?;
        w.need_in(8.., "groups", &self.groups)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            throttle_time_ms: r.get_in(3..)?,
            topics: r.get_in(1..=7)?,
            error_code: r.get_in(2..=7)?,
            groups: r.get_in(8..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`OffsetFetchResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OffsetFetchResponseTopic {
    pub name: String,
    pub partitions: Vec<OffsetFetchResponsePartition>,
}

plain!(OffsetFetchResponseTopic, min 3, name, partitions);

/// In [`OffsetFetchResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct OffsetFetchResponsePartition {
    pub partition_index: i32,
    pub committed_offset: i64,
    /// Versions 5+.
    pub committed_leader_epoch: i32,
    pub metadata: Option<String>,
    pub error_code: ErrorCode,
}

impl Default for OffsetFetchResponsePartition {
    fn default() -> Self {
        Self {
            partition_index: 0,
            committed_offset: 0,
            committed_leader_epoch: -1,
            metadata: Some(String::new()),
            error_code: ErrorCode::NONE,
        }
    }
}

impl Wire for OffsetFetchResponsePartition {
    const MIN_SIZE: usize = 16;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.partition_index)?;
        w.put(&self.committed_offset)?;
        w.put_in(5.., &self.committed_leader_epoch)?;
        w.put(&self.metadata)?;
        w.put(&self.error_code)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            partition_index: r.get()?,
            committed_offset: r.get()?,
            committed_leader_epoch: r.get_in_or(5.., -1)?,
            metadata: r.get()?,
            error_code: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`OffsetFetchResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OffsetFetchResponseGroup {
    pub group_id: String,
    pub topics: Vec<OffsetFetchResponseTopics>,
    pub error_code: ErrorCode,
}

plain!(OffsetFetchResponseGroup, min 5, group_id, topics, error_code);

/// In [`OffsetFetchResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OffsetFetchResponseTopics {
    /// Versions 8-9.
    pub name: String,
    /// Versions 10+.
    pub topic_id: Uuid,
    pub partitions: Vec<OffsetFetchResponsePartitions>,
}

impl Wire for OffsetFetchResponseTopics {
    const MIN_SIZE: usize = 3;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_in(8..=9, &self.name)?;
        w.put_in(10.., &self.topic_id)?;
        w.put(&self.partitions)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            name: r.get_in(8..=9)?,
            topic_id: r.get_in(10..)?,
            partitions: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`OffsetFetchResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct OffsetFetchResponsePartitions {
    pub partition_index: i32,
    pub committed_offset: i64,
    pub committed_leader_epoch: i32,
    pub metadata: Option<String>,
    pub error_code: ErrorCode,
}

impl Default for OffsetFetchResponsePartitions {
    fn default() -> Self {
        Self {
            partition_index: 0,
            committed_offset: 0,
            committed_leader_epoch: -1,
            metadata: Some(String::new()),
            error_code: ErrorCode::NONE,
        }
    }
}

plain!(OffsetFetchResponsePartitions, min 20, partition_index, committed_offset, committed_leader_epoch, metadata, error_code);
