//! One partition's batches: open, waiting, on their way.
//!
//! The driver appends records, asks when the partition needs attention, takes batches to send, and reports
//! what became of them. Batches are sent in order, and an idempotent producer's sequences follow that order.
//! What keeps the log free of loss, doubles and disorder:
//!
//! - A batch that may have been written is only ever sent again as the same bytes under the same sequence.
//! - When a sequence was given to a batch that then is given up, those behind it cannot follow. The epoch is
//!   raised, once nothing is on its way (KIP-360), and they get sequences from 0.
//! - Nothing overtakes: a batch that came back waits for those behind it to come back too.
//! - A leader gets one batch until it has accepted one: a broker that knows nothing of a producer takes its
//!   first batch with any sequence, even one whose predecessor is still on the way (franz-go issue 223).
//! - A new leader gets nothing before the old one has answered, or can answer no more.

use std::collections::VecDeque;
use std::sync::Arc;

use copart_protocol::records::{BatchBuilder, Compression, Compressor, RecordBatch, Seal};
use tokio::time::Instant;
use tracing::Span;

use super::CoreConfig;
use super::batch::{Body, ClosedBatch, OpenBatch, Parts, SealJob, SealedJob};
use super::settle::Effects;
use super::stamp::{ProducerId, Stamper};
use crate::producer::completion::Completion;
use crate::telemetry::{names, spans};
use crate::{Error, ErrorKind, Result};

pub(crate) struct PartitionCore {
    pub(super) config: Arc<CoreConfig>,
    /// For errors.
    pub(super) topic: Arc<str>,
    pub(super) index: i32,
    /// Batches are closed at so many bytes: fewer than configured once the broker has refused larger ones.
    pub(super) batch_limit: usize,
    pub(super) open: Option<OpenBatch>,
    /// In order; the first goes next.
    pub(super) waiting: VecDeque<ClosedBatch>,
    /// In order, as they were sent.
    pub(super) in_flight: VecDeque<ClosedBatch>,
    /// Who has those in flight.
    pub(super) in_flight_node: i32,
    pub(super) stamper: Stamper,
    /// The node that has accepted a batch under the current stamp.
    pub(super) proven_node: Option<i32>,
    pub(super) next_order: u64,
    pub(super) failures: u32,
    pub(super) not_before: Option<Instant>,
    /// What went wrong last, for the error of those whose time runs out.
    pub(super) last_error: Option<Error>,
}

/// What an append did.
pub(crate) struct Appended {
    pub(crate) completion: Arc<Completion>,
    /// The record's place in its batch.
    pub(crate) index: u32,
    /// A batch was opened: there is a new moment to wake up at.
    pub(crate) opened: bool,
    /// A batch was closed: it can be sent.
    pub(crate) closed: bool,
}

/// A batch that goes out.
pub(crate) struct Sending {
    pub(crate) order: u64,
    pub(crate) batch: RecordBatch,
    /// When its first record came, if it goes out for the first time.
    pub(crate) created: Option<Instant>,
    pub(crate) trace: Span,
}

/// When a partition needs to be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attention {
    /// It has something to send now.
    Now,
    /// Not before then, unless an answer comes or a record.
    At(Instant),
    /// It holds nothing.
    Idle,
}

impl PartitionCore {
    pub(crate) fn new(config: Arc<CoreConfig>, topic: Arc<str>, index: i32) -> Self {
        Self {
            batch_limit: config.batch_size,
            config,
            topic,
            index,
            open: None,
            waiting: VecDeque::new(),
            in_flight: VecDeque::new(),
            in_flight_node: -1,
            stamper: Stamper::default(),
            proven_node: None,
            next_order: 0,
            failures: 0,
            not_before: None,
            last_error: None,
        }
    }

    /// Appends a record that takes `cost` bytes of the budget. `now` is asked for when a batch is opened, and
    /// `buffer` gives it memory.
    ///
    /// # Errors
    /// When the record cannot be encoded. All is as it was then.
    pub(crate) fn append(
        &mut self,
        parts: &Parts<'_>,
        cost: usize,
        urgent: bool,
        now: impl FnOnce() -> Instant,
        buffer: impl FnOnce() -> Vec<u8>,
    ) -> Result<Appended> {
        let bound = parts.size_bound();
        let mut closed = false;
        if let Some(open) = &self.open
            && open.builder.size() + bound > self.batch_limit
        {
            self.close();
            closed = true;
        }
        let opened = self.open.is_none();
        let open = self.open.get_or_insert_with(|| OpenBatch {
            builder: BatchBuilder::with_buffer(buffer()),
            completion: Arc::new(Completion::new(self.index)),
            created: now(),
            cost: 0,
            urgent: false,
            trace: spans::create(&self.topic, self.index),
        });
        let appended = open
            .builder
            .append(parts.timestamp, parts.key, parts.value, parts.headers);
        let index = match appended {
            Ok(index) => index,
            Err(error) => {
                if open.builder.is_empty() {
                    self.open = None;
                }
                return Err(Error::from(error).in_partition(Arc::clone(&self.topic), self.index));
            }
        };
        open.cost += cost;
        open.urgent |= urgent;
        let completion = Arc::clone(&open.completion);
        // Closed with its last record rather than with the one that no longer fits, so that a sticky
        // partitioner can turn to another partition in time.
        if open.builder.size() + bound > self.batch_limit {
            self.close();
            closed = true;
        }
        Ok(Appended {
            completion,
            index,
            opened,
            closed,
        })
    }

