//! The fixed part at the front of a record batch.

use super::checksum::crc32c;
use super::{Attributes, NO_SEQUENCE, TimestampType, sequence_after};
use crate::{Error, ErrorKind, Result};

/// How many bytes a batch has in front of its records.
pub const BATCH_HEADER_LEN: usize = 61;

/// The bytes that the length field does not count: offset and length itself.
pub(super) const LENGTH_OVERHEAD: usize = 12;
/// Where the format's version stands, in batches and in old messages alike.
pub(super) const MAGIC_AT: usize = 16;
/// Where the checksum stands.
const CRC_AT: usize = 17;
/// What the checksum covers begins here, so that a broker can assign offset
/// and leader epoch without computing it anew.
const CHECKED_FROM: usize = 21;
/// The version of the format that this header belongs to.
pub(super) const MAGIC: i8 = 2;

/// The offset, epoch or timestamp that stands for "none".
pub(super) const NONE: i64 = -1;

/// The identity that an idempotent producer puts into its batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Producer {
    /// The producer id, or -1.
    pub id: i64,
    /// The producer's epoch, or -1.
    pub epoch: i16,
    /// The sequence of the batch's first record, or [`NO_SEQUENCE`].
    pub base_sequence: i32,
}

impl Producer {
    /// A producer that is not idempotent.
    pub const NONE: Self = Self {
        id: -1,
        epoch: -1,
        base_sequence: NO_SEQUENCE,
    };
}

/// The header of a record batch (format version 2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchHeader {
    /// The size of the whole batch in bytes, this header included.
    pub size: usize,
    /// The offset of the first record that was appended. A compacted batch
    /// may have lost that record.
    pub base_offset: i64,
    /// The epoch of the leader that appended the batch, or -1.
    pub partition_leader_epoch: i32,
    /// CRC-32C from the attributes to the end.
    pub crc: u32,
    /// Codec, timestamp type and flags.
    pub attributes: Attributes,
    /// The offset of the last record that was appended, counted from the
    /// first. Compaction keeps it even when that record is gone.
    pub last_offset_delta: i32,
    /// What the records' timestamps are counted from; the delete horizon when
    /// the attributes say so.
    pub base_timestamp: i64,
    /// The largest timestamp, or the append time.
    pub max_timestamp: i64,
    /// The producer that wrote the batch.
    pub producer: Producer,
    /// How many records the batch holds.
    pub record_count: u32,
}

