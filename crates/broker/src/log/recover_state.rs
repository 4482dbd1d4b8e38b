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

/// From the newest sound snapshot and the batches behind it.
pub(super) fn recover_producers(
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
