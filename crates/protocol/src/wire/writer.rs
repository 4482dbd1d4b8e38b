//! Encoding into one buffer, with long byte fields left where they are.

use std::ops::RangeBounds;

use bytes::{BufMut, Bytes, BytesMut};

use super::Wire;
use crate::{Error, ErrorKind, Result, varint};

/// Byte fields shorter than this are copied: a segment of their own costs more than the copy.
const SPLICE_FROM: usize = 1024;

/// Collects an encoded message.
#[derive(Debug)]
pub struct Writer {
    buffer: BytesMut,
    /// Bytes that belong at a position of the buffer, in order of position.
    spliced: Vec<(usize, Bytes)>,
    spliced_len: usize,
    version: i16,
    flexible: bool,
}

impl Writer {
    /// A writer for one version of one message.
    pub fn new(version: i16, flexible: bool) -> Self {
        Self {
            buffer: BytesMut::with_capacity(128),
            spliced: Vec::new(),
            spliced_len: 0,
            version,
            flexible,
        }
    }

    /// The version that is written.
    pub fn version(&self) -> i16 {
        self.version
    }

    /// Whether the version has compact lengths and tagged fields.
    pub fn is_flexible(&self) -> bool {
        self.flexible
    }

    /// Goes on in another layout: a body's after its header's.
    pub fn switch(&mut self, version: i16, flexible: bool) {
        self.version = version;
        self.flexible = flexible;
    }

    /// Bytes written so far.
    pub fn len(&self) -> usize {
        self.buffer.len() + self.spliced_len
    }

    /// Whether nothing was written yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the version is in `range`.
    #[inline]
    pub fn has(&self, range: impl RangeBounds<i16>) -> bool {
        range.contains(&self.version)
    }

    /// Appends `value`.
    #[inline]
    pub fn put<T: Wire>(&mut self, value: &T) -> Result<()> {
        value.write(self)
    }

    /// Appends `value` in the versions that have it, and drops it in others.
    #[inline]
    pub fn put_in<T: Wire>(&mut self, range: impl RangeBounds<i16>, value: &T) -> Result<()> {
        if self.has(range) {
            return value.write(self);
        }
        Ok(())
    }

    /// Appends `value` in the versions that have it; others take no value but the type's default.
    #[inline]
    pub fn need_in<T>(
        &mut self,
        range: impl RangeBounds<i16>,
        name: &'static str,
        value: &T,
    ) -> Result<()>
    where
        T: Wire + Default + PartialEq,
    {
        if self.has(range) {
            return value.write(self);
        }
        self.absent(name, value, &T::default())
    }

    /// Appends `value` in the versions that have it; others take no value but `default`.
    #[inline]
    pub fn need_in_or<T: Wire + PartialEq>(
        &mut self,
        range: impl RangeBounds<i16>,
        name: &'static str,
        value: &T,
        default: &T,
    ) -> Result<()> {
        if self.has(range) {
            return value.write(self);
        }
        self.absent(name, value, default)
    }

    /// Checks a field that the version does not carry.
    #[inline]
    pub fn absent<T: PartialEq>(&self, name: &'static str, value: &T, default: &T) -> Result<()> {
        if value == default {
            return Ok(());
        }
        Err(self.refuse(name, "is set, but this version does not carry it"))
    }

    /// Appends a value that may be null, but only from version `from` on.
    #[inline]
    pub fn put_nullable_from<T: Wire>(
        &mut self,
        from: i16,
        name: &'static str,
        value: &Option<T>,
    ) -> Result<()> {
        match value {
            value if self.version >= from => T::write_nullable(value.as_ref(), self),
            Some(value) => value.write(self),
            None => Err(self.refuse(name, &format!("cannot be null before version {from}"))),
        }
    }

