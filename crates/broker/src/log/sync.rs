//! Making batches durable, and beginning new segments.

use std::sync::Arc;

use super::clean_stop::CleanStop;
use super::config::Durability;
use super::names::{SNAPSHOT, numbered, offset_of};
use super::offsets::{Offsets, OffsetsFile};
use super::partition::PartitionLog;
use super::segment::Segment;
use super::snapshot;
use super::txn_index::TxnIndexSummary;
use crate::files::{File, remove_if_there};
use crate::{Error, Result};

/// A sync to be done: it holds the files, so that it can run while others use
/// the log, and together with the syncs of other logs.
#[derive(Debug)]
#[must_use = "nothing is synced until it runs"]
pub struct PendingSync {
    full: Vec<Arc<dyn File>>,
    active: Arc<dyn File>,
    up_to: i64,
}

/// A sync that was done, for [`PartitionLog::finish_sync`].
#[derive(Debug)]
#[must_use = "the log must be told"]
pub struct FinishedSync {
    full: Vec<Arc<dyn File>>,
    up_to: i64,
    result: std::io::Result<()>,
}

impl PendingSync {
    /// Syncs the files. Blocks until the disk has everything.
    pub fn run(self) -> FinishedSync {
        let result = self.full.iter().try_for_each(|file| file.sync());
        FinishedSync {
            result: result.and_then(|()| self.active.sync()),
            full: self.full,
            up_to: self.up_to,
        }
    }
}

impl PartitionLog {
    /// What must be synced so that all batches that are here now are durable.
    /// `None` if they are.
    ///
    /// One sync at a time: batches that come while it runs are for the next.
    pub fn begin_sync(&self) -> Option<PendingSync> {
        if self.failed.is_some() || self.synced == self.next_offset {
            return None;
        }
        Some(PendingSync {
            full: self.unsynced.clone(),
            active: self.active().file.clone(),
            up_to: self.next_offset,
        })
    }

    /// Takes note of a sync, and returns the synced offset.
    ///
    /// # Errors
    /// When the sync failed. It is not tried again: the system may have
    /// dropped what it could not write, and would report success. From now on
    /// the log takes no writes.
    pub fn finish_sync(&mut self, sync: FinishedSync) -> Result<i64> {
        if let Err(error) = sync.result {
            let error = Error::io(format!("syncing {}", self.dir.display()), error);
            return Err(self.fail_on_io(error));
        }
        self.check_writable()?;
        // Not the one that was written meanwhile, even if it is full by now.
        self.unsynced
            .retain(|file| !sync.full.iter().any(|done| Arc::ptr_eq(done, file)));
        if sync.up_to > self.synced {
            self.synced = sync.up_to;
            self.producers.stored(self.stored_offset());
            // Without it recovery knows less, but nothing wrong.
            let _ = self.synced_file.write(&*self.files, &self.dir, self.synced);
        }
        Ok(self.synced)
    }

    /// Syncs all batches, and returns the synced offset.
    pub fn sync(&mut self) -> Result<i64> {
        self.check_writable()?;
        match self.begin_sync() {
            Some(pending) => self.finish_sync(pending.run()),
            None => Ok(self.synced),
        }
    }

    /// Begins a new segment, if the last one is not empty.
    pub fn roll(&mut self, now_ms: i64) -> Result<()> {
        self.check_writable()?;
        if self.active().is_empty() {
            return Ok(());
        }
        self.try_roll(now_ms)
            .map_err(|error| self.fail_on_io(error))
    }

