//! UUIDs, as text and as bytes.

use std::borrow::Borrow;

use uuid::Uuid;
use uuid::fmt::Hyphenated;

use crate::error::OTHER_SERIALIZER;
use crate::{Context, Deserialize, Error, ErrorKind, Format, Payload, Result, Serialize, Sink};

/// A UUID as text: 36 characters in lower case. Java's `UUIDSerializer`, unless
/// it was configured with another encoding than UTF-8.
///
/// Reading takes upper case too, and nothing but 36 characters. Java's
/// `UUIDDeserializer` also takes texts in which digits are missing, such as
/// `1-2-3-4-5`.
#[doc(alias = "UUIDSerializer")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UuidText;

impl Format for UuidText {
    fn fixed_len(&self) -> Option<usize> {
        Some(Hyphenated::LENGTH)
    }
}

impl<B: Borrow<Uuid> + ?Sized> Serialize<B> for UuidText {
    #[inline]
    fn serialize(&self, _: &Context<'_>, value: &B, out: &mut Sink<'_>) -> Result<()> {
        let mut text = [0; Hyphenated::LENGTH];
        let text = value.borrow().as_hyphenated().encode_lower(&mut text);
        out.put(text.as_bytes());
        Ok(())
    }
}

impl Deserialize for UuidText {
    type Value = Uuid;

    fn deserialize(&self, context: &Context<'_>, payload: Payload<'_>) -> Result<Uuid> {
        // Of the forms that the parser knows, only the one with hyphens has
        // this length.
        if payload.len() != Hyphenated::LENGTH {
            let found = payload.len();
            return Err(Error::wrong_length(
                context,
                "UuidText",
                Hyphenated::LENGTH,
                found,
            ));
        }
        Uuid::try_parse_ascii(payload.as_slice()).map_err(|error| {
            Error::new(ErrorKind::Malformed, context, "36 bytes that are no UUID")
                .advise(OTHER_SERIALIZER)
                .caused_by(error)
        })
    }
}

/// A UUID as its 16 bytes, most significant first (RFC 9562). No serializer of
/// Java's does this; programs do that write `uuid.as_bytes()` in Rust, `id[:]`
/// in Go, `id.bytes` in Python.
///
/// .NET's `Guid.ToByteArray()` has the first three groups reversed:
/// `Uuid::to_bytes_le` with [`Raw`](crate::Raw).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UuidBytes;

impl Format for UuidBytes {
    fn fixed_len(&self) -> Option<usize> {
        Some(size_of::<Uuid>())
    }
}

impl<B: Borrow<Uuid> + ?Sized> Serialize<B> for UuidBytes {
    #[inline]
    fn serialize(&self, _: &Context<'_>, value: &B, out: &mut Sink<'_>) -> Result<()> {
        out.put(value.borrow().as_bytes());
        Ok(())
    }
}

impl Deserialize for UuidBytes {
    type Value = Uuid;

    #[inline]
    fn deserialize(&self, context: &Context<'_>, payload: Payload<'_>) -> Result<Uuid> {
        match payload.array() {
            Some(bytes) => Ok(Uuid::from_bytes(bytes)),
            None => Err(Error::wrong_length(
                context,
                "UuidBytes",
                size_of::<Uuid>(),
                payload.len(),
            )),
        }
    }
}
