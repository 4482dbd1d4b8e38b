//! One partition, told what time it is and what brokers say.

use std::sync::Arc;
use std::time::Duration;

use copart_protocol::ErrorCode;
use copart_protocol::records::{Codec, Compression, Compressor, Producer};
use tokio::time::Instant;

use super::CoreConfig;
use super::batch::Parts;
use super::partition::{Attention, PartitionCore, Sending};
use super::settle::{Answered, Effects};
use super::stamp::ProducerId;
use crate::{Backoff, Error, ErrorKind};

const ID: ProducerId = ProducerId { id: 9, epoch: 0 };
pub(super) const LINGER: Duration = Duration::from_millis(5);
const DELIVERY: Duration = Duration::from_secs(120);

pub(super) struct Bench {
    pub(super) core: PartitionCore,
    pub(super) compressor: Compressor,
    now: Instant,
    id: ProducerId,
}

impl Bench {
    pub(super) fn new() -> Self {
        Self::with(|_| ())
    }

    pub(super) fn with(change: impl FnOnce(&mut CoreConfig)) -> Self {
        let mut config = CoreConfig {
            batch_size: 1000,
            max_request_size: 4000,
            linger: LINGER,
            delivery_timeout: DELIVERY,
            max_in_flight: 5,
            idempotent: true,
            compression: Compression::NONE,
            backoff: Backoff::new(Duration::from_millis(100), Duration::from_secs(1)),
        };
        change(&mut config);
        Self {
            core: PartitionCore::new(Arc::new(config), "t".into(), 0),
            compressor: Compressor::new(),
            now: Instant::now(),
            id: ID,
        }
    }

    pub(super) fn append(&mut self, urgent: bool) -> super::partition::Appended {
        let parts = Parts {
            timestamp: 1,
            key: None,
            value: Some(b"value"),
            headers: &[],
        };
        let now = self.now;
        let appended = self.core.append(&parts, 10, urgent, || now, Vec::new);
        appended.expect("fits")
    }

    pub(super) fn take_from(&mut self, node: i32) -> (Option<Sending>, Effects) {
        let mut effects = Effects::default();
        let taken = self.core.take(
            self.now,
            node,
            Some(self.id),
            &mut self.compressor,
            &mut effects,
        );
        (taken, effects)
    }

    /// The next batch, which must be there.
    pub(super) fn take(&mut self) -> Sending {
        self.take_from(1).0.expect("something to send")
    }

    /// Appends a record and takes it as a batch.
    pub(super) fn send_one(&mut self) -> Sending {
        self.append(false);
        self.core.flush();
        self.now += LINGER;
        self.take()
    }

    pub(super) fn nothing(&mut self) {
        let (taken, effects) = self.take_from(1);
        assert!(taken.is_none() && effects.is_empty());
    }

    pub(super) fn written(&mut self, order: u64) -> Effects {
        let written = Answered::Written {
            base_offset: Some(7),
            append_time: None,
        };
        self.core.answered(self.now, order, 1, written)
    }

    pub(super) fn refused(&mut self, order: u64, code: ErrorCode) -> Effects {
        self.core
            .answered(self.now, order, 1, Answered::Refused(code, None))
    }

    pub(super) fn lost(&mut self, order: u64) -> Effects {
        let error = Error::new(ErrorKind::Disconnected, "gone").maybe_written(true);
        self.core
            .answered(self.now, order, 1, Answered::Failed(error))
    }

    pub(super) fn pass(&mut self, time: Duration) {
        self.now += time;
    }

    /// Compresses whatever waits for that.
    pub(super) fn compress_all(&mut self) {
        while let Some(job) = self.core.next_job() {
            let sealed = job.run(&mut self.compressor);
            assert!(self.core.finish_job(sealed).is_empty());
        }
    }

    pub(super) fn wait(&mut self) {
        self.now += Duration::from_secs(2);
    }
}

pub(super) fn stamp(sending: &Sending) -> (i16, i32) {
    let Producer {
        id,
        epoch,
        base_sequence,
    } = sending.batch.header().producer;
    assert_eq!(id, ID.id);
    (epoch, base_sequence)
}

pub(super) fn only_error(effects: &Effects) -> Error {
    assert_eq!(effects.settled.len(), 1);
    effects.settled[0].outcome.clone().expect_err("failed")
}

#[test]
fn a_batch_lingers_and_a_lone_awaited_record_does_not() {
    let mut bench = Bench::new();
    assert_eq!(bench.core.attention(bench.now, 1), Attention::Idle);
    assert!(bench.append(false).opened);
    let due = bench.now + LINGER;
    assert_eq!(bench.core.attention(bench.now, 1), Attention::At(due));
    bench.nothing();
    assert!(!bench.append(true).opened);
    assert_eq!(bench.core.attention(bench.now, 1), Attention::Now);
    let first = bench.take();
    assert_eq!(first.batch.header().record_count, 2);
    // With something on the way, the next one lingers, and goes when the way is free or the time is over.
    bench.append(true);
    bench.nothing();
    bench.written(first.order);
    assert_eq!(bench.core.attention(bench.now, 1), Attention::Now);
}

