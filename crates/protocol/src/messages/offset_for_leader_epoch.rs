//! OffsetForLeaderEpoch: where leader epochs end, for detecting truncation.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for OffsetForLeaderEpoch (key 23).
#[derive(Clone, Debug, PartialEq)]
pub struct OffsetForLeaderEpochRequest {
    /// Versions 3+.
    pub replica_id: i32,
    pub topics: Vec<OffsetForLeaderTopic>,
}

impl Default for OffsetForLeaderEpochRequest {
    fn default() -> Self {
        Self {
            replica_id: -2,
            topics: Vec::new(),
        }
    }
}

impl Wire for OffsetForLeaderEpochRequest {
    const MIN_SIZE: usize = 4;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_in(3.., &self.replica_id)?;
        w.put(&self.topics)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            replica_id: r.get_in_or(3.., -2)?,
            topics: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`OffsetForLeaderEpochRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OffsetForLeaderTopic {
    pub topic: String,
    pub partitions: Vec<OffsetForLeaderPartition>,
}

plain!(OffsetForLeaderTopic, min 3, topic, partitions);

/// In [`OffsetForLeaderEpochRequest`].
#[derive(Clone, Debug, PartialEq)]
pub struct OffsetForLeaderPartition {
    pub partition: i32,
    pub current_leader_epoch: i32,
    pub leader_epoch: i32,
}

impl Default for OffsetForLeaderPartition {
    fn default() -> Self {
        Self {
            partition: 0,
            current_leader_epoch: -1,
            leader_epoch: 0,
        }
    }
}

plain!(OffsetForLeaderPartition, min 12, partition, current_leader_epoch, leader_epoch);

/// Answers [`OffsetForLeaderEpochRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OffsetForLeaderEpochResponse {
    pub throttle_time_ms: i32,
    pub topics: Vec<OffsetForLeaderTopicResult>,
}

plain!(OffsetForLeaderEpochResponse, min 6, throttle_time_ms, topics);

/// In [`OffsetForLeaderEpochResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OffsetForLeaderTopicResult {
    pub topic: String,
    pub partitions: Vec<EpochEndOffset>,
}

plain!(OffsetForLeaderTopicResult, min 3, topic, partitions);

/// In [`OffsetForLeaderEpochResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct EpochEndOffset {
    pub error_code: ErrorCode,
    pub partition: i32,
    pub leader_epoch: i32,
    pub end_offset: i64,
}

impl Default for EpochEndOffset {
    fn default() -> Self {
        Self {
            error_code: ErrorCode::NONE,
            partition: 0,
            leader_epoch: -1,
            end_offset: -1,
        }
    }
}

plain!(EpochEndOffset, min 18, error_code, partition, leader_epoch, end_offset);