impl BatchHeader {
    /// Reads the header at the start of `bytes`. What follows it need not be
    /// there.
    ///
    /// The fields are consistent in themselves: sizes and counts are not
    /// negative, the codec exists, the last offset does not overflow. The
    /// checksum is not computed.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let Some(header) = bytes.first_chunk::<BATCH_HEADER_LEN>() else {
            return Err(Error::at(
                ErrorKind::Truncated,
                bytes.len(),
                format!(
                    "a batch header takes {BATCH_HEADER_LEN} bytes, {} are here",
                    bytes.len()
                ),
            ));
        };
        let magic = header[MAGIC_AT] as i8;
        if magic != MAGIC {
            return Err(unsupported_magic(magic));
        }
        let length = i32::from_be_bytes(field(header, 8));
        if length < (BATCH_HEADER_LEN - LENGTH_OVERHEAD) as i32 {
            return Err(malformed(8, format!("batch length {length} is below 49")));
        }
        let attributes = Attributes::from_bits(i16::from_be_bytes(field(header, 21)));
        if attributes.codec().is_none() {
            return Err(Error::at(
                ErrorKind::Unsupported,
                21,
                format!("no codec has number {}", attributes.bits() & 0b111),
            ));
        }
        let base_offset = i64::from_be_bytes(field(header, 0));
        let last_offset_delta = i32::from_be_bytes(field(header, 23));
        if last_offset_delta < 0 {
            return Err(malformed(
                23,
                format!("last offset delta {last_offset_delta} is negative"),
            ));
        }
        // Room for the offset after the last one, which is what a consumer
        // asks for next.
        if base_offset > i64::MAX - i64::from(last_offset_delta) - 1 {
            return Err(malformed(
                0,
                format!("base offset {base_offset} leaves no room for the batch"),
            ));
        }
        let record_count = i32::from_be_bytes(field(header, 57));
        let Ok(record_count) = u32::try_from(record_count) else {
            return Err(malformed(
                57,
                format!("record count {record_count} is negative"),
            ));
        };
        Ok(Self {
            size: LENGTH_OVERHEAD + length as usize,
            base_offset,
            partition_leader_epoch: i32::from_be_bytes(field(header, 12)),
            crc: u32::from_be_bytes(field(header, CRC_AT)),
            attributes,
            last_offset_delta,
            base_timestamp: i64::from_be_bytes(field(header, 27)),
            max_timestamp: i64::from_be_bytes(field(header, 35)),
            producer: Producer {
                id: i64::from_be_bytes(field(header, 43)),
                epoch: i16::from_be_bytes(field(header, 51)),
                base_sequence: i32::from_be_bytes(field(header, 53)),
            },
            record_count,
        })
    }

    /// Writes the header to the start of a whole batch: size and checksum are
    /// those of `batch`, and are set in `self` too.
    pub(super) fn write(&mut self, batch: &mut [u8]) -> Result<()> {
        let length = i32::try_from(batch.len() - LENGTH_OVERHEAD).map_err(|_| {
            Error::new(
                ErrorKind::Unencodable,
                format!("a batch of {} bytes is over 2 GiB", batch.len()),
            )
        })?;
        self.size = batch.len();
        put(batch, 0, self.base_offset.to_be_bytes());
        put(batch, 8, length.to_be_bytes());
        put(batch, 12, self.partition_leader_epoch.to_be_bytes());
        put(batch, MAGIC_AT, MAGIC.to_be_bytes());
        put(batch, 21, self.attributes.bits().to_be_bytes());
        put(batch, 23, self.last_offset_delta.to_be_bytes());
        put(batch, 27, self.base_timestamp.to_be_bytes());
        put(batch, 35, self.max_timestamp.to_be_bytes());
        put(batch, 43, self.producer.id.to_be_bytes());
        put(batch, 51, self.producer.epoch.to_be_bytes());
        put(batch, 53, self.producer.base_sequence.to_be_bytes());
        put(batch, 57, self.record_count.to_be_bytes());
        self.crc = checksum_of(batch);
        put(batch, CRC_AT, self.crc.to_be_bytes());
        Ok(())
    }

    /// Compares the checksum with the bytes of the whole batch, this header's
    /// included.
    pub fn verify_crc(&self, batch: &[u8]) -> Result<()> {
        let computed = checksum_of(batch);
        if computed == self.crc {
            return Ok(());
        }
        Err(Error::at(
            ErrorKind::Corrupt,
            0,
            format!(
                "the batch at offset {} has CRC-32C {computed:08x}, its header says {:08x}",
                self.base_offset, self.crc
            ),
        ))
    }

    /// The offset of the last record that was appended.
    pub fn last_offset(&self) -> i64 {
        self.base_offset + i64::from(self.last_offset_delta)
    }

    /// The first offset after the batch: what a consumer asks for next, also
    /// when compaction has removed the batch's last records.
    pub fn next_offset(&self) -> i64 {
        self.last_offset() + 1
    }

    /// The sequence of the last record, or [`NO_SEQUENCE`].
    pub fn last_sequence(&self) -> i32 {
        sequence_after(self.producer.base_sequence, self.last_offset_delta as u32)
    }

    /// The time from which the log cleaner may drop the batch's tombstones.
    pub fn delete_horizon(&self) -> Option<i64> {
        self.attributes
            .has_delete_horizon()
            .then_some(self.base_timestamp)
    }

    /// The one timestamp of all records, in a batch with append time.
    pub fn log_append_time(&self) -> Option<i64> {
        match self.attributes.timestamp_type() {
            TimestampType::CreateTime => None,
            TimestampType::LogAppendTime => Some(self.max_timestamp),
        }
    }

    /// Checks what a broker demands of a batch that a producer sends: records
    /// numbered from zero without a gap, no control records, and a producer
    /// identity that is whole or absent.
    ///
    /// The records themselves are not looked at.
    pub fn check_produced(&self) -> Result<()> {
        if self.record_count == 0 {
            return Err(malformed(57, "a produced batch holds no records".into()));
        }
        if i64::from(self.record_count) != i64::from(self.last_offset_delta) + 1 {
            return Err(malformed(
                57,
                format!(
                    "{} records, but a last offset delta of {}",
                    self.record_count, self.last_offset_delta
                ),
            ));
        }
        if self.attributes.is_control() {
            return Err(malformed(21, "clients cannot write control batches".into()));
        }
        if self.attributes.has_delete_horizon() {
            return Err(malformed(21, "clients cannot set a delete horizon".into()));
        }
        let Producer {
            id,
            epoch,
            base_sequence,
        } = self.producer;
        if id >= 0 && (epoch < 0 || base_sequence < 0) {
            return Err(malformed(
                43,
                format!("producer {id} with epoch {epoch} and sequence {base_sequence}"),
            ));
        }
        if id < 0 && self.attributes.is_transactional() {
            return Err(malformed(
                43,
                "a transactional batch without a producer id".into(),
            ));
        }
        Ok(())
    }
}

/// CRC-32C of a whole batch. `batch` is at least a header long.
fn checksum_of(batch: &[u8]) -> u32 {
    crc32c(batch.get(CHECKED_FROM..).unwrap_or_default())
}

pub(super) fn unsupported_magic(magic: i8) -> Error {
    Error::at(
        ErrorKind::Unsupported,
        MAGIC_AT,
        format!("record format version {magic} is not known"),
    )
}

#[cold]
fn malformed(offset: usize, reason: String) -> Error {
    Error::at(ErrorKind::Malformed, offset, reason)
}

fn field<const N: usize>(header: &[u8; BATCH_HEADER_LEN], at: usize) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&header[at..at + N]);
    bytes
}

fn put<const N: usize>(batch: &mut [u8], at: usize, bytes: [u8; N]) {
    batch[at..at + N].copy_from_slice(&bytes);
}
