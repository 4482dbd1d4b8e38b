//! Batches that the broker refuses because they are too large.

use copart_protocol::ErrorCode;
use copart_protocol::records::Codec;

use super::partition::Sending;
use super::settle::Effects;
use super::tests::{Bench, LINGER, only_error, stamp};
use crate::ErrorKind;

impl Bench {
    /// Appends records, and takes them as one batch.
    fn send_many(&mut self, records: usize) -> Sending {
        for _ in 0..records {
            self.append(false);
        }
        self.core.flush();
        self.pass(LINGER);
        self.take()
    }

    /// A broker that knows the producer, so that several may be on their way.
    fn proven() -> Self {
        let mut bench = Self::new();
        let first = bench.send_one();
        bench.written(first.order);
        bench
    }
}

fn firsts(effects: &Effects) -> Vec<u32> {
    let (_, parts) = &effects.split[0];
    parts.iter().map(|part| part.first).collect()
}

fn count(sending: &Sending) -> u32 {
    sending.batch.header().record_count
}

#[test]
fn parts_take_the_place_and_the_sequences_of_the_whole() {
    let mut bench = Bench::proven();
    let large = bench.send_many(5);
    let behind = bench.send_one();
    let effects = bench.refused(large.order, ErrorCode::MESSAGE_TOO_LARGE);
    assert!(effects.settled.is_empty() && effects.freed == 0);
    assert_eq!(firsts(&effects), [0, 2, 4]);
    // What was sent behind it comes back first: the broker misses the sequences in front of it.
    bench.nothing();
    bench.refused(behind.order, ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
    bench.wait();
    let mut freed = 0;
    for (first, records) in [(1, 2), (3, 2), (5, 1)] {
        let part = bench.take();
        assert_eq!((stamp(&part), count(&part)), ((0, first), records));
        part.batch.verify_crc().expect("the checksum is right");
        freed += bench.written(part.order).freed;
    }
    assert_eq!(freed, 50);
    let again = bench.take();
    assert_eq!(again.batch.bytes(), behind.batch.bytes());
    bench.written(again.order);
    assert!(bench.core.is_idle());
}

#[test]
fn parts_are_split_again_and_those_to_come_are_smaller() {
    let mut bench = Bench::proven();
    let mut large = bench.send_many(8);
    let mut splits = 0;
    while count(&large) > 1 {
        bench.refused(large.order, ErrorCode::RECORD_LIST_TOO_LARGE);
        splits += 1;
        large = bench.take();
        assert_eq!(stamp(&large), (0, 1));
    }
    assert_eq!(splits, 3);
    let error = only_error(&bench.refused(large.order, ErrorCode::MESSAGE_TOO_LARGE));
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    assert_eq!(error.code(), Some(ErrorCode::MESSAGE_TOO_LARGE));
    let text = error.to_string();
    assert!(
        text.contains("max.message.bytes") && text.contains("is 4000 bytes"),
        "{text}"
    );
    assert!(!error.possibly_written());
    // The next batches are closed at once.
    assert!(bench.append(false).closed);
}

#[test]
fn a_part_that_fails_raises_the_epoch_for_the_others() {
    let mut bench = Bench::proven();
    let large = bench.send_many(2);
    bench.refused(large.order, ErrorCode::MESSAGE_TOO_LARGE);
    let first = bench.take();
    only_error(&bench.refused(first.order, ErrorCode::MESSAGE_TOO_LARGE));
    let second = bench.take();
    assert_eq!((stamp(&second), count(&second)), ((1, 0), 1));
    assert_eq!(bench.written(second.order).settled.len(), 1);
}

#[test]
fn doubt_about_the_whole_stays_with_the_parts() {
    let mut bench = Bench::proven();
    let large = bench.send_many(2);
    bench.lost(large.order);
    bench.wait();
    let again = bench.take();
    bench.refused(again.order, ErrorCode::MESSAGE_TOO_LARGE);
    let first = bench.take();
    // The broker had the whole: the parts are not what it expects.
    let error = only_error(&bench.refused(first.order, ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER));
    assert!(error.possibly_written(), "{error}");
    let (next, effects) = bench.take_from(1);
    assert!(next.is_none());
    assert!(only_error(&effects).possibly_written());
}

#[test]
fn parts_of_a_compressed_batch_are_compressed_and_stamped() {
    let mut bench = Bench::with(|config| config.compression = Codec::Lz4.into());
    for _ in 0..4 {
        bench.append(false);
    }
    bench.core.flush();
    bench.compress_all();
    let large = bench.take();
    bench.refused(large.order, ErrorCode::MESSAGE_TOO_LARGE);
    bench.compress_all();
    for first in [0, 2] {
        let part = bench.take();
        assert_eq!((stamp(&part), count(&part)), ((0, first), 2));
        assert_eq!(part.batch.header().attributes.codec(), Some(Codec::Lz4));
        part.batch.verify_crc().expect("the checksum is right");
        bench.written(part.order);
    }
    assert!(bench.core.is_idle());
}