    /// Closes the open batch, if there is one.
    pub(super) fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let order = self.next_order;
        let count = open.builder.len() as u32;
        self.next_order += u64::from(count);
        open.trace.record("messaging.batch.message_count", count);
        self.waiting.push_back(ClosedBatch {
            order,
            count,
            body: Body::Built(open.builder),
            completion: open.completion,
            created: open.created,
            cost: open.cost,
            stamp: None,
            unknown: false,
            attempts: 0,
            told: false,
            trace: open.trace,
        });
    }

    /// Closes the open batch, and lists all whose end is still to come.
    pub(crate) fn flush(&mut self) -> Vec<Arc<Completion>> {
        self.close();
        let all = self.in_flight.iter().chain(&self.waiting);
        all.filter(|batch| !batch.told)
            .map(|batch| Arc::clone(&batch.completion))
            .collect()
    }

    /// Batches that are closed and not on their way.
    pub(crate) fn backlog(&self) -> usize {
        self.waiting.len()
    }

    /// Whether it holds nothing at all.
    pub(crate) fn is_idle(&self) -> bool {
        self.open.is_none() && self.waiting.is_empty() && self.in_flight.is_empty()
    }

    /// The topic was deleted and created anew, or the partition is another for some other reason.
    pub(crate) fn forget_sequences(&mut self) {
        self.stamper.renew();
    }

    /// There is a new leader: what the old one refused may be tried at once.
    pub(crate) fn leader_changed(&mut self) {
        self.not_before = None;
    }

    /// When there is something to do for a sender to `node`.
    pub(crate) fn attention(&self, now: Instant, node: i32) -> Attention {
        if self.oldest().is_none() {
            // What is left in flight was told already, and waits for its answer.
            return Attention::Idle;
        }
        let expiry = self.expiry(now);
        match self.sendable_at(node) {
            Some(at) if at <= now => Attention::Now,
            Some(at) => Attention::At(at.min(expiry)),
            None => Attention::At(expiry),
        }
    }

    /// When the time of the oldest batch is over.
    pub(crate) fn expiry(&self, now: Instant) -> Instant {
        self.oldest().unwrap_or(now) + self.config.delivery_timeout
    }

    /// When the oldest batch that was not told anything was opened.
    pub(super) fn oldest(&self) -> Option<Instant> {
        let closed = self.in_flight.iter().chain(&self.waiting);
        let closed = closed
            .filter(|batch| !batch.told)
            .map(|batch| batch.created);
        closed
            .chain(self.open.as_ref().map(|open| open.created))
            .min()
    }

    /// When the next batch may go to `node`; `None` if an answer has to come first.
    fn sendable_at(&self, node: i32) -> Option<Instant> {
        let ready = match (self.waiting.front(), &self.open) {
            (Some(first), _) => {
                if matches!(first.body, Body::Sealing) {
                    return None;
                }
                // Those that were sent behind it have to come back first.
                if self.in_flight.iter().any(|batch| batch.order > first.order) {
                    return None;
                }
                first.created
            }
            (None, Some(open)) if open.urgent && self.in_flight.is_empty() => open.created,
            (None, Some(open)) => open.created + self.config.linger,
            (None, None) => return None,
        };
        if !self.in_flight.is_empty() {
            let window = if self.proven_node == Some(node) {
                self.config.max_in_flight
            } else {
                1
            };
            if self.in_flight_node != node
                || self.in_flight.len() >= window
                || self.stamper.must_renew()
            {
                return None;
            }
        }
        Some(self.not_before.map_or(ready, |at| at.max(ready)))
    }

    /// The next batch that should be compressed, if any.
    pub(crate) fn next_job(&mut self) -> Option<SealJob> {
        let compression = self.config.compression;
        if compression == Compression::NONE {
            return None;
        }
        // Those in front are compressed or being so.
        let batch = self
            .waiting
            .iter_mut()
            .find(|batch| matches!(batch.body, Body::Built(_)))?;
        match std::mem::replace(&mut batch.body, Body::Sealing) {
            Body::Built(builder) => Some(SealJob {
                order: batch.order,
                builder,
                compression,
            }),
            _ => None,
        }
    }

    /// Takes back a batch that was compressed.
    pub(crate) fn finish_job(&mut self, job: SealedJob) -> Effects {
        let mut effects = Effects::default();
        let Some(at) = self
            .waiting
            .iter()
            .position(|batch| batch.order == job.order)
        else {
            // Its time ran out meanwhile.
            return effects;
        };
        match job.result {
            Ok(batch) => self.waiting[at].body = Body::Sealed(batch),
            Err(error) => {
                if let Some(batch) = self.waiting.remove(at) {
                    let error = Error::from(error);
                    self.give_up(batch, error, &mut effects);
                }
            }
        }
        effects
    }

    /// If lingering is over, closes the open batch, so that it can be compressed and sent.
    pub(crate) fn close_if_due(&mut self, now: Instant, node: i32) {
        if self.waiting.is_empty() && self.sendable_at(node).is_some_and(|at| at <= now) {
            self.close();
        }
    }

    /// The next batch to send to `node`, if one may go now. An idempotent producer needs its id for that.
    pub(crate) fn take(
        &mut self,
        now: Instant,
        node: i32,
        id: Option<ProducerId>,
        compressor: &mut Compressor,
        effects: &mut Effects,
    ) -> Option<Sending> {
        self.close_if_due(now, node);
        if self.sendable_at(node).is_none_or(|at| at > now) {
            return None;
        }
        if self.config.idempotent {
            let id = id?;
            if self.in_flight.is_empty()
                && (self.stamper.must_renew() || !self.stamper.is_given(id))
            {
                self.renew(id, effects);
            }
        }
        let mut batch = self.waiting.pop_front()?;
        match self.seal(&mut batch, compressor) {
            Ok(Some(sealed)) => {
                let created = (batch.attempts == 0).then_some(batch.created);
                batch.attempts += 1;
                let order = batch.order;
                let trace = std::mem::replace(&mut batch.trace, Span::none());
                self.in_flight_node = node;
                self.in_flight.push_back(batch);
                Some(Sending {
                    order,
                    batch: sealed,
                    created,
                    trace,
                })
            }
            // Still being compressed, or no identity: not its turn yet.
            Ok(None) => {
                self.waiting.push_front(batch);
                None
            }
            Err(error) => {
                self.give_up(batch, error, effects);
                None
            }
        }
    }

    /// Stamps a batch, if it has no stamp, and seals it.
    fn seal(
        &mut self,
        batch: &mut ClosedBatch,
        compressor: &mut Compressor,
    ) -> Result<Option<RecordBatch>> {
        // A batch is not stamped before its turn, and not sealed before it is compressed.
        match batch.body {
            Body::Sealing => return Ok(None),
            Body::Built(_) if self.config.compression != Compression::NONE => return Ok(None),
            Body::Built(_) | Body::Sealed(_) => {}
        }
        if self.config.idempotent && batch.stamp.is_none() {
            let Some(stamp) = self.stamper.next(batch.count) else {
                return Ok(None);
            };
            batch.stamp = Some(stamp);
        }
        let sealed = match std::mem::replace(&mut batch.body, Body::Sealing) {
            Body::Built(builder) => {
                let mut seal = Seal::default();
                if let Some(stamp) = batch.stamp {
                    seal.producer = stamp;
                }
                builder.seal(&seal, compressor)?
            }
            Body::Sealed(sealed) => match batch.stamp {
                Some(stamp) if sealed.header().producer != stamp => sealed.with_producer(stamp)?,
                _ => sealed,
            },
            Body::Sealing => return Ok(None),
        };
        batch.body = Body::Sealed(sealed.clone());
        Ok(Some(sealed))
    }

    /// Starts sequences over, under a higher epoch or another id. Nothing is on its way.
    fn renew(&mut self, id: ProducerId, effects: &mut Effects) {
        if self.stamper.is_given(id) {
            // Without epochs left, the driver has to get another id; see `has_used_up`.
            if !self.stamper.raise() {
                return;
            }
            tracing::info!(topic = %self.topic, partition = self.index, "sequences start over under a new epoch");
            metrics::counter!(names::EPOCH_BUMPS).increment(1);
        } else {
            self.stamper.give(id);
        }
        self.proven_node = None;
        let mut kept = VecDeque::with_capacity(self.waiting.len());
        for mut batch in std::mem::take(&mut self.waiting) {
            if batch.stamp.is_some() && batch.unknown {
                // Under another sequence the broker could not tell that it has it already.
                let error = Error::new(
                    ErrorKind::Disconnected,
                    "an attempt had no answer, and the sequence that it went out under cannot be used \
                     again because an earlier batch failed",
                );
                self.settle(batch, Err(error.maybe_written(true)), effects);
            } else {
                batch.stamp = None;
                kept.push_back(batch);
            }
        }
        self.waiting = kept;
    }

    /// Whether the epochs of this id have run out here, so that the producer needs another.
    pub(crate) fn has_used_up(&self, id: ProducerId) -> bool {
        self.stamper.has_used_up(id)
    }
}
