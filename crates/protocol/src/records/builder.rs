//! Building a batch, record by record, in the buffer that is sent.

use super::batch::RecordBatch;
use super::compression::{Codec, Compression, Compressor};
use super::encode::{HeaderSource, NewRecord};
use super::header::{BATCH_HEADER_LEN, BatchHeader, LENGTH_OVERHEAD, NONE, Producer};
use super::record::{Header, RecordView};
use super::{Attributes, TimestampType};
use crate::varint::{MAX_VARINT, size_i32};
use crate::{Error, ErrorKind, Result};

/// The largest batch that the length field can describe.
const MAX_BATCH: usize = i32::MAX as usize + LENGTH_OVERHEAD;

/// A batch that records are appended to.
///
/// Each record is encoded once, into the buffer that becomes the batch. Room
/// for the header is kept in front, and [`seal`](Self::seal) fills it in.
///
/// ```
/// use copart_protocol::records::{BatchBuilder, Codec, Compressor, Header, Seal};
///
/// let mut builder = BatchBuilder::new();
/// let headers = [Header::new("trace", b"1"), Header::new("trace", b"2")];
/// builder.append(1_700_000_000_000, Some(b"key"), Some(b"value"), &headers)?;
/// builder.append(1_700_000_000_005, Some(b"key"), None, &[])?;
///
/// let mut compressor = Compressor::new();
/// let seal = Seal { compression: Codec::Zstd.into(), ..Seal::default() };
/// let batch = builder.seal(&seal, &mut compressor)?;
/// assert_eq!(batch.header().record_count, 2);
/// # Ok::<(), copart_protocol::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BatchBuilder {
    /// The header's room, then the records.
    buffer: Vec<u8>,
    count: u32,
    last_offset_delta: i32,
    base_timestamp: Option<i64>,
    max_timestamp: i64,
    delete_horizon: bool,
}

/// What a batch gets when it is sealed. The default is what a producer that is
/// neither idempotent nor compressing sends.
#[derive(Clone, Debug)]
pub struct Seal {
    /// How to compress the records.
    pub compression: Compression,
    /// The producer's identity and the sequence of the first record.
    pub producer: Producer,
    /// Is the batch part of a transaction?
    pub transactional: bool,
    /// Does it hold control records?
    pub control: bool,
    /// The offset of the first record. Producers send 0; brokers assign it.
    pub base_offset: i64,
    /// The leader's epoch. Producers send -1.
    pub partition_leader_epoch: i32,
    /// The offset delta of the last record, if records behind the last one
    /// that is here were removed by compaction.
    pub last_offset_delta: Option<i32>,
    /// One append time for all records, instead of their own times.
    pub log_append_time: Option<i64>,
}

impl Default for Seal {
    fn default() -> Self {
        Self {
            compression: Compression::NONE,
            producer: Producer::NONE,
            transactional: false,
            control: false,
            base_offset: 0,
            partition_leader_epoch: -1,
            last_offset_delta: None,
            log_append_time: None,
        }
    }
}

impl Default for BatchBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl BatchBuilder {
    /// An empty batch. The buffer grows as needed.
    pub fn new() -> Self {
        Self::with_buffer(Vec::new())
    }

    /// An empty batch with room for `capacity` bytes.
    pub fn with_capacity(capacity: usize) -> Self {
        Self::with_buffer(Vec::with_capacity(capacity))
    }

    /// An empty batch in a buffer that was used before, such as
    /// `Vec::from(batch.into_bytes())` of an acknowledged one.
    pub fn with_buffer(mut buffer: Vec<u8>) -> Self {
        buffer.clear();
        buffer.resize(BATCH_HEADER_LEN, 0);
        Self {
            buffer,
            count: 0,
            last_offset_delta: -1,
            base_timestamp: None,
            max_timestamp: NONE,
            delete_horizon: false,
        }
    }

