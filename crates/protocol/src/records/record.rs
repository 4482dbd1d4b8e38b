//! One record: borrowed from its batch, or owned.

use std::fmt;

use bytes::Bytes;

use crate::varint::read_i32;
use crate::{Error, ErrorKind, Result};

/// A record whose key, value and headers lie in its batch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RecordView<'a> {
    /// The record's place in its partition.
    pub offset: i64,
    /// Milliseconds since 1970, or -1 for none. What it means is the batch's
    /// [`TimestampType`](super::TimestampType).
    pub timestamp: i64,
    /// The key, if there is one. An empty key is one.
    pub key: Option<&'a [u8]>,
    /// The value. A record with a key and without a value is a tombstone.
    pub value: Option<&'a [u8]>,
    /// The headers, in the producer's order.
    pub headers: Headers<'a>,
}

impl RecordView<'_> {
    /// A copy that does not refer to the batch.
    pub fn detach(&self) -> Record {
        let key = self.key.unwrap_or_default();
        let value = self.value.unwrap_or_default();
        let mut data = Vec::with_capacity(key.len() + value.len() + self.headers.bytes.len());
        data.extend_from_slice(key);
        data.extend_from_slice(value);
        data.extend_from_slice(self.headers.bytes);
        let headers_at = key.len() + value.len();
        Record {
            range: RecordRange {
                offset: self.offset,
                timestamp: self.timestamp,
                key: Span::new(0, self.key),
                value: Span::new(key.len(), self.value),
                headers: Span::new(headers_at, Some(self.headers.bytes)),
                header_count: self.headers.count,
            },
            data: data.into(),
        }
    }
}

impl fmt::Debug for RecordView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record")
            .field("offset", &self.offset)
            .field("timestamp", &self.timestamp)
            .field("key", &self.key.map(Ascii))
            .field("value", &self.value.map(Ascii))
            .field("headers", &self.headers)
            .finish()
    }
}

/// Where in its batch's records a record lies: a record without its bytes.
///
/// 48 bytes to keep beside one shared buffer, instead of a slice (with a
/// reference count) for each key, value and header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordRange {
    offset: i64,
    timestamp: i64,
    key: Span,
    value: Span,
    headers: Span,
    header_count: u32,
}

impl RecordRange {
    /// `view` must be a view into `data`.
    #[inline]
    pub(super) fn of(view: &RecordView<'_>, data: &[u8]) -> Self {
        let base = data.as_ptr().addr();
        let span = |part: Option<&[u8]>| match part {
            Some(part) => Span::new(part.as_ptr().addr().wrapping_sub(base), Some(part)),
            None => Span::NULL,
        };
        Self {
            offset: view.offset,
            timestamp: view.timestamp,
            key: span(view.key),
            value: span(view.value),
            // The empty list need not lie in the data.
            headers: match view.headers.count {
                0 => Span::NULL,
                _ => span(Some(view.headers.bytes)),
            },
            header_count: view.headers.count,
        }
    }

    #[inline]
    pub(super) fn view<'a>(&self, data: &'a [u8]) -> RecordView<'a> {
        RecordView {
            offset: self.offset,
            timestamp: self.timestamp,
            key: self.key.of(data),
            value: self.value.of(data),
            headers: Headers {
                bytes: self.headers.of(data).unwrap_or_default(),
                count: self.header_count,
            },
        }
    }

    /// The record's place in its partition.
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// Milliseconds since 1970, or -1 for none.
    pub fn timestamp(&self) -> i64 {
        self.timestamp
    }
}

/// A part of a batch's records. Those are below 2 GiB, so 32 bits do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    start: u32,
    len: u32,
}

impl Span {
    const NULL: Self = Self {
        start: 0,
        len: u32::MAX,
    };

    #[inline]
    fn new(start: usize, part: Option<&[u8]>) -> Self {
        part.map_or(Self::NULL, |part| Self {
            start: start as u32,
            len: part.len() as u32,
        })
    }

    #[inline]
    fn of(self, data: &[u8]) -> Option<&[u8]> {
        if self.len == u32::MAX {
            return None;
        }
        data.get(self.start as usize..)?.get(..self.len as usize)
    }
}

/// A record that shares its batch's buffer, and keeps it alive.
///
/// Making one costs a reference count, whatever the record holds. To keep a
/// few records of a large batch for long, [`detach`](RecordView::detach) them.
#[derive(Clone)]
pub struct Record {
    pub(super) data: Bytes,
    pub(super) range: RecordRange,
}

impl Record {
    /// The record, borrowed.
    #[inline]
    pub fn view(&self) -> RecordView<'_> {
        self.range.view(&self.data)
    }

    /// The record's place in its partition.
    #[inline]
    pub fn offset(&self) -> i64 {
        self.range.offset
    }

    /// Milliseconds since 1970, or -1 for none.
    #[inline]
    pub fn timestamp(&self) -> i64 {
        self.range.timestamp
    }

    /// The key, if there is one.
    #[inline]
    pub fn key(&self) -> Option<&[u8]> {
        self.range.key.of(&self.data)
    }

    /// The value, if there is one.
    #[inline]
    pub fn value(&self) -> Option<&[u8]> {
        self.range.value.of(&self.data)
    }

    /// The headers, in the producer's order.
    #[inline]
    pub fn headers(&self) -> Headers<'_> {
        self.view().headers
    }

    /// The key as a slice that keeps the batch's buffer alive.
    pub fn key_bytes(&self) -> Option<Bytes> {
        self.key().map(|key| self.data.slice_ref(key))
    }

    /// The value as a slice that keeps the batch's buffer alive.
    pub fn value_bytes(&self) -> Option<Bytes> {
        self.value().map(|value| self.data.slice_ref(value))
    }
}

