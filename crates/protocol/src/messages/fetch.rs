//! Fetch: reads record batches from partitions, by a consumer or a follower.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for Fetch (key 1).
#[derive(Clone, Debug, PartialEq)]
pub struct FetchRequest {
    /// Versions 4-14.
    pub replica_id: i32,
    pub max_wait_ms: i32,
    pub min_bytes: i32,
    pub max_bytes: i32,
    pub isolation_level: i8,
    /// Versions 7+.
    pub session_id: i32,
    /// Versions 7+.
    pub session_epoch: i32,
    pub topics: Vec<FetchTopic>,
    /// Versions 7+.
    pub forgotten_topics_data: Vec<ForgottenTopic>,
    /// Versions 11+.
    pub rack_id: String,
    /// Versions 12+.
    pub cluster_id: Option<String>,
    /// Versions 15+.
    pub replica_state: ReplicaState,
}

impl Default for FetchRequest {
    fn default() -> Self {
        Self {
            replica_id: -1,
            max_wait_ms: 0,
            min_bytes: 0,
            max_bytes: i32::MAX,
            isolation_level: 0,
            session_id: 0,
            session_epoch: -1,
            topics: Vec::new(),
            forgotten_topics_data: Vec::new(),
            rack_id: String::new(),
            cluster_id: None,
            replica_state: ReplicaState::default(),
        }
    }
}

