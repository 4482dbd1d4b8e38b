//! Bytes put together by hand from the description of the format.

use copart_protocol::ErrorKind;
use copart_protocol::records::{
    Attributes, Batch, BatchBuilder, Batches, Compressor, Decompressor, Header, Producer,
    RecordBatch, Seal, TimestampType,
};

use crate::{all_records, only_batch};

/// Two records, one with all there can be, and one with as little.
#[rustfmt::skip]
const BATCH: [u8; 61 + 24 + 8] = [
    0, 0, 0, 0, 0, 0, 0, 42,                    // base offset
    0, 0, 0, 81,                                // length: 49 + 24 + 8
    0, 0, 0, 5,                                 // partition leader epoch
    2,                                          // magic
    0x59, 0xea, 0x1c, 0xfb,                     // CRC-32C of what follows
    0, 0b1_0000,                                // attributes: transactional
    0, 0, 0, 1,                                 // last offset delta
    0, 0, 0x01, 0x8b, 0xcf, 0xe5, 0x68, 0x00,   // base timestamp: 1,700,000,000,000
    0, 0, 0x01, 0x8b, 0xcf, 0xe5, 0x68, 0x00,   // max timestamp
    0, 0, 0, 0, 0, 0, 0, 9,                     // producer id
    0, 3,                                       // producer epoch
    0, 0, 0, 7,                                 // base sequence
    0, 0, 0, 2,                                 // record count

    46,                                         // length 23
    0,                                          // attributes
    0,                                          // timestamp delta 0
    0,                                          // offset delta 0
    6, b'k', b'e', b'y',                        // key, length 3
    10, b'v', b'a', b'l', b'u', b'e',           // value, length 5
    6,                                          // 3 headers
    2, b'a', 2, b'1',
    2, b'a', 1,                                 // the same name, a null value
    0, 0,                                       // an empty name and value

    14,                                         // length 7
    0,                                          // attributes
    0x8f, 0x4e,                                 // timestamp delta -5000: zigzag 9999
    2,                                          // offset delta 1
    1,                                          // null key
    1,                                          // null value
    0,                                          // no headers
];

/// The checksum covers everything from byte 21 on. Bit by bit, so that it does
/// not depend on the code under test.
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            (crc >> 1) ^ (0x82f6_3b78 & (crc & 1).wrapping_neg())
        })
    })
}

fn with_crc(mut bytes: Vec<u8>) -> Vec<u8> {
    let crc = crc32c(&bytes[21..]);
    bytes[17..21].copy_from_slice(&crc.to_be_bytes());
    bytes
}

#[test]
fn a_batch_is_read() {
    let batch = only_batch(&BATCH);
    let header = batch.header();
    assert_eq!(header.size, BATCH.len());
    assert_eq!(header.base_offset, 42);
    assert_eq!(header.last_offset(), 43);
    assert_eq!(header.next_offset(), 44);
    assert_eq!(header.partition_leader_epoch, 5);
    assert_eq!(header.crc, crc32c(&BATCH[21..]));
    assert!(header.attributes.is_transactional());
    assert_eq!(header.base_timestamp, 1_700_000_000_000);
    assert_eq!(header.max_timestamp, 1_700_000_000_000);
    assert_eq!(
        header.producer,
        Producer {
            id: 9,
            epoch: 3,
            base_sequence: 7
        }
    );
    assert_eq!(header.last_sequence(), 8);
    assert_eq!(header.record_count, 2);

    let records = all_records(&BATCH);
    let [full, bare] = &records[..] else {
        panic!("{} records", records.len());
    };
    assert_eq!((full.offset(), full.timestamp()), (42, 1_700_000_000_000));
    assert_eq!(full.key(), Some(&b"key"[..]));
    assert_eq!(full.value(), Some(&b"value"[..]));
    let headers: Vec<_> = full.headers().iter().collect();
    let null = Header {
        key: b"a",
        value: None,
    };
    assert_eq!(
        headers,
        [Header::new("a", b"1"), null, Header::new("", b"")]
    );
    assert_eq!(full.headers().last("a"), Some(null));
    assert_eq!(full.headers().all("a").count(), 2);
    assert_eq!(full.headers().last("b"), None);

    assert_eq!((bare.offset(), bare.timestamp()), (43, 1_699_999_995_000));
    assert_eq!((bare.key(), bare.value()), (None, None));
    assert!(bare.headers().is_empty());
}

#[test]
fn the_same_batch_is_written() {
    let mut builder = BatchBuilder::new();
    let headers = [
        Header::new("a", b"1"),
        Header {
            key: b"a",
            value: None,
        },
        Header::new("", b""),
    ];
    let time = 1_700_000_000_000;
    builder
        .append(time, Some(b"key"), Some(b"value"), &headers)
        .unwrap();
    assert_eq!(builder.size_with(time - 5000, None, None, &[]), BATCH.len());
    builder.append(time - 5000, None, None, &[]).unwrap();
    assert_eq!(builder.size(), BATCH.len());
    let seal = Seal {
        producer: Producer {
            id: 9,
            epoch: 3,
            base_sequence: 7,
        },
        transactional: true,
        base_offset: 42,
        partition_leader_epoch: 5,
        ..Seal::default()
    };
    let batch = builder.seal(&seal, &mut Compressor::new()).unwrap();
    assert_eq!(batch.bytes()[..], BATCH);
}

#[test]
fn append_time_goes_for_all_records() {
    let mut bytes = BATCH.to_vec();
    bytes[22] |= 0b1000;
    bytes[35..43].copy_from_slice(&1_700_000_000_777i64.to_be_bytes());
    let bytes = with_crc(bytes);
    let header = only_batch(&bytes).header().clone();
    assert_eq!(
        header.attributes.timestamp_type(),
        TimestampType::LogAppendTime
    );
    assert_eq!(header.log_append_time(), Some(1_700_000_000_777));
    for record in all_records(&bytes) {
        assert_eq!(record.timestamp(), 1_700_000_000_777);
    }
}

