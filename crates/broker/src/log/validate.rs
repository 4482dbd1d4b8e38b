//! What a batch must be before it is appended.

use bytes::BytesMut;
use copart_protocol::records::{
    BatchBuilder, BatchEditor, BatchHeader, Compression, Compressor, Decompressor, RecordBatch,
    Records, Seal, TimestampType, TransactionMarker,
};

use super::config::LogConfig;
use crate::{Error, ErrorKind, RecordError, Result};

/// Who appends a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A producer. Its batch is not trusted.
    Client,
    /// The broker itself: group and transaction coordinators. They also write
    /// control batches.
    Coordinator,
}

/// A batch that may be appended.
#[derive(Debug)]
pub(super) struct Validated {
    pub(super) bytes: BytesMut,
    pub(super) header: BatchHeader,
    pub(super) marker: Option<TransactionMarker>,
}

/// What compresses and decompresses the batches of one log.
#[derive(Debug)]
pub(super) struct Codecs {
    pub(super) decompressor: Decompressor,
    pub(super) compressor: Compressor,
}

impl Codecs {
    pub(super) fn new(config: &LogConfig) -> Self {
        Self {
            decompressor: Decompressor::new(config.max_decompressed_bytes),
            compressor: Compressor::new(),
        }
    }
}

/// Where all formats have the number of the format.
const MAGIC_AT: usize = 16;

/// The most records at fault that an error names.
const NAMED: usize = 20;

pub(super) fn validate(
    bytes: BytesMut,
    origin: Origin,
    config: &LogConfig,
    codecs: &mut Codecs,
    now_ms: i64,
) -> Result<Validated> {
    if origin == Origin::Client {
        check_size(bytes.len(), config)?;
    }
    if let Some(magic @ 0..=1) = bytes.get(MAGIC_AT) {
        return Err(Error::new(
            ErrorKind::InvalidRecord,
            format!(
                "messages of format v{magic}; only record batches (v2) are taken, \
                 which clients send since Kafka 0.11"
            ),
        ));
    }
    let batch = RecordBatch::decode(bytes.freeze()).map_err(corrupt)?;
    batch.verify_crc().map_err(corrupt)?;
    if origin == Origin::Client {
        check_header(batch.header(), config, now_ms)?;
    }
    let control = batch.header().attributes.is_control();
    let mut marker = None;
    let mut max_timestamp = -1;
    let mut recompressed = None;
    {
        let records = batch.records(&mut codecs.decompressor).map_err(|error| {
            let kind = match error.kind() {
                copart_protocol::ErrorKind::LimitExceeded => ErrorKind::TooLarge,
                copart_protocol::ErrorKind::Corrupt => ErrorKind::CorruptMessage,
                _ => ErrorKind::InvalidRecord,
            };
            Error::new(kind, error.to_string()).caused_by(error)
        })?;
        let base_offset = batch.header().base_offset;
        let mut faults = Vec::new();
        let mut untimely = false;
        for (index, record) in records.iter().enumerate() {
            let record =
                record.map_err(|error| Error::new(ErrorKind::InvalidRecord, error.to_string()))?;
            let index = index as u32;
            max_timestamp = max_timestamp.max(record.timestamp);
            if control {
                marker = TransactionMarker::decode(&record)
                    .map_err(|error| Error::new(ErrorKind::InvalidRecord, error.to_string()))?;
            }
            if record.offset != base_offset + i64::from(index) {
                return Err(Error::new(
                    ErrorKind::InvalidRecord,
                    format!(
                        "record {index} has offset delta {}",
                        record.offset - base_offset
                    ),
                ));
            }
            if config.compacts && record.key.is_none() && !control {
                faults.push(RecordError {
                    index,
                    reason: "a compacted topic takes no record without a key".into(),
                });
            } else if origin == Origin::Client
                && config.message_timestamp_type == TimestampType::CreateTime
                && let Some(reason) = untimely_reason(record.timestamp, config, now_ms)
            {
                untimely = true;
                faults.push(RecordError { index, reason });
            }
            if faults.len() == NAMED {
                break;
            }
        }
        if let Some(first) = faults.first() {
            let kind = match untimely {
                true => ErrorKind::InvalidTimestamp,
                false => ErrorKind::InvalidRecord,
            };
            let reason = format!("record {}: {}", first.index, first.reason);
            return Err(Error::new(kind, reason).with_records(faults));
        }
        // As Kafka has it, the level alone is no reason.
        let wanted = config
            .compression
            .filter(|wanted| batch.header().attributes.codec() != Some(wanted.codec()));
        if let Some(compression) = wanted
            && !control
        {
            let header = batch.header();
            let other = recompress(header, &records, compression, &mut codecs.compressor)?;
            if origin == Origin::Client {
                check_size(other.bytes().len(), config)?;
            }
            recompressed = Some(other);
        }
    }
    // The only owner again, unless the caller kept a share: then this copies.
    let batch = recompressed.unwrap_or(batch);
    let mut bytes = match batch.into_bytes().try_into_mut() {
        Ok(bytes) => bytes,
        Err(shared) => BytesMut::from(&shared[..]),
    };
    let mut editor = BatchEditor::new(&mut bytes).map_err(corrupt)?;
    match config.message_timestamp_type {
        TimestampType::LogAppendTime => editor.set_log_append_time(now_ms).map_err(corrupt)?,
        TimestampType::CreateTime if editor.header().max_timestamp != max_timestamp => {
            editor.set_max_timestamp(max_timestamp).map_err(corrupt)?;
        }
        TimestampType::CreateTime => {}
    }
    let header = editor.header().clone();
    Ok(Validated {
        bytes,
        header,
        marker,
    })
}

