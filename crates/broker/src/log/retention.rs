//! Removing old records: by time, by size, and on request.

use super::names::{INDEX, LOG, SNAPSHOT, TIME_INDEX, TXN_INDEX, numbered};
use super::partition::PartitionLog;
use crate::files::remove_if_there;
use crate::{Error, ErrorKind, Result};

/// Why segments were removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// How many segments.
    pub segments: usize,
    /// How many bytes of batches.
    pub bytes: u64,
}

impl PartitionLog {
    /// Moves the log's start: records before `offset` are gone, also after a
    /// crash. The space is freed by [`apply_retention`](Self::apply_retention).
    ///
    /// # Errors
    /// [`ErrorKind::OffsetOutOfRange`] when `offset` is behind the stored one.
    pub fn delete_records(&mut self, offset: i64) -> Result<i64> {
        self.check_writable()?;
        if offset < 0 || offset > self.stored_offset() {
            return Err(Error::new(
                ErrorKind::OffsetOutOfRange,
                format!(
                    "records before offset {offset} cannot be deleted, the log is stored up to {}",
                    self.stored_offset()
                ),
            )
            .within(self.dir.display().to_string()));
        }
        self.move_start(offset)?;
        Ok(self.log_start)
    }

    fn move_start(&mut self, offset: i64) -> Result<()> {
        if offset <= self.log_start {
            return Ok(());
        }
        let before = self.log_start;
        self.log_start = offset;
        if let Err(error) = self.store_offsets() {
            self.log_start = before;
            return Err(self.fail_on_io(error));
        }
        self.epochs.cut_start(offset);
        // Recovery cuts it too, if this is not stored.
        let _ = self.epochs.store(&*self.files, &self.dir);
        Ok(())
    }

    /// Removes segments that are too old, too many, or before the log's start.
    pub fn apply_retention(&mut self, now_ms: i64) -> Result<Removed> {
        self.check_writable()?;
        let mut count = 0;
        if self.config.deletes {
            count = self.expired(now_ms).max(self.beyond_size());
        }
        if count == self.segments.len() {
            // The last one expired as well. A log always has one.
            self.roll(now_ms)?;
        }
        let stored = self.stored_offset();
        let whole = self.segments.len() - 1;
        // Never what no consumer could have read yet.
        let next_base = |index: usize| self.segments[index + 1].base_offset;
        let count = (0..count.min(whole))
            .take_while(|&index| next_base(index) <= stored)
            .count();
        if count > 0 {
            // Before the files go: recovery takes a missing first segment for
            // damage, unless the start lies behind it.
            self.move_start(self.segments[count].base_offset)?;
        }
        let before_start = (0..whole)
            .take_while(|&index| self.segments[index + 1].base_offset <= self.log_start)
            .count();
        self.remove_first(before_start)
    }

    fn expired(&self, now_ms: i64) -> usize {
        if self.config.retention_ms < 0 {
            return 0;
        }
        self.segments
            .iter()
            .take_while(|segment| {
                let newest = match segment.max_timestamp {
                    timestamp if timestamp >= 0 => timestamp,
                    _ => segment.opened_at,
                };
                !segment.is_empty() && now_ms.saturating_sub(newest) > self.config.retention_ms
            })
            .count()
    }

    fn beyond_size(&self) -> usize {
        let Ok(limit) = u64::try_from(self.config.retention_bytes) else {
            return 0;
        };
        let mut excess = self.size().saturating_sub(limit);
        let full = &self.segments[..self.segments.len() - 1];
        full.iter()
            .take_while(|segment| {
                let goes = excess > 0 && segment.size <= excess;
                excess = excess.saturating_sub(segment.size);
                goes
            })
            .count()
    }

    fn remove_first(&mut self, count: usize) -> Result<Removed> {
        let mut removed = Removed::default();
        for _ in 0..count {
            // The oldest first, so that what is left is whole.
            let base = self.segments[0].base_offset;
            for extension in [LOG, INDEX, TIME_INDEX, TXN_INDEX, SNAPSHOT] {
                let path = numbered(&self.dir, base, extension);
                remove_if_there(&*self.files, &path)
                    .map_err(|error| Error::io(format!("removing {}", path.display()), error))?;
            }
            let segment = self.segments.remove(0);
            removed.segments += 1;
            removed.bytes += segment.size;
            // A segment that is gone needs no sync. It was the first of those
            // that wait for one, if it was.
            self.unsynced
                .retain(|file| !std::sync::Arc::ptr_eq(file, &segment.file));
        }
        if count > 0 {
            self.files
                .sync_dir(&self.dir)
                .map_err(|error| Error::io(format!("syncing {}", self.dir.display()), error))?;
        }
        Ok(removed)
    }
}