impl PartialEq for Record {
    fn eq(&self, other: &Self) -> bool {
        self.view() == other.view()
    }
}

impl Eq for Record {}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.view().fmt(f)
    }
}

/// One header. Kafka's keys are UTF-8 by convention; they are bytes here, so
/// that a header which is not can be read and passed on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Header<'a> {
    /// The name. Several headers may have the same one.
    pub key: &'a [u8],
    /// The value, if there is one.
    pub value: Option<&'a [u8]>,
}

impl<'a> Header<'a> {
    /// A header with a value.
    pub const fn new(key: &'a str, value: &'a [u8]) -> Self {
        Self {
            key: key.as_bytes(),
            value: Some(value),
        }
    }
}

impl fmt::Debug for Header<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}={:?}", Ascii(self.key), self.value.map(Ascii))
    }
}

/// A record's headers: a list that keeps order, duplicates and null values.
#[derive(Clone, Copy, Default)]
pub struct Headers<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) count: u32,
}

impl<'a> Headers<'a> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// All headers, in order.
    pub fn iter(&self) -> HeaderIter<'a> {
        HeaderIter {
            bytes: self.bytes,
            at: 0,
            left: self.count,
        }
    }

    /// The last header named `key`, which is the one that counts where only
    /// one can.
    pub fn last(&self, key: &str) -> Option<Header<'a>> {
        self.all(key).last()
    }

    /// All headers named `key`, in order.
    pub fn all<'k>(&self, key: &'k str) -> impl Iterator<Item = Header<'a>> + use<'a, 'k> {
        self.iter()
            .filter(move |header| header.key == key.as_bytes())
    }

    /// Reads `count` headers at `*at` and moves it behind them.
    pub(super) fn read(body: &'a [u8], at: &mut usize, count: i32) -> Result<Self> {
        let start = *at;
        // A header is two lengths at least.
        let possible = (body.len() - start) / 2;
        if count < 0 || count as usize > possible {
            return Err(Error::at(
                ErrorKind::Malformed,
                start,
                format!("{count} headers, but room for {possible} at most"),
            ));
        }
        for _ in 0..count {
            read_header(body, at)?;
        }
        Ok(Self {
            bytes: &body[start..*at],
            count: count as u32,
        })
    }
}

impl<'a> IntoIterator for Headers<'a> {
    type Item = Header<'a>;
    type IntoIter = HeaderIter<'a>;

    fn into_iter(self) -> HeaderIter<'a> {
        self.iter()
    }
}

impl PartialEq for Headers<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count && self.iter().eq(other.iter())
    }
}

impl Eq for Headers<'_> {}

impl fmt::Debug for Headers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Iterates over a record's [`Headers`].
#[derive(Clone, Debug)]
pub struct HeaderIter<'a> {
    bytes: &'a [u8],
    at: usize,
    left: u32,
}

impl<'a> Iterator for HeaderIter<'a> {
    type Item = Header<'a>;

    fn next(&mut self) -> Option<Header<'a>> {
        self.left = self.left.checked_sub(1)?;
        // The headers were read once when the record was, so this succeeds.
        read_header(self.bytes, &mut self.at).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for HeaderIter<'_> {}

#[inline(always)]
fn read_header<'a>(body: &'a [u8], at: &mut usize) -> Result<Header<'a>> {
    let start = *at;
    let Some(key) = read_nullable(body, at)? else {
        return Err(Error::at(
            ErrorKind::Malformed,
            start,
            "a header without a name",
        ));
    };
    let value = read_nullable(body, at)?;
    Ok(Header { key, value })
}

/// Reads a zigzag length and as many bytes; -1 is null.
#[inline(always)]
pub(super) fn read_nullable<'a>(body: &'a [u8], at: &mut usize) -> Result<Option<&'a [u8]>> {
    let start = *at;
    let len = read_i32(body, at)?;
    if len < 0 {
        return match len {
            -1 => Ok(None),
            _ => Err(Error::at(
                ErrorKind::Malformed,
                start,
                format!("length {len} is neither a length nor -1 for null"),
            )),
        };
    }
    match body[*at..].get(..len as usize) {
        Some(bytes) => {
            *at += bytes.len();
            Ok(Some(bytes))
        }
        None => Err(Error::at(
            ErrorKind::Truncated,
            start,
            format!(
                "{len} bytes, but the record ends after {}",
                body.len() - *at
            ),
        )),
    }
}

/// Prints bytes as the text they mostly are.
struct Ascii<'a>(&'a [u8]);

impl fmt::Debug for Ascii<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}
