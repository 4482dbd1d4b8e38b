//! The bytes that are read.

use std::fmt;
use std::ops::Deref;

use bytes::Bytes;

/// The bytes of a key or value: borrowed, and shared without a copy where they
/// lie in a [`Bytes`].
///
/// A record's key and value are parts of one batch. Making a `Bytes` of each is
/// a reference count that most deserializers have no use for, so they get this,
/// and [`to_bytes`](Self::to_bytes) is there for those that have.
#[derive(Clone, Copy)]
pub struct Payload<'a> {
    bytes: &'a [u8],
    owner: Option<&'a Bytes>,
}

impl<'a> Payload<'a> {
    /// Bytes that nobody shares.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, owner: None }
    }

    /// Bytes that can be shared.
    pub fn shared(bytes: &'a Bytes) -> Self {
        Self {
            bytes,
            owner: Some(bytes),
        }
    }

    /// Bytes that are a part of `batch`, and can be shared with it. If they are
    /// not a part of it, they are as with [`new`](Self::new).
    pub fn within(batch: &'a Bytes, bytes: &'a [u8]) -> Self {
        let outer = batch.as_ptr_range();
        let inner = bytes.as_ptr_range();
        let inside = outer.start <= inner.start && inner.end <= outer.end;
        Self {
            bytes,
            owner: inside.then_some(batch),
        }
    }

    /// The bytes.
    pub fn as_slice(&self) -> &'a [u8] {
        self.bytes
    }

    /// The bytes, shared if they can be, otherwise copied.
    ///
    /// What is shared keeps the whole batch in memory. Keep a few records for
    /// long only as copies ([`Bytes::copy_from_slice`]).
    pub fn to_bytes(&self) -> Bytes {
        match self.owner {
            Some(owner) => owner.slice_ref(self.bytes),
            None => Bytes::copy_from_slice(self.bytes),
        }
    }

    /// All bytes as an array, if it has that length.
    #[inline]
    pub(crate) fn array<const N: usize>(&self) -> Option<[u8; N]> {
        self.bytes.try_into().ok()
    }

    /// The first `len` bytes, which are taken off.
    pub(crate) fn take(&mut self, len: usize) -> Option<Self> {
        let (bytes, rest) = self.bytes.split_at_checked(len)?;
        self.bytes = rest;
        Some(Self { bytes, ..*self })
    }
}

impl Deref for Payload<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes
    }
}

impl<'a> From<&'a Bytes> for Payload<'a> {
    fn from(bytes: &'a Bytes) -> Self {
        Self::shared(bytes)
    }
}

impl<'a> From<&'a [u8]> for Payload<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::new(bytes)
    }
}

/// Without the bytes, which may be a secret.
impl fmt::Debug for Payload<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Payload({} bytes)", self.bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_what_lies_in_the_batch() {
        let batch = Bytes::from(b"batch of records".to_vec());
        let part = Payload::within(&batch, &batch[9..]).to_bytes();
        assert_eq!(part, "records");
        assert_eq!(part.as_ptr(), batch[9..].as_ptr());
        assert_eq!(Payload::shared(&batch).to_bytes().as_ptr(), batch.as_ptr());
    }

    #[test]
    fn copies_what_does_not() {
        let batch = Bytes::from(b"batch".to_vec());
        let other = b"other".to_vec();
        let copy = Payload::within(&batch, &other).to_bytes();
        assert_eq!(copy, "other");
        assert_ne!(copy.as_ptr(), other.as_ptr());
        assert_eq!(Payload::new(&batch).to_bytes(), batch);
    }

    #[test]
    fn empty_at_the_end_of_a_batch() {
        let batch = Bytes::from(b"batch".to_vec());
        assert!(Payload::within(&batch, &batch[5..]).to_bytes().is_empty());
        assert!(Payload::within(&batch, &[]).to_bytes().is_empty());
    }
}
