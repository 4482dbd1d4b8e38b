//! Waiting until a coordinator's records are stored.

use std::sync::Arc;
use std::time::Duration;

use copart_protocol::ErrorCode;
use tokio::time::{Instant, timeout_at};

use crate::partitions::{Partition, Watch};

/// `offsets.commit.timeout.ms`, as it is by default.
const PATIENCE: Duration = Duration::from_secs(5);

/// What has to be stored before an answer may leave.
#[derive(Debug)]
pub(super) struct Stored {
    partition: Arc<Partition>,
    /// All before this offset.
    offset: i64,
}

impl Stored {
    pub(super) fn new(partition: Arc<Partition>, offset: i64) -> Self {
        Self { partition, offset }
    }

    /// Returns when it is stored. Cancel-safe.
    pub(super) async fn wait(self) -> Result<(), ErrorCode> {
        if let Some(stored) = self.is_stored() {
            return stored;
        }
        let watch = Watch::new(vec![self.partition.clone()]);
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(stored) = self.is_stored() {
                return stored;
            }
            if timeout_at(deadline, watch.changed()).await.is_err() {
                return Err(for_members(ErrorCode::REQUEST_TIMED_OUT));
            }
        }
    }

    fn is_stored(&self) -> Option<Result<(), ErrorCode>> {
        let stored = self.partition.is_stored(self.offset)?;
        Some(stored.map_err(|refusal| for_members(refusal.code)))
    }
}

/// What members are told when their coordinator cannot write, as in Kafka: to wait for it, or to look for another.
pub(super) fn for_members(code: ErrorCode) -> ErrorCode {
    match code {
        ErrorCode::UNKNOWN_TOPIC_OR_PARTITION
        | ErrorCode::NOT_ENOUGH_REPLICAS
        | ErrorCode::REQUEST_TIMED_OUT => ErrorCode::COORDINATOR_NOT_AVAILABLE,
        ErrorCode::NOT_LEADER_OR_FOLLOWER
        | ErrorCode::FENCED_LEADER_EPOCH
        | ErrorCode::UNKNOWN_LEADER_EPOCH
        | ErrorCode::KAFKA_STORAGE_ERROR => ErrorCode::NOT_COORDINATOR,
        ErrorCode::MESSAGE_TOO_LARGE | ErrorCode::RECORD_LIST_TOO_LARGE => {
            ErrorCode::UNKNOWN_SERVER_ERROR
        }
        other => other,
    }
}
