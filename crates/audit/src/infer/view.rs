//! From the bytes of a record's key to those that the producer may have hashed.
//!
//! Usually they are the same. They differ when a dump shows a key as text that was binary (the
//! console consumer with a deserializer), when a producer hashes something else than it writes,
//! and when a framework takes a part of the key (a window's start, a schema id).

use data_encoding::{BASE64, HEXLOWER_PERMISSIVE};
use uuid::Uuid;

use crate::frame::{Frame, FrameForm};
use crate::input::KeyEncoding;

/// Which bytes are taken to be hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    AsIs,
    /// The key is text; its value was hashed in this encoding.
    Text(KeyEncoding),
    /// The key is 4 or 8 bytes, a big-endian integer; its decimal text was hashed.
    IntegerAsText,
    /// The key is 16 bytes, a UUID; its lower-case text was hashed.
    UuidAsText,
    /// The key is text in double quotes; what is inside was hashed.
    Unquoted,
    /// A schema registry's frame was left out.
    Without(FrameForm),
    /// Kafka Streams' windowed key: the 8 bytes of the window's start were left out.
    WithoutWindow,
    /// Kafka Streams' session-windowed key: the 16 bytes of its end and start were left out.
    WithoutSession,
}

impl View {
    /// Every view, the plainest first.
    pub(crate) const ALL: &[Self] = &[
        Self::AsIs,
        Self::Text(KeyEncoding::Int64),
        Self::Text(KeyEncoding::Int32),
        Self::Text(KeyEncoding::UuidBytes),
        Self::Text(KeyEncoding::Int64Le),
        Self::Text(KeyEncoding::Int32Le),
        Self::Text(KeyEncoding::UuidDotnet),
        Self::Text(KeyEncoding::UuidText),
        Self::Text(KeyEncoding::UuidUpper),
        Self::Text(KeyEncoding::UuidPlain),
        Self::Text(KeyEncoding::Hex),
        Self::Text(KeyEncoding::Base64),
        Self::IntegerAsText,
        Self::UuidAsText,
        Self::Unquoted,
        Self::Without(FrameForm::Confluent),
        Self::Without(FrameForm::Apicurio),
        Self::Without(FrameForm::Glue),
        Self::WithoutWindow,
        Self::WithoutSession,
    ];

