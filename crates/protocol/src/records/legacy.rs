//! Messages of the formats before record batches (versions 0 and 1). They are
//! read, never written: logs that began before Kafka 0.11 still hold them.
//!
//! A message is its own unit of storage, or, when it is compressed, wraps a
//! whole set of messages in its value. Either way its records come out in the
//! current encoding, so that everything behind this file knows one format.

use bytes::Bytes;

use super::checksum::crc32;
use super::decode::{Records, Shared};
use super::encode::NewRecord;
use super::header::{LENGTH_OVERHEAD, MAGIC_AT, NONE};
use super::record::Header;
use super::{Attributes, Codec, Decompressor, TimestampType};
use crate::{Error, ErrorKind, Result};

/// The smallest message behind its length: checksum, version, attributes, and
/// the lengths of key and value.
pub(super) const MIN_MESSAGE_LEN: i32 = 14;

const CRC_AT: usize = LENGTH_OVERHEAD;

/// One message of format version 0 or 1, as it lies in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageBatch {
    bytes: Bytes,
    offset: i64,
    magic: i8,
    attributes: Attributes,
    timestamp: i64,
}

impl MessageBatch {
    /// Takes `bytes` as one message, no less and no more. The checksum is not
    /// looked at.
    pub fn decode(bytes: Bytes) -> Result<Self> {
        let (message, size) = Message::parse(&bytes, 0)?;
        if size != bytes.len() {
            return Err(Error::at(
                ErrorKind::Malformed,
                size,
                format!("{} bytes behind the message", bytes.len() - size),
            ));
        }
        let Message {
            offset,
            magic,
            attributes,
            timestamp,
            ..
        } = message;
        if offset == i64::MAX {
            return Err(Error::at(
                ErrorKind::Malformed,
                0,
                "the offset leaves no room for a next one",
            ));
        }
        Ok(Self {
            offset,
            magic,
            attributes,
            timestamp,
            bytes,
        })
    }

    /// The format version, 0 or 1.
    pub fn magic(&self) -> i8 {
        self.magic
    }

    /// The size in bytes, as stored.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The message as it lies in the log.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Codec and timestamp type.
    pub fn attributes(&self) -> Attributes {
        self.attributes
    }

    /// The message's timestamp, the largest or the append time if it wraps
    /// others; -1 in version 0.
    pub fn timestamp(&self) -> i64 {
        self.timestamp
    }

    /// The offset of the last record: the message's own.
    pub fn last_offset(&self) -> i64 {
        self.offset
    }

    /// Compares the checksum with the bytes.
    pub fn verify_crc(&self) -> Result<()> {
        let computed = crc32(&self.bytes[MAGIC_AT..]);
        let stored = u32::from_be_bytes(array(&self.bytes, CRC_AT)?);
        if computed == stored {
            return Ok(());
        }
        Err(Error::at(
            ErrorKind::Corrupt,
            0,
            format!(
                "the message at offset {} has CRC-32 {computed:08x}, its header says {stored:08x}",
                self.offset
            ),
        ))
    }

    /// The records: the message itself, or those it wraps.
    pub fn records(&self, decompressor: &mut Decompressor) -> Result<Records> {
        let (message, _) = Message::parse(&self.bytes, 0)?;
        match message.codec()? {
            Codec::None => transcode([message].iter(), 0, self.bytes.len()),
            Codec::Zstd => Err(Error::at(
                ErrorKind::Unsupported,
                MAGIC_AT + 1,
                "zstd is not part of this message format",
            )),
            codec => {
                let Some(value) = message.value else {
                    return Err(Error::at(
                        ErrorKind::Malformed,
                        MAGIC_AT,
                        "a compressed message without a value",
                    ));
                };
                let mut set = Vec::new();
                match self.magic {
                    0 => decompressor.decompress_v0(codec, value, &mut set),
                    _ => decompressor.decompress(codec, value, &mut set),
                }
                .map_err(|error| error.shifted(self.bytes.len() - value.len()))?;
                unwrap_set(&message, &set).map_err(|error| error.within("compressed messages"))
            }
        }
    }
}

/// The records of the messages that `wrapper` holds.
fn unwrap_set(wrapper: &Message<'_>, set: &[u8]) -> Result<Records> {
    let mut messages = Vec::new();
    let mut at = 0;
    // Like the batches of a fetch, the set may end with a part of a message.
    while let Some(size) = message_size(&set[at..]).map_err(|error| error.shifted(at))? {
        let (mut message, _) = Message::parse(&set[at..at + size], at)?;
        if message.codec()? != Codec::None {
            return Err(Error::at(
                ErrorKind::Malformed,
                at + MAGIC_AT + 1,
                "a compressed message inside a compressed message",
            ));
        }
        if message.magic > 0 && wrapper.attributes.timestamp_type() == TimestampType::LogAppendTime
        {
            message.timestamp = wrapper.timestamp;
        }
        at += size;
        messages.push(message);
    }
    let Some(last) = messages.last() else {
        return Err(Error::at(ErrorKind::Malformed, 0, "no messages inside"));
    };
    // In version 1 the wrapped offsets count from the first message, and the
    // wrapper has the last one's offset. Compaction can remove the first.
    let base = match wrapper.magic {
        0 => 0,
        _ => wrapper
            .offset
            .checked_sub(last.offset)
            .unwrap_or(NONE)
            .max(0),
    };
    transcode(messages.iter(), base, set.len())
}

