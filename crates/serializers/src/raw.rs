//! Bytes as they are.

use bytes::Bytes;

use crate::{Context, Deserialize, Format, Payload, Result, Serialize, Sink};

/// Bytes as they are, in both directions. Java's `ByteArraySerializer` and
/// `BytesSerializer`.
///
/// Java's `ByteBufferSerializer` writes the same as long as the buffer's
/// position is 0: it rewinds the buffer first, and so writes what lies before
/// the position too.
///
/// Reading shares the batch ([`Payload::to_bytes`]) and copies nothing.
#[doc(alias = "ByteArraySerializer")]
#[doc(alias = "BytesSerializer")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Raw;

impl Format for Raw {}

impl<T: AsRef<[u8]> + ?Sized> Serialize<T> for Raw {
    #[inline]
    fn serialize(&self, _: &Context<'_>, value: &T, out: &mut Sink<'_>) -> Result<()> {
        out.put(value.as_ref());
        Ok(())
    }
}

impl Deserialize for Raw {
    type Value = Bytes;

    #[inline]
    fn deserialize(&self, _: &Context<'_>, payload: Payload<'_>) -> Result<Bytes> {
        Ok(payload.to_bytes())
    }
}
