//! What a topic's configuration says about its logs.

use copart_protocol::records::{Compression, TimestampType};

/// When a record counts as stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Durability {
    /// At once. Nothing is ever synced.
    Memory,
    /// When it is written to the file: it survives the process, not the
    /// machine.
    Process,
    /// When the file is synced: it survives a power loss.
    #[default]
    Disk,
}

/// A log's settings. Fields are named as Kafka's topic configurations, and the
/// defaults are Kafka's.
#[derive(Clone, Debug, PartialEq)]
pub struct LogConfig {
    /// When a record counts as stored.
    pub durability: Durability,
    /// `segment.bytes`
    pub segment_bytes: u64,
    /// `segment.ms`
    pub segment_ms: i64,
    /// `segment.index.bytes`: a segment whose index reaches it is full.
    pub segment_index_bytes: u64,
    /// `index.interval.bytes`
    pub index_interval_bytes: u64,
    /// `retention.ms`; -1 for no limit.
    pub retention_ms: i64,
    /// `retention.bytes`; -1 for no limit.
    pub retention_bytes: i64,
    /// `cleanup.policy` contains `delete`
    pub deletes: bool,
    /// `cleanup.policy` contains `compact`
    pub compacts: bool,
    /// `delete.retention.ms`: how long tombstones stay after compaction.
    pub delete_retention_ms: i64,
    /// `min.compaction.lag.ms`
    pub min_compaction_lag_ms: i64,
    /// `max.compaction.lag.ms`
    pub max_compaction_lag_ms: i64,
    /// `min.cleanable.dirty.ratio`
    pub min_cleanable_dirty_ratio: f64,
    /// `max.message.bytes`, of a batch as it is stored.
    pub max_message_bytes: usize,
    /// `compression.type` and the level of its codec: batches with another
    /// codec are compressed anew. `None` is `producer`: as they came.
    pub compression: Option<Compression>,
    /// `message.timestamp.type`
    pub message_timestamp_type: TimestampType,
    /// `message.timestamp.before.max.ms`
    pub message_timestamp_before_max_ms: i64,
    /// `message.timestamp.after.max.ms`
    pub message_timestamp_after_max_ms: i64,
    /// `producer.id.expiration.ms`, a setting of the broker.
    pub producer_id_expiration_ms: i64,
    /// How far ahead of the last batch a segment's space is reserved, so that
    /// a sync need not record a new file size each time; 0 for not at all.
    /// Segments are cut to size when they are full and when the log is closed.
    pub preallocate_bytes: u64,
    /// The most bytes that one batch may decompress to.
    pub max_decompressed_bytes: usize,
    /// Compare checksums when stored batches are read? Damage is then
    /// reported here, and not by each consumer.
    pub verify_reads: bool,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            segment_bytes: 1 << 30,
            segment_ms: 7 * 24 * 3_600_000,
            segment_index_bytes: 10 << 20,
            index_interval_bytes: 4096,
            retention_ms: 7 * 24 * 3_600_000,
            retention_bytes: -1,
            deletes: true,
            compacts: false,
            delete_retention_ms: 24 * 3_600_000,
            min_compaction_lag_ms: 0,
            max_compaction_lag_ms: i64::MAX,
            min_cleanable_dirty_ratio: 0.5,
            max_message_bytes: 1_048_588,
            compression: None,
            message_timestamp_type: TimestampType::CreateTime,
            message_timestamp_before_max_ms: i64::MAX,
            message_timestamp_after_max_ms: 3_600_000,
            producer_id_expiration_ms: 24 * 3_600_000,
            preallocate_bytes: 0,
            max_decompressed_bytes: 64 << 20,
            verify_reads: true,
        }
    }
}

impl LogConfig {
    /// How long a segment waits to be full. What is to be compacted in time
    /// must not be in the segment that is written.
    pub(super) fn longest_segment_ms(&self) -> i64 {
        match self.compacts && self.max_compaction_lag_ms > 0 {
            true => self.segment_ms.min(self.max_compaction_lag_ms),
            false => self.segment_ms,
        }
    }
}
