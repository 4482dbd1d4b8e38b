//! Control records.

use copart_protocol::ErrorKind;
use copart_protocol::records::{
    BatchBuilder, Compressor, ControlType, Decompressor, Record, Seal, TransactionMarker,
};

use crate::{LIMIT, all_records, only_batch};

fn record(key: Option<&[u8]>, value: Option<&[u8]>) -> Record {
    let mut builder = BatchBuilder::new();
    builder.append(0, key, value, &[]).unwrap();
    let batch = builder
        .seal(&Seal::default(), &mut Compressor::new())
        .unwrap();
    all_records(batch.bytes()).remove(0)
}

#[test]
fn markers_are_read_as_written() {
    for commit in [true, false] {
        for coordinator_epoch in [0, 1, -1, i32::MAX] {
            let marker = TransactionMarker {
                commit,
                coordinator_epoch,
            };
            let batch = only_batch(marker.to_batch(5, 6, 777).unwrap().bytes());
            let header = batch.header();
            assert!(header.attributes.is_control() && header.attributes.is_transactional());
            assert_eq!((header.producer.id, header.producer.epoch), (5, 6));
            assert_eq!(header.last_sequence(), -1);
            let records = batch.records(&mut Decompressor::new(LIMIT)).unwrap();
            let record = records.iter().next().unwrap().unwrap();
            assert_eq!(record.timestamp, 777);
            let expected = if commit {
                ControlType::Commit
            } else {
                ControlType::Abort
            };
            assert_eq!(ControlType::decode(&record).unwrap(), expected);
            assert_eq!(TransactionMarker::decode(&record).unwrap(), Some(marker));
        }
    }
}

#[test]
fn other_types_are_no_markers() {
    for (id, expected) in [
        (2, ControlType::LeaderChange),
        (3, ControlType::SnapshotHeader),
        (4, ControlType::SnapshotFooter),
        (5, ControlType::KRaftVersion),
        (6, ControlType::KRaftVoters),
        (7, ControlType::Unknown(7)),
        (-1, ControlType::Unknown(-1)),
    ] {
        let [t0, t1] = i16::to_be_bytes(id);
        let record = record(Some(&[0, 0, t0, t1]), None);
        assert_eq!(ControlType::decode(&record.view()).unwrap(), expected);
        assert_eq!(TransactionMarker::decode(&record.view()).unwrap(), None);
    }
}

#[test]
fn later_versions_may_be_longer() {
    let record = record(
        Some(&[0, 1, 0, 1, 9, 9]),
        Some(&[0, 1, 0, 0, 0, 8, 9, 9, 9]),
    );
    assert_eq!(
        TransactionMarker::decode(&record.view()).unwrap(),
        Some(TransactionMarker {
            commit: true,
            coordinator_epoch: 8
        })
    );
}

#[test]
fn short_ones_are_malformed() {
    let value = Some(&[0u8, 0, 0, 0, 0, 1][..]);
    for (key, value) in [
        (None, value),
        (Some(&[][..]), value),
        (Some(&[0, 0, 0]), value),
        (Some(&[0xff, 0xff, 0, 0]), value),
        (Some(&[0, 0, 0, 0]), None),
        (Some(&[0, 0, 0, 1]), Some(&[0, 0, 0, 0, 0])),
        (Some(&[0, 0, 0, 1]), Some(&[0xff, 0xff, 0, 0, 0, 0])),
    ] {
        let record = record(key, value);
        let error = TransactionMarker::decode(&record.view()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Malformed, "{key:?} {value:?}");
    }
}
