//! What schema registries' serializers put in front of a key, which partitioners hash too.
//!
//! - Confluent's registry, and whatever is compatible with it (newer releases of Apicurio's
//!   serializers by default): `00` and the schema's id in 4 bytes, big-endian;
//! - older releases of Apicurio's serializers: `00` and the id in 8 bytes, big-endian;
//! - AWS Glue's: `03`, `00` or `05` (zlib) for the compression, and the UUID of the schema's version.
//!
//! The message indexes that follow the id of a Protobuf schema are left with the payload: nothing
//! in the bytes says that it is Protobuf.

use std::fmt;
use std::io::Read;

use data_encoding::HEXLOWER;
use flate2::read::ZlibDecoder;
use serde::{Serialize, Serializer};
use uuid::Uuid;

use crate::input::MAX_RECORD_BYTES;

/// Whose frame it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FrameForm {
    /// Confluent Schema Registry's: 5 bytes.
    Confluent,
    /// Apicurio's with ids of 8 bytes: 9 bytes.
    Apicurio,
    /// AWS Glue Schema Registry's: 18 bytes.
    Glue,
}

impl FrameForm {
    const ALL: [Self; 3] = [Self::Confluent, Self::Apicurio, Self::Glue];

    /// How many bytes it has.
    pub(crate) const fn len(self) -> usize {
        match self {
            Self::Confluent => 5,
            Self::Apicurio => 9,
            Self::Glue => 18,
        }
    }

    /// What it consists of, for messages.
    const fn describe(self) -> &'static str {
        match self {
            Self::Confluent => "Confluent's frame (00 and a schema id of 4 bytes)",
            Self::Apicurio => "Apicurio's frame (00 and a schema id of 8 bytes)",
            Self::Glue => "AWS Glue's frame (03, 00 or 05, and a UUID of 16 bytes)",
        }
    }

    /// The option that takes it off.
    const fn option(self) -> &'static str {
        match self {
            Self::Confluent => "strip-confluent",
            Self::Apicurio => "strip-apicurio",
            Self::Glue => "strip-glue",
        }
    }
}

/// Which schema a frame names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RegistryId {
    /// By its number in the registry.
    Number(u32),
    /// By the UUID of its version, as AWS Glue.
    Version(Uuid),
}

impl fmt::Display for RegistryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(id) => id.fmt(f),
            Self::Version(uuid) => uuid.fmt(f),
        }
    }
}

impl Serialize for RegistryId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(id) => serializer.serialize_u32(*id),
            Self::Version(uuid) => serializer.collect_str(uuid),
        }
    }
}

/// A key that begins with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame<'k> {
    pub(crate) form: FrameForm,
    pub(crate) id: RegistryId,
    compressed: bool,
    /// What follows it.
    pub(crate) rest: &'k [u8],
}

/// Ids of schemas are small. A random key begins like a frame of Confluent's once in 2^16 times.
const LARGEST_LIKELY_ID: u32 = 1 << 24;

impl<'k> Frame<'k> {
    /// Reads a frame of this form.
    ///
    /// Registries count ids from 1, and never came to 2^31: that tells keys from numbers of 8 bytes,
    /// and ids of 4 bytes from those of 8.
    fn read(form: FrameForm, key: &'k [u8]) -> Option<Self> {
        let (frame, rest) = key.split_at_checked(form.len())?;
        let number = |bytes: [u8; 4]| {
            let id = u32::from_be_bytes(bytes);
            (id > 0 && i32::try_from(id).is_ok()).then_some(RegistryId::Number(id))
        };
        let (id, compressed) = match (form, frame) {
            (FrameForm::Confluent, &[0, a, b, c, d]) => (number([a, b, c, d])?, false),
            (FrameForm::Apicurio, &[0, 0, 0, 0, 0, a, b, c, d]) => (number([a, b, c, d])?, false),
            (FrameForm::Glue, [3, compression @ (0 | 5), uuid @ ..]) => {
                let uuid = Uuid::from_slice(uuid).ok()?;
                (RegistryId::Version(uuid), *compression == 5)
            }
            _ => return None,
        };
        Some(Self {
            form,
            id,
            compressed,
            rest,
        })
    }

    /// Reads a frame that the caller knows to be there; the error says what is there instead.
    pub(crate) fn expect(form: FrameForm, key: &'k [u8]) -> Result<Self, String> {
        Self::read(form, key).ok_or_else(|| {
            let shown = HEXLOWER.encode(&key[..key.len().min(18)]);
            let more = if key.len() > 18 { "…" } else { "" };
            let wanted = form.describe();
            let what = match key {
                [] => "is empty".into(),
                _ => format!("`{shown}{more}` is not that"),
            };
            let instead = FrameForm::ALL
                .into_iter()
                .find(|&other| other != form && Self::read(other, key).is_some())
                .map_or(String::new(), |other| {
                    format!("; it looks like {}: {}", other.describe(), other.option())
                });
            format!("the key should begin with {wanted}, but {what}{instead}")
        })
    }

