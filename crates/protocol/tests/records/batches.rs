//! Buffers of several batches, batch headers, and changes in place.

use bytes::Bytes;
use copart_protocol::ErrorKind;
use copart_protocol::records::{
    Attributes, Batch, BatchBuilder, BatchEditor, BatchHeader, Batches, Codec, Compressor,
    Decompressor, NO_SEQUENCE, Producer, RecordBatch, RecordIter, Seal,
};

use crate::{LIMIT, all_records, only_batch};

fn batch(base_offset: i64, values: &[&str], codec: Codec) -> RecordBatch {
    let mut builder = BatchBuilder::new();
    for value in values {
        builder
            .append(1000, None, Some(value.as_bytes()), &[])
            .unwrap();
    }
    let seal = Seal {
        base_offset,
        compression: codec.into(),
        ..Seal::default()
    };
    builder.seal(&seal, &mut Compressor::new()).unwrap()
}

/// Writes `value` into a copy of `batch` and makes the checksum right.
fn patched(batch: &RecordBatch, at: usize, value: &[u8]) -> Bytes {
    let mut bytes = batch.bytes().to_vec();
    bytes[at..at + value.len()].copy_from_slice(value);
    let crc = crc_fast::crc32_iscsi(&bytes[21..]);
    bytes[17..21].copy_from_slice(&crc.to_be_bytes());
    bytes.into()
}

#[test]
fn a_cut_off_batch_at_the_end_does_not_cost_the_others() {
    let first = batch(0, &["a", "b"], Codec::None);
    let second = batch(2, &["c"], Codec::Zstd);
    let both = [&first.bytes()[..], &second.bytes()[..]].concat();
    for cut in first.bytes().len()..both.len() {
        let mut batches = Batches::new(both[..cut].to_vec().into());
        let whole: Vec<_> = (&mut batches).map(Result::unwrap).collect();
        assert_eq!(whole.len(), 1, "cut at {cut}");
        assert_eq!(batches.position(), first.bytes().len());
        assert_eq!(batches.remainder(), cut - first.bytes().len());
        assert!(batches.next().is_none());
    }
    // Not even the first one is whole: a fetch smaller than the batch.
    for cut in 0..first.bytes().len() {
        let mut batches = Batches::new(both[..cut].to_vec().into());
        assert!(batches.next().is_none());
        assert_eq!((batches.position(), batches.remainder()), (0, cut));
    }
    assert_eq!(all_records(&both).len(), 3);
}

#[test]
fn records_share_the_buffer() {
    let buffer = batch(0, &["some value"], Codec::None).into_bytes();
    let range = buffer.as_ptr_range();
    let batch = Batches::new(buffer.clone()).next().unwrap().unwrap();
    let records = batch.records(&mut Decompressor::new(0)).unwrap();
    let view = records.iter().next().unwrap().unwrap();
    assert!(range.contains(&view.value.unwrap().as_ptr()));
    let shared = records.iter_shared().next().unwrap().unwrap();
    assert!(range.contains(&shared.value_bytes().unwrap().as_ptr()));
    assert_eq!(shared.key_bytes(), None);
    let detached = view.detach();
    assert!(!range.contains(&detached.value().unwrap().as_ptr()));
    assert_eq!(detached, shared);
    assert_eq!(detached.view(), view);
}

#[test]
fn ranges_lead_back_to_the_records() {
    for codec in Codec::ALL {
        let batch = batch(7, &["a", "", "c"], codec);
        let records = batch.records(&mut Decompressor::new(LIMIT)).unwrap();
        let ranges = records.ranges().unwrap();
        let views: Vec<_> = records.iter().map(Result::unwrap).collect();
        assert_eq!(ranges.len(), 3);
        for (range, view) in ranges.iter().zip(&views) {
            assert_eq!(records.view(range), *view);
            assert_eq!(records.record(range).view(), *view);
            assert_eq!(range.offset(), view.offset);
            assert_eq!(range.timestamp(), view.timestamp);
        }
    }
}

#[test]
fn a_callers_own_buffer_does_for_the_records() {
    let batch = batch(7, &["a", "b"], Codec::Lz4);
    let mut scratch = vec![1, 2, 3];
    Decompressor::new(LIMIT)
        .decompress(Codec::Lz4, &batch.encoded_records(), &mut scratch)
        .unwrap();
    let offsets: Vec<_> = RecordIter::new(batch.header(), &scratch)
        .unwrap()
        .map(|record| record.unwrap().offset)
        .collect();
    assert_eq!(offsets, [7, 8]);
    let error = RecordIter::new(batch.header(), &scratch[..10]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Malformed);
}