impl Wire for FetchRequest {
    const MIN_SIZE: usize = 21;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.need_in_or(4..=14, "replica_id", &self.replica_id, &-1)?;
        w.put(&self.max_wait_ms)?;
        w.put(&self.min_bytes)?;
        w.put(&self.max_bytes)?;
        w.put(&self.isolation_level)?;
        w.put_in(7.., &self.session_id)?;
        w.put_in(7.., &self.session_epoch)?;
        w.put(&self.topics)?;
        w.need_in(7.., "forgotten_topics_data", &self.forgotten_topics_data)?;
        w.put_in(11.., &self.rack_id)?;
        w.tags(|t| {
            t.put(0, 12.., &self.cluster_id)?;
            t.need(1, 15.., "replica_state", &self.replica_state)?;
            Ok(())
        })
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let mut value = Self {
            replica_id: r.get_in_or(4..=14, -1)?,
            max_wait_ms: r.get()?,
            min_bytes: r.get()?,
            max_bytes: r.get()?,
            isolation_level: r.get()?,
            session_id: r.get_in(7..)?,
            session_epoch: r.get_in_or(7.., -1)?,
            topics: r.get()?,
            forgotten_topics_data: r.get_in(7..)?,
            rack_id: r.get_in(11..)?,
            cluster_id: None,
            replica_state: ReplicaState::default(),
        };
        r.tags(|r, tag| {
            match tag {
                0 => value.cluster_id = r.get()?,
                1 if r.version() >= 15 => value.replica_state = r.get()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(value)
    }
}

/// In [`FetchRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FetchTopic {
    /// Versions 4-12.
    pub topic: String,
    /// Versions 13+.
    pub topic_id: Uuid,
    pub partitions: Vec<FetchPartition>,
}

impl Wire for FetchTopic {
    const MIN_SIZE: usize = 3;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_in(4..=12, &self.topic)?;
        w.put_in(13.., &self.topic_id)?;
        w.put(&self.partitions)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            topic: r.get_in(4..=12)?,
            topic_id: r.get_in(13..)?,
            partitions: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`FetchRequest`].
#[derive(Clone, Debug, PartialEq)]
pub struct FetchPartition {
    pub partition: i32,
    /// Versions 9+.
    pub current_leader_epoch: i32,
    pub fetch_offset: i64,
    /// Versions 12+.
    pub last_fetched_epoch: i32,
    /// Versions 5+.
    pub log_start_offset: i64,
    pub partition_max_bytes: i32,
    /// Versions 17+.
    pub replica_directory_id: Uuid,
    /// Versions 18+.
    pub high_watermark: i64,
}

impl Default for FetchPartition {
    fn default() -> Self {
        Self {
            partition: 0,
            current_leader_epoch: -1,
            fetch_offset: 0,
            last_fetched_epoch: -1,
            log_start_offset: -1,
            partition_max_bytes: 0,
            replica_directory_id: Uuid::ZERO,
            high_watermark: i64::MAX,
        }
    }
}

impl Wire for FetchPartition {
    const MIN_SIZE: usize = 16;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.partition)?;
        w.put_in(9.., &self.current_leader_epoch)?;
        w.put(&self.fetch_offset)?;
        w.need_in_or(12.., "last_fetched_epoch", &self.last_fetched_epoch, &-1)?;
        w.put_in(5.., &self.log_start_offset)?;
        w.put(&self.partition_max_bytes)?;
        w.tags(|t| {
            t.put(0, 17.., &self.replica_directory_id)?;
            t.put_or(1, 18.., &self.high_watermark, &i64::MAX)?;
            Ok(())
        })
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let mut value = Self {
            partition: r.get()?,
            current_leader_epoch: r.get_in_or(9.., -1)?,
            fetch_offset: r.get()?,
            last_fetched_epoch: r.get_in_or(12.., -1)?,
            log_start_offset: r.get_in_or(5.., -1)?,
            partition_max_bytes: r.get()?,
            replica_directory_id: Uuid::ZERO,
            high_watermark: i64::MAX,
        };
        r.tags(|r, tag| {
            match tag {
                0 if r.version() >= 17 => value.replica_directory_id = r.get()?,
                1 if r.version() >= 18 => value.high_watermark = r.get()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(value)
    }
}

/// In [`FetchRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForgottenTopic {
    /// Versions 7-12.
    pub topic: String,
    /// Versions 13+.
    pub topic_id: Uuid,
    pub partitions: Vec<i32>,
}

impl Wire for ForgottenTopic {
    const MIN_SIZE: usize = 3;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_in(7..=12, &self.topic)?;
        w.put_in(13.., &self.topic_id)?;
        w.put(&self.partitions)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            topic: r.get_in(7..=12)?,
            topic_id: r.get_in(13..)?,
            partitions: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`FetchRequest`].
#[derive(Clone, Debug, PartialEq)]
pub struct ReplicaState {
    pub replica_id: i32,
    pub replica_epoch: i64,
}

impl Default for ReplicaState {
    fn default() -> Self {
        Self {
            replica_id: -1,
            replica_epoch: -1,
        }
    }
}

plain!(ReplicaState, min 13, replica_id, replica_epoch);

/// Answers [`FetchRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FetchResponse {
    pub throttle_time_ms: i32,
    /// Versions 7+.
    pub error_code: ErrorCode,
    /// Versions 7+.
    pub session_id: i32,
    pub responses: Vec<FetchableTopicResponse>,
    /// Versions 16+.
    pub node_endpoints: Vec<NodeEndpoint>,
}

impl Wire for FetchResponse {
    const MIN_SIZE: usize = 8;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.throttle_time_ms)?;
        w.put_in(7.., &self.error_code)?;
        w.need_in(7.., "session_id", &self.session_id)?;
        w.put(&self.responses)?;
        w.tags(|t| {
            t.need(0, 16.., "node_endpoints", &self.node_endpoints)?;
            Ok(())
        })
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let mut value = Self {
            throttle_time_ms: r.get()?,
            error_code: r.get_in(7..)?,
            session_id: r.get_in(7..)?,
            responses: r.get()?,
            node_endpoints: Vec::new(),
        };
        r.tags(|r, tag| {
            match tag {
                0 if r.version() >= 16 => value.node_endpoints = r.get()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(value)
    }
}

/// In [`FetchResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FetchableTopicResponse {
    /// Versions 4-12.
    pub topic: String,
    /// Versions 13+.
    pub topic_id: Uuid,
    pub partitions: Vec<PartitionData>,
}

