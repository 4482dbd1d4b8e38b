//! What of the bytes is handed out.

use super::*;

fn chunk(log: &[Vec<u8>], aborted: &[AbortedTransaction], from: i64, until: i64) -> Chunk {
    Chunk {
        slot: 0,
        generation: 0,
        partition: at(0),
        records: log.concat().into(),
        aborted: aborted.to_vec(),
        from: Position::at(from),
        until,
        high_watermark: 0,
        last_stable_offset: 0,
        frame: 0,
    }
}

/// The offsets that are handed out, and the position after.
fn read(chunk: Chunk) -> (Vec<i64>, i64) {
    let mut decompressor = Decompressor::new(1 << 20);
    let mut cursor = Cursor::new(chunk);
    let mut offsets = Vec::new();
    while let Some(cut) = cursor.next(&mut decompressor) {
        let cut = cut.expect("readable");
        offsets.extend(cut.ranges.iter().map(|range| range.offset()));
    }
    (offsets, cursor.position().offset)
}

fn transactions() -> Vec<Vec<u8>> {
    vec![
        transactional(0, 7, 2),
        transactional(2, 8, 2),
        marker(4, 7, false),
        transactional(5, 7, 2),
        marker(7, 7, true),
        batch(8, 2, 1, 0),
        transactional(10, 9, 1),
        marker(11, 9, false),
        marker(12, 8, true),
    ]
}

#[test]
fn aborted_transactions_and_markers_are_left_out() {
    let log = transactions();
    // Brokers do not sort the list. Producer 7 aborted its first transaction and committed its second.
    let list = [aborted(9, 10), aborted(7, 0)];
    let committed = vec![2, 3, 5, 6, 8, 9];
    assert_eq!(read(chunk(&log, &list, 0, i64::MAX)), (committed, 13));
    // Without a list nothing is aborted, and markers are no records all the same.
    let all = vec![0, 1, 2, 3, 5, 6, 8, 9, 10];
    assert_eq!(read(chunk(&log, &[], 0, i64::MAX)), (all, 13));
    // Transactions that began before the fetch.
    let log = [
        transactional(5, 7, 2),
        marker(7, 7, false),
        transactional(8, 7, 1),
    ];
    assert_eq!(
        read(chunk(&log, &[aborted(7, 3)], 5, i64::MAX)),
        (vec![8], 9)
    );
}

#[test]
fn records_before_the_position_and_behind_the_end_are_left_out() {
    let log = [batch(0, 4, 1, 0), batch(4, 4, 1, 0), batch(8, 4, 1, 0)];
    assert_eq!(read(chunk(&log, &[], 5, 7)), (vec![5, 6], 7));
    assert_eq!(read(chunk(&log, &[], 6, i64::MAX)), ((6..12).collect(), 12));
    assert_eq!(read(chunk(&log, &[], 3, 4)), (vec![3], 4));
    assert_eq!(read(chunk(&log, &[], 12, i64::MAX)), (vec![], 12));
}

#[test]
fn damage_is_found_where_it_is() {
    let mut bad = batch(2, 2, 1, 0);
    let last = bad.len() - 1;
    bad[last] ^= 1;
    let mut cursor = Cursor::new(chunk(&[batch(0, 2, 1, 0), bad], &[], 0, i64::MAX));
    let mut decompressor = Decompressor::new(1 << 20);
    cursor.next(&mut decompressor).expect("one").expect("good");
    let error = cursor
        .next(&mut decompressor)
        .expect("two")
        .expect_err("bad");
    assert_eq!(
        (error.kind(), error.context().offset),
        (ErrorKind::Protocol, Some(2))
    );
    assert!(error.to_string().contains("CRC-32C"), "{error}");
    assert_eq!(cursor.position().offset, 2);
}
