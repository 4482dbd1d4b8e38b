use std::str::FromStr;

use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD, HEXLOWER_PERMISSIVE};
use uuid::Uuid;

use crate::named::{name, named};

/// How the text of a key in the input becomes the bytes that a producer hashes.
///
/// The same number or UUID is many different keys: see the serializers of the producer in
/// question. Numbers are written as decimal text in the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyEncoding {
    /// The bytes as they stand; `StringSerializer` and every client's plain strings.
    #[default]
    Utf8,
    /// Hexadecimal digits, two for each byte.
    Hex,
    /// Base64, with the standard or the URL alphabet, padded or not.
    Base64,
    /// 4 bytes, big-endian: Java's `IntegerSerializer`.
    Int32,
    /// 4 bytes, little-endian.
    Int32Le,
    /// 8 bytes, big-endian: Java's `LongSerializer`.
    Int64,
    /// 8 bytes, little-endian.
    Int64Le,
    /// A UUID as 36 lower-case characters: Java's `UUIDSerializer`.
    UuidText,
    /// A UUID as 36 upper-case characters.
    UuidUpper,
    /// A UUID as 32 lower-case digits without hyphens.
    UuidPlain,
    /// A UUID as 16 bytes, most significant first.
    UuidBytes,
    /// A UUID as 16 bytes in the mixed order of .NET's `Guid.ToByteArray()`.
    UuidDotnet,
}

impl KeyEncoding {
    /// Every encoding with its name.
    pub const ALL: &[(Self, &str)] = &[
        (Self::Utf8, "utf8"),
        (Self::Hex, "hex"),
        (Self::Base64, "base64"),
        (Self::Int32, "int32"),
        (Self::Int32Le, "int32-le"),
        (Self::Int64, "int64"),
        (Self::Int64Le, "int64-le"),
        (Self::UuidText, "uuid-text"),
        (Self::UuidUpper, "uuid-upper"),
        (Self::UuidPlain, "uuid-plain"),
        (Self::UuidBytes, "uuid-bytes"),
        (Self::UuidDotnet, "uuid-dotnet"),
    ];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        name(Self::ALL, &self)
    }

    /// Appends the key's bytes to `out`; the error says what was expected.
    pub(crate) fn encode(self, text: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        let shown = || String::from_utf8_lossy(&text[..text.len().min(60)]).into_owned();
        let uuid =
            || Uuid::try_parse_ascii(text).map_err(|e| format!("`{}` is not a UUID: {e}", shown()));
        match self {
            Self::Utf8 => out.extend_from_slice(text),
            Self::Hex => {
                let bytes = HEXLOWER_PERMISSIVE
                    .decode(text)
                    .map_err(|e| format!("`{}` is not hexadecimal: {e}", shown()))?;
                out.extend_from_slice(&bytes);
            }
            Self::Base64 => {
                let url = text.iter().any(|b| matches!(b, b'-' | b'_'));
                let padded = text.ends_with(b"=");
                let alphabet = match (url, padded) {
                    (false, true) => &BASE64,
                    (false, false) => &BASE64_NOPAD,
                    (true, true) => &BASE64URL,
                    (true, false) => &BASE64URL_NOPAD,
                };
                let bytes = alphabet
                    .decode(text)
                    .map_err(|e| format!("`{}` is not base64: {e}", shown()))?;
                out.extend_from_slice(&bytes);
            }
            Self::Int32 => out.extend_from_slice(&integer::<i32>(text, "32")?.to_be_bytes()),
            Self::Int32Le => out.extend_from_slice(&integer::<i32>(text, "32")?.to_le_bytes()),
            Self::Int64 => out.extend_from_slice(&integer::<i64>(text, "64")?.to_be_bytes()),
            Self::Int64Le => out.extend_from_slice(&integer::<i64>(text, "64")?.to_le_bytes()),
            Self::UuidText => {
                out.extend_from_slice(uuid()?.hyphenated().encode_lower(&mut [0; 36]).as_bytes());
            }
            Self::UuidUpper => {
                out.extend_from_slice(uuid()?.hyphenated().encode_upper(&mut [0; 36]).as_bytes());
            }
            Self::UuidPlain => {
                out.extend_from_slice(uuid()?.simple().encode_lower(&mut [0; 32]).as_bytes());
            }
            Self::UuidBytes => out.extend_from_slice(uuid()?.as_bytes()),
            Self::UuidDotnet => out.extend_from_slice(&uuid()?.to_bytes_le()),
        }
        Ok(())
    }
}

fn integer<T: FromStr>(text: &[u8], bits: &str) -> Result<T, String> {
    std::str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| {
            let shown = String::from_utf8_lossy(&text[..text.len().min(60)]);
            format!("`{shown}` is not a whole number that fits {bits} bits")
        })
}

named!(
    KeyEncoding,
    "key encoding",
    "int32-be" | "int32be" => "int32",
    "int32le" => "int32-le",
    "int64-be" | "int64be" => "int64",
    "int64le" => "int64-le",
    "uuid" => "uuid-text"
);

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(encoding: &str, text: &str) -> Result<String, String> {
        let mut out = Vec::new();
        encoding
            .parse::<KeyEncoding>()?
            .encode(text.as_bytes(), &mut out)?;
        Ok(HEXLOWER_PERMISSIVE.encode(&out))
    }

    #[test]
    fn the_same_text_is_many_keys() {
        let uuid = "FD7AF248-ce5c-46a5-93d7-1c0c9005b99d";
        for (encoding, text, hex) in [
            ("utf8", "42", "3432"),
            ("hex", "00fF", "00ff"),
            ("base64", "AP8=", "00ff"),
            ("base64", "AP8", "00ff"),
            ("base64", "-_8", "fbff"),
            ("int32", "42", "0000002a"),
            ("int32", "-1", "ffffffff"),
            ("int32-le", "42", "2a000000"),
            ("int64be", "42", "000000000000002a"),
            ("int64-le", "42", "2a00000000000000"),
            (
                "uuid-plain",
                "{fd7af248-ce5c-46a5-93d7-1c0c9005b99d}",
                &encode("utf8", "fd7af248ce5c46a593d71c0c9005b99d").unwrap(),
            ),
            ("uuid", uuid, &encode("utf8", &uuid.to_lowercase()).unwrap()),
            (
                "uuid-upper",
                uuid,
                &encode("utf8", &uuid.to_uppercase()).unwrap(),
            ),
            ("uuid-bytes", uuid, "fd7af248ce5c46a593d71c0c9005b99d"),
            ("uuid-dotnet", uuid, "48f27afd5ccea54693d71c0c9005b99d"),
        ] {
            assert_eq!(encode(encoding, text).unwrap(), hex, "{encoding} {text}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_by_name() {
        for (encoding, text) in [
            ("hex", "0"),
            ("hex", "zz"),
            ("base64", "A"),
            ("int32", "2147483648"),
            ("int32", "4.0"),
            ("int64", ""),
            ("uuid", "not-one"),
        ] {
            let error = encode(encoding, text).unwrap_err();
            assert!(error.contains(text), "{error}");
        }
        assert!(encode("latin1", "").unwrap_err().contains("uuid-dotnet"));
    }
}
