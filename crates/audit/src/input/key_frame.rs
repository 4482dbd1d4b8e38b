//! What if the frame in front of the keys were another one?

use std::fmt;
use std::str::FromStr;

use crate::frame::{Frame, FrameForm};

/// What happens to the schema registry's frame in front of each key, before the key is hashed.
///
/// A key that does not begin with the frame stops the run: it would be placed as if it were
/// another key. Null keys have no frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyFrame {
    /// It stays as it is, if there is one.
    #[default]
    Keep,
    /// `00` and the schema's id in 4 bytes are taken off: the frame of Confluent's registry, and
    /// of all that is compatible with it.
    StripConfluent,
    /// `00` and the schema's id in 8 bytes are taken off: the frame of older releases of
    /// Apicurio's serializers, unless they were told otherwise.
    StripApicurio,
    /// AWS Glue's 18 bytes are taken off; what was compressed with zlib is decompressed.
    StripGlue,
    /// The id in Confluent's frame becomes this one.
    ReplaceId(u32),
    /// Confluent's frame with this id is put in front.
    AddId(u32),
}

impl KeyFrame {
    /// Changes the key that `out` holds from `from` on.
    pub(super) fn apply(self, out: &mut Vec<u8>, from: usize) -> Result<(), String> {
        let form = match self {
            Self::Keep => return Ok(()),
            Self::AddId(id) => {
                let [a, b, c, d] = id.to_be_bytes();
                out.splice(from..from, [0, a, b, c, d]);
                return Ok(());
            }
            Self::StripConfluent | Self::ReplaceId(_) => FrameForm::Confluent,
            Self::StripApicurio => FrameForm::Apicurio,
            Self::StripGlue => FrameForm::Glue,
        };
        let key = out.split_off(from);
        let frame = Frame::expect(form, &key)?;
        if let Self::ReplaceId(id) = self {
            out.push(0);
            out.extend_from_slice(&id.to_be_bytes());
        }
        frame.unpack(out)
    }
}

const NAMES: &str = "keep, strip-confluent, strip-apicurio, strip-glue, replace-id=N, add-id=N";

impl FromStr for KeyFrame {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let id = |number: &str| {
            let id = number.parse().ok();
            let id = id.filter(|&id: &u32| id > 0 && i32::try_from(id).is_ok());
            id.ok_or_else(|| {
                format!(
                    "`{number}` is no schema id: it is a number from 1 to {}",
                    i32::MAX
                )
            })
        };
        match text.split_once('=') {
            None => match text {
                "keep" => return Ok(Self::Keep),
                "strip-confluent" => return Ok(Self::StripConfluent),
                "strip-apicurio" => return Ok(Self::StripApicurio),
                "strip-glue" => return Ok(Self::StripGlue),
                _ => {}
            },
            Some(("replace-id", number)) => return id(number).map(Self::ReplaceId),
            Some(("add-id", number)) => return id(number).map(Self::AddId),
            Some(_) => {}
        }
        Err(format!("`{text}` is no key frame; there are {NAMES}"))
    }
}

impl fmt::Display for KeyFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keep => f.write_str("keep"),
            Self::StripConfluent => f.write_str("strip-confluent"),
            Self::StripApicurio => f.write_str("strip-apicurio"),
            Self::StripGlue => f.write_str("strip-glue"),
            Self::ReplaceId(id) => write!(f, "replace-id={id}"),
            Self::AddId(id) => write!(f, "add-id={id}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(frame: &str, key: &[u8]) -> Result<Vec<u8>, String> {
        let mut out = b"before".to_vec();
        out.extend_from_slice(key);
        frame.parse::<KeyFrame>()?.apply(&mut out, 6)?;
        assert!(out.starts_with(b"before"));
        Ok(out.split_off(6))
    }

    #[test]
    fn frames_are_taken_off_replaced_and_put_on() {
        // Protobuf: the message index of the first message stays.
        let protobuf = b"\0\0\0\0\x07\0\x0a\x01x";
        for (frame, key, want) in [
            ("keep", &b"\0\0\0\0\x07\x54"[..], &b"\0\0\0\0\x07\x54"[..]),
            ("strip-confluent", b"\0\0\0\0\x07\x54", b"\x54"),
            ("strip-confluent", protobuf, b"\0\x0a\x01x"),
            // An Avro null, or an empty record.
            ("strip-confluent", b"\0\0\0\0\x07", b""),
            ("strip-apicurio", b"\0\0\0\0\0\0\0\0\x07\x54", b"\x54"),
            ("strip-glue", b"\x03\0ABCDEFGHIJKLMNOP\x54", b"\x54"),
            ("replace-id=258", protobuf, b"\0\0\0\x01\x02\0\x0a\x01x"),
            ("add-id=1", b"\x54", b"\0\0\0\0\x01\x54"),
            ("add-id=1", b"", b"\0\0\0\0\x01"),
        ] {
            assert_eq!(apply(frame, key).unwrap(), want, "{frame} {key:?}");
        }
    }

    #[test]
    fn keys_without_the_frame_are_refused() {
        for frame in [
            "strip-confluent",
            "strip-apicurio",
            "strip-glue",
            "replace-id=1",
        ] {
            for key in [&b""[..], b"user-1", b"\0", b"\x03\0", &[0; 30]] {
                let error = apply(frame, key).unwrap_err();
                assert!(error.starts_with("the key should begin with"), "{error}");
            }
        }
    }

    #[test]
    fn names_are_read_and_printed() {
        for name in [
            "keep",
            "strip-confluent",
            "strip-apicurio",
            "strip-glue",
            "replace-id=7",
            "add-id=2147483647",
        ] {
            assert_eq!(name.parse::<KeyFrame>().unwrap().to_string(), name);
        }
        for (name, hint) in [
            ("strip", "strip-confluent, strip-apicurio"),
            ("replace-id", "replace-id=N"),
            ("replace-id=0", "from 1"),
            ("add-id=2147483648", "to 2147483647"),
            ("add-id=x", "`x` is no schema id"),
        ] {
            let error = name.parse::<KeyFrame>().unwrap_err();
            assert!(error.contains(hint), "{error}");
        }
    }
}
