//! How one record is laid out.

use super::record::{Header, Headers};
use crate::varint::{MAX_VARINT, MAX_VARLONG, size_i32, size_i64, write_u64, zigzag32, zigzag64};

/// A record that is about to be appended.
#[derive(Clone, Copy)]
pub(super) struct NewRecord<'a, H> {
    pub(super) offset_delta: i32,
    pub(super) timestamp_delta: i64,
    pub(super) key: Option<&'a [u8]>,
    /// `None` for a null value. The value itself is given when it is written:
    /// it may be in the buffer already.
    pub(super) value_len: Option<usize>,
    pub(super) headers: H,
}

/// Headers in either of the forms they can come in.
pub(super) trait HeaderSource {
    fn count(&self) -> usize;
    /// Without the count.
    fn encoded_len(&self) -> usize;
    fn put(&self, out: &mut Vec<u8>);
}

impl HeaderSource for &[Header<'_>] {
    #[inline]
    fn count(&self) -> usize {
        self.len()
    }

    #[inline]
    fn encoded_len(&self) -> usize {
        self.iter()
            .map(|header| {
                nullable_len(Some(header.key.len())) + nullable_len(header.value.map(<[u8]>::len))
            })
            .sum()
    }

    #[inline]
    fn put(&self, out: &mut Vec<u8>) {
        for header in *self {
            put_nullable(Some(header.key), out);
            put_nullable(header.value, out);
        }
    }
}

impl HeaderSource for Headers<'_> {
    fn count(&self) -> usize {
        self.len()
    }

    fn encoded_len(&self) -> usize {
        self.bytes.len()
    }

    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.bytes);
    }
}

impl<H: HeaderSource> NewRecord<'_, H> {
    /// What the record's own length field will say.
    #[inline]
    pub(super) fn body_len(&self) -> usize {
        1 + size_i64(self.timestamp_delta)
            + size_i32(self.offset_delta)
            + nullable_len(self.key.map(<[u8]>::len))
            + nullable_len(self.value_len)
            + size_i32(self.headers.count() as i32)
            + self.headers.encoded_len()
    }

    /// Appends the record. `body_len` is [`body_len`](Self::body_len), at most
    /// `i32::MAX`; `value` is as long as `value_len` says.
    #[inline]
    pub(super) fn put(&self, body_len: usize, value: &[u8], out: &mut Vec<u8>) {
        // With room for what `put_u64` takes back again.
        out.reserve(MAX_VARINT + body_len + size_of::<u64>());
        self.put_before_value(body_len, out);
        out.extend_from_slice(value);
        self.put_headers(out);
    }

    /// Appends all that comes before the value, with the value's length.
    #[inline]
    pub(super) fn put_before_value(&self, body_len: usize, out: &mut Vec<u8>) {
        put_i32(body_len as i32, out);
        // The record's attributes, which no version has used.
        out.push(0);
        put_i64(self.timestamp_delta, out);
        put_i32(self.offset_delta, out);
        put_nullable(self.key, out);
        put_len(self.value_len, out);
    }

    /// Appends all that comes behind the value.
    #[inline]
    pub(super) fn put_headers(&self, out: &mut Vec<u8>) {
        match self.headers.count() {
            0 => out.push(0),
            count => {
                put_i32(count as i32, out);
                self.headers.put(out);
            }
        }
    }
}

/// The length of a zigzag length and of the bytes behind it.
#[inline]
fn nullable_len(len: Option<usize>) -> usize {
    match len {
        // More than 2 GiB is refused before anything is written, so the sum
        // only has to be large then, not right.
        Some(len) => size_i32(len as i32) + len,
        None => 1,
    }
}

#[inline]
fn put_nullable(bytes: Option<&[u8]>, out: &mut Vec<u8>) {
    put_len(bytes.map(<[u8]>::len), out);
    // Not `unwrap_or_default`: without a key there is nothing to copy, and a
    // copy of no bytes is still a call.
    if let Some(bytes) = bytes {
        out.extend_from_slice(bytes);
    }
}

#[inline]
fn put_len(len: Option<usize>, out: &mut Vec<u8>) {
    put_i32(len.map_or(-1, |len| len as i32), out);
}

#[inline]
fn put_i32(value: i32, out: &mut Vec<u8>) {
    put_u64(zigzag32(value).into(), out);
}

#[inline]
fn put_i64(value: i64, out: &mut Vec<u8>) {
    put_u64(zigzag64(value), out);
}

/// Appends a varint.
///
/// It is put together in a register and stored as eight bytes, of which those
/// too many are taken back. Byte by byte, and then copied, it took a quarter of
/// the time of a whole append: the copy waits for the bytes to be stored.
#[inline]
fn put_u64(value: u64, out: &mut Vec<u8>) {
    let (bits, len) = match value {
        0..0x80 => (value, 1),
        0x80..0x4000 => (value & 0x7f | 0x80 | (value >> 7) << 8, 2),
        0x4000..0x20_0000 => (
            value & 0x7f | 0x8080 | (value >> 7 & 0x7f) << 8 | (value >> 14) << 16,
            3,
        ),
        _ => return put_long(value, out),
    };
    let end = out.len() + len;
    out.extend_from_slice(&bits.to_le_bytes());
    out.truncate(end);
}

#[cold]
fn put_long(value: u64, out: &mut Vec<u8>) {
    let mut bytes = [0; MAX_VARLONG];
    let len = write_u64(value, &mut bytes);
    out.extend_from_slice(&bytes[..len]);
}
