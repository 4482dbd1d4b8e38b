//! The metadata log: a partition log like any other, with one batch for each
//! change, and a snapshot in the place of what came before it.
//!
//! One batch is one change: it is there as a whole or not at all. Torn tails,
//! damage and syncs are the partition log's business.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use copart_protocol::records::{
    BatchBuilder, Batches, Compressor, Decompressor, RecordBatch, Seal,
};

use super::record::Record;
use super::snapshot;
use crate::files::Files;
use crate::log::{Durability, LogConfig, Opened, Origin, PartitionLog, Recovery};
use crate::{Error, ErrorKind, Result};

/// A snapshot is worth it when the log has grown to this many bytes, and to
/// this many times the last snapshot.
const WORTH_A_SNAPSHOT: u64 = 4 << 20;
const TIMES_THE_SNAPSHOT: u64 = 4;
/// How much is read at once. A larger batch is read as a whole.
const READ: usize = 1 << 20;
/// The leader epoch of the log: one process is its only leader.
pub(super) const EPOCH: i32 = 1;

/// The log and what is needed to append to it.
#[derive(Debug)]
pub(super) struct MetadataLog {
    files: Arc<dyn Files>,
    dir: PathBuf,
    log: PartitionLog,
    recovery: Recovery,
    compressor: Compressor,
    snapshot_bytes: u64,
    worth_a_snapshot: u64,
    /// Of the records. Nothing reads it, and there is no clock here.
    timestamp: i64,
}

impl MetadataLog {
    /// Opens the log in the directory `dir` of the data directory, or begins
    /// one, and hands all records to `replay`.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`] if a record that was promised cannot be read.
    /// Nothing is changed then.
    pub(super) fn open(
        files: Arc<dyn Files>,
        dir: &Path,
        durability: Durability,
        now_ms: i64,
        mut replay: impl FnMut(Record) -> Result<(), String>,
    ) -> Result<Self> {
        let doing = |error| Error::io(format!("opening {}", dir.display()), error);
        files.create_dir(dir).map_err(doing)?;
        if let Some(parent) = dir.parent().filter(|parent| *parent != Path::new("")) {
            files.sync_dir(parent).map_err(doing)?;
        }
        let config = LogConfig {
            durability,
            segment_ms: i64::MAX,
            retention_ms: -1,
            ..LogConfig::default()
        };
        let (log, recovery) = match PartitionLog::open(files.clone(), dir, config, now_ms)? {
            Opened::Ready(log, recovery) => (*log, recovery),
            Opened::Quarantined(quarantine) => {
                let damages: Vec<String> = quarantine
                    .damages()
                    .iter()
                    .map(|damage| format!("{damage:?}"))
                    .collect();
                return Err(damaged(
                    dir,
                    format!(
                        "{}; topics and settings that were promised cannot be read. Nothing was \
                         changed: bring the directory back from a copy",
                        damages.join("; ")
                    ),
                ));
            }
        };
        let mut snapshot_bytes = 0;
        if log.log_start_offset() > 0 {
            let batches = snapshot::load(&*files, dir, log.log_start_offset())?;
            snapshot_bytes = batches.len() as u64;
            each_record(&batches, &mut replay)
                .map_err(|reason| damaged(dir, format!("the snapshot: {reason}")))?;
        }
        let mut offset = log.log_start_offset();
        while offset < log.log_end_offset() {
            let bytes = log.read(offset, log.log_end_offset(), READ)?;
            let next = each_record(&bytes, &mut replay)
                .map_err(|reason| damaged(dir, format!("from offset {offset}: {reason}")))?;
            if next <= offset {
                return Err(damaged(dir, format!("no batch at offset {offset}")));
            }
            offset = next;
        }
        Ok(Self {
            files,
            dir: dir.to_owned(),
            log,
            recovery,
            compressor: Compressor::new(),
            snapshot_bytes,
            worth_a_snapshot: WORTH_A_SNAPSHOT,
            timestamp: now_ms,
        })
    }

