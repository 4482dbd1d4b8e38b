//! The producer that users hold.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::SemaphorePermit;
use tokio::time::{Instant, timeout_at};

use super::completion::{Delivery, Receipt};
use super::core::Parts;
use super::partitioner::explicit;
use super::record::{Payload, ProducerRecord, RecordView};
use super::shared::{Phase, Shared};
use super::supervisor;
use super::topic::TopicState;
use crate::client::bounded;
use crate::{Error, ErrorKind, Result};

/// Sends records. Cheap to clone; all clones are one producer.
///
/// A record is encoded on the caller's thread, straight into the batch that is sent. The order of a
/// partition's records is the order in which [`enqueue`](Self::enqueue) and its siblings took them.
///
/// When the last clone is dropped, what it has taken is sent in the background, as long as the runtime
/// lives. Dropping does not wait: use [`close`](Self::close) to know what became of it.
#[derive(Clone)]
pub struct Producer {
    shared: Arc<Shared>,
    _drain: Arc<DrainOnDrop>,
}

struct DrainOnDrop(Arc<Shared>);

impl Drop for DrainOnDrop {
    fn drop(&mut self) {
        self.0.advance(Phase::Draining);
    }
}

/// A record that [`Producer::try_enqueue`] did not take, and why.
#[derive(Debug)]
pub struct Rejection<R> {
    record: R,
    error: Error,
}

impl<R> Rejection<R> {
    pub(super) fn new(record: R, error: Error) -> Self {
        Self { record, error }
    }

    /// Why it was not taken. With [`ErrorKind::Full`] it may be taken later.
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// The record, to be tried again, and why it was not taken.
    pub fn into_parts(self) -> (R, Error) {
        (self.record, self.error)
    }
}

impl<R> From<Rejection<R>> for Error {
    fn from(rejection: Rejection<R>) -> Self {
        rejection.error
    }
}

/// What was left when a producer was closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CloseReport {
    /// Batches that were not delivered in time. Their deliveries have failed, with an error that says whether
    /// they may have been written.
    pub undelivered_batches: usize,
    /// Those of them that may have been written.
    pub possibly_written_batches: usize,
}

impl CloseReport {
    /// Whether everything was delivered, or its failure told before.
    pub fn is_complete(&self) -> bool {
        self.undelivered_batches == 0
    }
}

/// Why a record cannot be appended now.
enum Obstacle {
    /// Its topic's metadata is not known.
    Topic,
    /// The memory budget is used up; so many bytes are needed.
    Memory(u32),
    Error(Error),
}