#[test]
fn a_wrong_checksum_is_corrupt_unless_nobody_asks() {
    let first = batch(0, &["a"], Codec::None);
    let mut bytes = [
        &first.bytes()[..],
        &batch(1, &["b"], Codec::None).bytes()[..],
    ]
    .concat();
    let last = bytes.len() - 2;
    bytes[last] ^= 1;
    let buffer = Bytes::from(bytes);

    let mut batches = Batches::new(buffer.clone());
    assert!(batches.next().unwrap().is_ok());
    let error = batches.next().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert_eq!(error.offset(), Some(first.bytes().len()));
    assert!(batches.next().is_none(), "an error ends the iteration");
    assert_eq!(batches.position(), first.bytes().len());

    let unverified: Vec<_> = Batches::unverified(buffer).map(Result::unwrap).collect();
    assert_eq!(unverified.len(), 2);
    assert!(unverified[0].verify_crc().is_ok());
    assert!(unverified[1].verify_crc().is_err());
}

#[test]
fn headers_that_contradict_themselves_are_malformed() {
    let batch = batch(0, &["a", "b"], Codec::None);
    for (at, value, offset) in [
        (8, &48i32.to_be_bytes()[..], 8),
        (8, &(-1i32).to_be_bytes(), 8),
        (8, &i32::MIN.to_be_bytes(), 8),
        (23, &(-1i32).to_be_bytes(), 23),
        (57, &(-1i32).to_be_bytes(), 57),
        (0, &i64::MAX.to_be_bytes(), 0),
        (0, &(i64::MAX - 1).to_be_bytes(), 0),
    ] {
        let error = BatchHeader::parse(&patched(&batch, at, value)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Malformed, "{error}");
        assert_eq!(error.offset(), Some(offset), "{error}");
    }
    let largest = patched(&batch, 0, &(i64::MAX - 2).to_be_bytes());
    assert_eq!(only_batch(&largest).header().next_offset(), i64::MAX);
    assert_eq!(all_records(&largest)[1].offset(), i64::MAX - 1);
    let error = BatchHeader::parse(&batch.bytes()[..60]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Truncated);
    let error = RecordBatch::decode(batch.bytes().slice(..70)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Truncated);
    let longer = [&batch.bytes()[..], b"x"].concat();
    let error = RecordBatch::decode(longer.into()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Malformed);
}

#[test]
fn counts_have_to_match_the_records() {
    for codec in Codec::ALL {
        let batch = batch(0, &["a", "b", "c"], codec);
        let decode = |count: i32| {
            let bytes = patched(&batch, 57, &count.to_be_bytes());
            let records = only_batch(&bytes).records(&mut Decompressor::new(LIMIT))?;
            records
                .iter()
                .map(|record| record.map(|record| record.offset))
                .collect::<Result<Vec<_>, _>>()
        };
        assert_eq!(decode(3).unwrap(), [0, 1, 2]);
        // Left-over bytes, and one that is not there.
        for count in [0, 1, 2, 4, i32::MAX] {
            let error = decode(count).unwrap_err();
            assert!(
                matches!(error.kind(), ErrorKind::Malformed | ErrorKind::Truncated),
                "{error}"
            );
            assert!(error.offset().is_some());
        }
    }
}

#[test]
fn errors_in_records_say_where() {
    let batch = batch(0, &["a", "bb"], Codec::None);
    // The length of the second record's value: 61, the first record's 8 bytes,
    // then length, attributes, two deltas and the null key.
    let at = 61 + 8 + 5;
    assert_eq!(batch.bytes()[at], 4, "the value has two bytes");
    let bytes = patched(&batch, at, &[120]);
    let records = only_batch(&bytes)
        .records(&mut Decompressor::new(0))
        .unwrap();
    let mut iter = records.iter();
    assert!(iter.next().unwrap().is_ok());
    let error = iter.next().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Truncated);
    assert_eq!(error.offset(), Some(at));
    assert!(error.to_string().starts_with("record 1 of 2: "), "{error}");
    assert!(iter.next().is_none());
}

