//! Validation, offsets, producers, rolling.

use super::*;
use crate::ErrorKind;
use copart_protocol::records::{
    BatchEditor, Header, RecordBatch, TimestampType, TransactionMarker,
};

#[test]
fn offsets_epochs_and_compressed_batches() {
    let mut log = open(&disk(), &small()).0;
    for (epoch, codec) in [
        (0, Codec::None),
        (0, Codec::Gzip),
        (3, Codec::Snappy),
        (3, Codec::Lz4),
        (4, Codec::Zstd),
    ] {
        let offset = log.log_end_offset();
        let draft = Draft {
            codec,
            ..Draft::of(&["a", "b", "c"])
        };
        let appended = log
            .append(draft.bytes(), Origin::Client, epoch, NOW)
            .expect("appended");
        assert_eq!(appended.base_offset, offset);
        assert_eq!(appended.next_offset, offset + 3);
        assert_eq!(appended.log_append_time, None);
    }
    assert_eq!(records(&log).expect("reads").len(), 15);
    assert_eq!(log.end_offset_for_epoch(0), Some((0, 6)));
    assert_eq!(log.end_offset_for_epoch(2), Some((0, 6)));
    assert_eq!(log.end_offset_for_epoch(3), Some((3, 12)));
    assert_eq!(log.end_offset_for_epoch(4), Some((4, 15)));
    assert_eq!(log.end_offset_for_epoch(5), None);
    assert_eq!(log.epoch_of(6), Some(3));
    let bytes = log.read(6, 15, 1).expect("reads");
    let batch = RecordBatch::decode(bytes).expect("one batch");
    assert_eq!(batch.header().partition_leader_epoch, 3);
}

fn refused(log: &mut PartitionLog, bytes: BytesMut) -> Error {
    let before = (log.log_end_offset(), log.size());
    let error = log
        .append(bytes, Origin::Client, 0, NOW)
        .expect_err("refused");
    assert_eq!((log.log_end_offset(), log.size()), before);
    assert!(error.to_string().contains("t-0"), "{error}");
    error
}

#[test]
fn bad_batches_are_refused() {
    let config = LogConfig {
        max_message_bytes: 400,
        message_timestamp_before_max_ms: 10_000,
        ..small()
    };
    let mut log = open(&disk(), &config).0;
    let good = Draft::of(&["v"]).bytes();

    let long = "x".repeat(400);
    let error = refused(&mut log, Draft::of(&[&long]).bytes());
    assert_eq!(error.kind(), ErrorKind::TooLarge);

    // Every flipped bit from the length on is seen.
    for at in 8..good.len() {
        // The leader epoch is not the producer's to set.
        if (12..16).contains(&at) {
            continue;
        }
        let mut damaged = good.clone();
        damaged[at] ^= 1;
        let error = refused(&mut log, damaged);
        assert_eq!(
            error.kind(),
            ErrorKind::CorruptMessage,
            "byte {at}: {error}"
        );
    }
    let mut two = good.clone();
    two.extend_from_slice(&good);
    assert_eq!(refused(&mut log, two).kind(), ErrorKind::CorruptMessage);
    let kind = refused(&mut log, BytesMut::new()).kind();
    assert_eq!(kind, ErrorKind::CorruptMessage);

    let mut offset = good.clone();
    BatchEditor::new(&mut offset)
        .and_then(|mut editor| editor.set_base_offset(5))
        .expect("edited");
    assert_eq!(refused(&mut log, offset).kind(), ErrorKind::InvalidRecord);

    let mut timed = good.clone();
    BatchEditor::new(&mut timed)
        .and_then(|mut editor| editor.set_log_append_time(NOW))
        .expect("edited");
    assert_eq!(refused(&mut log, timed).kind(), ErrorKind::InvalidTimestamp);

    let control = TransactionMarker {
        commit: true,
        coordinator_epoch: 0,
    };
    let control = control.to_batch(1, 0, NOW).expect("encoded");
    let error = refused(&mut log, BytesMut::from(&control.bytes()[..]));
    assert_eq!(error.kind(), ErrorKind::InvalidRecord);

    for late in [NOW + 3_600_001, NOW - 10_001] {
        let error = refused(&mut log, Draft::of(&["v"]).at(late).bytes());
        assert_eq!(error.kind(), ErrorKind::InvalidTimestamp, "{error}");
    }
    append(&mut log, &Draft::of(&["v"])).expect("a good one");
}

#[test]
fn compacted_topics_name_the_records_without_a_key() {
    let config = LogConfig {
        compacts: true,
        ..small()
    };
    let mut log = open(&disk(), &config).0;
    let mut builder = BatchBuilder::new();
    builder
        .append(NOW, Some(b"k"), Some(b"v"), &[])
        .expect("fits");
    builder.append(NOW, None, Some(b"v"), &[]).expect("fits");
    let batch = builder
        .seal(&Seal::default(), &mut Compressor::new())
        .expect("seals");
    let error = refused(&mut log, BytesMut::from(&batch.bytes()[..]));
    assert_eq!(error.kind(), ErrorKind::InvalidRecord);
    let faults: Vec<u32> = error.records().iter().map(|record| record.index).collect();
    assert_eq!(faults, [1]);
}