#[test]
fn a_batch_is_closed_with_the_last_record_that_fits() {
    let mut bench = Bench::new();
    let mut records = 0;
    loop {
        records += 1;
        if bench.append(false).closed {
            break;
        }
    }
    let sent = bench.take();
    assert_eq!(sent.batch.header().record_count, records);
    let size = sent.batch.bytes().len();
    assert!((900..=1000).contains(&size), "{size}");
}

#[test]
fn a_leader_gets_one_batch_until_it_has_taken_one() {
    let mut bench = Bench::new();
    let first = bench.send_one();
    bench.append(false);
    bench.core.flush();
    bench.now += LINGER;
    bench.nothing();
    bench.written(first.order);
    let sent: Vec<_> = (0..5).map(|_| bench.send_one()).collect();
    assert_eq!(
        sent.iter().map(stamp).collect::<Vec<_>>(),
        [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5)]
    );
    // Five are the most.
    bench.append(false);
    bench.core.flush();
    bench.nothing();
}

#[test]
fn a_retry_is_the_same_bytes_and_nothing_overtakes_it() {
    let mut bench = Bench::new();
    let first = bench.send_one();
    bench.written(first.order);
    let (a, b) = (bench.send_one(), bench.send_one());
    assert!(bench.lost(a.order).retried);
    bench.wait();
    // `b` has to come back first.
    bench.nothing();
    bench.refused(b.order, ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
    bench.wait();
    let again = bench.take();
    assert_eq!(again.batch.bytes(), a.batch.bytes());
    bench.nothing();
    bench.written(again.order);
    let again = bench.take();
    assert_eq!(again.batch.bytes(), b.batch.bytes());
    assert_eq!(bench.written(again.order).settled.len(), 1);
    assert!(bench.core.is_idle());
}

#[test]
fn retries_wait_longer_each_time() {
    let mut bench = Bench::new();
    let mut sent = bench.send_one();
    for least in [80, 160, 320] {
        bench.refused(sent.order, ErrorCode::NOT_ENOUGH_REPLICAS);
        bench.now += Duration::from_millis(least - 1);
        bench.nothing();
        bench.now += Duration::from_millis(least);
        sent = bench.take();
    }
    // A new leader is worth a try at once.
    bench.refused(sent.order, ErrorCode::NOT_LEADER_OR_FOLLOWER);
    bench.nothing();
    bench.core.leader_changed();
    assert!(bench.take_from(2).0.is_some());
}

#[test]
fn the_old_leader_answers_before_the_new_one_is_asked() {
    let mut bench = Bench::new();
    let first = bench.send_one();
    bench.written(first.order);
    let second = bench.send_one();
    bench.append(false);
    bench.core.flush();
    assert!(bench.take_from(2).0.is_none());
    bench.written(second.order);
    assert_eq!(stamp(&bench.take_from(2).0.expect("its turn")), (0, 2));
}

#[test]
fn a_batch_refused_for_good_raises_the_epoch_for_those_behind_it() {
    let mut bench = Bench::new();
    let first = bench.send_one();
    bench.written(first.order);
    let (a, b) = (bench.send_one(), bench.send_one());
    let error = only_error(&bench.refused(a.order, ErrorCode::MESSAGE_TOO_LARGE));
    assert_eq!(
        (error.kind(), error.possibly_written()),
        (ErrorKind::TooLarge, false)
    );
    bench.append(false);
    bench.core.flush();
    bench.nothing();
    bench.refused(b.order, ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
    bench.wait();
    let again = bench.take();
    assert_eq!((again.order, stamp(&again)), (b.order, (1, 0)));
    again
        .batch
        .verify_crc()
        .expect("the checksum follows the stamp");
    bench.written(again.order);
    assert_eq!(stamp(&bench.take()), (1, 1));
}

#[test]
fn an_unknown_outcome_is_told_and_never_sent_under_another_sequence() {
    let mut bench = Bench::new();
    let first = bench.send_one();
    bench.written(first.order);
    let (a, b) = (bench.send_one(), bench.send_one());
    bench.lost(a.order);
    bench.lost(b.order);
    bench.wait();
    let again = bench.take();
    // The broker has forgotten the producer: whether `a` is in the log cannot be found out.
    let error = only_error(&bench.refused(again.order, ErrorCode::UNKNOWN_PRODUCER_ID));
    assert!(error.possibly_written(), "{error}");
    bench.wait();
    bench.append(false);
    bench.core.flush();
    let (next, effects) = bench.take_from(1);
    assert!(only_error(&effects).possibly_written());
    assert_eq!(stamp(&next.expect("the new one")), (1, 0));
}

#[test]
fn a_first_batch_out_of_sequence_that_was_never_in_doubt_is_sent_anew() {
    let mut bench = Bench::new();
    let first = bench.send_one();
    bench.written(first.order);
    let second = bench.send_one();
    let effects = bench.refused(second.order, ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
    assert!(effects.retried && effects.settled.is_empty());
    bench.wait();
    assert_eq!(stamp(&bench.take()), (1, 0));
}

#[test]
fn a_retry_that_the_broker_knows_is_written() {
    let mut bench = Bench::new();
    let first = bench.send_one();
    let effects = bench.refused(first.order, ErrorCode::DUPLICATE_SEQUENCE_NUMBER);
    let written = effects.settled[0].outcome.clone().expect("written");
    assert_eq!(written.base_offset, None);
}

#[test]
fn time_runs_out_for_waiting_batches_and_for_those_on_their_way() {
    let mut bench = Bench::new();
    let first = bench.send_one();
    bench.append(false);
    bench.core.flush();
    bench.now += DELIVERY;
    let effects = bench.core.expire(bench.now, || None);
    let doubts: Vec<_> = effects
        .settled
        .iter()
        .map(|settled| {
            settled
                .outcome
                .clone()
                .expect_err("too late")
                .possibly_written()
        })
        .collect();
    assert_eq!(doubts, [false, true]);
    // Ten bytes for each record; those of the first are still on the wire.
    assert_eq!(effects.freed, 10);
    let late = bench.written(first.order);
    assert!(late.settled.is_empty());
    assert_eq!(late.freed, 10);
    // The second never had a sequence, so there is no hole.
    assert_eq!(stamp(&bench.send_one()), (0, 1));
}

#[test]
fn a_batch_given_up_on_its_way_leaves_a_hole() {
    let mut bench = Bench::new();
    let first = bench.send_one();
    bench.now += DELIVERY;
    assert!(only_error(&bench.core.expire(bench.now, || None)).possibly_written());
    bench.append(false);
    bench.core.flush();
    assert!(bench.lost(first.order).settled.is_empty());
    assert_eq!(stamp(&bench.take()), (1, 0));
}

#[test]
fn an_id_whose_epochs_have_run_out_is_replaced() {
    let mut bench = Bench::new();
    bench.id.epoch = i16::MAX;
    let first = bench.send_one();
    assert_eq!(stamp(&first), (i16::MAX, 0));
    bench.refused(first.order, ErrorCode::INVALID_RECORD);
    bench.append(false);
    bench.core.flush();
    bench.nothing();
    assert!(bench.core.has_used_up(bench.id));
    bench.id = ProducerId { id: 9, epoch: 0 };
    assert_eq!(stamp(&bench.take()), (0, 0));
}

#[test]
fn compression_is_done_elsewhere_and_keeps_the_order() {
    let mut bench = Bench::with(|config| config.compression = Codec::Lz4.into());
    bench.append(false);
    bench.core.flush();
    bench.append(false);
    bench.core.flush();
    let first = bench.core.next_job().expect("to compress");
    let second = bench.core.next_job().expect("to compress");
    assert!(bench.core.next_job().is_none());
    let sealed = second.run(&mut bench.compressor);
    assert!(bench.core.finish_job(sealed).is_empty());
    // The second is ready, and it is not its turn.
    bench.nothing();
    let sealed = first.run(&mut bench.compressor);
    assert!(bench.core.finish_job(sealed).is_empty());
    let sent = bench.take();
    assert_eq!((sent.order, stamp(&sent)), (0, (0, 0)));
    sent.batch
        .verify_crc()
        .expect("the checksum follows the stamp");
    assert_eq!(sent.batch.header().attributes.codec(), Some(Codec::Lz4));
}

#[test]
fn without_idempotence_there_are_no_sequences() {
    let mut bench = Bench::with(|config| config.idempotent = false);
    let sent = bench.send_one();
    assert_eq!(sent.batch.header().producer, Producer::NONE);
    bench.lost(sent.order);
    bench.wait();
    assert_eq!(bench.take().batch.bytes(), sent.batch.bytes());
}

#[test]
fn aborting_tells_everybody() {
    let mut bench = Bench::new();
    bench.send_one();
    bench.append(false);
    bench.core.flush();
    bench.append(false);
    let effects = bench.core.abort(&Error::new(ErrorKind::Closed, "closed"));
    let doubts: Vec<_> = effects
        .settled
        .iter()
        .map(|settled| {
            settled
                .outcome
                .clone()
                .expect_err("closed")
                .possibly_written()
        })
        .collect();
    assert_eq!(doubts, [false, false, true]);
    assert_eq!(effects.freed, 30);
    assert!(bench.core.is_idle());
}