    /// The frame that a key seems to begin with, if nobody said that there is one.
    pub(crate) fn guess(key: &'k [u8]) -> Option<Self> {
        let frame = FrameForm::ALL
            .into_iter()
            .find_map(|form| Self::read(form, key))?;
        let likely = match (frame.form, frame.id) {
            // Eight bytes that begin with zeros are rather a small int64, sixteen two of them.
            (FrameForm::Confluent, RegistryId::Number(id)) => {
                id < LARGEST_LIKELY_ID && key.len() != 8
            }
            (FrameForm::Apicurio, RegistryId::Number(id)) => {
                id < LARGEST_LIKELY_ID && key.len() != 16
            }
            // Glue makes random UUIDs.
            (_, RegistryId::Version(uuid)) => uuid.get_version_num() == 4,
            _ => false,
        };
        (likely && !frame.rest.is_empty()).then_some(frame)
    }

    /// Appends what the serializer put the frame in front of.
    pub(crate) fn unpack(&self, out: &mut Vec<u8>) -> Result<(), String> {
        if !self.compressed {
            out.extend_from_slice(self.rest);
            return Ok(());
        }
        let from = out.len();
        // One byte more than is taken, to see that there is more.
        ZlibDecoder::new(self.rest)
            .take(MAX_RECORD_BYTES as u64 + 1)
            .read_to_end(out)
            .map_err(|e| format!("the key's frame says zlib, which it is not: {e}"))?;
        if out.len() - from > MAX_RECORD_BYTES {
            out.truncate(from);
            return Err(format!(
                "the key has more than {MAX_RECORD_BYTES} bytes when decompressed"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// A key in AWS Glue's frame.
    fn glue(compression: u8, payload: &[u8]) -> Vec<u8> {
        let uuid = Uuid::parse_str("6b1ad2f4-3c29-4cbf-9c3f-0d5c6f0a6a10").unwrap();
        [&[3, compression][..], uuid.as_bytes(), payload].concat()
    }

    #[test]
    fn only_what_looks_framed_is() {
        let number = |form, id| Some((form, RegistryId::Number(id)));
        for (key, found) in [
            (&b"\0\0\0\0\x01\x54"[..], number(FrameForm::Confluent, 1)),
            (b"\0\0\x01\0\0abcd", number(FrameForm::Confluent, 65_536)),
            (b"\0\0\0\0\x01", None),
            (b"\0\0\0\0\0\x54", None),
            (b"\0\x7f\0\0\x01\x54", None),
            (b"\0\0\0\0\x01\0\0\x54", None),
            (b"\0\0\0\0\0\0\0\0\x07\x54", number(FrameForm::Apicurio, 7)),
            (b"\0\0\0\0\0\0\0\0\x07", None),
            (b"\0\0\0\0\0\0\0\x07\0\0\0\0\0\0\0\x08", None),
            (b"\x03\0abcdefghijklmnopq", None),
            (b"user-1", None),
        ] {
            let guessed = Frame::guess(key).map(|frame| (frame.form, frame.id));
            assert_eq!(guessed, found, "{key:?}");
        }
        let key = glue(0, b"x");
        let frame = Frame::guess(&key).unwrap();
        assert_eq!((frame.form, frame.rest), (FrameForm::Glue, &b"x"[..]));
        assert_eq!(frame.id.to_string(), "6b1ad2f4-3c29-4cbf-9c3f-0d5c6f0a6a10");
        assert_eq!(Frame::guess(&glue(0, b"")), None);
        assert_eq!(Frame::guess(&glue(1, b"x")), None);
    }

    #[test]
    fn another_frame_is_named() {
        for (form, key, hint) in [
            (
                FrameForm::Confluent,
                &b"\0\0\0\0\0\0\0\0\x07\x54"[..],
                "strip-apicurio",
            ),
            (
                FrameForm::Apicurio,
                b"\0\0\0\0\x07abcdef",
                "strip-confluent",
            ),
            (FrameForm::Confluent, &glue(5, b"x"), "strip-glue"),
            (FrameForm::Glue, b"user-1", "757365722d31"),
            (FrameForm::Confluent, b"", "is empty"),
            // 42 as an int64 is no frame of anybody's.
            (
                FrameForm::Confluent,
                b"\0\0\0\0\0\0\0\x2a",
                "`000000000000002a` is not that",
            ),
        ] {
            let error = Frame::expect(form, key).unwrap_err();
            assert!(error.contains(hint), "{error}");
        }
    }

    #[test]
    fn glues_compressed_payload_is_unpacked_within_bounds() {
        let zlib = |bytes: &[u8]| {
            let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), Default::default());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        };
        let unpacked = |payload: &[u8]| {
            let key = glue(5, payload);
            let mut out = b"kept".to_vec();
            let unpacked = Frame::expect(FrameForm::Glue, &key)?.unpack(&mut out);
            unpacked.map(|()| out.split_off(4))
        };
        assert_eq!(unpacked(&zlib(b"\x0cuser-1")).unwrap(), b"\x0cuser-1");
        let error = unpacked(b"\x0cuser-1").unwrap_err();
        assert!(error.contains("zlib"), "{error}");
        let error = unpacked(&zlib(&vec![0; MAX_RECORD_BYTES + 1])).unwrap_err();
        assert!(error.contains("4194304 bytes"), "{error}");
    }
}
