//! Booleans.

use std::borrow::Borrow;

use crate::error::OTHER_SERIALIZER;
use crate::{Context, Deserialize, Error, ErrorKind, Format, Payload, Result, Serialize, Sink};

/// One byte: `01` for true, `00` for false, all others are an error. Java's
/// `BooleanSerializer`.
#[doc(alias = "BooleanSerializer")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bool;

// No fixed length, although it has one: Java's ListSerializer does not know of
// it, and writes each length.
impl Format for Bool {}

impl<B: Borrow<bool> + ?Sized> Serialize<B> for Bool {
    #[inline]
    fn serialize(&self, _: &Context<'_>, value: &B, out: &mut Sink<'_>) -> Result<()> {
        out.put(&[u8::from(*value.borrow())]);
        Ok(())
    }
}

impl Deserialize for Bool {
    type Value = bool;

    #[inline]
    fn deserialize(&self, context: &Context<'_>, payload: Payload<'_>) -> Result<bool> {
        match *payload {
            [0] => Ok(false),
            [1] => Ok(true),
            [other] => Err(Error::new(
                ErrorKind::Malformed,
                context,
                format!("Bool is the byte 0 or 1, found {other}"),
            )
            .advise(OTHER_SERIALIZER)),
            _ => Err(Error::wrong_length(context, "Bool", 1, payload.len())),
        }
    }
}
