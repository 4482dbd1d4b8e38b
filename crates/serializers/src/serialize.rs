//! From values to bytes.

use std::ops::Range;
use std::sync::Arc;

use crate::{Context, Error, ErrorKind, Format, Result, Sink};

/// Writes values of type `T` as the bytes of keys or values.
///
/// What can be written is a matter of types: `Utf8` takes `str`, `String`,
/// `&String`, `Arc<str>` …, `Json<Order>` takes `Order`, `&Order`, `Box<Order>`.
#[diagnostic::on_unimplemented(
    message = "the serializer `{Self}` does not write values of type `{T}`",
    note = "null and `Option` values are written by `Optional(serializer)`"
)]
pub trait Serialize<T: ?Sized>: Format {
    /// Appends the value's bytes.
    ///
    /// Not called for a value of which [`is_null`](Self::is_null) is true. When
    /// it fails, the caller takes back what was appended.
    ///
    /// # Errors
    /// [`Unserializable`](crate::ErrorKind::Unserializable) if the value can't
    /// be written; [`Unprepared`](crate::ErrorKind::Unprepared) if something has
    /// to be fetched first.
    fn serialize(&self, context: &Context<'_>, value: &T, out: &mut Sink<'_>) -> Result<()>;

    /// Whether this value is written as null: no bytes, which is not the same
    /// as zero bytes.
    fn is_null(&self, value: &T) -> bool {
        let _ = value;
        false
    }

    /// Appends the value's bytes to a buffer, and returns where they are; `None`
    /// for a null. When it fails, the buffer is as it was.
    ///
    /// # Errors
    /// Those of [`serialize`](Self::serialize), and when the serializer adds
    /// headers, for which there is no place here.
    fn append(
        &self,
        context: &Context<'_>,
        value: &T,
        buffer: &mut Vec<u8>,
    ) -> Result<Option<Range<usize>>> {
        if self.is_null(value) {
            return Ok(None);
        }
        let start = buffer.len();
        match self.serialize(context, value, &mut Sink::new(buffer)) {
            Ok(()) if buffer.len() >= start => Ok(Some(start..buffer.len())),
            Ok(()) => Err(Error::new(
                ErrorKind::Unserializable,
                context,
                "the serializer removed bytes that were not its own",
            )
            .advise("this is a bug in the serializer: it may only append")),
            Err(error) => {
                buffer.truncate(start);
                Err(error)
            }
        }
    }

    /// The value's bytes in a buffer of their own; `None` for a null.
    ///
    /// # Errors
    /// Those of [`append`](Self::append).
    fn to_vec(&self, context: &Context<'_>, value: &T) -> Result<Option<Vec<u8>>> {
        let mut buffer = Vec::with_capacity(self.fixed_len().unwrap_or(0));
        Ok(self.append(context, value, &mut buffer)?.map(|_| buffer))
    }
}

macro_rules! delegate {
    ($($pointer:ty),+) => {
        $(impl<T: ?Sized, S: Serialize<T> + ?Sized> Serialize<T> for $pointer {
            #[inline]
            fn serialize(&self, context: &Context<'_>, value: &T, out: &mut Sink<'_>) -> Result<()> {
                (**self).serialize(context, value, out)
            }

            #[inline]
            fn is_null(&self, value: &T) -> bool {
                (**self).is_null(value)
            }
        })+
    };
}

delegate!(&S, Box<S>, Arc<S>);
