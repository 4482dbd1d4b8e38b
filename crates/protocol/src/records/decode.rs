//! From the records part of a batch to records.

use bytes::Bytes;

use super::header::BatchHeader;
use super::record::{Headers, Record, RecordRange, RecordView, read_nullable};
use crate::varint::{read_i32, read_i64};
use crate::{Error, ErrorKind, Result};

/// The smallest record: its length, attributes, two deltas, two null lengths
/// and a header count, one byte each.
const MIN_RECORD_LEN: usize = 7;

/// What a batch says about all of its records.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared {
    pub(super) base_offset: i64,
    pub(super) base_timestamp: i64,
    pub(super) log_append_time: Option<i64>,
    pub(super) count: u32,
    /// Where the records begin in the buffer that errors should refer to.
    pub(super) origin: usize,
}

impl Shared {
    pub(super) fn of(header: &BatchHeader, origin: usize) -> Self {
        Self {
            base_offset: header.base_offset,
            base_timestamp: header.base_timestamp,
            log_append_time: header.log_append_time(),
            count: header.record_count,
            origin,
        }
    }
}

/// The records of one batch, decompressed, in one buffer.
#[derive(Clone, Debug)]
pub struct Records {
    data: Bytes,
    shared: Shared,
}

impl Records {
    pub(super) fn new(data: Bytes, shared: Shared) -> Result<Self> {
        check_count(&data, &shared)?;
        Ok(Self { data, shared })
    }

    /// How many records the batch says it has.
    pub fn len(&self) -> usize {
        self.shared.count as usize
    }

    /// Has the batch no records, as after compaction?
    pub fn is_empty(&self) -> bool {
        self.shared.count == 0
    }

    /// The records, borrowed from this buffer.
    ///
    /// Yields one error, and ends, at the first record that is malformed; also
    /// when bytes are left over behind the last record.
    #[inline]
    pub fn iter(&self) -> RecordIter<'_> {
        RecordIter {
            data: &self.data,
            at: 0,
            left: self.shared.count,
            shared: self.shared,
            ended: false,
        }
    }

    /// The records, each with a share of this buffer.
    pub fn iter_shared(&self) -> impl Iterator<Item = Result<Record>> + '_ {
        self.iter().map(|record| {
            record.map(|view| Record {
                range: RecordRange::of(&view, &self.data),
                data: self.data.clone(),
            })
        })
    }

    /// Reads all records once and keeps where they are.
    pub fn ranges(&self) -> Result<Vec<RecordRange>> {
        // The count was checked against the bytes, a seventh of it at most.
        let mut ranges = Vec::with_capacity(self.len());
        for record in self {
            ranges.push(RecordRange::of(&record?, &self.data));
        }
        Ok(ranges)
    }

    /// The record at `range`, which must be one of [`ranges`](Self::ranges).
    #[inline]
    pub fn view(&self, range: &RecordRange) -> RecordView<'_> {
        range.view(&self.data)
    }

    /// The record at `range`, with a share of this buffer.
    #[inline]
    pub fn record(&self, range: &RecordRange) -> Record {
        Record {
            data: self.data.clone(),
            range: *range,
        }
    }

    /// The encoded records.
    pub fn data(&self) -> &Bytes {
        &self.data
    }
}

impl<'a> IntoIterator for &'a Records {
    type Item = Result<RecordView<'a>>;
    type IntoIter = RecordIter<'a>;

    fn into_iter(self) -> RecordIter<'a> {
        self.iter()
    }
}

/// Iterates over the records of a batch.
#[derive(Clone, Debug)]
pub struct RecordIter<'a> {
    data: &'a [u8],
    at: usize,
    left: u32,
    shared: Shared,
    ended: bool,
}

impl<'a> RecordIter<'a> {
    /// Iterates over the decompressed `records` of the batch that `header`
    /// belongs to, for a caller that keeps them in a buffer of its own.
    pub fn new(header: &BatchHeader, records: &'a [u8]) -> Result<Self> {
        let shared = Shared::of(header, 0);
        check_count(records, &shared)?;
        Ok(Self {
            data: records,
            at: 0,
            left: shared.count,
            shared,
            ended: false,
        })
    }

