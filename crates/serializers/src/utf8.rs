//! Text.

use crate::error::OTHER_SERIALIZER;
use crate::{Context, Deserialize, Error, ErrorKind, Format, Payload, Result, Serialize, Sink};

/// Text in UTF-8, without a length and without an end mark. Java's
/// `StringSerializer`, unless it was configured with another encoding.
///
/// Reading is stricter than Java's `StringDeserializer`, which puts U+FFFD in
/// the place of what is not UTF-8, so that different bytes become the same
/// text. Here they are an error. To read them anyway, read them with
/// [`Raw`](crate::Raw) and convert them with [`String::from_utf8_lossy`].
///
/// Java's strings can hold half of a surrogate pair, which its serializer
/// writes as `?`. Rust's can't.
#[doc(alias = "StringSerializer")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Utf8;

impl Format for Utf8 {}

impl<T: AsRef<str> + ?Sized> Serialize<T> for Utf8 {
    #[inline]
    fn serialize(&self, _: &Context<'_>, value: &T, out: &mut Sink<'_>) -> Result<()> {
        out.put(value.as_ref().as_bytes());
        Ok(())
    }
}

impl Deserialize for Utf8 {
    type Value = String;

    #[inline]
    fn deserialize(&self, context: &Context<'_>, payload: Payload<'_>) -> Result<String> {
        match std::str::from_utf8(payload.as_slice()) {
            Ok(text) => Ok(text.to_owned()),
            Err(error) => Err(not_utf8(context, error)),
        }
    }
}

#[cold]
fn not_utf8(context: &Context<'_>, error: std::str::Utf8Error) -> Error {
    let at = error.valid_up_to();
    let reason = match error.error_len() {
        Some(_) => format!("not UTF-8 at byte {at}"),
        None => format!("ends within the UTF-8 character that begins at byte {at}"),
    };
    Error::new(ErrorKind::Malformed, context, reason)
        .advise(OTHER_SERIALIZER)
        .caused_by(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_where_the_text_ends() {
        let read = |bytes: &[u8]| {
            let error = Utf8
                .deserialize(&Context::key("t"), Payload::new(bytes))
                .expect_err("not UTF-8");
            error.reason().to_owned()
        };
        assert_eq!(read(b"caf\xe9s"), "not UTF-8 at byte 3");
        assert_eq!(
            read(b"\xe2\x82"),
            "ends within the UTF-8 character that begins at byte 0"
        );
    }
}
