//! Decoding from one `Bytes`, never past its end.

use std::ops::RangeBounds;

use bytes::Bytes;

use super::Wire;
use crate::{Error, ErrorKind, Result, varint};

/// Memory reserved for an array before any of its elements was read. The count was checked by then, but it
/// may still be a lie; past this the memory grows with elements that were really there.
const RESERVE: usize = 4096;

/// Takes values off the front of an encoded message.
#[derive(Clone, Debug)]
pub struct Reader {
    input: Bytes,
    position: usize,
    end: usize,
    version: i16,
    flexible: bool,
    elements_left: usize,
}

impl Reader {
    /// A reader for one version of one message.
    pub fn new(input: Bytes, version: i16, flexible: bool) -> Self {
        let end = input.len();
        Self {
            input,
            position: 0,
            end,
            version,
            flexible,
            elements_left: usize::MAX,
        }
    }

    /// How many array elements the message may have in all. A decoded element can take twenty times the
    /// bytes that it was sent in. There is no limit at first.
    pub fn limit_elements(&mut self, limit: usize) {
        self.elements_left = limit;
    }

    /// The version that is read.
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

    /// Where the next value begins.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Bytes that are left.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.end - self.position
    }

    /// Whether the version is in `range`.
    #[inline]
    pub fn has(&self, range: impl RangeBounds<i16>) -> bool {
        range.contains(&self.version)
    }

    /// The next value.
    #[inline]
    pub fn get<T: Wire>(&mut self) -> Result<T> {
        T::read(self)
    }

    /// The next value in the versions that have it, the type's default in others.
    #[inline]
    pub fn get_in<T: Wire + Default>(&mut self, range: impl RangeBounds<i16>) -> Result<T> {
        if self.has(range) {
            return T::read(self);
        }
        Ok(T::default())
    }

    /// The next value in the versions that have it, `default` in others.
    #[inline]
    pub fn get_in_or<T: Wire>(&mut self, range: impl RangeBounds<i16>, default: T) -> Result<T> {
        if self.has(range) {
            return T::read(self);
        }
        Ok(default)
    }

    /// The next value, which may be null, but only from version `from` on.
    #[inline]
    pub fn get_nullable_from<T: Wire>(&mut self, from: i16) -> Result<Option<T>> {
        if self.version >= from {
            return T::read_nullable(self);
        }
        T::read(self).map(Some)
    }

    /// Record batches: null is read as none, as there is no difference to anyone.
    #[inline]
    pub fn records(&mut self) -> Result<Bytes> {
        Ok(Bytes::read_nullable(self)?.unwrap_or_default())
    }

    /// Tagged fields, where the version has them: `field` reads a tag that it knows and says so, and is
    /// called with no other bytes in sight than the field's. Unknown ones are skipped.
    pub fn tags(&mut self, mut field: impl FnMut(&mut Self, u32) -> Result<bool>) -> Result<()> {
        if !self.flexible {
            return Ok(());
        }
        for _ in 0..self.varint()? {
            let tag = self.varint()?;
            let size = self.varint()? as usize;
            self.need(size)?;
            let outer = self.end;
            self.end = self.position + size;
            if !field(self, tag)? {
                self.position = self.end;
            }
            if self.position != self.end {
                return Err(self.malformed(format!(
                    "tagged field {tag} says {size} bytes, but ends {} before that",
                    self.remaining()
                )));
            }
            self.end = outer;
        }
        Ok(())
    }

    /// Tagged fields of a struct that knows none.
    #[inline]
    pub fn skip_tags(&mut self) -> Result<()> {
        self.tags(|_, _| Ok(false))
    }

    /// Fails unless everything was read.
    pub fn finish(&self) -> Result<()> {
        match self.remaining() {
            0 => Ok(()),
            left => Err(self.malformed(format!("{left} bytes follow the end of the message"))),
        }
    }

    /// Everything that was not read.
    pub fn into_rest(self) -> Bytes {
        self.input.slice(self.position..self.end)
    }

    /// The length of a string, an array or bytes; `None` is null. `wide` is the layout of the versions
    /// before compact ones: four bytes instead of two.
    #[inline]
    pub(super) fn length(&mut self, wide: bool) -> Result<Option<usize>> {
        if self.flexible {
            let length = self.varint()?;
            return Ok(length.checked_sub(1).map(|length| length as usize));
        }
        let at = self.position;
        let length = if wide {
            self.get::<i32>()?
        } else {
            i32::from(self.get::<i16>()?)
        };
        match length {
            -1 => Ok(None),
            length => match usize::try_from(length) {
                Ok(length) => Ok(Some(length)),
                Err(_) => Err(Error::at(
                    ErrorKind::Malformed,
                    at,
                    format!("a length of {length}"),
                )),
            },
        }
    }

    /// As many elements as the length says, if there can be so many.
    pub(super) fn elements<T: Wire>(&mut self, count: usize) -> Result<Vec<T>> {
        const { assert!(T::MIN_SIZE > 0, "the bytes left would not bound the count") };
        if count > self.remaining() / T::MIN_SIZE {
            return Err(Error::at(
                ErrorKind::Truncated,
                self.position,
                format!(
                    "an array of {count} needs at least {} bytes each, {} are left",
                    T::MIN_SIZE,
                    self.remaining()
                ),
            ));
        }
        self.elements_left = match self.elements_left.checked_sub(count) {
            Some(left) => left,
            None => {
                return Err(Error::at(
                    ErrorKind::LimitExceeded,
                    self.position,
                    format!(
                        "an array of {count}, and no more than {} elements are left of the limit",
                        self.elements_left
                    ),
                ));
            }
        };
        let mut elements = Vec::with_capacity(count.min(RESERVE / size_of::<T>().max(1)));
        for _ in 0..count {
            elements.push(T::read(self)?);
        }
        Ok(elements)
    }

    #[inline]
    pub(super) fn varint(&mut self) -> Result<u32> {
        varint::read_u32(&self.input[..self.end], &mut self.position)
    }

    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        match self.input[self.position..self.end].first_chunk() {
            Some(bytes) => {
                self.position += N;
                Ok(*bytes)
            }
            None => Err(self.truncated(N)),
        }
    }

    #[inline]
    pub(super) fn slice(&mut self, length: usize) -> Result<&[u8]> {
        self.need(length)?;
        self.position += length;
        Ok(&self.input[self.position - length..self.position])
    }

    /// A part of the input itself, not a copy.
    #[inline]
    pub(super) fn bytes(&mut self, length: usize) -> Result<Bytes> {
        self.need(length)?;
        self.position += length;
        Ok(self.input.slice(self.position - length..self.position))
    }

    #[inline]
    fn need(&self, length: usize) -> Result<()> {
        if length > self.remaining() {
            return Err(self.truncated(length));
        }
        Ok(())
    }

    #[cold]
    fn truncated(&self, length: usize) -> Error {
        Error::at(
            ErrorKind::Truncated,
            self.position,
            format!("needs {length} bytes, {} are left", self.remaining()),
        )
    }

    #[cold]
    pub(super) fn malformed(&self, reason: impl Into<std::borrow::Cow<'static, str>>) -> Error {
        Error::at(ErrorKind::Malformed, self.position, reason)
    }
}
