//! Opening a log: from what is on the disk to a log that can be used, or to a
//! list of what is damaged.
//!
//! What lies before the synced offset was promised; if it is damaged, the log
//! is quarantined, and nothing is changed. What lies behind it may be torn, and
//! is cut to the last whole batch.

use std::path::Path;
use std::sync::Arc;

use copart_protocol::records::{Decompressor, RecordBatch, TransactionMarker};

use super::config::{Durability, LogConfig};
use super::epochs::LeaderEpochs;
use super::inspect::{Damage, DamageKind, Sequence, base_offsets, inspect};
use super::names::{CLEANED_SUFFIX, INDEX, LOG, SNAPSHOT, TIME_INDEX, numbered, offset_of};
use super::offsets::{NoOffsets, Offsets, SyncedFile};
use super::partition::PartitionLog;
use super::producers::Producers;
use super::scan::{Found, Located, Scan, is_zero};
use super::segment::Segment;
use super::snapshot;
use crate::files::{Files, TEMPORARY_SUFFIX, read_exact_at, remove_if_there};
use crate::{Error, ErrorKind, Result};

/// How far behind a snapshot batches are looked at, to find those that an
/// idempotent producer may send again.
const LOOK_BACK: u64 = 16 << 20;

/// A log that was opened.
#[derive(Debug)]
pub enum Opened {
    /// It can be used.
    Ready(Box<PartitionLog>, Recovery),
    /// Stored records are damaged. No batch was changed.
    Quarantined(Quarantine),
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

/// A log whose stored records are damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quarantine {
    /// All damage that a look at the whole log found.
    pub damages: Vec<Damage>,
}