    fn try_roll(&mut self, now_ms: i64) -> Result<()> {
        let durable = self.config.durability == Durability::Disk;
        if durable {
            // Damage in a full segment is never a torn tail.
            self.sync()?;
        }
        let (files, dir) = (self.files.clone(), self.dir.clone());
        let base_offset = self.next_offset;
        snapshot::store(&*files, &dir, base_offset, &self.producers)?;
        let interrupted = |error| {
            // A full disk. What is left over would be removed by recovery.
            let _ = remove_if_there(&*files, &numbered(&dir, base_offset, super::names::LOG));
            error
        };
        self.active_mut().seal(&*files, &dir)?;
        if durable {
            // The cut of reserved space.
            let file = self.active().file.clone();
            file.sync()
                .map_err(|error| Error::io(format!("syncing {}", dir.display()), error))?;
        }
        let segment = Segment::create(&*files, &dir, base_offset, now_ms).map_err(interrupted)?;
        files
            .sync_dir(&dir)
            .map_err(|error| Error::io(format!("syncing {}", dir.display()), error))
            .map_err(interrupted)?;
        self.store_offsets().map_err(interrupted)?;
        // From here on nothing fails for lack of space.
        if self.synced < base_offset {
            self.unsynced.push(self.active().file.clone());
        }
        // If a file cannot be opened now, the index stays in memory.
        let _ = self.active_mut().leave_memory(&*files, &dir);
        self.segments.push(segment);
        self.remove_old_snapshots();
        Ok(())
    }

    pub(super) fn store_offsets(&mut self) -> Result<()> {
        let offsets = Offsets {
            log_start: self.log_start,
            synced: self.synced,
            ..self.stored
        };
        self.store_offsets_as(offsets)
    }

    pub(super) fn store_offsets_as(&mut self, offsets: Offsets) -> Result<()> {
        let aborted = self.aborted_summaries();
        if offsets != self.stored || aborted != self.stored_aborted {
            let file = OffsetsFile {
                offsets,
                aborted,
                stop: None,
            };
            file.store(&*self.files, &self.dir)?;
            self.stored = offsets;
            self.stored_aborted = file.aborted;
            self.clean_stop = None;
        }
        Ok(())
    }

    fn aborted_summaries(&self) -> Vec<TxnIndexSummary> {
        let summaries = self.segments.iter().map(Segment::aborted_summary);
        summaries.flatten().collect()
    }

    /// Keeps the newest three, since one may be damaged, and the one at the
    /// begin of the segment that is written: recovery reads on from there.
    fn remove_old_snapshots(&self) {
        let Ok(names) = self.files.list(&self.dir) else {
            return;
        };
        let mut offsets: Vec<i64> = names
            .iter()
            .filter_map(|name| offset_of(name, SNAPSHOT))
            .collect();
        offsets.sort_unstable();
        let begin = self.active().base_offset;
        let old = offsets.iter().rev().skip(3);
        for offset in old.filter(|&&offset| offset != begin) {
            // One that stays is removed after the next roll.
            let _ = remove_if_there(&*self.files, &numbered(&self.dir, *offset, SNAPSHOT));
        }
    }

    /// Stores all that makes the next start quick, and syncs. The directory is
    /// then one that Kafka's tools read.
    ///
    /// When every log of a directory is closed without an error,
    /// [`DataDirectory::close`](super::DataDirectory::close) says so to the
    /// next start.
    pub fn close(mut self) -> Result<()> {
        self.check_writable()?;
        let stop = CleanStop::of(&self);
        if self.clean_stop.as_ref() == Some(&stop) && self.stored.log_start == self.log_start {
            // As it was opened.
            return Ok(());
        }
        if self.config.durability != Durability::Memory {
            self.sync()?;
        }
        let (files, dir) = (self.files.clone(), self.dir.clone());
        snapshot::store(&*files, &dir, self.next_offset, &self.producers)?;
        self.active_mut().seal(&*files, &dir)?;
        let doing = |error| Error::io(format!("syncing {}", dir.display()), error);
        self.active().file.sync().map_err(doing)?;
        if self.epochs.entries().is_empty() {
            // Otherwise the file is there.
            self.epochs.store(&*files, &dir)?;
        }
        let offsets = Offsets {
            log_start: self.log_start,
            synced: self.next_offset,
            ..self.stored
        };
        files.sync_dir(&dir).map_err(doing)?;
        let file = OffsetsFile {
            offsets,
            aborted: self.aborted_summaries(),
            // The seal has counted the last timestamps.
            stop: Some(CleanStop::of(&self)),
        };
        file.store(&*files, &dir)
    }
}
