//! Closing all logs.

use std::sync::Arc;

use super::several::several_at_a_time;
use crate::Result;
use crate::log::{Checkpoint, PartitionLog};
use crate::partitions::Partition;

/// What became of logs that were closed.
pub(super) struct Closed {
    pub(super) result: Result<()>,
    /// All were there, and had not failed before.
    pub(super) whole: bool,
    pub(super) checkpoints: Vec<Checkpoint>,
}

pub(super) fn close_all(partitions: &[Arc<Partition>]) -> Closed {
    let mut all = Closed {
        result: Ok(()),
        whole: true,
        checkpoints: Vec::new(),
    };
    for closed in several_at_a_time(partitions, |partition| close(partition)) {
        all.result = all.result.and(closed.result);
        all.whole &= closed.whole;
        all.checkpoints.extend(closed.checkpoints);
    }
    all
}

fn close(partition: &Partition) -> Closed {
    let Some(log) = partition.close() else {
        return Closed {
            result: Ok(()),
            whole: false,
            checkpoints: Vec::new(),
        };
    };
    let checkpoints = vec![checkpoint(partition, &log)];
    // What it could not store was reported when it failed.
    let whole = log.failure().is_none();
    let result = if whole { log.close() } else { Ok(()) };
    Closed {
        result,
        whole,
        checkpoints,
    }
}

/// What Kafka's checkpoint files have of a log.
pub(super) fn checkpoint(partition: &Partition, log: &PartitionLog) -> Checkpoint {
    Checkpoint {
        topic: partition.topic().name.clone(),
        partition: partition.index(),
        recovery_point: log.synced_offset(),
        high_watermark: log.stored_offset(),
        log_start: log.log_start_offset(),
        cleaned: log.cleaned_offset(),
    }
}
