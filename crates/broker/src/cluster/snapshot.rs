//! A snapshot of the metadata log, in Kafka's format: a control batch that
//! says where it begins, batches of records, a control batch that says where
//! it ends.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use copart_protocol::records::{
    BATCH_HEADER_LEN, Batch, BatchBuilder, Batches, Compressor, Decompressor, RecordBatch, Seal,
};

use super::metadata_log::{EPOCH, damaged, encode, unencodable};
use super::record::Record;
use crate::files::{Files, read_small, remove_if_there, replace};
use crate::{Error, Result};

const SUFFIX: &str = ".checkpoint";
/// How many records go into one batch.
const RECORDS_PER_BATCH: usize = 1000;
/// A snapshot of some ten million partitions.
const LIMIT: u64 = 1 << 30;
/// Types of control records.
const HEADER: i16 = 3;
const FOOTER: i16 = 4;

fn path(dir: &Path, offset: i64) -> PathBuf {
    dir.join(format!("{offset:020}-{EPOCH:010}{SUFFIX}"))
}

/// Writes what `records` say up to `offset`, all of it or nothing. Returns its
/// size.
pub(super) fn store(
    files: &dyn Files,
    dir: &Path,
    offset: i64,
    records: &[Record],
    timestamp: i64,
    compressor: &mut Compressor,
) -> Result<u64> {
    // Version 0, and no tagged fields; the header has the time of the last
    // record before them.
    let mut value = 0_i16.to_be_bytes().to_vec();
    value.extend_from_slice(&timestamp.to_be_bytes());
    value.push(0);
    let mut next = 0;
    let mut content = Vec::new();
    let mut add = |batch: &RecordBatch| {
        content.extend_from_slice(batch.bytes());
        next = batch.header().next_offset();
        next
    };
    let mut base = add(&control(HEADER, &value, 0, timestamp, compressor)?);
    for some in records.chunks(RECORDS_PER_BATCH) {
        base = add(&encode(some, base, timestamp, compressor)?);
    }
    add(&control(FOOTER, &[0, 0, 0], base, timestamp, compressor)?);
    let path = path(dir, offset);
    replace(files, &path, &content)
        .map_err(|error| Error::io(format!("writing {}", path.display()), error))?;
    Ok(content.len() as u64)
}

fn control(
    kind: i16,
    value: &[u8],
    base_offset: i64,
    timestamp: i64,
    compressor: &mut Compressor,
) -> Result<RecordBatch> {
    let mut key = 0_i16.to_be_bytes().to_vec();
    key.extend_from_slice(&kind.to_be_bytes());
    let mut builder = BatchBuilder::with_capacity(BATCH_HEADER_LEN + 32);
    builder
        .append(timestamp, Some(&key), Some(value), &[])
        .map_err(unencodable)?;
    let seal = Seal {
        control: true,
        base_offset,
        partition_leader_epoch: EPOCH,
        ..Seal::default()
    };
    builder.seal(&seal, compressor).map_err(unencodable)
}

/// The batches of the snapshot at `offset`, whole and in order.
///
/// # Errors
/// [`crate::ErrorKind::Damaged`] if it is missing, or not whole.
pub(super) fn load(files: &dyn Files, dir: &Path, offset: i64) -> Result<Bytes> {
    let path = path(dir, offset);
    let content = read_small(files, &path, LIMIT)
        .map_err(|error| Error::io(format!("reading {}", path.display()), error))?;
    let Some(content) = content else {
        return Err(damaged(
            dir,
            format!(
                "the snapshot {} is missing, and the log begins behind it; bring the directory \
                 back from a copy",
                path.display()
            ),
        ));
    };
    let content = Bytes::from(content);
    check(&content).map_err(|reason| damaged(dir, format!("{}: {reason}", path.display())))?;
    Ok(content)
}

fn check(content: &Bytes) -> Result<(), String> {
    let mut kinds = Vec::new();
    let mut next = 0;
    let mut batches = Batches::new(content.clone());
    for batch in &mut batches {
        let batch = batch.map_err(|error| error.to_string())?;
        batch.verify_crc().map_err(|error| error.to_string())?;
        // Offset and epoch are not in the checksum.
        let header = match &batch {
            Batch::Records(batch) => batch.header(),
            Batch::Messages(_) => return Err("a message of an old format".to_owned()),
        };
        if header.base_offset != next || header.partition_leader_epoch != EPOCH {
            return Err(format!(
                "a batch at offset {} in epoch {}, where {next} in {EPOCH} is expected",
                header.base_offset, header.partition_leader_epoch
            ));
        }
        next = batch.next_offset();
        kinds.push(control_type(&batch)?);
    }
    if batches.remainder() > 0 {
        return Err(format!(
            "{} bytes of a batch at its end",
            batches.remainder()
        ));
    }
    let (first, last) = (kinds.first(), kinds.last());
    if first != Some(&Some(HEADER)) || last != Some(&Some(FOOTER)) {
        return Err("it does not begin and end as a snapshot does".to_owned());
    }
    Ok(())
}

/// The type of a control batch; `None` for others.
fn control_type(batch: &Batch) -> Result<Option<i16>, String> {
    if !batch.is_control() {
        return Ok(None);
    }
    let mut decompressor = Decompressor::new(1 << 16);
    let records = batch
        .records(&mut decompressor)
        .map_err(|error| error.to_string())?;
    let first = records.iter().next();
    let record = first.ok_or("an empty control batch")?;
    let record = record.map_err(|error| error.to_string())?;
    let kind = record.key.and_then(|key| key.get(2..4));
    let kind = kind.ok_or("a control record without a type")?;
    Ok(Some(i16::from_be_bytes([kind[0], kind[1]])))
}

/// Removes snapshots that another one has taken the place of. One that stays
/// does no harm: its name has its offset.
pub(super) fn remove_others(files: &dyn Files, dir: &Path, offset: i64) {
    let keep = path(dir, offset);
    for name in files.list(dir).unwrap_or_default() {
        let other = dir.join(&name);
        if name.ends_with(SUFFIX) && other != keep {
            let _ = remove_if_there(files, &other);
        }
    }
}
