//! Logs with damage in them: they are read up to the damage, and not written.

use std::path::Path;
use std::sync::Arc;

use super::config::LogConfig;
use super::index::Check;
use super::inspect::{Damage, DamageKind, Inspection, base_offsets};
use super::offsets::{Offsets, SyncedFile};
use super::open::Known;
use super::partition::PartitionLog;
use super::producers::Producers;
use super::recover_state::recover_producers;
use super::segment::Segment;
use super::validate::Codecs;
use crate::files::{Files, MemoryFiles, Mode};
use crate::{Error, ErrorKind, Result};

impl PartitionLog {
    /// What is damaged, if the log is quarantined: the partitions to count, to
    /// name and to repair. Records before the first of them can be read.
    ///
    /// [`RepairPlan`](super::RepairPlan) says what repair would drop.
    pub fn damages(&self) -> &[Damage] {
        &self.damages
    }

    /// Quarantines the log after a read at `offset` found damage: an
    /// [`ErrorKind::Damaged`] of [`begin_read`](Self::begin_read),
    /// [`read`](Self::read) or [`PendingRead::run`](super::PendingRead::run).
    /// Nothing is changed on the disk. Other errors are ignored.
    pub fn quarantine(&mut self, offset: i64, error: &Error) {
        if error.kind() != ErrorKind::Damaged {
            return;
        }
        let known = self.damages.first();
        if known.is_some_and(|first| first.from_offset <= offset) {
            return;
        }
        let segment = self.segments[self.segment_of(offset)].base_offset;
        self.quarantine_from(vec![Damage {
            kind: DamageKind::Unreadable,
            segment,
            position: 0,
            bytes: 0,
            from_offset: offset,
            to_offset: None,
            reason: error.to_string(),
        }]);
    }

    fn quarantine_from(&mut self, damages: Vec<Damage>) {
        if let Some(first) = damages.first() {
            self.failed = Some(format!("stored records are damaged: {first}"));
        }
        self.damages = damages;
    }

    /// Is there damage at or behind `offset`, so that no more can be read?
    pub(super) fn check_readable(&self, offset: i64) -> Result<()> {
        match self.damages.first() {
            Some(first) if offset >= first.from_offset => Err(self.quarantined()),
            _ => Ok(()),
        }
    }

    /// Records before it can be read.
    pub(super) fn readable_end(&self) -> i64 {
        match self.damages.first() {
            Some(first) => first.from_offset,
            None => self.next_offset,
        }
    }

    #[cold]
    pub(super) fn quarantined(&self) -> Error {
        let reason = match self.damages.first() {
            Some(first) => format!("quarantined, stored records are damaged: {first}"),
            None => "quarantined".into(),
        };
        Error::new(ErrorKind::Damaged, reason).within(self.dir.display().to_string())
    }

    /// The log up to the first damage. Writes nothing.
    pub(super) fn open_quarantined(
        files: Arc<dyn Files>,
        dir: &Path,
        config: LogConfig,
        known: &Known,
        found: Inspection,
        now_ms: i64,
    ) -> Result<Self> {
        let Offsets {
            log_start, synced, ..
        } = known.offsets;
        let mut damages = found.damages;
        if damages.is_empty() {
            // What was found when the log was opened is not found again: a
            // disk that answers now so, now so.
            damages.push(Damage {
                kind: DamageKind::Unreadable,
                segment: log_start,
                position: 0,
                bytes: 0,
                from_offset: log_start,
                to_offset: None,
                reason: "damage that was found once, and not when it was looked for".into(),
            });
        }
        let readable_end = damages[0].from_offset;
        let mut segments = readable_segments(&*files, dir, &config, known, readable_end, now_ms)?;
        if segments.is_empty() {
            let file = MemoryFiles::new()
                .open(Path::new("/none"), Mode::CreateNew)
                .map_err(|error| Error::io("opening a file in memory", error))?;
            segments.push(Segment::of_file(log_start, dir, file, now_ms));
        }
        // Nobody appends. Which transactions were aborted matters to readers.
        let producers = match recover_producers(&*files, dir, &mut segments, known, &config) {
            Ok(producers) => producers,
            Err(error) if error.kind() == ErrorKind::Damaged => Producers::default(),
            Err(error) => return Err(error),
        };
        let mut log = Self {
            files,
            dir: dir.to_owned(),
            codecs: Codecs::new(&config),
            config,
            segments,
            producers,
            epochs: known.epochs.clone().unwrap_or_default(),
            log_start: known.offsets.log_start,
            next_offset: found.end.max(synced).max(readable_end),
            synced,
            synced_file: SyncedFile::default(),
            unsynced: Vec::new(),
            stored: known.offsets,
            stored_aborted: Vec::new(),
            clean_stop: None,
            damages: Vec::new(),
            failed: None,
        };
        log.quarantine_from(damages);
        Ok(log)
    }
}

fn readable_segments(
    files: &dyn Files,
    dir: &Path,
    config: &LogConfig,
    known: &Known,
    readable_end: i64,
    now_ms: i64,
) -> Result<Vec<Segment>> {
    let bases = base_offsets(files, dir)?;
    let mut segments = Vec::new();
    for (index, &base) in bases.iter().enumerate() {
        let next_base = bases.get(index + 1).copied();
        if base >= readable_end {
            break;
        }
        if next_base.is_some_and(|next| next <= known.offsets.log_start) {
            continue;
        }
        let mut segment = Segment::open(files, dir, base, now_ms)?;
        let whole = next_base.is_some_and(|next| next <= readable_end);
        if whole && segment.open_indexes(files, dir, Check::All)? {
            segment.size = segment.allocated;
        } else {
            segment.rebuild(config.index_interval_bytes, |batch| {
                match batch.header.next_offset() <= readable_end {
                    true => Ok(()),
                    false => Err("not readable from here on".into()),
                }
            })?;
        }
        if !segment.is_empty() {
            segments.push(segment);
        }
    }
    Ok(segments)
}
