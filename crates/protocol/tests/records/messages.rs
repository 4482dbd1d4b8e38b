//! Messages of formats 0 and 1, put together as the format's description has
//! them: what Kafka's own writer does not produce.

use std::io::Write;

use copart_protocol::records::{Batch, Batches, Codec, Compressor, Decompressor, Record};
use copart_protocol::{Error, ErrorKind};

use crate::LIMIT;

#[derive(Clone, Copy)]
struct Message<'a> {
    offset: i64,
    magic: i8,
    attributes: u8,
    timestamp: i64,
    key: Option<&'a [u8]>,
    value: Option<&'a [u8]>,
}

const PLAIN: Message<'_> = Message {
    offset: 0,
    magic: 1,
    attributes: 0,
    timestamp: 1000,
    key: None,
    value: Some(b"v"),
};

impl Message<'_> {
    fn encode(&self) -> Vec<u8> {
        let mut body = vec![self.magic as u8, self.attributes];
        if self.magic == 1 {
            body.extend(self.timestamp.to_be_bytes());
        }
        for field in [self.key, self.value] {
            match field {
                None => body.extend((-1i32).to_be_bytes()),
                Some(bytes) => {
                    body.extend((bytes.len() as i32).to_be_bytes());
                    body.extend(bytes);
                }
            }
        }
        let mut crc = flate2::Crc::new();
        crc.update(&body);
        let mut message = self.offset.to_be_bytes().to_vec();
        message.extend((body.len() as i32 + 4).to_be_bytes());
        message.extend(crc.sum().to_be_bytes());
        message.extend(body);
        message
    }

    /// A message that wraps `set`, with the codec in the attributes.
    fn wrap(&self, codec: Codec, set: &[u8]) -> Vec<u8> {
        let mut value = Vec::new();
        Compressor::new()
            .compress(codec.into(), set, &mut value)
            .unwrap();
        Message {
            attributes: self.attributes | codec.id(),
            value: Some(&value),
            ..*self
        }
        .encode()
    }
}

fn set(messages: &[Message<'_>]) -> Vec<u8> {
    messages.iter().flat_map(Message::encode).collect()
}

fn read(bytes: &[u8], limit: usize) -> Result<Vec<Record>, Error> {
    let mut decompressor = Decompressor::new(limit);
    let mut records = Vec::new();
    for batch in Batches::new(bytes.to_vec().into()) {
        let decoded = batch?.records(&mut decompressor)?;
        for record in decoded.iter_shared() {
            records.push(record?);
        }
    }
    Ok(records)
}

fn offsets(bytes: &[u8]) -> Vec<i64> {
    read(bytes, LIMIT)
        .unwrap()
        .iter()
        .map(Record::offset)
        .collect()
}

fn at(offset: i64) -> Message<'static> {
    Message { offset, ..PLAIN }
}

#[test]
fn wrapped_offsets_of_format_1_count_up_to_the_wrappers() {
    let inner = set(&[at(0), at(1), at(2)]);
    assert_eq!(offsets(&at(52).wrap(Codec::Gzip, &inner)), [50, 51, 52]);
    // Compaction has removed the first and one in the middle.
    let inner = set(&[at(1), at(3), at(4)]);
    assert_eq!(offsets(&at(54).wrap(Codec::Lz4, &inner)), [51, 53, 54]);
}

#[test]
fn wrapped_offsets_of_format_0_are_offsets() {
    let v0 = |offset| Message {
        magic: 0,
        ..at(offset)
    };
    let inner = set(&[v0(50), v0(52)]);
    assert_eq!(offsets(&v0(52).wrap(Codec::Snappy, &inner)), [50, 52]);
    let records = read(&v0(52).wrap(Codec::Snappy, &inner), LIMIT).unwrap();
    assert!(records.iter().all(|record| record.timestamp() == -1));
}

#[test]
fn keys_values_and_times_survive() {
    let messages = [
        Message {
            key: Some(b""),
            value: None,
            timestamp: i64::MIN,
            ..at(0)
        },
        Message {
            key: Some(&[7; 200]),
            value: Some(b""),
            timestamp: i64::MAX,
            ..at(1)
        },
        Message {
            value: Some(&[9; 9000]),
            timestamp: -1,
            ..at(2)
        },
    ];
    for codec in [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4] {
        let bytes = match codec {
            Codec::None => set(&messages),
            codec => at(2).wrap(codec, &set(&messages)),
        };
        let records = read(&bytes, LIMIT).unwrap();
        assert_eq!(records.len(), 3);
        for (record, message) in records.iter().zip(&messages) {
            assert_eq!(record.offset(), message.offset);
            assert_eq!(record.timestamp(), message.timestamp);
            assert_eq!(record.key(), message.key);
            assert_eq!(record.value(), message.value);
            assert!(record.headers().is_empty());
        }
    }
}

