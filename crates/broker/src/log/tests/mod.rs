//! Tests of the log as a whole.

mod append;
mod compaction;
mod damage;
mod faults;
mod find;
mod power_loss;
mod restart;
mod transactions;

use std::path::Path;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use copart_protocol::records::{
    Batch, BatchBuilder, Batches, Codec, Compressor, Decompressor, Producer, Seal,
};

use super::*;
use crate::files::SimulatedFiles;
use crate::{Error, Result};

/// A moment in 2025, in milliseconds.
pub(super) const NOW: i64 = 1_750_000_000_000;

pub(super) fn dir() -> &'static Path {
    Path::new("/t-0")
}

/// Small segments and many index entries, so that short logs have all of it.
pub(super) fn small() -> LogConfig {
    LogConfig {
        segment_bytes: 1000,
        index_interval_bytes: 150,
        ..LogConfig::default()
    }
}

pub(super) fn disk() -> Arc<SimulatedFiles> {
    use crate::files::Files;
    let files = SimulatedFiles::new();
    files.create_dir(dir()).expect("created");
    files.sync_dir(Path::new("/")).expect("synced");
    Arc::new(files)
}

pub(super) fn open(files: &Arc<SimulatedFiles>, config: &LogConfig) -> (PartitionLog, Recovery) {
    match PartitionLog::open(files.clone(), dir(), config.clone(), NOW).expect("opens") {
        Opened::Ready(log, recovery) => (*log, recovery),
        Opened::Quarantined(quarantine) => panic!("quarantined: {:#?}", quarantine.damages()),
    }
}

/// A batch with a record per value, as a producer sends it.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) values: Vec<Vec<u8>>,
    pub(super) timestamp: i64,
    pub(super) producer: Producer,
    pub(super) codec: Codec,
}

impl Draft {
    pub(super) fn of(values: &[&str]) -> Self {
        Self {
            values: values
                .iter()
                .map(|value| value.as_bytes().to_vec())
                .collect(),
            timestamp: NOW,
            producer: Producer::NONE,
            codec: Codec::None,
        }
    }

    pub(super) fn at(mut self, timestamp: i64) -> Self {
        self.timestamp = timestamp;
        self
    }

    pub(super) fn by(mut self, id: i64, epoch: i16, base_sequence: i32) -> Self {
        self.producer = Producer {
            id,
            epoch,
            base_sequence,
        };
        self
    }

    /// Record n has the timestamp of the batch and n milliseconds.
    pub(super) fn bytes(&self) -> BytesMut {
        let mut builder = BatchBuilder::new();
        for (index, value) in self.values.iter().enumerate() {
            builder
                .append(self.timestamp + index as i64, None, Some(value), &[])
                .expect("fits");
        }
        let seal = Seal {
            compression: self.codec.into(),
            producer: self.producer,
            ..Seal::default()
        };
        let batch = builder.seal(&seal, &mut Compressor::new()).expect("seals");
        BytesMut::from(&batch.bytes()[..])
    }
}

pub(super) fn append(log: &mut PartitionLog, draft: &Draft) -> Result<Appended> {
    log.append(draft.bytes(), Origin::Client, 0, NOW)
}

/// Appends `count` batches of two records, whose values are their offsets.
pub(super) fn fill(log: &mut PartitionLog, count: usize) {
    for _ in 0..count {
        let offset = log.log_end_offset();
        let values = [offset.to_string(), (offset + 1).to_string()];
        let draft = Draft::of(&[&values[0], &values[1]]).at(NOW + offset);
        append(log, &draft).expect("appended");
    }
}

/// All records, read batch by batch: offset and value.
pub(super) fn records(log: &PartitionLog) -> Result<Vec<(i64, String)>> {
    let mut all = Vec::new();
    let mut offset = log.log_start_offset();
    while offset < log.log_end_offset() {
        let bytes = log.read(offset, log.log_end_offset(), 300)?;
        let mut next = offset;
        for (record, value) in decode(bytes.clone())? {
            if record >= offset {
                all.push((record, value));
            }
        }
        for batch in Batches::new(bytes) {
            next = batch.expect("whole").next_offset();
        }
        assert!(next > offset, "no progress at offset {offset}");
        offset = next;
    }
    Ok(all)
}

pub(super) fn decode(bytes: Bytes) -> Result<Vec<(i64, String)>> {
    let mut decompressor = Decompressor::new(1 << 20);
    let mut all = Vec::new();
    let mut batches = Batches::new(bytes);
    for batch in &mut batches {
        let batch: Batch =
            batch.map_err(|error| Error::new(crate::ErrorKind::Damaged, error.to_string()))?;
        for record in &batch.records(&mut decompressor).expect("records") {
            let record = record.expect("a record");
            let value = String::from_utf8_lossy(record.value.unwrap_or_default()).into_owned();
            all.push((record.offset, value));
        }
    }
    assert_eq!(batches.remainder(), 0, "whole batches");
    Ok(all)
}

/// Are these the records that [`fill`] appended, up to `end`?
pub(super) fn assert_filled(log: &PartitionLog, end: i64) {
    let expected: Vec<_> = (log.log_start_offset()..end)
        .map(|offset| (offset, offset.to_string()))
        .collect();
    assert_eq!(records(log).expect("reads"), expected);
}
