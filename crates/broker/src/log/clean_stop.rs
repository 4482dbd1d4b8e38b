//! What a clean stop leaves for the next start, which then scans nothing.
//!
//! It stands behind the offsets in `copart-offsets`, so that it is gone when
//! they are written again. It is believed only when the whole directory was
//! stopped cleanly, and when the segments are those, of those sizes. Damage
//! that came since shows when it is read.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use super::config::LogConfig;
use super::epochs::LeaderEpochs;
use super::index::Check;
use super::names::{LOG, SWAP_SUFFIX, is_leftover, offset_of};
use super::offsets::{OffsetsFile, SyncedFile};
use super::partition::PartitionLog;
use super::producers::ProducerBatch;
use super::segment::Segment;
use super::snapshot;
use super::validate::Codecs;
use crate::files::Files;
use crate::{Error, Result};

/// A log as it was closed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CleanStop {
    /// The offset that the next record gets.
    pub(super) end: i64,
    segments: Vec<ClosedSegment>,
    /// Producers' batches, the oldest first, without the last ones: snapshots
    /// have room for these alone.
    batches: Vec<(i64, ProducerBatch)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ClosedSegment {
    base_offset: i64,
    size: u64,
    max_timestamp: i64,
    offset_of_max_timestamp: i64,
    /// -1 for none.
    first_timestamp: i64,
}

impl CleanStop {
    pub(super) fn of(log: &PartitionLog) -> Self {
        let mut batches = Vec::new();
        for state in log.producers.iter() {
            let before_last = state.batches.len().saturating_sub(1);
            let older = state.batches.iter().take(before_last);
            batches.extend(older.map(|batch| (state.id, *batch)));
        }
        let segments = log.segments.iter().map(|segment| ClosedSegment {
            base_offset: segment.base_offset,
            size: segment.size,
            max_timestamp: segment.max_timestamp,
            offset_of_max_timestamp: segment.offset_of_max_timestamp,
            first_timestamp: segment.first_timestamp.unwrap_or(-1),
        });
        Self {
            end: log.next_offset,
            segments: segments.collect(),
            batches,
        }
    }

    /// As lines of the file.
    pub(super) fn text(&self) -> String {
        let mut text = format!("end {}\n", self.end);
        for segment in &self.segments {
            let ClosedSegment {
                base_offset,
                size,
                max_timestamp,
                offset_of_max_timestamp,
                first_timestamp,
            } = segment;
            let _ = writeln!(
                text,
                "segment {base_offset} {size} {max_timestamp} {offset_of_max_timestamp} \
                 {first_timestamp}"
            );
        }
        for (id, batch) in &self.batches {
            let ProducerBatch {
                last_sequence,
                last_offset,
                offset_delta,
                timestamp,
            } = batch;
            let _ = writeln!(
                text,
                "batch {id} {last_sequence} {last_offset} {offset_delta} {timestamp}"
            );
        }
        text
    }

    /// `None` if these are no such lines.
    pub(super) fn parse<'a>(lines: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut lines = lines.peekable();
        let mut stop = Self {
            end: lines.next()?.strip_prefix("end ")?.parse().ok()?,
            ..Self::default()
        };
        for line in lines {
            let mut words = line.split(' ');
            match words.next()? {
                "segment" => stop.segments.push(ClosedSegment {
                    base_offset: words.next()?.parse().ok()?,
                    size: words.next()?.parse().ok()?,
                    max_timestamp: words.next()?.parse().ok()?,
                    offset_of_max_timestamp: words.next()?.parse().ok()?,
                    first_timestamp: words.next()?.parse().ok()?,
                }),
                "batch" => stop.batches.push((
                    words.next()?.parse().ok()?,
                    ProducerBatch {
                        last_sequence: words.next()?.parse().ok()?,
                        last_offset: words.next()?.parse().ok()?,
                        offset_delta: words.next()?.parse().ok()?,
                        timestamp: words.next()?.parse().ok()?,
                    },
                )),
                _ => return None,
            }
        }
        Some(stop)
    }
}

/// Opens a log that was closed, by names and sizes alone. `None` if it is not
/// as it was closed.
pub(super) fn open(
    files: &Arc<dyn Files>,
    dir: &Path,
    config: &LogConfig,
    now_ms: i64,
) -> Result<Option<PartitionLog>> {
    let names = match files.list(dir) {
        Ok(names) => names,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io(format!("listing {}", dir.display()), error)),
    };
    let Ok(OffsetsFile {
        offsets,
        aborted,
        stop: Some(stop),
    }) = OffsetsFile::load(&**files, dir)?
    else {
        return Ok(None);
    };
    // Names are sorted, and so are their offsets.
    let bases = names.iter().filter_map(|name| offset_of(name, LOG));
    let closed = stop.segments.iter().map(|segment| segment.base_offset);
    if names
        .iter()
        .any(|name| is_leftover(name) || name.ends_with(SWAP_SUFFIX))
        || !bases.eq(closed)
    {
        return Ok(None);
    }
    let mut segments = Vec::with_capacity(stop.segments.len());
    for closed in &stop.segments {
        let mut segment = Segment::open(&**files, dir, closed.base_offset, now_ms)?;
        if segment.allocated != closed.size || !segment.open_indexes(&**files, dir, Check::Size)? {
            return Ok(None);
        }
        let summary = aborted
            .iter()
            .find(|index| index.segment == closed.base_offset);
        if summary.is_some() && !segment.load_aborted(&**files, dir, summary)? {
            return Ok(None);
        }
        segment.aborted_stored = true;
        segment.size = closed.size;
        segment.max_timestamp = closed.max_timestamp;
        segment.offset_of_max_timestamp = closed.offset_of_max_timestamp;
        segment.first_timestamp = (closed.first_timestamp >= 0).then_some(closed.first_timestamp);
        segments.push(segment);
    }
    let Some(epochs) = LeaderEpochs::load(&**files, dir)? else {
        return Ok(None);
    };
    let Some(mut producers) = snapshot::load(&**files, dir, stop.end)? else {
        return Ok(None);
    };
    for (id, batch) in stop.batches.iter().rev() {
        producers.found_older_batch(*id, *batch);
    }
    if segments.is_empty() || offsets.synced != stop.end || epochs.end() > stop.end {
        return Ok(None);
    }
    Ok(Some(PartitionLog {
        files: files.clone(),
        dir: dir.to_owned(),
        codecs: Codecs::new(config),
        config: config.clone(),
        segments,
        producers,
        epochs,
        log_start: offsets.log_start,
        next_offset: stop.end,
        synced: stop.end,
        synced_file: SyncedFile::default(),
        unsynced: Vec::new(),
        stored: offsets,
        stored_aborted: aborted,
        clean_stop: Some(stop),
        damages: Vec::new(),
        failed: None,
    }))
}