#[test]
fn a_wrapped_set_may_end_with_a_part() {
    let whole = set(&[at(0), at(1)]);
    let part = &at(2).encode()[..20];
    let bytes = at(11).wrap(Codec::Gzip, &[&whole[..], part].concat());
    assert_eq!(offsets(&bytes), [10, 11]);
}

#[test]
fn wrappers_inside_wrappers_are_refused() {
    let inner = set(&[at(0)]);
    let middle = at(0).wrap(Codec::Gzip, &inner);
    let error = read(&at(0).wrap(Codec::Gzip, &middle), LIMIT).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Malformed);
    assert!(error.to_string().contains("inside"), "{error}");
}

#[test]
fn sets_that_cannot_be() {
    let wrap = |inner: &[u8]| at(5).wrap(Codec::Gzip, inner);
    let short = [&[0; 8][..], &13i32.to_be_bytes(), &[0; 13]].concat();
    let three = Message { magic: 3, ..PLAIN };
    for (bytes, kind) in [
        (wrap(&[]), ErrorKind::Malformed),
        (wrap(&[0; 11]), ErrorKind::Malformed),
        (wrap(&short), ErrorKind::Malformed),
        (wrap(&three.encode()), ErrorKind::Unsupported),
        // Further apart than a batch's offsets can be.
        (wrap(&set(&[at(0), at(1 << 40)])), ErrorKind::Malformed),
        (wrap(&set(&[at(i64::MIN), at(0)])), ErrorKind::Malformed),
        (
            Message {
                attributes: 1,
                value: None,
                ..PLAIN
            }
            .encode(),
            ErrorKind::Malformed,
        ),
        // A codec that came later, and one that never did.
        (
            at(5).wrap(Codec::Zstd, &set(&[at(0)])),
            ErrorKind::Unsupported,
        ),
        (
            Message {
                attributes: 6,
                ..PLAIN
            }
            .encode(),
            ErrorKind::Unsupported,
        ),
        (at(i64::MAX).encode(), ErrorKind::Malformed),
        (short, ErrorKind::Malformed),
    ] {
        let error = read(&bytes, LIMIT).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.offset().is_some(), "{error}");
    }
}

#[test]
fn fields_that_do_not_fit_their_message() {
    // The value's length stands before its one byte.
    let message = PLAIN.encode();
    let value_at = message.len() - 5;
    for (len, kind) in [
        (2, ErrorKind::Truncated),
        (i32::MAX, ErrorKind::Truncated),
        (0, ErrorKind::Malformed),
        (-2, ErrorKind::Malformed),
        (i32::MIN, ErrorKind::Malformed),
    ] {
        let mut bytes = message.clone();
        bytes[value_at..value_at + 4].copy_from_slice(&i32::to_be_bytes(len));
        let error = Batches::unverified(bytes.into())
            .next()
            .unwrap()
            .unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
    }
}

#[test]
fn the_limit_holds_for_wrapped_sets() {
    let large = Message {
        value: Some(&[0; 100_000]),
        ..PLAIN
    };
    for codec in [Codec::Gzip, Codec::Snappy, Codec::Lz4] {
        let inner = large.encode();
        let bytes = at(0).wrap(codec, &inner);
        assert_eq!(read(&bytes, inner.len()).unwrap().len(), 1);
        let error = read(&bytes, inner.len() - 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    }
}

#[test]
fn a_wrong_lz4_header_checksum_passes_in_format_0_alone() {
    let inner = set(&[at(0)]);
    let mut encoder = lz4::EncoderBuilder::new()
        .content_size(inner.len() as u64)
        .build(Vec::new())
        .unwrap();
    encoder.write_all(&inner).unwrap();
    let (mut frame, result) = encoder.finish();
    result.unwrap();
    // Behind the magic number, two flag bytes and the content's size.
    frame[14] ^= 0x5a;
    let wrapper = |magic| Message {
        magic,
        attributes: Codec::Lz4.id(),
        value: Some(&frame),
        ..PLAIN
    };
    assert_eq!(read(&wrapper(0).encode(), LIMIT).unwrap().len(), 1);
    let error = read(&wrapper(1).encode(), LIMIT).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

#[test]
fn a_message_says_what_it_is() {
    let bytes = Message {
        timestamp: 77,
        ..at(3)
    }
    .encode();
    let batch = Batches::new(bytes.clone().into()).next().unwrap().unwrap();
    assert_eq!((batch.magic(), batch.size()), (1, bytes.len()));
    assert_eq!((batch.last_offset(), batch.next_offset()), (3, 4));
    assert!(!batch.is_control());
    let Batch::Messages(message) = batch else {
        panic!("not a message");
    };
    assert_eq!(message.timestamp(), 77);
    assert_eq!(message.bytes()[..], bytes[..]);
}
