//! Batches and message sets that Apache Kafka's own client library wrote
//! (`kafka_clients.txt`, made by `java/run`).

use copart_protocol::records::{
    Batch, Batches, Codec, Decompressor, NO_SEQUENCE, Producer, Record, TimestampType,
    TransactionMarker,
};

use crate::{LIMIT, all_records, only_batch};

const FIRST_TIMESTAMP: i64 = 1_600_000_000_000;

fn vector(name: &str) -> Vec<u8> {
    let hex = include_str!("kafka_clients.txt")
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
        .unwrap_or_else(|| panic!("no vector {name:?}"));
    hex.as_bytes()
        .as_chunks::<2>()
        .0
        .iter()
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// What `Vectors.java` appends.
struct Expected {
    timestamp: i64,
    key: Option<String>,
    value: Option<String>,
    headers: Vec<(&'static str, Option<Vec<u8>>)>,
}

fn expected(magic: i8, count: usize, large: bool) -> Vec<Expected> {
    (0..count)
        .map(|i| Expected {
            timestamp: match magic {
                0 => -1,
                _ => FIRST_TIMESTAMP + (i as i64 * 37 % 101),
            },
            key: (i % 5 != 0).then(|| format!("key-{}", i % 4)),
            value: (i % 7 != 3).then(|| format!("value-{i}-").repeat(if large { 700 } else { i })),
            headers: match i % 3 {
                1 if magic == 2 => {
                    vec![("h", Some(vec![i as u8])), ("", Some(vec![])), ("h", None)]
                }
                _ => vec![],
            },
        })
        .collect()
}

fn check(name: &str, records: &[Record], expected: &[Expected], append_time: Option<i64>) {
    assert_eq!(records.len(), expected.len(), "{name}");
    for (i, (record, expected)) in records.iter().zip(expected).enumerate() {
        let place = format!("{name}, record {i}");
        assert_eq!(record.offset(), 100 + i as i64, "{place}");
        let timestamp = append_time.unwrap_or(expected.timestamp);
        assert_eq!(record.timestamp(), timestamp, "{place}");
        let text = |bytes: Option<&[u8]>| bytes.map(|bytes| str::from_utf8(bytes).unwrap().into());
        assert_eq!(text(record.key()), expected.key, "{place}");
        assert_eq!(text(record.value()), expected.value, "{place}");
        let headers: Vec<_> = record
            .headers()
            .iter()
            .map(|header| {
                (
                    str::from_utf8(header.key).unwrap(),
                    header.value.map(<[u8]>::to_vec),
                )
            })
            .collect();
        assert_eq!(headers, expected.headers, "{place}");
    }
}

#[test]
fn batches_of_all_codecs() {
    for codec in Codec::ALL {
        let name = format!("v2 {codec}");
        let bytes = vector(&name);
        let header = only_batch(&bytes).header().clone();
        assert_eq!(header.attributes.codec(), Some(codec));
        assert_eq!((header.base_offset, header.last_offset()), (100, 119));
        assert_eq!(header.partition_leader_epoch, 9);
        assert_eq!(header.producer, Producer::NONE);
        let expected = expected(2, 20, false);
        let largest = expected.iter().map(|record| record.timestamp).max();
        assert_eq!(Some(header.max_timestamp), largest);
        check(&name, &all_records(&bytes), &expected, None);
    }
}

#[test]
fn batches_of_more_than_one_compressed_block() {
    for codec in [Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
        let name = format!("v2 {codec} large");
        let records = all_records(&vector(&name));
        check(&name, &records, &expected(2, 24, true), None);
    }
}

#[test]
fn message_sets_of_all_codecs() {
    for magic in [0, 1] {
        for codec in [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4] {
            let name = format!("v{magic} {codec}");
            let bytes = vector(&name);
            for batch in Batches::new(bytes.clone().into()) {
                let Ok(Batch::Messages(batch)) = batch else {
                    panic!("{name}: not messages");
                };
                assert_eq!(batch.magic(), magic);
                assert_eq!(batch.attributes().codec(), Some(codec));
            }
            let records = all_records(&bytes);
            check(&name, &records, &expected(magic, 20, false), None);
        }
    }
}

#[test]
fn append_time() {
    for name in [
        "v1 none append time",
        "v1 gzip append time",
        "v1 snappy append time",
        "v1 lz4 append time",
        "v2 none append time",
    ] {
        let magic = if name.starts_with("v1") { 1 } else { 2 };
        let time = Some(FIRST_TIMESTAMP + 999);
        let records = all_records(&vector(name));
        check(name, &records, &expected(magic, 20, false), time);
    }
    let batches: Vec<_> = Batches::new(vector("v1 gzip append time").into()).collect();
    let [Ok(Batch::Messages(wrapper))] = &batches[..] else {
        panic!("not one message");
    };
    assert_eq!(
        wrapper.attributes().timestamp_type(),
        TimestampType::LogAppendTime
    );
    assert_eq!(wrapper.timestamp(), FIRST_TIMESTAMP + 999);
    assert_eq!(wrapper.last_offset(), 119);
}

#[test]
fn producers_and_their_sequences() {
    let header = only_batch(&vector("v2 none idempotent")).header().clone();
    assert_eq!(
        header.producer,
        Producer {
            id: 4711,
            epoch: 3,
            base_sequence: i32::MAX - 3
        }
    );
    // Twenty records: MAX-3 to MAX, then 0 to 15.
    assert_eq!(header.last_sequence(), 15);
    assert!(!header.attributes.is_transactional());

    let header = only_batch(&vector("v2 none transactional"))
        .header()
        .clone();
    assert!(header.attributes.is_transactional());
    assert_eq!(header.last_sequence(), 19);
}

#[test]
fn a_delete_horizon() {
    let name = "v2 none delete horizon";
    let header = only_batch(&vector(name)).header().clone();
    assert_eq!(header.delete_horizon(), Some(FIRST_TIMESTAMP - 5));
    let records = all_records(&vector(name));
    check(name, &records, &expected(2, 20, false), None);
}

#[test]
fn transaction_markers() {
    for (name, commit) in [("marker commit", true), ("marker abort", false)] {
        let batch = only_batch(&vector(name));
        assert!(batch.header().attributes.is_control());
        assert!(batch.header().attributes.is_transactional());
        assert_eq!(batch.header().producer.base_sequence, NO_SEQUENCE);
        let records = batch.records(&mut Decompressor::new(LIMIT)).unwrap();
        let record = records.iter().next().unwrap().unwrap();
        let marker = TransactionMarker {
            commit,
            coordinator_epoch: 17,
        };
        assert_eq!(TransactionMarker::decode(&record).unwrap(), Some(marker));

        // And ours is the same, but for what the log assigns.
        let mut ours = marker
            .to_batch(4711, 3, FIRST_TIMESTAMP)
            .unwrap()
            .bytes()
            .to_vec();
        let mut editor = copart_protocol::records::BatchEditor::new(&mut ours).unwrap();
        editor.set_base_offset(100).unwrap();
        editor.set_partition_leader_epoch(9);
        assert_eq!(ours, vector(name));
    }
}