    #[inline(always)]
    fn read(&mut self) -> Result<RecordView<'a>> {
        let mut at = self.at;
        let len = read_i32(self.data, &mut at)?;
        let body = match usize::try_from(len) {
            Ok(len) if len <= self.data.len() - at => &self.data[..at + len],
            _ => return Err(record_length(self.at, len, self.data.len() - at)),
        };
        if at == body.len() {
            return Err(Error::at(ErrorKind::Malformed, at, "an empty record"));
        }
        // A record's own attributes: no version has given them a meaning.
        at += 1;
        let timestamp_delta = read_i64(body, &mut at)?;
        let offset_delta = read_i32(body, &mut at)?;
        let key = read_nullable(body, &mut at)?;
        let value = read_nullable(body, &mut at)?;
        let header_count = read_i32(body, &mut at)?;
        let headers = match header_count {
            0 => Headers::default(),
            _ => Headers::read(body, &mut at, header_count)?,
        };
        if at != body.len() {
            return Err(left_over_in_record(at, body.len() - at));
        }
        let Some(offset) = self.shared.base_offset.checked_add(offset_delta.into()) else {
            return Err(Error::at(
                ErrorKind::Malformed,
                self.at,
                format!("offset delta {offset_delta} overflows"),
            ));
        };
        self.at = at;
        Ok(RecordView {
            offset,
            timestamp: match self.shared.log_append_time {
                Some(timestamp) => timestamp,
                // Wrapping, as in Java: the encoder's subtraction wraps too,
                // so any two timestamps survive.
                None => self.shared.base_timestamp.wrapping_add(timestamp_delta),
            },
            key,
            value,
            headers,
        })
    }

    #[cold]
    fn fail(&self, error: Error) -> Error {
        let index = self.shared.count - self.left;
        error
            .shifted(self.shared.origin)
            .within(format!("record {index} of {}", self.shared.count))
    }
}

impl<'a> Iterator for RecordIter<'a> {
    type Item = Result<RecordView<'a>>;

    // Inlined, so that a record is built where the caller wants it: returned
    // through memory, its parts are stored one by one and loaded in pairs
    // right after, which stalls and made the loop half as fast.
    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            if self.ended || self.at == self.data.len() {
                return None;
            }
            self.ended = true;
            return Some(Err(left_over(
                self.at + self.shared.origin,
                self.data.len() - self.at,
                self.shared.count,
            )));
        }
        match self.read() {
            Ok(record) => {
                self.left -= 1;
                Some(Ok(record))
            }
            Err(error) => {
                let error = self.fail(error);
                self.left = 0;
                self.ended = true;
                Some(Err(error))
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        // One more for the error of left-over bytes; as few as none when a
        // record is malformed.
        (0, (self.left as usize).checked_add(1))
    }
}

impl std::iter::FusedIterator for RecordIter<'_> {}

fn check_count(data: &[u8], shared: &Shared) -> Result<()> {
    let possible = data.len() / MIN_RECORD_LEN;
    if shared.count as usize > possible {
        return Err(Error::at(
            ErrorKind::Malformed,
            shared.origin,
            format!(
                "{} records, but {} bytes hold {possible} at most",
                shared.count,
                data.len()
            ),
        ));
    }
    Ok(())
}

#[cold]
fn record_length(offset: usize, len: i32, left: usize) -> Error {
    let kind = if len < 0 {
        ErrorKind::Malformed
    } else {
        ErrorKind::Truncated
    };
    Error::at(kind, offset, format!("length {len}, {left} bytes are left"))
}

#[cold]
fn left_over_in_record(offset: usize, left: usize) -> Error {
    Error::at(
        ErrorKind::Malformed,
        offset,
        format!("{left} bytes are left over behind the headers"),
    )
}

#[cold]
fn left_over(offset: usize, left: usize, count: u32) -> Error {
    Error::at(
        ErrorKind::Malformed,
        offset,
        format!("{left} bytes are left over behind {count} records"),
    )
}