    /// Appends records as one batch. When this returns, they are as durable as
    /// the log promises.
    ///
    /// # Errors
    /// After [`ErrorKind::StorageFull`] the log is as before. After others it
    /// takes no more writes, and nobody knows whether the records are there
    /// after a restart.
    pub(super) fn append(&mut self, records: &[Record]) -> Result<()> {
        let batch = encode(
            records,
            self.log.log_end_offset(),
            self.timestamp,
            &mut self.compressor,
        )?;
        self.log.append(
            BytesMut::from(&batch.bytes()[..]),
            Origin::Coordinator,
            EPOCH,
            self.timestamp,
        )?;
        if self.log.config().durability == Durability::Disk {
            self.log.sync()?;
        }
        Ok(())
    }

    /// Is it time for a snapshot?
    pub(super) fn wants_snapshot(&self) -> bool {
        let size = self.log.size();
        size >= self.worth_a_snapshot && size >= self.snapshot_bytes * TIMES_THE_SNAPSHOT
    }

    /// Puts `records`, which say all that the log says, in the place of the
    /// log. After an error the log is as it was, and goes on growing.
    pub(super) fn snapshot(&mut self, records: &[Record]) -> Result<()> {
        // The snapshot is durable at once, whatever was promised. The log that
        // goes on behind it must not fall back behind its offset.
        self.log.sync()?;
        let offset = self.log.log_end_offset();
        let size = snapshot::store(
            &*self.files,
            &self.dir,
            offset,
            records,
            self.timestamp,
            &mut self.compressor,
        )?;
        self.log.roll(self.timestamp)?;
        self.log.delete_records(offset)?;
        self.snapshot_bytes = size;
        self.log.apply_retention(self.timestamp)?;
        snapshot::remove_others(&*self.files, &self.dir, offset);
        Ok(())
    }

    /// The offset behind the last record.
    pub(super) fn end_offset(&self) -> i64 {
        self.log.log_end_offset()
    }

    /// What was done to open the log.
    pub(super) fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// Syncs what a durability below `disk` has not.
    pub(super) fn sync(&mut self) -> Result<()> {
        self.log.sync().map(|_| ())
    }

    #[cfg(test)]
    pub(super) fn set_worth_a_snapshot(&mut self, bytes: u64) {
        self.worth_a_snapshot = bytes;
    }
}

/// Records as one batch.
pub(super) fn encode(
    records: &[Record],
    base_offset: i64,
    timestamp: i64,
    compressor: &mut Compressor,
) -> Result<RecordBatch> {
    let mut builder = BatchBuilder::new();
    for record in records {
        let value = record.encode().map_err(unencodable)?;
        builder
            .append(timestamp, None, Some(&value), &[])
            .map_err(unencodable)?;
    }
    let seal = Seal {
        base_offset,
        partition_leader_epoch: EPOCH,
        ..Seal::default()
    };
    builder.seal(&seal, compressor).map_err(unencodable)
}

#[cold]
pub(super) fn unencodable(error: copart_protocol::Error) -> Error {
    Error::new(
        ErrorKind::InvalidRecord,
        format!("a record of the metadata log: {error}"),
    )
    .caused_by(error)
}

/// Hands each record of whole batches to `replay`, and returns the offset
/// behind the last one. Kafka's own logs also have control batches, which say
/// nothing about topics.
fn each_record(
    batches: &Bytes,
    mut replay: impl FnMut(Record) -> Result<(), String>,
) -> Result<i64, String> {
    let mut decompressor = Decompressor::new(64 << 20);
    let mut next = 0;
    for batch in Batches::new(batches.clone()) {
        let batch = batch.map_err(|error| error.to_string())?;
        next = batch.next_offset();
        if batch.is_control() {
            continue;
        }
        let records = batch
            .records(&mut decompressor)
            .map_err(|error| error.to_string())?;
        for record in records.iter_shared() {
            let record = record.map_err(|error| error.to_string())?;
            let at = |reason| format!("offset {}: {reason}", record.offset());
            let value = record.value_bytes().unwrap_or_default();
            Record::decode(value).and_then(&mut replay).map_err(at)?;
        }
    }
    Ok(next)
}

#[cold]
pub(super) fn damaged(dir: &Path, reason: String) -> Error {
    Error::new(ErrorKind::Damaged, reason).within(format!("metadata log {}", dir.display()))
}
