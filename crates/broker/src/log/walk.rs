//! Walking through all segments when a log is opened after a crash: the torn
//! tail is cut, and damage before it is found.

use std::path::Path;

use super::config::LogConfig;
use super::index::Check;
use super::inspect::{Damage, DamageKind, Sequence};
use super::names::{INDEX, LOG, TIME_INDEX, TXN_INDEX, is_leftover, numbered};
use super::offsets::Offsets;
use super::open::{Known, Recovery};
use super::scan::{Found, Scan, is_zero};
use super::segment::Segment;
use super::swap::finish_swaps;
use crate::files::{Files, remove_if_there};
use crate::{Error, Result};

/// Opens all segments, and looks for damage. `None` if stored records are
/// damaged.
pub(super) fn walk(
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
        // Kafka's cleaner empties whole segments, also the first.
        let gaps = expected < foreign;
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
        && last.offsets.is_stored()
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
        && segment.open_indexes(files, dir, Check::All)?
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
    if let Some(entry) = segment.offsets.last() {
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

pub(super) fn remove_leftovers(files: &dyn Files, dir: &Path) -> Result<()> {
    let doing = |error| Error::io(format!("cleaning {}", dir.display()), error);
    let names = files.list(dir).map_err(doing)?;
    for name in &names {
        if is_leftover(name) {
            remove_if_there(files, &dir.join(name)).map_err(doing)?;
        }
    }
    finish_swaps(files, dir, &names)
}

fn remove_segment(files: &dyn Files, dir: &Path, base: i64) -> Result<()> {
    for extension in [LOG, INDEX, TIME_INDEX, TXN_INDEX] {
        let path = numbered(dir, base, extension);
        remove_if_there(files, &path)
            .map_err(|error| Error::io(format!("removing {}", path.display()), error))?;
    }
    Ok(())
}