    /// A stable name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::AsIs => "as-is",
            Self::Text(encoding) => match encoding {
                KeyEncoding::Int64 => "text-as-int64",
                KeyEncoding::Int32 => "text-as-int32",
                KeyEncoding::Int64Le => "text-as-int64-le",
                KeyEncoding::Int32Le => "text-as-int32-le",
                KeyEncoding::UuidBytes => "text-as-uuid-bytes",
                KeyEncoding::UuidDotnet => "text-as-uuid-dotnet",
                KeyEncoding::UuidText => "text-as-uuid-text",
                KeyEncoding::UuidUpper => "text-as-uuid-upper",
                KeyEncoding::UuidPlain => "text-as-uuid-plain",
                KeyEncoding::Hex => "text-as-hex",
                KeyEncoding::Base64 => "text-as-base64",
                KeyEncoding::Utf8 => "as-is",
            },
            Self::IntegerAsText => "integer-as-text",
            Self::UuidAsText => "uuid-as-text",
            Self::Unquoted => "unquoted",
            Self::Without(FrameForm::Confluent) => "without-schema-id",
            Self::Without(FrameForm::Apicurio) => "without-apicurio-id",
            Self::Without(FrameForm::Glue) => "without-glue-id",
            Self::WithoutWindow => "without-window",
            Self::WithoutSession => "without-session",
        }
    }

    /// What was hashed, for people.
    pub(crate) const fn describe(self) -> &'static str {
        match self {
            Self::AsIs => "the key's bytes as they are",
            Self::Text(encoding) => match encoding {
                KeyEncoding::Int64 => "the number as 8 bytes, big-endian (Java's Long)",
                KeyEncoding::Int32 => "the number as 4 bytes, big-endian (Java's Integer)",
                KeyEncoding::Int64Le => "the number as 8 bytes, little-endian",
                KeyEncoding::Int32Le => "the number as 4 bytes, little-endian",
                KeyEncoding::UuidBytes => "the UUID as 16 bytes",
                KeyEncoding::UuidDotnet => "the UUID as 16 bytes in .NET's order",
                KeyEncoding::UuidText => "the UUID as lower-case text",
                KeyEncoding::UuidUpper => "the UUID as upper-case text",
                KeyEncoding::UuidPlain => "the UUID as text without hyphens",
                KeyEncoding::Hex => "the bytes that the hexadecimal text stands for",
                KeyEncoding::Base64 => "the bytes that the base64 text stands for",
                KeyEncoding::Utf8 => "the key's bytes as they are",
            },
            Self::IntegerAsText => "the integer as decimal text",
            Self::UuidAsText => "the UUID as lower-case text",
            Self::Unquoted => "the text without its quotes",
            Self::Without(FrameForm::Confluent) => {
                "the key without the schema registry's 5-byte prefix"
            }
            Self::Without(FrameForm::Apicurio) => {
                "the key without Apicurio's 9 bytes of zero byte and schema id"
            }
            Self::Without(FrameForm::Glue) => "the key without AWS Glue's header of 18 bytes",
            Self::WithoutWindow => "the key without the window's start (its last 8 bytes)",
            Self::WithoutSession => "the key without the session's bounds (its last 16 bytes)",
        }
    }

    /// Appends the bytes; `false` if this view does not fit the key, or changes nothing.
    pub(crate) fn apply(self, key: &[u8], out: &mut Vec<u8>) -> bool {
        let from = out.len();
        let fits = self.write(key, out);
        // A view that changes nothing is the plain one.
        if !fits || (self != Self::AsIs && out[from..] == *key) {
            out.truncate(from);
            return false;
        }
        true
    }

    fn write(self, key: &[u8], out: &mut Vec<u8>) -> bool {
        let is_text = !key.is_empty() && key.iter().all(|&b| (0x20..0x7f).contains(&b));
        match self {
            Self::AsIs => {
                out.extend_from_slice(key);
                true
            }
            Self::Text(KeyEncoding::Hex) => {
                // Few texts are hexadecimal by accident when they are this long.
                is_text
                    && key.len() >= 8
                    && HEXLOWER_PERMISSIVE.decode(key).is_ok_and(|bytes| {
                        out.extend_from_slice(&bytes);
                        true
                    })
            }
            Self::Text(KeyEncoding::Base64) => {
                is_text
                    && key.len() >= 8
                    && BASE64.decode(key).is_ok_and(|bytes| {
                        out.extend_from_slice(&bytes);
                        true
                    })
            }
            Self::Text(encoding) => is_text && encoding.encode(key, out).is_ok(),
            Self::IntegerAsText => {
                let number = match key.len() {
                    _ if is_text => None,
                    4 => key.try_into().ok().map(i32::from_be_bytes).map(i64::from),
                    8 => key.try_into().ok().map(i64::from_be_bytes),
                    _ => None,
                };
                number.is_some_and(|number| {
                    out.extend_from_slice(number.to_string().as_bytes());
                    true
                })
            }
            Self::UuidAsText => {
                !is_text
                    && Uuid::from_slice(key).is_ok_and(|uuid| {
                        let mut text = [0; 36];
                        out.extend_from_slice(uuid.hyphenated().encode_lower(&mut text).as_bytes());
                        true
                    })
            }
            Self::Unquoted => match key {
                [b'"', inner @ .., b'"'] if !inner.contains(&b'\\') => {
                    out.extend_from_slice(inner);
                    true
                }
                _ => false,
            },
            Self::Without(form) => Frame::guess(key)
                .is_some_and(|frame| frame.form == form && frame.unpack(out).is_ok()),
            Self::WithoutWindow => without_tail(key, 8, out),
            Self::WithoutSession => without_tail(key, 16, out),
        }
    }
}