    /// Appends tagged fields, in ascending order; nothing where the version has none.
    pub fn tags(&mut self, fill: impl FnOnce(&mut TagWriter<'_>) -> Result<()>) -> Result<()> {
        let counter = self.buffer.len();
        if self.flexible {
            self.buffer.put_u8(0);
        }
        let mut tags = TagWriter {
            writer: self,
            count: 0,
        };
        fill(&mut tags)?;
        let count = tags.count;
        if self.flexible {
            debug_assert!(count < 0x80, "one byte holds the number of tagged fields");
            self.buffer[counter] = count;
        }
        Ok(())
    }

    /// Appends the empty list of tagged fields where the version has one.
    #[inline]
    pub fn no_tags(&mut self) {
        if self.flexible {
            self.buffer.put_u8(0);
        }
    }

    /// Appends the length of a string, an array or bytes. `wide` is the layout of the versions before
    /// compact ones: four bytes instead of two.
    #[inline]
    pub(super) fn put_length(&mut self, length: usize, wide: bool) -> Result<()> {
        let limit = if wide {
            i32::MAX as usize
        } else {
            super::MAX_STRING
        };
        if length > limit {
            return Err(Error::new(
                ErrorKind::Unencodable,
                format!("a length of {length} is more than the protocol's {limit}"),
            ));
        }
        if self.flexible {
            self.put_varint(length as u32 + 1);
        } else if wide {
            self.buffer.put_i32(length as i32);
        } else {
            self.buffer.put_i16(length as i16);
        }
        Ok(())
    }

    /// Appends what stands for null instead of a length.
    #[inline]
    pub(super) fn put_null_length(&mut self, wide: bool) {
        if self.flexible {
            self.buffer.put_u8(0);
        } else if wide {
            self.buffer.put_i32(-1);
        } else {
            self.buffer.put_i16(-1);
        }
    }

    #[inline]
    pub(super) fn put_varint(&mut self, value: u32) {
        let mut bytes = [0; varint::MAX_VARINT];
        let size = varint::write_u32(value, &mut bytes);
        self.buffer.put_slice(&bytes[..size]);
    }

    #[inline]
    pub(super) fn put_slice(&mut self, bytes: &[u8]) {
        self.buffer.put_slice(bytes);
    }

    /// Appends bytes without copying them, if they are many.
    pub(crate) fn append(&mut self, bytes: &Bytes) {
        if bytes.len() < SPLICE_FROM {
            self.buffer.put_slice(bytes);
        } else {
            self.spliced.push((self.buffer.len(), bytes.clone()));
            self.spliced_len += bytes.len();
        }
    }

    /// Overwrites four bytes near the start with the number of bytes that follow them.
    pub(crate) fn set_size(&mut self, at: usize) -> Result<()> {
        let size = self.len() - at - 4;
        let size = i32::try_from(size).map_err(|_| {
            Error::new(
                ErrorKind::Unencodable,
                format!(
                    "a frame of {size} bytes is more than the protocol's {}",
                    i32::MAX
                ),
            )
        })?;
        self.buffer[at..at + 4].copy_from_slice(&size.to_be_bytes());
        Ok(())
    }

    /// Everything that was written, in pieces to be sent one after the other.
    pub fn into_segments(self) -> Vec<Bytes> {
        let buffer = self.buffer.freeze();
        if self.spliced.is_empty() {
            return vec![buffer];
        }
        let mut segments = Vec::with_capacity(2 * self.spliced.len() + 1);
        let mut done = 0;
        for (position, bytes) in self.spliced {
            if position > done {
                segments.push(buffer.slice(done..position));
                done = position;
            }
            segments.push(bytes);
        }
        if done < buffer.len() {
            segments.push(buffer.slice(done..));
        }
        segments
    }

    /// Everything that was written, in one piece; copies what was left where it was.
    pub fn into_bytes(self) -> Bytes {
        if self.spliced.is_empty() {
            return self.buffer.freeze();
        }
        let mut whole = BytesMut::with_capacity(self.len());
        for segment in self.into_segments() {
            whole.extend_from_slice(&segment);
        }
        whole.freeze()
    }

    #[cold]
    fn refuse(&self, name: &'static str, reason: &str) -> Error {
        Error::new(ErrorKind::Unencodable, format!("{name} {reason}"))
    }
}

/// Appends tagged fields; those at their default are left out, as Kafka's brokers and clients do.
#[derive(Debug)]
pub struct TagWriter<'a> {
    writer: &'a mut Writer,
    count: u8,
}

impl TagWriter<'_> {
    /// A field that is dropped in versions without it.
    pub fn put<T>(&mut self, tag: u32, range: impl RangeBounds<i16>, value: &T) -> Result<()>
    where
        T: Wire + Default + PartialEq,
    {
        self.put_or(tag, range, value, &T::default())
    }

    /// Like [`TagWriter::put`], for a field with a default of its own.
    pub fn put_or<T: Wire + PartialEq>(
        &mut self,
        tag: u32,
        range: impl RangeBounds<i16>,
        value: &T,
        default: &T,
    ) -> Result<()> {
        if value == default || !self.writer.has(range) {
            return Ok(());
        }
        self.append(tag, |w| value.write(w))
    }

    /// A struct that may be null, and that must be at its default in versions without it.
    pub fn need_struct<T: Wire + PartialEq>(
        &mut self,
        tag: u32,
        range: impl RangeBounds<i16>,
        name: &'static str,
        value: &Option<T>,
        default: &Option<T>,
    ) -> Result<()> {
        if !self.writer.has(range) {
            return self.writer.absent(name, value, default);
        }
        if value == default {
            return Ok(());
        }
        self.append(tag, |w| T::write_nullable_tagged(value.as_ref(), w))
    }

    fn append(&mut self, tag: u32, fill: impl FnOnce(&mut Writer) -> Result<()>) -> Result<()> {
        let w = &mut *self.writer;
        w.put_varint(tag);
        let start = w.len();
        let position = w.buffer.len();
        fill(w)?;
        // Tagged values are small: moving one by the size of its length is cheaper than measuring it first.
        let mut length = [0; varint::MAX_VARINT];
        let size = varint::write_u32((w.len() - start) as u32, &mut length);
        let end = w.buffer.len();
        w.buffer.put_bytes(0, size);
        w.buffer.copy_within(position..end, position + size);
        w.buffer[position..position + size].copy_from_slice(&length[..size]);
        for (at, _) in w
            .spliced
            .iter_mut()
            .rev()
            .take_while(|(at, _)| *at >= position)
        {
            *at += size;
        }
        self.count += 1;
        Ok(())
    }

    /// A field that must be at its default in versions without it.
    pub fn need<T>(
        &mut self,
        tag: u32,
        range: impl RangeBounds<i16> + Clone,
        name: &'static str,
        value: &T,
    ) -> Result<()>
    where
        T: Wire + Default + PartialEq,
    {
        self.need_or(tag, range, name, value, &T::default())
    }

    /// Like [`TagWriter::need`], for a field with a default of its own.
    pub fn need_or<T: Wire + PartialEq>(
        &mut self,
        tag: u32,
        range: impl RangeBounds<i16> + Clone,
        name: &'static str,
        value: &T,
        default: &T,
    ) -> Result<()> {
        if !self.writer.has(range.clone()) {
            return self.writer.absent(name, value, default);
        }
        self.put_or(tag, range, value, default)
    }
}
