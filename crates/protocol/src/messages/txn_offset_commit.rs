//! TxnOffsetCommit: commits offsets as part of a transaction.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for TxnOffsetCommit (key 28).
#[derive(Clone, Debug, PartialEq)]
pub struct TxnOffsetCommitRequest {
    pub transactional_id: String,
    pub group_id: String,
    pub producer_id: i64,
    pub producer_epoch: i16,
    /// Versions 3+.
    pub generation_id_or_member_epoch: i32,
    /// Versions 3+.
    pub member_id: String,
    /// Versions 3+.
    pub group_instance_id: Option<String>,
    pub topics: Vec<TxnOffsetCommitRequestTopic>,
}

impl Default for TxnOffsetCommitRequest {
    fn default() -> Self {
        Self {
            transactional_id: String::new(),
            group_id: String::new(),
            producer_id: 0,
            producer_epoch: 0,
            generation_id_or_member_epoch: -1,
            member_id: String::new(),
            group_instance_id: None,
            topics: Vec::new(),
        }
    }
}

impl Wire for TxnOffsetCommitRequest {
    const MIN_SIZE: usize = 18;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.transactional_id)?;
        w.put(&self.group_id)?;
        w.put(&self.producer_id)?;
        w.put(&self.producer_epoch)?;
        w.need_in_or(
            3..,
            "generation_id_or_member_epoch",
            &self.generation_id_or_member_epoch,
            &-1,
        )?;
        w.need_in(3.., "member_id", &self.member_id)?;
        w.need_in(3.., "group_instance_id", &self.group_instance_id)?;
        w.put(&self.topics)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            transactional_id: r.get()?,
            group_id: r.get()?,
            producer_id: r.get()?,
            producer_epoch: r.get()?,
            generation_id_or_member_epoch: r.get_in_or(3.., -1)?,
            member_id: r.get_in(3..)?,
            group_instance_id: r.get_in(3..)?,
            topics: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`TxnOffsetCommitRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TxnOffsetCommitRequestTopic {
    /// Versions 0-5.
    pub name: String,
    /// Versions 6+.
    pub topic_id: Uuid,
    pub partitions: Vec<TxnOffsetCommitRequestPartition>,
}

impl Wire for TxnOffsetCommitRequestTopic {
    const MIN_SIZE: usize = 3;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_in(..=5, &self.name)?;
        w.put_in(6.., &self.topic_id)?;
        w.put(&self.partitions)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            name: r.get_in(..=5)?,
            topic_id: r.get_in(6..)?,
            partitions: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`TxnOffsetCommitRequest`].
#[derive(Clone, Debug, PartialEq)]
pub struct TxnOffsetCommitRequestPartition {
    pub partition_index: i32,
    pub committed_offset: i64,
    /// Versions 2+.
    pub committed_leader_epoch: i32,
    pub committed_metadata: Option<String>,
}

impl Default for TxnOffsetCommitRequestPartition {
    fn default() -> Self {
        Self {
            partition_index: 0,
            committed_offset: 0,
            committed_leader_epoch: -1,
            committed_metadata: Some(String::new()),
        }
    }
}

impl Wire for TxnOffsetCommitRequestPartition {
    const MIN_SIZE: usize = 14;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.partition_index)?;
        w.put(&self.committed_offset)?;
        w.put_in(2.., &self.committed_leader_epoch)?;
        w.put(&self.committed_metadata)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            partition_index: r.get()?,
            committed_offset: r.get()?,
            committed_leader_epoch: r.get_in_or(2.., -1)?,
            committed_metadata: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// Answers [`TxnOffsetCommitRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TxnOffsetCommitResponse {
    pub throttle_time_ms: i32,
    pub topics: Vec<TxnOffsetCommitResponseTopic>,
}

plain!(TxnOffsetCommitResponse, min 6, throttle_time_ms, topics);

/// In [`TxnOffsetCommitResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TxnOffsetCommitResponseTopic {
    /// Versions 0-5.
    pub name: String,
    /// Versions 6+.
    pub topic_id: Uuid,
    pub partitions: Vec<TxnOffsetCommitResponsePartition>,
}

impl Wire for TxnOffsetCommitResponseTopic {
    const MIN_SIZE: usize = 3;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_in(..=5, &self.name)?;
        w.put_in(6.., &self.topic_id)?;
        w.put(&self.partitions)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            name: r.get_in(..=5)?,
            topic_id: r.get_in(6..)?,
            partitions: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`TxnOffsetCommitResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TxnOffsetCommitResponsePartition {
    pub partition_index: i32,
    pub error_code: ErrorCode,
}

plain!(TxnOffsetCommitResponsePartition, min 6, partition_index, error_code);
