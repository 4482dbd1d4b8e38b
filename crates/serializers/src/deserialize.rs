//! From bytes to values.

use std::sync::Arc;

use crate::{Context, Error, ErrorKind, Format, Payload, Result};

/// Reads the bytes of keys or values.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not deserialize: it implements no `Deserialize`"
)]
pub trait Deserialize: Format {
    /// What the bytes become.
    type Value;

    /// Reads the bytes, all of them: what is left over is an error.
    ///
    /// # Errors
    /// [`Malformed`](ErrorKind::Malformed) if the bytes are not a value;
    /// [`Unprepared`](ErrorKind::Unprepared) if something has to be fetched
    /// first. Whatever the bytes are, implementations don't panic, and allocate
    /// no more than what the bytes account for.
    fn deserialize(&self, context: &Context<'_>, payload: Payload<'_>) -> Result<Self::Value>;

    /// What a null stands for. By default it is an error.
    ///
    /// # Errors
    /// [`Null`](ErrorKind::Null), unless the format has a value for it.
    fn null(&self, context: &Context<'_>) -> Result<Self::Value> {
        let what = if context.is_key() {
            "the record has a null key"
        } else {
            "the record has a null value: a tombstone"
        };
        Err(Error::new(ErrorKind::Null, context, what)
            .advise("wrap the deserializer, as Optional(…), to read nulls as None"))
    }

    /// Reads what may be null.
    ///
    /// # Errors
    /// Those of [`deserialize`](Self::deserialize) and [`null`](Self::null).
    #[inline]
    fn read(&self, context: &Context<'_>, payload: Option<Payload<'_>>) -> Result<Self::Value> {
        match payload {
            Some(payload) => self.deserialize(context, payload),
            None => self.null(context),
        }
    }
}

macro_rules! delegate {
    ($($pointer:ty),+) => {
        $(impl<S: Deserialize + ?Sized> Deserialize for $pointer {
            type Value = S::Value;

            #[inline]
            fn deserialize(&self, context: &Context<'_>, payload: Payload<'_>) -> Result<S::Value> {
                (**self).deserialize(context, payload)
            }

            #[inline]
            fn null(&self, context: &Context<'_>) -> Result<S::Value> {
                (**self).null(context)
            }
        })+
    };
}

delegate!(&S, Box<S>, Arc<S>);
