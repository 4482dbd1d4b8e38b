//! Opening a log: from what is on the disk to a log that can be used, or to one
//! that can be read up to the damage in it.
//!
//! After a clean stop nothing is looked at but names and sizes. Otherwise: what
//! lies before the synced offset was promised; if it is damaged, the log is
//! quarantined, and nothing is changed. What lies behind it may be torn, and is
//! cut to the last whole batch.

use std::path::Path;
use std::sync::Arc;

use super::config::{Durability, LogConfig};
use super::epochs::LeaderEpochs;
use super::inspect::{Damage, base_offsets, inspect};
use super::offsets::{NoOffsets, Offsets, OffsetsFile, SyncedFile};
use super::partition::PartitionLog;
use super::recover_state::{
    recover_epochs, recover_producers, remove_later_snapshots, store_aborted,
};
use super::segment::Segment;
use super::txn_index::TxnIndexSummary;
use super::validate::Codecs;
use super::walk::{remove_leftovers, walk};
use crate::files::Files;
use crate::{Error, ErrorKind, Result};

/// A log that was opened.
#[derive(Debug)]
pub enum Opened {
    /// It can be used.
    Ready(Box<PartitionLog>, Recovery),
    /// Stored records are damaged. No batch was changed. The log can be read
    /// up to the damage, and takes no writes: see [`PartitionLog::damages`].
    Quarantined(Box<PartitionLog>),
}

/// What was done to open a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// The torn tail that was cut off.
    pub cut: Option<Damage>,
    /// Segments behind the torn tail that were removed.
    pub removed_segments: usize,
    /// Segments whose indexes were made anew, the last one not counted.
    pub rebuilt_indexes: usize,
    /// Smaller things, for the broker's log.
    pub notes: Vec<String>,
}

/// How the process that used the log before has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LastStop {
    /// Nobody knows: what is on the disk must be looked at.
    #[default]
    Unknown,
    /// Every log of the directory was closed, and is as it was then:
    /// [`DataDirectory::last_stop`](super::DataDirectory::last_stop).
    Clean,
}

/// What Kafka's checkpoint files say of a log that Kafka wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct KafkaOffsets {
    /// The offset up to which it was synced.
    pub(super) recovery_point: Option<i64>,
    /// The offset that it starts at.
    pub(super) log_start: Option<i64>,
}

/// What is known before the batches are looked at.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) offsets: Offsets,
    /// What the file of the offsets has.
    stored: Option<Offsets>,
    /// Which segments have aborted transactions, as far as it is known.
    pub(super) aborted: Vec<TxnIndexSummary>,
    /// Did this crate write the log, or Kafka?
    pub(super) ours: bool,
    pub(super) epochs: Option<LeaderEpochs>,
    pub(super) notes: Vec<String>,
}

impl Known {
    pub(super) fn load(
        files: &dyn Files,
        dir: &Path,
        config: &LogConfig,
        bases: &[i64],
        kafka: KafkaOffsets,
    ) -> Result<Self> {
        let in_place = SyncedFile::load(files, dir)?;
        let mut notes = Vec::new();
        let first = bases.first().copied().unwrap_or(0);
        let (loaded, aborted) = match OffsetsFile::load(files, dir)? {
            Ok(file) => (Ok(file.offsets), file.aborted),
            Err(missing) => (Err(missing), Vec::new()),
        };
        let stored = loaded.ok();
        let ours = stored.is_some() || in_place.is_some();
        let mut offsets = loaded.unwrap_or_else(|missing| {
            if missing == NoOffsets::Damaged {
                notes.push(format!(
                    "the file of the log's start offset is damaged; the log starts at {first}"
                ));
            }
            let last = bases.last().copied().unwrap_or(0);
            let compacted = if config.compacts { last } else { 0 };
            Offsets {
                log_start: kafka.log_start.unwrap_or(0).max(first),
                // Kafka syncs a segment when it is full.
                synced: kafka.recovery_point.unwrap_or(last).max(last),
                cleaned: compacted,
                foreign: compacted,
            }
        });
        offsets.synced = offsets.synced.max(in_place.unwrap_or(0));
        let epochs = LeaderEpochs::load(files, dir)?;
        Ok(Self {
            offsets,
            stored,
            aborted,
            ours,
            epochs,
            notes,
        })
    }