impl Wire for FetchableTopicResponse {
    const MIN_SIZE: usize = 3;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_in(4..=12, &self.topic)?;
        w.put_in(13.., &self.topic_id)?;
        w.put(&self.partitions)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            topic: r.get_in(4..=12)?,
            topic_id: r.get_in(13..)?,
            partitions: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`FetchResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionData {
    pub partition_index: i32,
    pub error_code: ErrorCode,
    pub high_watermark: i64,
    pub last_stable_offset: i64,
    /// Versions 5+.
    pub log_start_offset: i64,
    pub aborted_transactions: Option<Vec<AbortedTransaction>>,
    /// Versions 11+.
    pub preferred_read_replica: i32,
    pub records: Bytes,
    /// Versions 12+.
    pub diverging_epoch: EpochEndOffset,
    /// Versions 12+.
    pub current_leader: LeaderIdAndEpoch,
    /// Versions 12+.
    pub snapshot_id: SnapshotId,
}

impl Default for PartitionData {
    fn default() -> Self {
        Self {
            partition_index: 0,
            error_code: ErrorCode::NONE,
            high_watermark: 0,
            last_stable_offset: -1,
            log_start_offset: -1,
            aborted_transactions: Some(Vec::new()),
            preferred_read_replica: -1,
            records: Bytes::new(),
            diverging_epoch: EpochEndOffset::default(),
            current_leader: LeaderIdAndEpoch::default(),
            snapshot_id: SnapshotId::default(),
        }
    }
}

impl Wire for PartitionData {
    const MIN_SIZE: usize = 30;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.partition_index)?;
        w.put(&self.error_code)?;
        w.put(&self.high_watermark)?;
        w.put(&self.last_stable_offset)?;
        w.put_in(5.., &self.log_start_offset)?;
        w.put(&self.aborted_transactions)?;
        w.need_in_or(
            11..,
            "preferred_read_replica",
            &self.preferred_read_replica,
            &-1,
        )?;
        w.put(&self.records)?;
        w.tags(|t| {
            t.need(0, 12.., "diverging_epoch", &self.diverging_epoch)?;
            t.need(1, 12.., "current_leader", &self.current_leader)?;
            t.need(2, 12.., "snapshot_id", &self.snapshot_id)?;
            Ok(())
        })
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let mut value = Self {
            partition_index: r.get()?,
            error_code: r.get()?,
            high_watermark: r.get()?,
            last_stable_offset: r.get()?,
            log_start_offset: r.get_in_or(5.., -1)?,
            aborted_transactions: r.get()?,
            preferred_read_replica: r.get_in_or(11.., -1)?,
            records: r.records()?,
            diverging_epoch: EpochEndOffset::default(),
            current_leader: LeaderIdAndEpoch::default(),
            snapshot_id: SnapshotId::default(),
        };
        r.tags(|r, tag| {
            match tag {
                0 => value.diverging_epoch = r.get()?,
                1 => value.current_leader = r.get()?,
                2 => value.snapshot_id = r.get()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(value)
    }
}

/// In [`FetchResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AbortedTransaction {
    pub producer_id: i64,
    pub first_offset: i64,
}

plain!(AbortedTransaction, min 16, producer_id, first_offset);

/// In [`FetchResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct EpochEndOffset {
    pub epoch: i32,
    pub end_offset: i64,
}

impl Default for EpochEndOffset {
    fn default() -> Self {
        Self {
            epoch: -1,
            end_offset: -1,
        }
    }
}

plain!(EpochEndOffset, min 13, epoch, end_offset);

/// In [`FetchResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct LeaderIdAndEpoch {
    pub leader_id: i32,
    pub leader_epoch: i32,
}

impl Default for LeaderIdAndEpoch {
    fn default() -> Self {
        Self {
            leader_id: -1,
            leader_epoch: -1,
        }
    }
}

plain!(LeaderIdAndEpoch, min 9, leader_id, leader_epoch);

/// In [`FetchResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct SnapshotId {
    pub end_offset: i64,
    pub epoch: i32,
}

impl Default for SnapshotId {
    fn default() -> Self {
        Self {
            end_offset: -1,
            epoch: -1,
        }
    }
}

plain!(SnapshotId, min 13, end_offset, epoch);

/// In [`FetchResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeEndpoint {
    pub node_id: i32,
    pub host: String,
    pub port: i32,
    pub rack: Option<String>,
}

plain!(NodeEndpoint, min 11, node_id, host, port, rack);