impl Producer {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            _drain: Arc::new(DrainOnDrop(Arc::clone(&shared))),
            shared,
        }
    }

    /// Sends a record, and waits until it is written. It does not linger: if nothing else of its partition is
    /// on the way, it goes out at once.
    ///
    /// To send many, [`enqueue`](Self::enqueue) them first and await the deliveries after.
    ///
    /// # Errors
    /// As [`enqueue`](Self::enqueue), or why it was not written; then [`Error::possibly_written`] says
    /// whether it may be in the log all the same.
    ///
    /// # Cancel safety
    /// When the future is dropped, the record is sent or not; it is not known which.
    pub async fn send<K: Payload, V: Payload>(
        &self,
        record: ProducerRecord<'_, K, V>,
    ) -> Result<Receipt> {
        self.accept(&record.view(), true).await?.await
    }

    /// Takes a record, and returns as soon as it is in a batch. Awaiting the [`Delivery`] tells what became of
    /// it. Waits while the topic's metadata is not known, or the buffer is full.
    ///
    /// # Errors
    /// When the record is refused: too large, no partition for it, no such topic, a guard, or no room within
    /// the time to block.
    ///
    /// # Cancel safety
    /// Cancel-safe: when the future is dropped before it is ready, the record was not taken.
    pub async fn enqueue<K: Payload, V: Payload>(
        &self,
        record: ProducerRecord<'_, K, V>,
    ) -> Result<Delivery> {
        self.accept(&record.view(), false).await
    }

    /// Takes a record if that is possible without waiting, and gives it back if not.
    ///
    /// A topic has to be known for that: see [`prepare`](Self::prepare).
    ///
    /// # Errors
    /// The record, and why it was not taken: [`ErrorKind::Full`] while there is no room or no metadata.
    pub fn try_enqueue<'a, K: Payload, V: Payload>(
        &self,
        record: ProducerRecord<'a, K, V>,
    ) -> Result<Delivery, Rejection<ProducerRecord<'a, K, V>>> {
        self.try_accept(&record.view())
            .map_err(|error| Rejection::new(record, error))
    }

    /// Learns about a topic, and runs its guards, ahead of the first record.
    ///
    /// # Errors
    /// When the topic does not exist, may not be written to, or a guard refuses.
    ///
    /// # Cancel safety
    /// Cancel-safe.
    pub async fn prepare(&self, topic: &str) -> Result<()> {
        let deadline = Instant::now() + self.shared.config.max_block;
        self.open(topic, deadline).await.map(drop)
    }

    /// Sends what was taken so far without lingering, and waits until all of it is delivered or has failed.
    ///
    /// # Errors
    /// The first failure among what it waited for.
    ///
    /// # Cancel safety
    /// Cancel-safe: what was taken is sent all the same.
    pub async fn flush(&self) -> Result<()> {
        let mut waiting = Vec::new();
        for partition in self.shared.all_partitions() {
            let open = partition.lock().core.flush();
            if !open.is_empty() {
                waiting.extend(open);
                self.shared.attend(&partition);
            }
        }
        let mut first = Ok(());
        for completion in waiting {
            let outcome = completion.wait().await;
            if first.is_ok() {
                first = outcome;
            }
        }
        first
    }

    /// Takes no more records, delivers what it has, and fails what is left after `timeout`.
    ///
    /// # Cancel safety
    /// When the future is dropped, no more records are taken, and what there is goes on being sent in the
    /// background, without the timeout.
    pub async fn close(&self, timeout: Duration) -> CloseReport {
        let deadline = Instant::now() + bounded(timeout);
        self.shared.advance(Phase::Draining);
        let _ = timeout_at(deadline, self.flush()).await;
        // From here on whoever appends sees that it is too late, and fails the batch itself.
        self.shared.advance(Phase::Stopped);
        let mut report = CloseReport::default();
        let error = Error::new(
            ErrorKind::Closed,
            format!("the producer was closed, and not delivered within {timeout:?}"),
        );
        for partition in self.shared.all_partitions() {
            let effects = partition.lock().core.abort(&error);
            for settled in &effects.settled {
                if let Err(error) = &settled.outcome {
                    report.undelivered_batches += 1;
                    report.possibly_written_batches += usize::from(error.possibly_written());
                }
            }
            self.shared.apply(effects);
        }
        self.shared.wake_all();
        report
    }

    async fn open(&self, topic: &str, deadline: Instant) -> Result<Arc<TopicState>> {
        let state = self.shared.open_topic(topic, deadline).await?;
        // The supervisor may have seen a newer view before the topic was there.
        supervisor::apply_view(&self.shared, &state, &self.shared.cluster.view());
        Ok(state)
    }

    /// How long a record may wait for what is missing.
    pub(super) fn max_block(&self) -> Duration {
        self.shared.config.max_block
    }

    /// Appends a record if nothing is missing.
    pub(super) fn try_accept(&self, record: &RecordView<'_>) -> Result<Delivery> {
        let interceptors = &self.shared.config.interceptors;
        let appended = if interceptors.is_empty() {
            self.append(record, false, None)
        } else {
            let outgoing = interceptors.on_send(record);
            let headers = outgoing.header_list();
            self.append(&record.with_headers(&headers), false, None)
        };
        match appended {
            Ok(delivery) => Ok(delivery),
            Err(Obstacle::Error(error)) => Err(error),
            Err(Obstacle::Memory(_)) => Err(Error::new(ErrorKind::Full, "the buffer is full")),
            Err(Obstacle::Topic) => {
                self.shared.cluster.touch(record.topic);
                self.shared.cluster.refresh_soon();
                let reason = "the topic's metadata is not known yet";
                Err(Error::new(ErrorKind::Full, reason).in_topic(record.topic))
            }
        }
    }

    /// Appends a record, waiting for what is missing.
    pub(super) async fn accept(&self, record: &RecordView<'_>, urgent: bool) -> Result<Delivery> {
        let interceptors = &self.shared.config.interceptors;
        if interceptors.is_empty() {
            return self.wait_and_append(record, urgent).await;
        }
        let outgoing = interceptors.on_send(record);
        let headers = outgoing.header_list();
        self.wait_and_append(&record.with_headers(&headers), urgent)
            .await
    }

    async fn wait_and_append(&self, record: &RecordView<'_>, urgent: bool) -> Result<Delivery> {
        let mut deadline = None;
        let mut held = None;
        loop {
            let obstacle = match self.append(record, urgent, held.take()) {
                Ok(delivery) => return Ok(delivery),
                Err(Obstacle::Error(error)) => return Err(error),
                Err(obstacle) => obstacle,
            };
            let max_block = self.shared.config.max_block;
            let deadline = *deadline.get_or_insert_with(|| Instant::now() + max_block);
            match obstacle {
                Obstacle::Topic => {
                    self.open(record.topic, deadline).await?;
                }
                Obstacle::Memory(cost) => {
                    match timeout_at(deadline, self.shared.budget.acquire_many(cost)).await {
                        Ok(Ok(permit)) => held = Some(permit),
                        // The semaphore is never closed.
                        Ok(Err(_)) => return Err(closed()),
                        Err(_) => {
                            let reason = format!("the buffer had no room within {max_block:?}");
                            return Err(Error::new(ErrorKind::Full, reason).in_topic(record.topic));
                        }
                    }
                }
                Obstacle::Error(error) => return Err(error),
            }
        }
    }

    fn append(
        &self,
        record: &RecordView<'_>,
        urgent: bool,
        held: Option<SemaphorePermit<'_>>,
    ) -> Result<Delivery, Obstacle> {
        let shared = &self.shared;
        if shared.phase() != Phase::Running {
            return Err(Obstacle::Error(closed()));
        }
        let topic = shared.topic(record.topic).ok_or(Obstacle::Topic)?;
        if topic.is_forgotten() {
            return Err(Obstacle::Topic);
        }
        topic.allowed().map_err(Obstacle::Error)?;
        let parts = Parts {
            timestamp: record.timestamp.unwrap_or_else(now_in_milliseconds),
            key: record.key,
            value: record.value,
            headers: record.headers,
        };
        let cost = parts.size_bound();
        if cost > shared.config.max_request_size {
            return Err(Obstacle::Error(too_large(
                record,
                cost,
                shared.config.max_request_size,
            )));
        }
        let partitions = topic.partitions();
        {
            let view = topic.view(&partitions);
            let placed = match record.partition {
                Some(partition) => explicit(record, &view, partition),
                None => topic.partitioning.place(record, &view, &topic.spreader),
            }
            .map_err(Obstacle::Error)?;
            // Below the maximum request size, which fits.
            let permits = cost as u32;
            match held {
                Some(permit) => permit.forget(),
                None => match shared.budget.try_acquire_many(permits) {
                    Ok(permit) => permit.forget(),
                    Err(_) => return Err(Obstacle::Memory(permits)),
                },
            }
            let partition = &partitions[placed.partition];
            let (appended, newly) = {
                let mut slot = partition.lock();
                let appended = slot
                    .core
                    .append(&parts, cost, urgent, Instant::now, || shared.buffer());
                let appended = match appended {
                    Ok(appended) => appended,
                    Err(error) => {
                        shared.budget.add_permits(cost);
                        return Err(Obstacle::Error(error));
                    }
                };
                if appended.opened {
                    topic.touch();
                }
                if appended.closed {
                    partition.set_backlog(slot.core.backlog());
                }
                (appended, !std::mem::replace(&mut slot.listed, true))
            };
            if newly {
                shared.list(partition);
            } else if appended.opened || appended.closed || urgent {
                shared.inbox(partition.leader_node()).wake();
            }
            if let Some(by) = placed.sticky {
                topic
                    .spreader
                    .appended(by, placed.partition, cost, appended.closed);
            }
            if shared.phase() == Phase::Stopped {
                // Closed in between: nobody would send it.
                let effects = partition.lock().core.abort(&closed());
                shared.apply(effects);
            }
            Ok(Delivery::new(
                appended.completion,
                appended.index,
                parts.timestamp,
            ))
        }
    }
}

impl std::fmt::Debug for Producer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Producer")
            .field("phase", &self.shared.phase())
            .field("partitioning", &self.shared.config.partitioning)
            .finish_non_exhaustive()
    }
}

#[cold]
fn closed() -> Error {
    Error::new(ErrorKind::Closed, "the producer was closed")
}

#[cold]
fn too_large(record: &RecordView<'_>, size: usize, limit: usize) -> Error {
    Error::new(
        ErrorKind::TooLarge,
        format!("a record of up to {size} bytes; the maximum request size is {limit}"),
    )
    .in_topic(record.topic)
}

fn now_in_milliseconds() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as i64)
}