/// Leaves out a tail that holds milliseconds since 1970 of this century, in its last 8 bytes.
fn without_tail(key: &[u8], tail: usize, out: &mut Vec<u8>) -> bool {
    const FIRST: i64 = 946_684_800_000;
    const LAST: i64 = 4_102_444_800_000;
    let Some((inner, bounds)) = key.len().checked_sub(tail).map(|at| key.split_at(at)) else {
        return false;
    };
    let bounds_are_times = bounds.chunks_exact(8).all(|chunk| {
        <[u8; 8]>::try_from(chunk)
            .is_ok_and(|bytes| (FIRST..LAST).contains(&i64::from_be_bytes(bytes)))
    });
    if inner.is_empty() || !bounds_are_times {
        return false;
    }
    out.extend_from_slice(inner);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(view: View, key: &[u8]) -> Option<Vec<u8>> {
        let mut out = b"kept".to_vec();
        let fits = view.apply(key, &mut out);
        assert!(out.starts_with(b"kept") && (fits || out.len() == 4));
        fits.then(|| out.split_off(4))
    }

    #[test]
    fn views_that_fit_and_views_that_do_not() {
        let uuid = "fd7af248-ce5c-46a5-93d7-1c0c9005b99d";
        let raw = Uuid::parse_str(uuid).unwrap();
        let window = [&b"user-1"[..], &1_700_000_000_000i64.to_be_bytes()].concat();
        let session = [&window[..], &1_700_000_000_001i64.to_be_bytes()].concat();
        for (view, key, want) in [
            (View::AsIs, &b"x"[..], Some(&b"x"[..])),
            (
                View::Text(KeyEncoding::Int64),
                b"42",
                Some(b"\0\0\0\0\0\0\0\x2a"),
            ),
            (View::Text(KeyEncoding::Int64), b"x42", None),
            (
                View::Text(KeyEncoding::UuidBytes),
                uuid.as_bytes(),
                Some(raw.as_bytes()),
            ),
            (View::Text(KeyEncoding::UuidText), uuid.as_bytes(), None),
            (
                View::Text(KeyEncoding::Hex),
                b"00ff00ff",
                Some(b"\0\xff\0\xff"),
            ),
            (View::Text(KeyEncoding::Hex), b"00ff", None),
            (View::IntegerAsText, b"\0\0\0\x2a", Some(b"42")),
            (View::IntegerAsText, b"1234", None),
            (View::UuidAsText, raw.as_bytes(), Some(uuid.as_bytes())),
            (View::Unquoted, b"\"a\"", Some(b"a")),
            (View::Unquoted, b"\"", None),
            (
                View::Without(FrameForm::Confluent),
                b"\0\0\0\0\x01\x54",
                Some(b"\x54"),
            ),
            (
                View::Without(FrameForm::Apicurio),
                b"\0\0\0\0\x01\x54",
                None,
            ),
            (
                View::Without(FrameForm::Apicurio),
                b"\0\0\0\0\0\0\0\0\x01\x54",
                Some(b"\x54"),
            ),
            (
                View::Without(FrameForm::Glue),
                b"\x03\0abcdef\x1a\x8b\x8cdefghij\x54",
                None,
            ),
            (
                View::Without(FrameForm::Glue),
                b"\x03\0abcdef\x4a\x8b\x8cdefghij\x54",
                Some(b"\x54"),
            ),
            (View::WithoutWindow, &window, Some(b"user-1")),
            (View::WithoutSession, &session, Some(b"user-1")),
            (View::WithoutSession, &window, None),
            (View::WithoutWindow, b"user-1-and-more", None),
        ] {
            assert_eq!(apply(view, key).as_deref(), want, "{view:?} {key:?}");
        }
    }

    #[test]
    fn names_are_unique() {
        for (i, view) in View::ALL.iter().enumerate() {
            assert!(
                View::ALL[..i]
                    .iter()
                    .all(|other| other.name() != view.name())
            );
        }
    }
}