#[test]
fn the_delete_horizon_is_the_base_timestamp() {
    let mut bytes = BATCH.to_vec();
    bytes[22] = 0b100_0000;
    let header = only_batch(&with_crc(bytes)).header().clone();
    assert_eq!(header.delete_horizon(), Some(1_700_000_000_000));
    assert_eq!(only_batch(&BATCH).header().delete_horizon(), None);
}

#[test]
fn an_emptied_batch_keeps_its_offsets() {
    // What compaction leaves when it removes all records but the producer's
    // last sequence is still needed.
    let mut bytes = BATCH[..61].to_vec();
    bytes[8..12].copy_from_slice(&49i32.to_be_bytes());
    bytes[57..61].copy_from_slice(&0i32.to_be_bytes());
    let bytes = with_crc(bytes);
    let batch = only_batch(&bytes);
    assert_eq!(batch.header().next_offset(), 44);
    assert!(all_records(&bytes).is_empty());
    let emptied = RecordBatch::emptied(only_batch(&BATCH).header()).unwrap();
    assert_eq!(emptied.bytes()[..], bytes[..]);
}

/// Message format 1: offset, length, CRC-32, magic, attributes, timestamp, key
/// and value.
#[rustfmt::skip]
const MESSAGE_V1: [u8; 12 + 22 + 1 + 2] = [
    0, 0, 0, 0, 0, 0, 0, 12,
    0, 0, 0, 25,
    0x43, 0xa9, 0x4d, 0x68,
    1,
    0,
    0, 0, 0, 0, 0, 0, 0x03, 0xe8,
    0, 0, 0, 1, b'k',
    0, 0, 0, 2, b'v', b'1',
];

/// Message format 0 has no timestamp.
#[rustfmt::skip]
const MESSAGE_V0: [u8; 12 + 14 + 1] = [
    0, 0, 0, 0, 0, 0, 0, 11,
    0, 0, 0, 15,
    0xd2, 0x0c, 0xbf, 0xf5,
    0,
    0,
    0xff, 0xff, 0xff, 0xff,
    0, 0, 0, 1, b'v',
];

#[test]
fn old_messages_and_new_batches_share_a_buffer() {
    let bytes = [&MESSAGE_V0[..], &MESSAGE_V1, &BATCH].concat();
    let batches: Vec<Batch> = Batches::new(bytes.clone().into())
        .map(Result::unwrap)
        .collect();
    let magics: Vec<_> = batches.iter().map(Batch::magic).collect();
    assert_eq!(magics, [0, 1, 2]);
    let next: Vec<_> = batches.iter().map(Batch::next_offset).collect();
    assert_eq!(next, [12, 13, 44]);
    let sizes: Vec<_> = batches.iter().map(Batch::size).collect();
    assert_eq!(sizes, [MESSAGE_V0.len(), MESSAGE_V1.len(), BATCH.len()]);

    let records = all_records(&bytes);
    assert_eq!(records.len(), 4);
    assert_eq!((records[0].offset(), records[0].timestamp()), (11, -1));
    assert_eq!(
        (records[0].key(), records[0].value()),
        (None, Some(&b"v"[..]))
    );
    assert_eq!((records[1].offset(), records[1].timestamp()), (12, 1000));
    assert_eq!(records[1].key(), Some(&b"k"[..]));
    assert_eq!(records[1].value(), Some(&b"v1"[..]));
}

#[test]
fn every_flipped_bit_is_noticed() {
    let mut decompressor = Decompressor::new(1 << 20);
    for original in [&MESSAGE_V0[..], &MESSAGE_V1, &BATCH] {
        for bit in 0..original.len() * 8 {
            let mut bytes = original.to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let mut batches = Batches::new(bytes.clone().into());
            let outcome = batches
                .next()
                .map(|batch| batch.and_then(|batch| batch.records(&mut decompressor)));
            // The checksum does not cover the offset, and in batches not the
            // leader epoch, which brokers assign; a length that grew makes the
            // batch look cut off, which its reader sees too.
            let unchecked = matches!(bit / 8, 0..8)
                || (original.len() == BATCH.len() && matches!(bit / 8, 12..16));
            match outcome {
                Some(Ok(_)) => assert!(unchecked, "bit {bit} of {original:02x?}"),
                Some(Err(error)) => {
                    assert_ne!(error.kind(), ErrorKind::LimitExceeded);
                    assert!(error.offset().is_some(), "{error}");
                }
                None => assert_eq!(batches.remainder(), bytes.len()),
            }
        }
    }
}

#[test]
fn unknown_codecs_and_formats_are_unsupported() {
    let mut bytes = BATCH.to_vec();
    bytes[22] = 5;
    let error = RecordBatch::decode(with_crc(bytes).into()).unwrap_err();
    assert_eq!(
        (error.kind(), error.offset()),
        (ErrorKind::Unsupported, Some(21))
    );

    let mut bytes = BATCH.to_vec();
    bytes[16] = 3;
    let error = Batches::new(bytes.into()).next().unwrap().unwrap_err();
    assert_eq!(
        (error.kind(), error.offset()),
        (ErrorKind::Unsupported, Some(16))
    );
}

#[test]
fn unknown_attribute_bits_are_kept() {
    let mut bytes = BATCH.to_vec();
    bytes[21] = 0x40;
    let header = only_batch(&with_crc(bytes)).header().clone();
    assert_eq!(header.attributes, Attributes::from_bits(0x4010));
}