fn check_size(size: usize, config: &LogConfig) -> Result<()> {
    if size <= config.max_message_bytes {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::TooLarge,
        format!(
            "a batch of {size} bytes, max.message.bytes is {}",
            config.max_message_bytes
        ),
    ))
}

/// The same batch with another codec.
fn recompress(
    header: &BatchHeader,
    records: &Records,
    compression: Compression,
    compressor: &mut Compressor,
) -> Result<RecordBatch> {
    let invalid = |error: copart_protocol::Error| {
        Error::new(ErrorKind::InvalidRecord, error.to_string()).caused_by(error)
    };
    let mut builder = BatchBuilder::new();
    for record in records {
        let record = record.map_err(invalid)?;
        builder
            .append_view(header.base_offset, &record)
            .map_err(invalid)?;
    }
    let seal = Seal {
        compression,
        producer: header.producer,
        transactional: header.attributes.is_transactional(),
        control: false,
        base_offset: header.base_offset,
        partition_leader_epoch: header.partition_leader_epoch,
        last_offset_delta: None,
        log_append_time: header.log_append_time(),
    };
    builder.seal(&seal, compressor).map_err(invalid)
}

fn check_header(header: &BatchHeader, config: &LogConfig, now_ms: i64) -> Result<()> {
    header
        .check_produced()
        .map_err(|error| Error::new(ErrorKind::InvalidRecord, error.to_string()))?;
    if header.base_offset != 0 {
        return Err(Error::new(
            ErrorKind::InvalidRecord,
            format!(
                "a produced batch has base offset 0, this one {}",
                header.base_offset
            ),
        ));
    }
    if header.attributes.timestamp_type() == TimestampType::LogAppendTime {
        return Err(Error::new(
            ErrorKind::InvalidTimestamp,
            "producers do not set the append time",
        ));
    }
    // Before anything is decompressed; the records are looked at as well.
    if config.message_timestamp_type == TimestampType::CreateTime
        && let Some(reason) = untimely_reason(header.max_timestamp, config, now_ms)
        && header.max_timestamp > now_ms
    {
        return Err(Error::new(ErrorKind::InvalidTimestamp, reason));
    }
    Ok(())
}

fn untimely_reason(timestamp: i64, config: &LogConfig, now_ms: i64) -> Option<String> {
    // A record without a timestamp is neither early nor late.
    if timestamp < 0 {
        return None;
    }
    let ahead = timestamp.saturating_sub(now_ms);
    if ahead > config.message_timestamp_after_max_ms {
        return Some(format!(
            "timestamp {timestamp} is {ahead} ms ahead, message.timestamp.after.max.ms is {}",
            config.message_timestamp_after_max_ms
        ));
    }
    let behind = now_ms.saturating_sub(timestamp);
    if behind > config.message_timestamp_before_max_ms {
        return Some(format!(
            "timestamp {timestamp} is {behind} ms old, message.timestamp.before.max.ms is {}",
            config.message_timestamp_before_max_ms
        ));
    }
    None
}

#[cold]
fn corrupt(error: copart_protocol::Error) -> Error {
    Error::new(ErrorKind::CorruptMessage, error.to_string()).caused_by(error)
}
