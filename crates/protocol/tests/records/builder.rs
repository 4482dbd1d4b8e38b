//! The builder's edges.

use copart_protocol::ErrorKind;
use copart_protocol::records::{BatchBuilder, Compressor, Header, Seal};

use crate::{all_records, only_batch};

#[test]
fn nothing_cannot_be_sealed() {
    for builder in [
        BatchBuilder::new(),
        BatchBuilder::new().with_delete_horizon(5),
    ] {
        assert!(builder.is_empty());
        let error = builder
            .seal(&Seal::default(), &mut Compressor::new())
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unencodable);
    }
}

#[test]
fn offsets_have_to_fit() {
    let sealed = |base_offset, last_offset_delta| {
        let mut builder = BatchBuilder::new();
        builder.append(0, None, None, &[]).unwrap();
        builder.append(0, None, None, &[]).unwrap();
        let seal = Seal {
            base_offset,
            last_offset_delta,
            ..Seal::default()
        };
        builder.seal(&seal, &mut Compressor::new())
    };
    let largest = sealed(i64::MAX - 2, None).unwrap();
    assert_eq!(only_batch(largest.bytes()).header().next_offset(), i64::MAX);
    assert!(sealed(i64::MAX - 1, None).is_err());
    assert!(sealed(0, Some(0)).is_err(), "before the last record");
    let spread = sealed(0, Some(i32::MAX)).unwrap();
    assert_eq!(
        only_batch(spread.bytes()).header().last_offset(),
        i64::from(i32::MAX)
    );
}

#[test]
fn records_of_a_batch_go_up() {
    let mut source = BatchBuilder::new();
    source.append(1, None, Some(b"a"), &[]).unwrap();
    source.append(2, None, Some(b"b"), &[]).unwrap();
    let source = source
        .seal(&Seal::default(), &mut Compressor::new())
        .unwrap();
    let records = all_records(source.bytes());
    let (a, b) = (records[0].view(), records[1].view());

    let mut builder = BatchBuilder::new();
    builder.append_view(0, &b).unwrap();
    assert_eq!(builder.append(3, None, Some(b"c"), &[]).unwrap(), 1);
    for (base_offset, record) in [(0, &a), (0, &b), (2, &b), (i64::MIN, &b)] {
        let error = builder.append_view(base_offset, record).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unencodable);
    }
    let batch = builder
        .seal(&Seal::default(), &mut Compressor::new())
        .unwrap();
    let offsets: Vec<_> = all_records(batch.bytes())
        .iter()
        .map(|record| record.offset())
        .collect();
    assert_eq!(offsets, [1, 2]);
}

#[test]
fn a_buffer_is_used_again() {
    let mut builder = BatchBuilder::with_capacity(4096);
    builder.append(1, None, Some(&[7; 1000]), &[]).unwrap();
    let first = builder
        .seal(&Seal::default(), &mut Compressor::new())
        .unwrap();
    let place = first.bytes().as_ptr();
    let buffer = Vec::from(first.into_bytes());
    assert_eq!(buffer.as_ptr(), place);

    let mut builder = BatchBuilder::with_buffer(buffer);
    assert_eq!((builder.size(), builder.len()), (61, 0));
    builder.append(9, None, Some(b"second"), &[]).unwrap();
    assert_eq!(builder.max_timestamp(), 9);
    let second = builder
        .seal(&Seal::default(), &mut Compressor::new())
        .unwrap();
    assert_eq!(second.bytes().as_ptr(), place);
    let records = all_records(second.bytes());
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].value(), Some(&b"second"[..]));
    assert_eq!(records[0].timestamp(), 9);
}

#[test]
fn two_gib_is_the_end() {
    // The same quarter of a GiB nine times, never touched: the sizes are added
    // up before anything is copied.
    let large = vec![0u8; 256 << 20];
    let header = Header {
        key: b"h",
        value: Some(&large),
    };
    let mut builder = BatchBuilder::new();
    builder.append(0, None, Some(b"first"), &[]).unwrap();
    let size = builder.size();
    for (key, headers) in [(None, vec![header; 8]), (Some(&large[..]), vec![header; 7])] {
        assert!(builder.size_with(0, key, None, &headers) > 2 << 30);
        let error = builder.append(0, key, None, &headers).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unencodable);
        let error = builder
            .append_with::<copart_protocol::Error>(0, key, &headers, |out| {
                out.push(1);
                Ok(())
            })
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unencodable);
    }
    assert_eq!((builder.size(), builder.len()), (size, 1));
    let batch = builder
        .seal(&Seal::default(), &mut Compressor::new())
        .unwrap();
    assert_eq!(all_records(batch.bytes()).len(), 1);
}