    /// The epochs to compare batches with. Kafka may write its file after the
    /// batches; we write it before.
    pub(super) fn epochs_to_check(&self) -> Option<&LeaderEpochs> {
        self.epochs.as_ref().filter(|_| self.ours)
    }
}

impl PartitionLog {
    /// Opens the log in `dir`, or begins a new one there. The directory must
    /// exist, and be durable.
    ///
    /// It is looked at as after a crash.
    /// [`DataDirectory::open_log`](super::DataDirectory::open_log) knows when
    /// that is not needed.
    ///
    /// # Errors
    /// Those of the file system. Damage is no error: see [`Opened`].
    pub fn open(
        files: Arc<dyn Files>,
        dir: &Path,
        config: LogConfig,
        now_ms: i64,
    ) -> Result<Opened> {
        Self::open_after_crash(files, dir, config, KafkaOffsets::default(), now_ms)
    }

    pub(super) fn open_after_crash(
        files: Arc<dyn Files>,
        dir: &Path,
        config: LogConfig,
        kafka: KafkaOffsets,
        now_ms: i64,
    ) -> Result<Opened> {
        remove_leftovers(&*files, dir)?;
        let bases = base_offsets(&*files, dir)?;
        let known = Known::load(&*files, dir, &config, &bases, kafka)?;
        match Self::try_open(&files, dir, &config, &known, &bases, now_ms) {
            Ok(Some((log, recovery))) => return Ok(Opened::Ready(Box::new(log), recovery)),
            Ok(None) => {}
            // Met where a full segment was read for another purpose.
            Err(error) if error.kind() == ErrorKind::Damaged => {}
            Err(error) => return Err(error),
        }
        let found = inspect(&*files, dir, known.offsets, known.epochs_to_check())?;
        let log = Self::open_quarantined(files, dir, config, &known, found, now_ms)?;
        Ok(Opened::Quarantined(Box::new(log)))
    }

    /// `None` if stored records are damaged.
    fn try_open(
        files: &Arc<dyn Files>,
        dir: &Path,
        config: &LogConfig,
        known: &Known,
        bases: &[i64],
        now_ms: i64,
    ) -> Result<Option<(Self, Recovery)>> {
        let mut recovery = Recovery {
            notes: known.notes.clone(),
            ..Recovery::default()
        };
        let files = files.clone();
        let walked = walk(&*files, dir, config, known, bases, now_ms, &mut recovery)?;
        let Some(mut segments) = walked else {
            return Ok(None);
        };
        if segments.is_empty() {
            segments.push(Segment::create(
                &*files,
                dir,
                known.offsets.log_start,
                now_ms,
            )?);
        }
        let next_offset = segments.last().expect("not empty").end_offset()?;
        let epochs = recover_epochs(&*files, dir, known, &segments, next_offset, &mut recovery)?;
        remove_later_snapshots(&*files, dir, next_offset)?;
        let producers = recover_producers(&*files, dir, &mut segments, known, config)?;
        store_aborted(&*files, dir, &mut segments)?;

        // After `kill -9` the tail may be in the page cache alone. It must be
        // on the disk before anybody is told that it is.
        let syncing = |error| Error::io(format!("syncing {}", dir.display()), error);
        if config.durability != Durability::Memory {
            for segment in &segments {
                if segment.end_offset()? > known.offsets.synced || segment.is_empty() {
                    segment.file.sync().map_err(syncing)?;
                }
            }
        }
        files.sync_dir(dir).map_err(syncing)?;
        let mut log = PartitionLog {
            files,
            dir: dir.to_owned(),
            codecs: Codecs::new(config),
            config: config.clone(),
            segments,
            producers,
            epochs,
            log_start: known.offsets.log_start.min(next_offset),
            next_offset,
            synced: next_offset,
            synced_file: SyncedFile::default(),
            unsynced: Vec::new(),
            stored: known.stored.unwrap_or(Offsets {
                log_start: -1,
                ..known.offsets
            }),
            stored_aborted: known.aborted.clone(),
            clean_stop: None,
            damages: Vec::new(),
            failed: None,
        };
        if let Err(error) = log.store_offsets() {
            // On a full disk a log can be read all the same.
            recovery.notes.push(error.to_string());
        }
        Ok(Some((log, recovery)))
    }
}
