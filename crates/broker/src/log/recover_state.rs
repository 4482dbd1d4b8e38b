//! What is known beside the records, after a crash: leader epochs and producers.

use std::path::Path;

use copart_protocol::records::{Decompressor, RecordBatch, TransactionMarker};

use super::config::LogConfig;
use super::epochs::LeaderEpochs;
use super::names::{SNAPSHOT, numbered, offset_of};
use super::open::{Known, Recovery};
use super::producers::Producers;
use super::scan::{Found, Located, Scan};
use super::segment::Segment;
use super::snapshot;
use super::txn_index;
use crate::files::{Files, read_exact_at, remove_if_there};
use crate::{Error, Result};

/// How far behind a snapshot batches are looked at, to find those that an
/// idempotent producer may send again.
const LOOK_BACK: u64 = 16 << 20;

pub(super) fn recover_epochs(
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

/// Removes snapshots of a tail that was cut: other batches will have its
/// offsets.
pub(super) fn remove_later_snapshots(
    files: &dyn Files,
    dir: &Path,
    next_offset: i64,
) -> Result<()> {
    for offset in snapshots(files, dir)? {
        if offset > next_offset {
            remove_if_there(files, &numbered(dir, offset, SNAPSHOT))
                .map_err(|error| Error::io(format!("cleaning {}", dir.display()), error))?;
        }
    }
    Ok(())
}

fn snapshots(files: &dyn Files, dir: &Path) -> Result<Vec<i64>> {
    let names = files
        .list(dir)
        .map_err(|error| Error::io(format!("listing {}", dir.display()), error))?;
    // Names are sorted, and so are their offsets.
    let offsets = names.iter().filter_map(|name| offset_of(name, SNAPSHOT));
    Ok(offsets.collect())
}

/// From the newest sound snapshot that is not behind the begin of the last
/// segment, and the batches from there on. They also tell which transactions
/// were aborted in the last segment. The files of the other segments tell that
/// of them; if one is not as it was written, all batches are read.
pub(super) fn recover_producers(
    files: &dyn Files,
    dir: &Path,
    segments: &mut [Segment],
    known: &Known,
    config: &LogConfig,
) -> Result<Producers> {
    let last = segments.last().map_or(0, |segment| segment.base_offset);
    let mut complete = true;
    for segment in segments.iter_mut() {
        let base = segment.base_offset;
        let summary = known.aborted.iter().find(|index| index.segment == base);
        if base < last {
            complete &= segment.load_aborted(files, dir, summary)?;
        }
    }
    let mut producers = Producers::default();
    let mut start = segments.first().map_or(0, |segment| segment.base_offset);
    let index_from = if complete { last } else { start };
    if complete {
        for offset in snapshots(files, dir)?.into_iter().rev() {
            if offset < start {
                break;
            }
            if offset <= last
                && let Some(loaded) = snapshot::load(files, dir, offset)?
            {
                producers = loaded;
                start = offset;
                look_back(&mut producers, segments, offset)?;
                break;
            }
        }
    }
    replay(&mut producers, segments, start, index_from, config)?;
    Ok(producers)
}

/// Shows producers the batches from `start` on. Aborted transactions are noted
/// in the segments from `index_from` on.
fn replay(
    producers: &mut Producers,
    segments: &mut [Segment],
    start: i64,
    index_from: i64,
    config: &LogConfig,
) -> Result<()> {
    for segment in segments {
        if segment.base_offset + i64::from(i32::MAX) < start && segment.size > 0
            || segment.end_offset()? <= start
        {
            continue;
        }
        let from = segment
            .find(start)?
            .map_or(segment.size, |first| first.position);
        let mut aborted = Vec::new();
        each_batch(segment, from, |batch| {
            let marker = match batch.header.attributes.is_control() {
                true => marker_of(segment, batch, config)?,
                false => None,
            };
            let ended = producers.appended(&batch.header, marker);
            if let Some(ended) = ended.filter(|ended| !ended.commit) {
                aborted.push(producers.aborted(ended));
            }
            Ok(())
        })?;
        if segment.base_offset >= index_from {
            segment.aborted = aborted;
            segment.aborted_stored = false;
        }
    }
    Ok(())
}

/// Writes the indexes of aborted transactions that were made anew.
pub(super) fn store_aborted(files: &dyn Files, dir: &Path, segments: &mut [Segment]) -> Result<()> {
    let full = segments.len().saturating_sub(1);
    for segment in &mut segments[..full] {
        if !segment.aborted_stored {
            txn_index::store(files, dir, segment.base_offset, &segment.aborted)?;
            segment.aborted_stored = true;
        }
    }
    Ok(())
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

fn marker_of(
    segment: &Segment,
    batch: &Located,
    config: &LogConfig,
) -> Result<Option<TransactionMarker>> {
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
    TransactionMarker::decode(&record.map_err(damaged)?).map_err(damaged)
}