/// What is known before the batches are looked at.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) offsets: Offsets,
    /// What the file of the offsets has.
    stored: Option<Offsets>,
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
    ) -> Result<Self> {
        let (_, in_place) = SyncedFile::open(files, dir)?;
        let mut notes = Vec::new();
        let first = bases.first().copied().unwrap_or(0);
        let loaded = Offsets::load(files, dir)?;
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
                log_start: first,
                // Kafka syncs a segment when it is full.
                synced: last,
                cleaned: compacted,
                foreign: compacted,
            }
        });
        offsets.synced = offsets.synced.max(in_place.unwrap_or(0));
        let epochs = LeaderEpochs::load(files, dir)?;
        Ok(Self {
            offsets,
            stored,
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
    /// # Errors
    /// Those of the file system. Damage is no error: see [`Opened`].
    pub fn open(
        files: Arc<dyn Files>,
        dir: &Path,
        config: LogConfig,
        now_ms: i64,
    ) -> Result<Opened> {
        remove_leftovers(&*files, dir)?;
        let bases = base_offsets(&*files, dir)?;
        let known = Known::load(&*files, dir, &config, &bases)?;
        match Self::try_open(&files, dir, &config, &known, &bases, now_ms) {
            Ok(Some((log, recovery))) => return Ok(Opened::Ready(Box::new(log), recovery)),
            Ok(None) => {}
            // Met where a full segment was read for another purpose.
            Err(error) if error.kind() == ErrorKind::Damaged => {}
            Err(error) => return Err(error),
        }
        let epochs = known.epochs_to_check();
        Ok(Opened::Quarantined(Quarantine {
            damages: inspect(&*files, dir, known.offsets, epochs)?,
        }))
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
        let producers = recover_producers(&*files, dir, &segments, next_offset, config)?;

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
        let (synced_file, _) = SyncedFile::open(&*files, dir)?;
        let mut log = PartitionLog {
            files,
            dir: dir.to_owned(),
            decompressor: Decompressor::new(config.max_decompressed_bytes),
            config: config.clone(),
            segments,
            producers,
            epochs,
            log_start: known.offsets.log_start.min(next_offset),
            next_offset,
            synced: next_offset,
            synced_file,
            unsynced: Vec::new(),
            stored: known.stored.unwrap_or(Offsets {
                log_start: -1,
                ..known.offsets
            }),
            failed: None,
        };
        if let Err(error) = log.store_offsets() {
            // On a full disk a log can be read all the same.
            recovery.notes.push(error.to_string());
        }
        Ok(Some((log, recovery)))
    }
}

/// Opens all segments, and looks for damage. `None` if stored records are
/// damaged.
fn walk(
    files: &dyn Files,
    dir: &Path,
    config: &LogConfig,
    known: &Known,
    bases: &[i64],
    now_ms: i64,
    recovery: &mut Recovery,
) -> Result<Option<Vec<Segment>>> {
    let Offsets {
        log_start,
        synced,
        foreign,
        ..
    } = known.offsets;
    let mut segments: Vec<Segment> = Vec::new();
    let mut expected = log_start;
    for (index, &base) in bases.iter().enumerate() {
        let last = index + 1 == bases.len();
        if bases.get(index + 1).is_some_and(|&next| next <= log_start) {
            remove_segment(files, dir, base)?;
            continue;
        }
        let mut segment = Segment::open(files, dir, base, now_ms)?;
        if segment.allocated == 0 && !last {
            // Left by an attempt to begin a segment on a full disk. If there
            // should be batches, the next segment does not follow.
            remove_segment(files, dir, base)?;
            continue;
        }
        let gaps = expected < foreign && !segments.is_empty();
        let missing = base > expected && !gaps;
        let misplaced = missing || base < expected && !segments.is_empty();
        let damage = if misplaced {
            Some(Damage {
                kind: DamageKind::Missing,
                segment: base,
                position: 0,
                bytes: segment.allocated,
                from_offset: expected,
                to_offset: Some(base),
                reason: format!("the segment does not begin with offset {expected}"),
            })
        } else {
            let next_base = bases.get(index + 1).copied();
            open_segment(&mut segment, files, dir, config, known, next_base, recovery)?
        };
        let Some(damage) = damage else {
            expected = segment.end_offset()?;
            segments.push(segment);
            continue;
        };
        if damage.from_offset < synced {
            return Ok(None);
        }
        // A torn tail: what is behind it goes first, so that a crash in
        // between leaves a torn tail again.
        for &later in bases[index + 1..].iter().rev() {
            remove_segment(files, dir, later)?;
            recovery.removed_segments += 1;
        }
        let syncing = |error| Error::io(format!("cutting {}", segment.path.display()), error);
        if misplaced {
            remove_segment(files, dir, base)?;
            recovery.removed_segments += 1;
            files.sync_dir(dir).map_err(syncing)?;
        } else {
            files.sync_dir(dir).map_err(syncing)?;
            let unused = segment.allocated - segment.size;
            let reserved = is_zero(&*segment.file, segment.size, segment.allocated)?;
            segment.file.set_size(segment.size).map_err(syncing)?;
            segment.file.sync().map_err(syncing)?;
            segment.allocated = segment.size;
            segments.push(segment);
            if reserved && unused > 0 && last {
                break;
            }
        }
        recovery.cut = Some(damage);
        break;
    }
    let end = match segments.last() {
        Some(segment) => segment.end_offset()?,
        None => log_start,
    };
    // Less than was stored: whole files are missing, or were cut.
    if end < synced {
        return Ok(None);
    }
    if let Some(last) = segments.last_mut()
        && matches!(last.offsets, super::index::Index::Stored { .. })
    {
        // It was full, and its successor is gone: it is written again.
        last.allocated = last.size;
        last.rebuild(config.index_interval_bytes, |_| Ok(()))?;
    }
    if end < log_start {
        // All was deleted, and the segment that begins there was not durable.
        for segment in segments.drain(..).rev() {
            remove_segment(files, dir, segment.base_offset)?;
        }
    }
    Ok(Some(segments))
}

/// Opens one segment, and checks it: the last one as a whole, the others at
/// their end, or as a whole where an index is missing or does not fit.
fn open_segment(
    segment: &mut Segment,
    files: &dyn Files,
    dir: &Path,
    config: &LogConfig,
    known: &Known,
    next_base: Option<i64>,
    recovery: &mut Recovery,
) -> Result<Option<Damage>> {
    if let Some(next_base) = next_base
        && segment.open_indexes(files, dir)?
        && tail_is_sound(segment, known.offsets, next_base)?
    {
        segment.size = segment.allocated;
        return Ok(None);
    }
    let mut sequence = Sequence {
        expected: segment.base_offset,
        cleaned: known.offsets.cleaned,
        epochs: known.epochs_to_check(),
    };
    let mut found = DamageKind::Unreadable;
    let reason = segment.rebuild(config.index_interval_bytes, |batch| {
        sequence.take(batch).map_err(|(kind, reason)| {
            found = kind;
            reason
        })
    })?;
    let expected = sequence.expected;
    let short = next_base.is_some_and(|next| expected < next && expected >= known.offsets.foreign);
    let reason = match reason {
        None if short => {
            found = DamageKind::Missing;
            "the segment ends before the next one begins".into()
        }
        None => {
            if next_base.is_some() {
                segment.seal(files, dir)?;
                segment.leave_memory(files, dir)?;
                recovery.rebuilt_indexes += 1;
            }
            return Ok(None);
        }
        Some(reason) => reason,
    };
    Ok(Some(Damage {
        kind: found,
        segment: segment.base_offset,
        position: segment.size,
        bytes: segment.allocated - segment.size,
        from_offset: expected,
        to_offset: next_base,
        reason,
    }))
}

/// Do the batches behind the last index entry lead to the next segment?
fn tail_is_sound(segment: &Segment, offsets: Offsets, next_base: i64) -> Result<bool> {
    let mut expected = segment.base_offset;
    let mut position = 0;
    if let Some(entry) = segment.offsets.last()? {
        position = u64::from(entry.position.cast_unsigned());
        if position >= segment.allocated {
            return Ok(false);
        }
        let scan = Scan::verified(&*segment.file, position, segment.allocated).next()?;
        let Found::Batch(batch) = scan else {
            return Ok(false);
        };
        let last_offset = segment.base_offset + i64::from(entry.relative_offset);
        if batch.header.last_offset() != last_offset {
            return Ok(false);
        }
        expected = last_offset + 1;
        position = batch.end();
    }
    let mut max_timestamp = -1;
    let mut scan = Scan::verified(&*segment.file, position, segment.allocated);
    loop {
        match scan.next()? {
            Found::Damage(_) => return Ok(false),
            Found::End => {
                // A time index without its last entries would hide records.
                return Ok(max_timestamp <= segment.max_timestamp
                    && (expected == next_base || expected < next_base.min(offsets.foreign)));
            }
            Found::Batch(batch) => {
                let base = batch.header.base_offset;
                if base < expected || base > expected && expected >= offsets.cleaned {
                    return Ok(false);
                }
                max_timestamp = max_timestamp.max(batch.header.max_timestamp);
                expected = batch.header.next_offset();
            }
        }
    }
}

fn recover_epochs(
    files: &dyn Files,
    dir: &Path,
    known: &Known,
    segments: &[Segment],
    next_offset: i64,
    recovery: &mut Recovery,
) -> Result<LeaderEpochs> {
    let mut epochs = match &known.epochs {
        Some(epochs) => epochs.clone(),
        None => LeaderEpochs::default(),
    };
    // All batches when the file is missing. Kafka's file may lack the newest.
    let from = match (&known.epochs, known.ours) {
        (Some(_), true) => segments.len(),
        (Some(_), false) => segments.len() - 1,
        (None, _) => 0,
    };
    for segment in &segments[from..] {
        each_batch(segment, 0, |batch| {
            epochs.begin(
                batch.header.partition_leader_epoch,
                batch.header.base_offset,
            );
            Ok(())
        })?;
    }
    epochs.cut_end(next_offset);
    epochs.cut_start(known.offsets.log_start);
    if known.epochs.as_ref() != Some(&epochs) {
        if known.epochs.is_none() && !epochs.entries().is_empty() {
            recovery
                .notes
                .push("leader epochs were read from the batches".into());
        }
        epochs.store(files, dir)?;
    }
    Ok(epochs)
}

/// From the newest sound snapshot and the batches behind it.
fn recover_producers(
    files: &dyn Files,
    dir: &Path,
    segments: &[Segment],
    next_offset: i64,
    config: &LogConfig,
) -> Result<Producers> {
    let names = files
        .list(dir)
        .map_err(|error| Error::io(format!("listing {}", dir.display()), error))?;
    let mut snapshots: Vec<i64> = names
        .iter()
        .filter_map(|name| offset_of(name, SNAPSHOT))
        .collect();
    snapshots.sort_unstable();
    let mut start = segments[0].base_offset;
    let mut producers = Producers::default();
    for &offset in snapshots.iter().rev() {
        if offset > next_offset {
            // Of a tail that was cut: other batches will have its offsets.
            remove_if_there(files, &numbered(dir, offset, SNAPSHOT))
                .map_err(|error| Error::io(format!("cleaning {}", dir.display()), error))?;
            continue;
        }
        if offset < start {
            break;
        }
        if let Some(loaded) = snapshot::load(files, dir, offset)? {
            producers = loaded;
            start = offset;
            look_back(&mut producers, segments, offset)?;
            break;
        }
    }
    for segment in segments {
        if segment.base_offset + i64::from(i32::MAX) < start && segment.size > 0
            || segment.end_offset()? <= start
        {
            continue;
        }
        let from = segment
            .find(start)?
            .map_or(segment.size, |first| first.position);
        each_batch(segment, from, |batch| {
            let marker = match batch.header.attributes.is_control() {
                true => marker_of(segment, batch, config)?,
                false => None,
            };
            producers.appended(&batch.header, marker);
            Ok(())
        })?;
    }
    Ok(producers)
}

fn look_back(producers: &mut Producers, segments: &[Segment], offset: i64) -> Result<()> {
    if producers.len() == 0 {
        return Ok(());
    }
    let mut left = LOOK_BACK;
    for segment in segments.iter().rev() {
        if segment.base_offset >= offset || left == 0 {
            continue;
        }
        let end = segment
            .find(offset)?
            .map_or(segment.size, |first| first.position);
        let from = segment.position_before(end.saturating_sub(left))?;
        let mut headers = Vec::new();
        let mut scan = Scan::headers(&*segment.file, from, end);
        while let Found::Batch(batch) = scan.next()? {
            headers.push(batch.header);
        }
        for header in headers.iter().rev() {
            producers.found_older(header);
        }
        left = left.saturating_sub(end);
    }
    Ok(())
}

/// Only the last segment was read as a whole before. What producers and epochs
/// are made from must not be damaged.
fn each_batch(
    segment: &Segment,
    from: u64,
    mut each: impl FnMut(&Located) -> Result<()>,
) -> Result<()> {
    let mut scan = Scan::verified(&*segment.file, from, segment.size);
    while let Some(batch) = segment.next_of(&mut scan)? {
        each(&batch)?;
    }
    Ok(())
}

fn marker_of(segment: &Segment, batch: &Located, config: &LogConfig) -> Result<Option<i32>> {
    let damaged =
        |error: copart_protocol::Error| segment.damaged(batch.position, &error.to_string());
    let mut bytes = vec![0; batch.header.size];
    read_exact_at(&*segment.file, &mut bytes, batch.position)
        .map_err(|error| Error::io(format!("reading {}", segment.path.display()), error))?;
    let whole = RecordBatch::decode(bytes.into()).map_err(damaged)?;
    let records = whole
        .records(&mut Decompressor::new(config.max_decompressed_bytes))
        .map_err(damaged)?;
    let Some(record) = records.iter().next() else {
        return Ok(None);
    };
    let marker = TransactionMarker::decode(&record.map_err(damaged)?).map_err(damaged)?;
    Ok(marker.map(|marker| marker.coordinator_epoch))
}

fn remove_leftovers(files: &dyn Files, dir: &Path) -> Result<()> {
    let doing = |error| Error::io(format!("cleaning {}", dir.display()), error);
    for name in files.list(dir).map_err(doing)? {
        if name.ends_with(TEMPORARY_SUFFIX) || name.ends_with(CLEANED_SUFFIX) {
            remove_if_there(files, &dir.join(name)).map_err(doing)?;
        }
    }
    Ok(())
}

fn remove_segment(files: &dyn Files, dir: &Path, base: i64) -> Result<()> {
    for extension in [LOG, INDEX, TIME_INDEX] {
        let path = numbered(dir, base, extension);
        remove_if_there(files, &path)
            .map_err(|error| Error::io(format!("removing {}", path.display()), error))?;
    }
    Ok(())
}