#[test]
fn timestamps_are_the_brokers_or_checked() {
    let config = LogConfig {
        message_timestamp_type: TimestampType::LogAppendTime,
        ..small()
    };
    let mut log = open(&disk(), &config).0;
    let appended = append(&mut log, &Draft::of(&["v"]).at(5)).expect("appended");
    assert_eq!(appended.log_append_time, Some(NOW));
    let found = log.find_time(6, 1).expect("reads").expect("a record");
    assert_eq!(found.timestamp, NOW);

    // A client that lies about its largest timestamp is corrected.
    let mut log = open(&disk(), &small()).0;
    let mut bytes = Draft::of(&["a", "b"]).bytes();
    BatchEditor::new(&mut bytes)
        .and_then(|mut editor| editor.set_max_timestamp(7))
        .expect("edited");
    log.append(bytes, Origin::Client, 0, NOW).expect("appended");
    let found = log.find_time(NOW + 1, 2).expect("reads").expect("a record");
    assert_eq!((found.offset, found.timestamp), (1, NOW + 1));
}

#[test]
fn duplicates_gaps_and_old_epochs() {
    let mut log = open(&disk(), &small()).0;
    let draft = |epoch, sequence| Draft::of(&["a", "b"]).by(9, epoch, sequence);
    // Any first sequence will do.
    for n in 0..7 {
        append(&mut log, &draft(1, 100 + 2 * n)).expect("appended");
    }
    for n in 2..7 {
        let again = append(&mut log, &draft(1, 100 + 2 * n)).expect("a duplicate");
        assert!(again.duplicate);
        assert_eq!(again.base_offset, 2 * i64::from(n));
        assert_eq!(again.next_offset, 2 * i64::from(n) + 2);
    }
    for (epoch, sequence, kind) in [
        (1, 102, ErrorKind::OutOfOrderSequence),
        (1, 116, ErrorKind::OutOfOrderSequence),
        (1, 113, ErrorKind::OutOfOrderSequence),
        (0, 114, ErrorKind::InvalidProducerEpoch),
        (2, 114, ErrorKind::OutOfOrderSequence),
    ] {
        let error = append(&mut log, &draft(epoch, sequence)).expect_err("refused");
        assert_eq!(
            error.kind(),
            kind,
            "epoch {epoch}, sequence {sequence}: {error}"
        );
    }
    append(&mut log, &draft(2, 0)).expect("a new epoch");
    append(&mut log, &draft(2, 2)).expect("goes on");
    let last = log.producers().next().expect("known").last_timestamp;
    log.expire_producers(last + 24 * 3_600_000);
    assert_eq!(log.producers().count(), 0);
    append(&mut log, &draft(2, 77)).expect("forgotten, so anything goes");
}

#[test]
fn sequences_wrap() {
    let mut log = open(&disk(), &small()).0;
    let draft = |sequence| Draft::of(&["a", "b", "c"]).by(9, 0, sequence);
    append(&mut log, &draft(i32::MAX - 1)).expect("appended");
    append(&mut log, &draft(1)).expect("follows");
    assert!(
        append(&mut log, &draft(i32::MAX - 1))
            .expect("known")
            .duplicate
    );
}

#[test]
fn segments_roll_by_size_and_by_time() {
    let mut log = open(&disk(), &small()).0;
    fill(&mut log, 40);
    assert!(log.segments.len() > 3);
    assert!(log.segments.iter().all(|segment| segment.size <= 1000));
    assert_filled(&log, 80);

    let config = LogConfig {
        segment_ms: 1000,
        ..LogConfig::default()
    };
    let mut log = open(&disk(), &config).0;
    for (timestamp, segments) in [(0, 1), (1000, 1), (1001, 2), (2001, 2), (2002, 3)] {
        append(&mut log, &Draft::of(&["v"]).at(NOW + timestamp)).expect("appended");
        assert_eq!(log.segments.len(), segments, "at {timestamp}");
    }
    // A batch larger than a segment has one of its own.
    let config = LogConfig {
        segment_bytes: 100,
        ..LogConfig::default()
    };
    let mut log = open(&disk(), &config).0;
    let long = "x".repeat(500);
    for n in 1..4 {
        append(&mut log, &Draft::of(&[&long])).expect("appended");
        assert_eq!(log.segments.len(), n);
    }
}

