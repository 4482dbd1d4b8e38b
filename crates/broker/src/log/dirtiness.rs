//! Which log the cleaner should take next.

use super::partition::PartitionLog;
use crate::Result;

/// How much a log needs to be compacted. Of several, the largest comes first:
/// the one that is overdue longest, then the one with the largest dirty part.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Dirtiness {
    /// For how long `max.compaction.lag.ms` has been exceeded; 0 if it has not.
    pub overdue_ms: i64,
    /// The part of the log that was not compacted yet, from 0 to 1, of what
    /// may be.
    pub ratio: f64,
}

impl PartitionLog {
    /// Asks whether the log should be compacted now, and how badly. `None` if
    /// not: by `cleanup.policy`, `min.cleanable.dirty.ratio`,
    /// `min.compaction.lag.ms` and `max.compaction.lag.ms`.
    pub fn dirtiness(&self, now_ms: i64) -> Result<Option<Dirtiness>> {
        if !self.config.compacts || self.check_writable().is_err() {
            return Ok(None);
        }
        let segments = &self.segments[..self.compactable(now_ms)];
        let cleaned = self.stored.cleaned;
        let clean = segments.partition_point(|segment| segment.base_offset < cleaned);
        let bytes = |part: &[super::segment::Segment]| {
            let sizes = part.iter().map(|segment| segment.size);
            sizes.sum::<u64>() as f64
        };
        let (clean, dirty) = segments.split_at(clean);
        let dirty_bytes = bytes(dirty);
        if dirty_bytes == 0.0 {
            return Ok(None);
        }
        let mut overdue_ms = 0;
        if self.config.max_compaction_lag_ms < i64::MAX {
            let limit = now_ms.saturating_sub(self.config.max_compaction_lag_ms.max(0));
            for segment in dirty {
                let first = segment.find(segment.base_offset)?;
                let time = first.map_or(-1, |first| first.header.max_timestamp);
                if time > 0 {
                    overdue_ms = overdue_ms.max(limit.saturating_sub(time));
                }
            }
        }
        let ratio = dirty_bytes / (dirty_bytes + bytes(clean));
        let due = overdue_ms > 0 || ratio > self.config.min_cleanable_dirty_ratio;
        Ok(due.then_some(Dirtiness { overdue_ms, ratio }))
    }
}
