//! What becomes of a partition's batches: answers, retries, and time that runs out.

use std::sync::Arc;

use tokio::time::Instant;

use super::batch::{Body, ClosedBatch};
use super::partition::PartitionCore;
use super::settle::{Answered, Effects, Settled, Verdict};
use crate::producer::completion::Written;
use crate::{Error, ErrorKind, Result};

impl PartitionCore {
    /// What became of a batch that was sent to `node`.
    pub(crate) fn answered(
        &mut self,
        now: Instant,
        order: u64,
        node: i32,
        answer: Answered,
    ) -> Effects {
        let mut effects = Effects::default();
        let Some(at) = self.in_flight.iter().position(|batch| batch.order == order) else {
            return effects;
        };
        let is_first = at == 0 && self.waiting.front().is_none_or(|first| first.order > order);
        let Some(mut batch) = self.in_flight.remove(at) else {
            return effects;
        };
        let (verdict, error) = match answer {
            Answered::Written {
                base_offset,
                append_time,
            } => {
                self.succeeded(node);
                let written = Written {
                    base_offset,
                    append_time,
                };
                self.settle(batch, Ok(written), &mut effects);
                return effects;
            }
            Answered::Refused(code, message) => (
                Verdict::of(code, self.config.idempotent),
                Error::from_code(code, message.as_deref()),
            ),
            Answered::Failed(error) => {
                let verdict = match error.kind() {
                    // The request could not even be made.
                    ErrorKind::Encoding | ErrorKind::UnsupportedVersion
                        if !error.possibly_written() =>
                    {
                        Verdict::Fail { unknown: false }
                    }
                    _ => Verdict::Retry {
                        unknown: error.possibly_written(),
                    },
                };
                (verdict, error)
            }
        };
        match verdict {
            Verdict::AlreadyWritten => {
                self.succeeded(node);
                let written = Written {
                    base_offset: None,
                    append_time: None,
                };
                self.settle(batch, Ok(written), &mut effects);
            }
            Verdict::Retry { unknown } => {
                batch.unknown |= unknown;
                self.retry(now, batch, error, &mut effects);
            }
            Verdict::OutOfSequence if !is_first || self.stamper.must_renew() => {
                // One before it did not get through, so this one could not. It was refused: not written now.
                self.retry(now, batch, error, &mut effects);
            }
            Verdict::OutOfSequence => {
                // The broker has lost what it knew of us, or some of our records.
                self.stamper.renew();
                if batch.unknown {
                    self.give_up(batch, error, &mut effects);
                } else {
                    self.retry(now, batch, error, &mut effects);
                }
            }
            Verdict::TooLarge => self.split(batch, error, &mut effects),
            Verdict::Fail { unknown } => {
                batch.unknown |= unknown;
                self.give_up(batch, error, &mut effects);
            }
        }
        effects
    }

    fn succeeded(&mut self, node: i32) {
        self.failures = 0;
        self.not_before = None;
        self.last_error = None;
        if !self.stamper.must_renew() {
            self.proven_node = Some(node);
        }
    }

    fn retry(&mut self, now: Instant, batch: ClosedBatch, error: Error, effects: &mut Effects) {
        if batch.told {
            // Nobody waits for it any more, and its sequence leaves a hole.
            self.stamper.renew();
            effects.freed += batch.cost;
            return;
        }
        self.failures = self.failures.saturating_add(1);
        self.not_before = Some(now + self.config.backoff.after(self.failures));
        self.last_error = Some(error);
        self.proven_node = None;
        effects.retried = true;
        self.put_back(batch);
    }

    /// Puts a batch among those that wait, in order.
    pub(super) fn put_back(&mut self, batch: ClosedBatch) {
        let at = self
            .waiting
            .partition_point(|other| other.order < batch.order);
        self.waiting.insert(at, batch);
    }

    /// Fails a batch for good.
    pub(super) fn give_up(&mut self, batch: ClosedBatch, error: Error, effects: &mut Effects) {
        if batch.stamp.is_some() {
            self.stamper.renew();
        }
        let unknown = batch.unknown;
        self.settle(batch, Err(error.maybe_written(unknown)), effects);
    }

    pub(super) fn settle(
        &self,
        batch: ClosedBatch,
        outcome: Result<Written>,
        effects: &mut Effects,
    ) {
        effects.freed += batch.cost;
        if let Body::Sealed(sealed) = batch.body {
            effects.buffers.push(sealed.into_bytes());
        }
        if !batch.told {
            effects.settled.push(Settled {
                topic: Arc::clone(&self.topic),
                completion: batch.completion,
                records: batch.count,
                created: batch.created,
                outcome: outcome
                    .map_err(|error| error.in_partition(Arc::clone(&self.topic), self.index)),
            });
        }
    }

    /// Tells records whose time is over. `reason` is asked for why they could not be sent, if the driver
    /// knows.
    pub(crate) fn expire(
        &mut self,
        now: Instant,
        reason: impl FnOnce() -> Option<Error>,
    ) -> Effects {
        let mut effects = Effects::default();
        let timeout = self.config.delivery_timeout;
        if self.oldest().is_none_or(|created| created + timeout > now) {
            return effects;
        }
        if self
            .open
            .as_ref()
            .is_some_and(|open| open.created + timeout <= now)
        {
            self.close();
        }
        let cause = self.last_error.clone().or_else(reason);
        let error = match cause {
            Some(cause) => Error::new(
                ErrorKind::Timeout,
                format!("not delivered within {timeout:?}; the last problem: {cause}"),
            )
            .caused_by(cause),
            None => Error::new(
                ErrorKind::Timeout,
                format!("not delivered within {timeout:?}"),
            ),
        };
        while self
            .waiting
            .front()
            .is_some_and(|batch| batch.created + timeout <= now)
        {
            if let Some(batch) = self.waiting.pop_front() {
                self.give_up(batch, error.clone(), &mut effects);
            }
        }
        for batch in &mut self.in_flight {
            if batch.created + timeout <= now && !batch.told {
                batch.told = true;
                let error = error.clone().maybe_written(true);
                effects.settled.push(Settled {
                    topic: Arc::clone(&self.topic),
                    completion: Arc::clone(&batch.completion),
                    records: batch.count,
                    created: batch.created,
                    outcome: Err(error.in_partition(Arc::clone(&self.topic), self.index)),
                });
            }
        }
        effects
    }

    /// Fails everything, as when the producer is closed.
    pub(crate) fn abort(&mut self, error: &Error) -> Effects {
        let mut effects = Effects::default();
        self.close();
        for batch in std::mem::take(&mut self.waiting) {
            self.give_up(batch, error.clone(), &mut effects);
        }
        for batch in std::mem::take(&mut self.in_flight) {
            self.settle(batch, Err(error.clone().maybe_written(true)), &mut effects);
        }
        effects
    }
}