/// Encodes `messages` as the records of a batch. Offsets count from `base`.
fn transcode<'a>(
    messages: impl ExactSizeIterator<Item = &'a Message<'a>> + Clone,
    base: i64,
    encoded_len: usize,
) -> Result<Records> {
    let count = messages.len() as u32;
    let mut first: Option<(i64, i64)> = None;
    // A record takes at most what its message took.
    let mut data = Vec::with_capacity(encoded_len);
    for message in messages {
        let overflow = || {
            Error::at(
                ErrorKind::Malformed,
                message.at,
                format!("offset {} counted from {base} overflows", message.offset),
            )
        };
        let offset = base.checked_add(message.offset).ok_or_else(overflow)?;
        let (base_offset, base_timestamp) = *first.get_or_insert((offset, message.timestamp));
        let offset_delta = offset
            .checked_sub(base_offset)
            .and_then(|delta| i32::try_from(delta).ok())
            .ok_or_else(overflow)?;
        let record = NewRecord {
            offset_delta,
            timestamp_delta: message.timestamp.wrapping_sub(base_timestamp),
            key: message.key,
            value_len: message.value.map(<[u8]>::len),
            headers: &[] as &[Header<'_>],
        };
        let value = message.value.unwrap_or_default();
        record.put(record.body_len(), value, &mut data);
    }
    let (base_offset, base_timestamp) = first.unwrap_or((0, NONE));
    let shared = Shared {
        base_offset,
        base_timestamp,
        log_append_time: None,
        count,
        origin: 0,
    };
    Records::new(data.into(), shared)
}

/// How long the message at the start of `set` is with its offset and length,
/// or `None` if it is not whole.
fn message_size(set: &[u8]) -> Result<Option<usize>> {
    if set.len() < LENGTH_OVERHEAD {
        return Ok(None);
    }
    let length = i32::from_be_bytes(array(set, 8)?);
    if length < MIN_MESSAGE_LEN {
        return Err(Error::at(
            ErrorKind::Malformed,
            8,
            format!("message length {length} is below {MIN_MESSAGE_LEN}"),
        ));
    }
    let size = LENGTH_OVERHEAD + length as usize;
    Ok((size <= set.len()).then_some(size))
}

/// The fields of one message.
struct Message<'a> {
    offset: i64,
    magic: i8,
    attributes: Attributes,
    timestamp: i64,
    key: Option<&'a [u8]>,
    value: Option<&'a [u8]>,
    /// Where it begins, for errors.
    at: usize,
}

impl<'a> Message<'a> {
    /// Reads the message at the start of `bytes`, and says how long it is.
    /// `at` is where `bytes` begins in the input that errors refer to.
    fn parse(bytes: &'a [u8], at: usize) -> Result<(Self, usize)> {
        Self::parse_here(bytes, at).map_err(|error| error.shifted(at))
    }

    fn parse_here(bytes: &'a [u8], at: usize) -> Result<(Self, usize)> {
        let Some(size) = message_size(bytes)? else {
            return Err(Error::at(
                ErrorKind::Truncated,
                bytes.len(),
                "the input ends inside a message",
            ));
        };
        let bytes = &bytes[..size];
        // At least MIN_MESSAGE_LEN follows the length, so these are there.
        let magic = bytes[MAGIC_AT] as i8;
        let attributes = Attributes::from_bits(i16::from(bytes[MAGIC_AT + 1]));
        let mut position = MAGIC_AT + 2;
        let timestamp = match magic {
            0 => NONE,
            1 => {
                let timestamp = i64::from_be_bytes(array(bytes, position)?);
                position += 8;
                timestamp
            }
            _ => {
                return Err(Error::at(
                    ErrorKind::Unsupported,
                    MAGIC_AT,
                    format!("message format version {magic} is not known"),
                ));
            }
        };
        let key = field(bytes, &mut position)?;
        let value = field(bytes, &mut position)?;
        if position != size {
            return Err(Error::at(
                ErrorKind::Malformed,
                position,
                format!("{} bytes are left over behind the value", size - position),
            ));
        }
        let message = Self {
            offset: i64::from_be_bytes(array(bytes, 0)?),
            magic,
            // Version 0 has no timestamps, hence no type of them.
            attributes: match magic {
                0 => attributes.with_timestamp_type(TimestampType::CreateTime),
                _ => attributes,
            },
            timestamp,
            key,
            value,
            at,
        };
        Ok((message, size))
    }

    fn codec(&self) -> Result<Codec> {
        self.attributes.codec().ok_or_else(|| {
            Error::at(
                ErrorKind::Unsupported,
                self.at + MAGIC_AT + 1,
                format!("no codec has number {}", self.attributes.bits() & 0b111),
            )
        })
    }
}

/// Reads a 32-bit length and as many bytes; -1 is null.
fn field<'a>(bytes: &'a [u8], position: &mut usize) -> Result<Option<&'a [u8]>> {
    let start = *position;
    let len = i32::from_be_bytes(array(bytes, start)?);
    *position += 4;
    match len {
        -1 => Ok(None),
        ..-1 => Err(Error::at(
            ErrorKind::Malformed,
            start,
            format!("length {len} is neither a length nor -1 for null"),
        )),
        0.. => match bytes[*position..].get(..len as usize) {
            Some(field) => {
                *position += field.len();
                Ok(Some(field))
            }
            None => Err(Error::at(
                ErrorKind::Truncated,
                start,
                format!(
                    "{len} bytes, but the message ends after {}",
                    bytes.len() - *position
                ),
            )),
        },
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N]> {
    bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk::<N>())
        .copied()
        .ok_or_else(|| {
            Error::at(
                ErrorKind::Truncated,
                bytes.len(),
                "the input ends inside a message",
            )
        })
}