    /// Makes the base timestamp the time from which the log cleaner may drop
    /// the batch's tombstones.
    #[must_use]
    pub fn with_delete_horizon(mut self, timestamp: i64) -> Self {
        debug_assert!(self.count == 0, "records count from the base timestamp");
        self.base_timestamp = Some(timestamp);
        self.delete_horizon = true;
        self
    }

    /// Appends a record behind the last one, and returns its index.
    ///
    /// # Errors
    /// When the batch would pass 2 GiB. The batch is then as it was.
    #[inline]
    pub fn append(
        &mut self,
        timestamp: i64,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        headers: &[Header<'_>],
    ) -> Result<u32> {
        let offset_delta = self.next_offset_delta()?;
        self.put(offset_delta, timestamp, key, value, headers)
    }

    /// Appends a record whose value is written by `write`, straight into the
    /// batch, and returns its index.
    ///
    /// `write` may only append. When it fails, the batch is as it was.
    pub fn append_with<E: From<Error>>(
        &mut self,
        timestamp: i64,
        key: Option<&[u8]>,
        headers: &[Header<'_>],
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<u32, E> {
        let offset_delta = self.next_offset_delta()?;
        let start = self.buffer.len();
        if let Err(error) = write(&mut self.buffer) {
            self.buffer.truncate(start);
            return Err(error);
        }
        let value_len = self.buffer.len().saturating_sub(start);
        let record = self.record(offset_delta, timestamp, key, Some(value_len), headers);
        let body_len = match Self::checked_body_len(&record, start) {
            Ok(body_len) => body_len,
            Err(error) => {
                self.buffer.truncate(start);
                return Err(error.into());
            }
        };
        // The lengths in front of the value are known only now, so they are
        // written behind it, and both change places: a move of bytes that are
        // still in the cache, and no second buffer.
        record.put_before_value(body_len, &mut self.buffer);
        self.buffer[start..].rotate_left(value_len);
        record.put_headers(&mut self.buffer);
        Ok(self.appended(offset_delta, timestamp))
    }

    /// Appends a record of another batch at its place relative to
    /// `base_offset`, leaving a gap where records are missing.
    ///
    /// # Errors
    /// When the record does not come after those that are here already, or
    /// the batch would pass 2 GiB.
    pub fn append_view(&mut self, base_offset: i64, record: &RecordView<'_>) -> Result<u32> {
        let delta = record
            .offset
            .checked_sub(base_offset)
            .and_then(|delta| i32::try_from(delta).ok())
            .filter(|&delta| delta > self.last_offset_delta)
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::Unencodable,
                    format!(
                        "offset {} does not come after delta {} from base offset {base_offset}",
                        record.offset, self.last_offset_delta
                    ),
                )
            })?;
        self.put(
            delta,
            record.timestamp,
            record.key,
            record.value,
            record.headers,
        )
    }

    #[inline]
    fn next_offset_delta(&self) -> Result<i32> {
        self.last_offset_delta
            .checked_add(1)
            .ok_or_else(|| too_large(self.buffer.len()))
    }

    #[inline]
    fn put(
        &mut self,
        offset_delta: i32,
        timestamp: i64,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        headers: impl HeaderSource,
    ) -> Result<u32> {
        let value_len = value.map(<[u8]>::len);
        let record = self.record(offset_delta, timestamp, key, value_len, headers);
        let body_len = Self::checked_body_len(&record, self.buffer.len())?;
        record.put(body_len, value.unwrap_or_default(), &mut self.buffer);
        Ok(self.appended(offset_delta, timestamp))
    }