#[test]
fn a_broker_changes_headers_in_place() {
    let batch = batch(0, &["a", "b"], Codec::Gzip);
    let mut frame = [&batch.bytes()[..], b"what follows"].concat();
    let mut editor = BatchEditor::new(&mut frame).unwrap();
    editor.set_base_offset(1 << 40).unwrap();
    editor.set_partition_leader_epoch(12);
    assert_eq!(editor.header().crc, batch.header().crc, "not covered");
    let assigned = only_batch(&frame[..batch.bytes().len()]);
    assert_eq!(assigned.header().base_offset, 1 << 40);
    assert_eq!(assigned.header().partition_leader_epoch, 12);
    assert_eq!(all_records(assigned.bytes())[1].offset(), (1 << 40) + 1);

    let mut editor = BatchEditor::new(&mut frame).unwrap();
    editor.set_log_append_time(5555).unwrap();
    let header = editor.header().clone();
    let stamped = only_batch(&frame[..batch.bytes().len()]);
    assert_eq!(*stamped.header(), header);
    assert_eq!(header.attributes.codec(), Some(Codec::Gzip));
    assert_eq!(all_records(stamped.bytes())[0].timestamp(), 5555);

    let mut editor = BatchEditor::new(&mut frame).unwrap();
    let transactional = Attributes::default().with_transactional(true);
    editor.set_attributes(transactional).unwrap();
    let header = only_batch(&frame[..batch.bytes().len()]).header().clone();
    assert_eq!(header.attributes, transactional.with_codec(Codec::Gzip));
    assert_eq!(&frame[batch.bytes().len()..], b"what follows");

    let mut editor = BatchEditor::new(&mut frame).unwrap();
    assert!(editor.set_base_offset(i64::MAX - 1).is_err());
    assert!(editor.set_base_offset(i64::MAX - 2).is_ok());
    assert!(BatchEditor::new(&mut frame[..70]).is_err());
}

#[test]
fn a_new_epoch_changes_the_batch_but_not_its_records() {
    let batch = batch(0, &["a", "b"], Codec::None);
    let producer = Producer {
        id: 77,
        epoch: 1,
        base_sequence: i32::MAX,
    };
    // Once with the bytes shared, once alone.
    let kept = batch.bytes().clone();
    let copied = batch.clone().with_producer(producer).unwrap();
    assert_eq!(only_batch(&kept).header().producer, Producer::NONE);
    drop((kept, batch));
    let place = copied.bytes().as_ptr();
    let moved = copied.with_producer(producer).unwrap();
    assert_eq!(moved.bytes().as_ptr(), place);
    let header = only_batch(moved.bytes()).header().clone();
    assert_eq!(header, *moved.header());
    assert_eq!(header.producer, producer);
    assert_eq!(header.last_sequence(), 0, "sequences wrap");
    assert_eq!(all_records(moved.bytes()).len(), 2);
}

#[test]
fn what_producers_may_send() {
    let good = batch(0, &["a", "b"], Codec::None);
    good.header().check_produced().unwrap();
    let idempotent = Producer {
        id: 1,
        epoch: 0,
        base_sequence: 0,
    };
    let change = |change: &dyn Fn(&mut BatchHeader)| {
        let mut header = good.header().clone();
        change(&mut header);
        header.check_produced()
    };
    assert!(change(&|header| header.producer = idempotent).is_ok());
    for refused in [
        change(&|header| header.record_count = 0),
        change(&|header| header.record_count = 1),
        change(&|header| header.last_offset_delta = 0),
        change(&|header| header.attributes = header.attributes.with_control(true)),
        change(&|header| header.attributes = header.attributes.with_delete_horizon(true)),
        change(&|header| header.attributes = header.attributes.with_transactional(true)),
        change(&|header| {
            header.producer = Producer {
                epoch: -1,
                ..idempotent
            };
        }),
        change(&|header| {
            header.producer = Producer {
                base_sequence: NO_SEQUENCE,
                ..idempotent
            };
        }),
    ] {
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::Malformed);
    }
}

#[test]
fn a_batch_says_what_it_is_without_its_kind() {
    let bytes = batch(3, &["a"], Codec::Snappy).into_bytes();
    let batch = Batches::new(bytes.clone()).next().unwrap().unwrap();
    assert_eq!((batch.magic(), batch.size()), (2, bytes.len()));
    assert_eq!((batch.last_offset(), batch.next_offset()), (3, 4));
    assert!(!batch.is_control());
    assert!(matches!(batch, Batch::Records(_)));
}
