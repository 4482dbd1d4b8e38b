//! Against the record codec of the `kafka-protocol` crate, where it is right.
//!
//! Where it differs from Kafka, and what is therefore left out here:
//! - headers are a map: duplicates are lost, and names must be UTF-8;
//! - append time is not applied to records, nor written;
//! - the last offset delta is dropped when reading;
//! - without a sequence it writes a batch per record, so all records here have
//!   one;
//! - sequences do not wrap at `i32::MAX`;
//! - it stops with an error at a batch that is cut off, without the batches
//!   before it;
//! - it accepts bytes behind the last record;
//! - it reads and writes no message sets;
//! - `timestamp + delta` overflows (a panic in debug builds), so timestamps
//!   here stay far from the ends.

use bytes::{Bytes, BytesMut};
use copart_protocol::records::{
    BatchBuilder, Codec, Compressor, Header, Producer, RecordView, Seal,
};
use kafka_protocol::indexmap::IndexMap;
use kafka_protocol::protocol::StrBytes;
use kafka_protocol::records::{
    Compression, Record, RecordBatchDecoder, RecordBatchEncoder, RecordEncodeOptions, TimestampType,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::all_records;

const CODECS: [(Codec, Compression); 5] = [
    (Codec::None, Compression::None),
    (Codec::Gzip, Compression::Gzip),
    (Codec::Snappy, Compression::Snappy),
    (Codec::Lz4, Compression::Lz4),
    (Codec::Zstd, Compression::Zstd),
];

#[derive(Clone, Debug)]
struct Input {
    timestamp: i64,
    key: Option<Vec<u8>>,
    value: Option<Vec<u8>>,
    headers: Vec<(String, Option<Vec<u8>>)>,
}

prop_compose! {
    fn input()(
        timestamp in -1i64..1 << 60,
        key in proptest::option::of(vec(any::<u8>(), 0..80)),
        value in proptest::option::of(vec(any::<u8>(), 0..300)),
        // By name, so that no name comes twice.
        headers in proptest::collection::btree_map(
            "[a-zß]{0,6}", proptest::option::of(vec(any::<u8>(), 0..70)), 0..4,
        ),
    ) -> Input {
        Input { timestamp, key, value, headers: headers.into_iter().collect() }
    }
}

#[derive(Clone, Copy, Debug)]
struct Fields {
    base_offset: i64,
    producer: Producer,
    transactional: bool,
}

prop_compose! {
    fn fields()(
        base_offset in 0i64..1 << 50,
        id in 0i64..1 << 50,
        epoch in 0i16..=i16::MAX,
        base_sequence in 0i32..i32::MAX - 100,
        transactional: bool,
    ) -> Fields {
        Fields { base_offset, producer: Producer { id, epoch, base_sequence }, transactional }
    }
}

fn ours(inputs: &[Input], fields: Fields, codec: Codec) -> Bytes {
    let mut builder = BatchBuilder::new();
    for input in inputs {
        let headers: Vec<_> = input
            .headers
            .iter()
            .map(|(key, value)| Header {
                key: key.as_bytes(),
                value: value.as_deref(),
            })
            .collect();
        builder
            .append(
                input.timestamp,
                input.key.as_deref(),
                input.value.as_deref(),
                &headers,
            )
            .unwrap();
    }
    let seal = Seal {
        compression: codec.into(),
        producer: fields.producer,
        transactional: fields.transactional,
        base_offset: fields.base_offset,
        ..Seal::default()
    };
    builder
        .seal(&seal, &mut Compressor::new())
        .unwrap()
        .into_bytes()
}

fn theirs(inputs: &[Input], fields: Fields) -> Vec<Record> {
    inputs
        .iter()
        .enumerate()
        .map(|(i, input)| Record {
            transactional: fields.transactional,
            control: false,
            delete_horizon: false,
            partition_leader_epoch: -1,
            producer_id: fields.producer.id,
            producer_epoch: fields.producer.epoch,
            timestamp_type: TimestampType::Creation,
            offset: fields.base_offset + i as i64,
            sequence: fields.producer.base_sequence + i as i32,
            timestamp: input.timestamp,
            key: input.key.clone().map(Bytes::from),
            value: input.value.clone().map(Bytes::from),
            headers: input
                .headers
                .iter()
                .map(|(key, value)| {
                    (
                        StrBytes::from_string(key.clone()),
                        value.clone().map(Bytes::from),
                    )
                })
                .collect::<IndexMap<_, _>>(),
        })
        .collect()
}

fn same(ours: &RecordView<'_>, theirs: &Record) -> bool {
    ours.offset == theirs.offset
        && ours.timestamp == theirs.timestamp
        && ours.key == theirs.key.as_deref()
        && ours.value == theirs.value.as_deref()
        && ours.headers.len() == theirs.headers.len()
        && ours
            .headers
            .iter()
            .zip(&theirs.headers)
            .all(|(ours, (key, value))| {
                ours.key == key.as_bytes() && ours.value == value.as_deref()
            })
}

fn encode_theirs(records: &[Record], compression: Compression) -> Vec<u8> {
    let mut buffer = BytesMut::new();
    let options = RecordEncodeOptions {
        version: 2,
        compression,
    };
    RecordBatchEncoder::encode(&mut buffer, records, &options).unwrap();
    buffer.to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn uncompressed_batches_are_the_same_bytes(
        inputs in vec(input(), 1..20),
        fields in fields(),
    ) {
        // Its base timestamp is the smallest, Kafka's the first.
        let mut inputs = inputs;
        let smallest = inputs.iter().map(|input| input.timestamp).min().unwrap();
        inputs[0].timestamp = smallest;
        let expected = encode_theirs(&theirs(&inputs, fields), Compression::None);
        prop_assert_eq!(&ours(&inputs, fields, Codec::None)[..], &expected[..]);
    }

    #[test]
    fn it_reads_what_we_write(
        inputs in vec(input(), 1..20),
        fields in fields(),
        codec in 0..CODECS.len(),
    ) {
        let (codec, _) = CODECS[codec];
        let bytes = ours(&inputs, fields, codec);
        let set = RecordBatchDecoder::decode(&mut bytes.clone()).unwrap();
        prop_assert_eq!(set.records.len(), inputs.len());
        for (read, written) in set.records.iter().zip(theirs(&inputs, fields)) {
            prop_assert_eq!(read, &written);
        }
    }

    #[test]
    fn we_read_what_it_writes(
        inputs in vec(input(), 1..20),
        fields in fields(),
        codec in 0..CODECS.len(),
    ) {
        let (codec, compression) = CODECS[codec];
        let written = theirs(&inputs, fields);
        let bytes = encode_theirs(&written, compression);
        let header = crate::only_batch(&bytes).header().clone();
        prop_assert_eq!(header.attributes.codec(), Some(codec));
        prop_assert_eq!(header.attributes.is_transactional(), fields.transactional);
        prop_assert_eq!(header.producer, fields.producer);
        let records = all_records(&bytes);
        prop_assert_eq!(records.len(), written.len());
        for (read, written) in records.iter().zip(&written) {
            prop_assert!(same(&read.view(), written), "{:?} {:?}", read, written);
        }
    }
}