    #[inline]
    fn record<'a, H: HeaderSource>(
        &self,
        offset_delta: i32,
        timestamp: i64,
        key: Option<&'a [u8]>,
        value_len: Option<usize>,
        headers: H,
    ) -> NewRecord<'a, H> {
        NewRecord {
            offset_delta,
            // Wrapping, so that any two timestamps survive: see the decoder.
            timestamp_delta: timestamp.wrapping_sub(self.base_timestamp.unwrap_or(timestamp)),
            key,
            value_len,
            headers,
        }
    }

    #[inline]
    fn checked_body_len<H: HeaderSource>(record: &NewRecord<'_, H>, size: usize) -> Result<usize> {
        let body_len = record.body_len();
        if body_len > MAX_BATCH - MAX_VARINT - size.min(MAX_BATCH - MAX_VARINT) {
            return Err(too_large(size.saturating_add(body_len)));
        }
        Ok(body_len)
    }

    #[inline]
    fn appended(&mut self, offset_delta: i32, timestamp: i64) -> u32 {
        self.base_timestamp.get_or_insert(timestamp);
        self.max_timestamp = self.max_timestamp.max(timestamp);
        self.last_offset_delta = offset_delta;
        let index = self.count;
        self.count += 1;
        index
    }

    /// The size of the batch so far, header included, not compressed.
    #[inline]
    pub fn size(&self) -> usize {
        self.buffer.len()
    }

    /// What the batch's size would be with one more record.
    pub fn size_with(
        &self,
        timestamp: i64,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        headers: &[Header<'_>],
    ) -> usize {
        let record = self.record(
            self.last_offset_delta.saturating_add(1),
            timestamp,
            key,
            value.map(<[u8]>::len),
            headers,
        );
        let body_len = record.body_len();
        let length_len = size_i32(body_len.min(i32::MAX as usize) as i32);
        self.size().saturating_add(length_len + body_len)
    }

    /// How many records were appended.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Was nothing appended yet?
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The largest timestamp so far, or -1.
    pub fn max_timestamp(&self) -> i64 {
        self.max_timestamp
    }

    /// Compresses the records, writes the header and computes the checksum.
    ///
    /// The result's bytes are what is sent, as often as it takes.
    ///
    /// # Errors
    /// When nothing was appended, when the base offset leaves no room for the
    /// records, or when the codec fails.
    pub fn seal(self, seal: &Seal, compressor: &mut Compressor) -> Result<RecordBatch> {
        let Some(base_timestamp) = self.base_timestamp.filter(|_| self.count > 0) else {
            return Err(Error::new(
                ErrorKind::Unencodable,
                "a batch without records cannot be sealed",
            ));
        };
        let last_offset_delta = seal.last_offset_delta.unwrap_or(self.last_offset_delta);
        if last_offset_delta < self.last_offset_delta
            || seal.base_offset >= i64::MAX - i64::from(last_offset_delta)
        {
            return Err(Error::new(
                ErrorKind::Unencodable,
                format!(
                    "base offset {} and last offset delta {last_offset_delta} \
                     do not fit records up to delta {}",
                    seal.base_offset, self.last_offset_delta
                ),
            ));
        }
        let header = BatchHeader {
            // Set when the bytes are complete.
            size: 0,
            crc: 0,
            base_offset: seal.base_offset,
            partition_leader_epoch: seal.partition_leader_epoch,
            attributes: Attributes::default()
                .with_codec(seal.compression.codec())
                .with_timestamp_type(match seal.log_append_time {
                    Some(_) => TimestampType::LogAppendTime,
                    None => TimestampType::CreateTime,
                })
                .with_transactional(seal.transactional)
                .with_control(seal.control)
                .with_delete_horizon(self.delete_horizon),
            last_offset_delta,
            base_timestamp,
            max_timestamp: seal.log_append_time.unwrap_or(self.max_timestamp),
            producer: seal.producer,
            record_count: self.count,
        };
        let batch = match seal.compression.codec() {
            Codec::None => self.buffer,
            _ => {
                let records = &self.buffer[BATCH_HEADER_LEN..];
                let mut batch = Vec::with_capacity(BATCH_HEADER_LEN + records.len() / 2);
                batch.resize(BATCH_HEADER_LEN, 0);
                compressor.compress(seal.compression, records, &mut batch)?;
                batch
            }
        };
        RecordBatch::assemble(header, batch)
    }
}

#[cold]
fn too_large(size: usize) -> Error {
    Error::new(
        ErrorKind::Unencodable,
        format!("a batch of {size} bytes or more; the format ends at {MAX_BATCH}"),
    )
}