#[test]
fn transactions_hold_the_stable_offset_back() {
    let mut log = open(&disk(), &small()).0;
    append(&mut log, &Draft::of(&["plain"])).expect("appended");
    let mut bytes = Draft::of(&["t"]).by(5, 0, 0).bytes();
    let mut editor = BatchEditor::new(&mut bytes).expect("a batch");
    let attributes = editor.header().attributes.with_transactional(true);
    editor.set_attributes(attributes).expect("edited");
    log.append(bytes, Origin::Client, 0, NOW).expect("appended");
    log.sync().expect("synced");
    assert_eq!((log.stored_offset(), log.last_stable_offset()), (2, 1));
    let marker = |coordinator_epoch, epoch| {
        let marker = TransactionMarker {
            commit: true,
            coordinator_epoch,
        };
        let batch = marker.to_batch(5, epoch, NOW).expect("encoded");
        BytesMut::from(&batch.bytes()[..])
    };
    log.append(marker(3, 0), Origin::Coordinator, 0, NOW)
        .expect("appended");
    log.sync().expect("synced");
    assert_eq!(log.last_stable_offset(), 3);
    let error = log
        .append(marker(2, 0), Origin::Coordinator, 0, NOW)
        .expect_err("replaced");
    assert_eq!(error.kind(), ErrorKind::CoordinatorFenced);
    assert_eq!(log.producers().next().expect("known").coordinator_epoch, 3);
}

#[test]
fn other_codecs_are_replaced_by_the_topics() {
    let headers = [
        Header::new("h", b"1"),
        Header {
            key: b"n",
            value: None,
        },
        Header::new("h", b"2"),
    ];
    let batch = |codec: Codec| {
        let mut builder = BatchBuilder::new();
        let text = "x".repeat(100);
        for n in 0..4 {
            let key = [n as u8];
            let key = (n % 2 == 0).then_some(&key[..]);
            let value = (n != 1).then_some(text.as_bytes());
            // Out of order.
            let timestamp = NOW - 7 * i64::from(n % 3);
            builder
                .append(timestamp, key, value, &headers)
                .expect("fits");
        }
        let producer = Producer {
            id: 8,
            epoch: 2,
            base_sequence: 0,
        };
        let seal = Seal {
            compression: codec.into(),
            producer,
            transactional: true,
            ..Seal::default()
        };
        let batch = builder.seal(&seal, &mut Compressor::new()).expect("seals");
        BytesMut::from(&batch.bytes()[..])
    };
    let stored = |log: &PartitionLog| {
        let batch = RecordBatch::decode(log.read(0, 4, 1).expect("reads")).expect("one batch");
        batch.verify_crc().expect("whole");
        batch
    };
    for wanted in Codec::ALL {
        let level = wanted.levels().map(|levels| *levels.end());
        for compression in [
            Some(wanted.into()),
            level.map(|level| {
                copart_protocol::records::Compression::new(wanted)
                    .with_level(level)
                    .expect("a level")
            }),
        ] {
            for came in Codec::ALL {
                let bytes = batch(came);
                let mut as_it_came = open(&disk(), &small()).0;
                as_it_came
                    .append(bytes.clone(), Origin::Client, 3, NOW)
                    .expect("appended");
                let config = LogConfig {
                    compression,
                    ..small()
                };
                let mut log = open(&disk(), &config).0;
                log.append(bytes, Origin::Client, 3, NOW).expect("appended");
                let (before, after) = (stored(&as_it_came), stored(&log));
                let mut expected = before.header().clone();
                expected.attributes = expected.attributes.with_codec(match compression {
                    Some(_) => wanted,
                    None => came,
                });
                expected.size = after.header().size;
                expected.crc = after.header().crc;
                assert_eq!(*after.header(), expected, "{came} to {wanted}");
                let mut decompressor = Decompressor::new(1 << 20);
                let mut records = |batch: &RecordBatch| {
                    let records = batch.records(&mut decompressor).expect("records");
                    let shared: Vec<_> = records.iter_shared().map(|r| r.expect("whole")).collect();
                    shared
                        .iter()
                        .map(|record| format!("{:?}", record.view()))
                        .collect::<Vec<_>>()
                };
                assert_eq!(records(&after), records(&before), "{came} to {wanted}");
            }
        }
    }
    // What does not fit any more is refused: nothing is stored by halves.
    let config = LogConfig {
        compression: Some(Codec::None.into()),
        max_message_bytes: 300,
        ..small()
    };
    let mut log = open(&disk(), &config).0;
    let small_enough = batch(Codec::Zstd);
    assert!(small_enough.len() < 300);
    assert_eq!(refused(&mut log, small_enough).kind(), ErrorKind::TooLarge);
}

#[test]
fn older_formats_are_refused_and_named() {
    let mut log = open(&disk(), &small()).0;
    for magic in [0, 1] {
        let mut bytes = BytesMut::zeroed(40);
        bytes[11] = 28;
        bytes[16] = magic;
        let error = refused(&mut log, bytes);
        assert_eq!(error.kind(), ErrorKind::InvalidRecord);
        assert!(
            error.to_string().contains(&format!("format v{magic}")),
            "{error}"
        );
    }
}
