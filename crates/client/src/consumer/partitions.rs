//! A stream for each partition that a consumer has.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use tokio::sync::{mpsc, oneshot};

use super::batch::GroupBatch;
use super::committer::Committer;
use super::handle::Consumer;
use super::shared::Shared;
use crate::{Result, Start, TopicPartition};

/// A consumer's partitions, each as a stream of its own. Made by [`Consumer::into_partitions`].
///
/// ```no_run
/// # async fn handle(batch: &copart::GroupBatch) -> copart::Result<()> { Ok(()) }
/// # async fn run(consumer: copart::Consumer) -> copart::Result<()> {
/// let mut partitions = consumer.into_partitions();
/// while let Some(partition) = partitions.next().await {
///     let mut partition = partition?;
///     tokio::spawn(async move {
///         while let Some(batch) = partition.next().await {
///             let batch = batch?;
///             handle(&batch).await?;
///             batch.done();
///         }
///         // It was taken away.
///         Ok::<_, copart::Error>(())
///     });
/// }
/// # Ok(()) }
/// ```
///
/// It gives a [`PartitionStream`] for each partition that comes, also after a rebalance, and errors that are about the
/// consumer as a whole. `None` when the consumer can do no more.
///
/// A consumer that has left its group as a handler hung ([`Stalled`](crate::ErrorKind::Stalled)) joins again by itself.
///
/// Dropping it ends all its streams, and leaves the group as dropping a consumer does; [`close`](Self::close) waits for
/// batches that are out.
pub struct Partitions {
    shared: Arc<Shared>,
    commands: mpsc::UnboundedSender<Command>,
    news: mpsc::UnboundedReceiver<Result<PartitionStream>>,
    is_closed: bool,
}

/// The batches of one partition, until it is taken away.
///
/// It ends when the partition is given up or lost. A batch that is out defers that, as everywhere: see [`GroupBatch`].
/// The partition is read while the stream is asked for a batch; one that is slow does not keep others waiting. If the
/// stream is dropped while the partition is still this consumer's, another stream of it comes out of [`Partitions`], and
/// goes on with the first record that is not done.
pub struct PartitionStream {
    partition: TopicPartition,
    assignment: u64,
    commands: mpsc::UnboundedSender<Command>,
    /// A batch that was asked for. It stays when a call is dropped.
    asked: Option<oneshot::Receiver<Result<GroupBatch>>>,
    is_over: bool,
}

enum Command {
    Want(TopicPartition, u64, oneshot::Sender<Result<GroupBatch>>),
    Seek(TopicPartition, u64, Start, oneshot::Sender<Result<()>>),
    Dropped(TopicPartition, u64),
    Close(Duration, oneshot::Sender<Result<()>>),
    Leave,
}

impl Consumer {
    /// The same consumer, as a stream of its partitions, each of which is a stream of batches: for a task for each
    /// partition.
    pub fn into_partitions(mut self) -> Partitions {
        self.records = None;
        let (commands, orders) = mpsc::unbounded_channel();
        let (told, news) = mpsc::unbounded_channel();
        let shared = Arc::clone(&self.shared);
        let router = Router {
            consumer: self,
            commands: commands.clone(),
            told,
            streams: HashMap::new(),
        };
        shared.reader.runtime().spawn(router.run(orders));
        Partitions {
            shared,
            commands,
            news,
            is_closed: false,
        }
    }
}

impl Partitions {
    /// The next partition that came, or an error that is not about one of them.
    ///
    /// # Errors
    /// As [`Consumer::recv`].
    ///
    /// # Cancel safety
    /// Cancel-safe.
    pub async fn next(&mut self) -> Option<Result<PartitionStream>> {
        self.news.recv().await
    }

    /// A handle that commits.
    pub fn committer(&self) -> Committer {
        Committer::new(&self.shared)
    }

    /// Ends all streams, waits for batches that are out, commits, and leaves the group. See [`Consumer::close`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Cancel safety
    /// When the future is dropped, it goes on in the background.
    pub async fn close(mut self, timeout: Duration) -> Result<()> {
        self.is_closed = true;
        let (reply, answer) = oneshot::channel();
        if self.commands.send(Command::Close(timeout, reply)).is_err() {
            // It has ended by itself, which was told.
            return Ok(());
        }
        answer.await.unwrap_or(Ok(()))
    }
}

impl Stream for Partitions {
    type Item = Result<PartitionStream>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.news.poll_recv(cx)
    }
}

impl Drop for Partitions {
    fn drop(&mut self) {
        if !self.is_closed {
            // If the router is gone, the consumer has left.
            let _ = self.commands.send(Command::Leave);
        }
    }
}

impl fmt::Debug for Partitions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Partitions")
            .field("group", &self.shared.settings.group)
            .field("assignment", &self.shared.progress().assignment())
            .finish_non_exhaustive()
    }
}

impl PartitionStream {
    /// The partition.
    pub fn topic_partition(&self) -> &TopicPartition {
        &self.partition
    }

    /// The next batch of the partition. `None` when it is not this consumer's any more, or the consumer was closed.
    ///
    /// # Errors
    /// Why the partition can't be read on, as [`Consumer::recv`] has it. It stays where it is until a
    /// [`seek`](Self::seek).
    ///
    /// # Cancel safety
    /// Cancel-safe: when the future is dropped before it is ready, no batch is lost.
    pub async fn next(&mut self) -> Option<Result<GroupBatch>> {
        std::future::poll_fn(|cx| self.poll_batch(cx)).await
    }

    /// Goes on from another place. See [`Consumer::seek`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Cancel safety
    /// When the future is dropped, it may be carried out all the same.
    pub async fn seek(&mut self, to: Start) -> Result<()> {
        // A batch that was asked for is from where it was before.
        self.asked = None;
        let (reply, answer) = oneshot::channel();
        let command = Command::Seek(self.partition.clone(), self.assignment, to, reply);
        // Without the router there is no answer either.
        let _ = self.commands.send(command);
        answer.await.unwrap_or_else(|_| Err(gone(&self.partition)))
    }

    fn poll_batch(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<GroupBatch>>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let asked = self.asked.get_or_insert_with(|| {
            let (reply, asked) = oneshot::channel();
            let command = Command::Want(self.partition.clone(), self.assignment, reply);
            // Without the router there is no answer either.
            let _ = self.commands.send(command);
            asked
        });
        let answer = ready!(Pin::new(asked).poll(cx));
        self.asked = None;
        self.is_over = answer.is_err();
        Poll::Ready(answer.ok())
    }
}

fn gone(partition: &TopicPartition) -> crate::Error {
    let reason = "the partition is not this consumer's any more, or the consumer is closed";
    crate::Error::new(crate::ErrorKind::Revoked, reason)
        .in_partition(Arc::clone(&partition.topic), partition.partition)
}

impl Stream for PartitionStream {
    type Item = Result<GroupBatch>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_batch(cx)
    }
}

impl Drop for PartitionStream {
    fn drop(&mut self) {
        if !self.is_over {
            // What it has been given and did not take comes again.
            self.asked = None;
            let command = Command::Dropped(self.partition.clone(), self.assignment);
            // Without the router nobody has the partition.
            let _ = self.commands.send(command);
        }
    }
}

impl fmt::Debug for PartitionStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PartitionStream")
            .field(&self.partition)
            .finish()
    }
}

/// A partition that there is a stream of.
struct Known {
    assignment: u64,
    /// Waits for the next batch.
    waiter: Option<oneshot::Sender<Result<GroupBatch>>>,
}

/// Gives each batch to the stream of its partition. Partitions that nobody asks for a batch of are paused.
struct Router {
    consumer: Consumer,
    commands: mpsc::UnboundedSender<Command>,
    told: mpsc::UnboundedSender<Result<PartitionStream>>,
    streams: HashMap<TopicPartition, Known>,
}

impl Router {
    async fn run(mut self, mut orders: mpsc::UnboundedReceiver<Command>) {
        let mut changes = self.consumer.shared.changes.subscribe();
        loop {
            changes.borrow_and_update();
            self.follow();
            tokio::select! {
                biased;
                // It has a sender itself, so there is always one.
                Some(order) = orders.recv() => match order {
                    Command::Want(partition, assignment, waiter) => {
                        self.want(partition, assignment, waiter);
                    }
                    Command::Seek(partition, assignment, to, reply) => {
                        // Whoever does not wait any more does not care.
                        let _ = reply.send(self.seek(partition, assignment, to));
                    }
                    Command::Dropped(partition, assignment) => {
                        // Comes again as a new one.
                        self.streams.retain(|known, stream| {
                            *known != partition || stream.assignment != assignment
                        });
                    }
                    Command::Close(timeout, reply) => {
                        self.streams.clear();
                        let _ = reply.send(self.consumer.close(timeout).await);
                        return;
                    }
                    Command::Leave => return,
                },
                // The sender is in what the consumer holds.
                _ = changes.changed() => {}
                next = self.consumer.recv() => match next {
                    Some(next) => self.give(next),
                    None => return,
                },
            }
        }
    }

    /// Makes streams of partitions that came, and ends those of partitions that go.
    fn follow(&mut self) {
        let present = self.consumer.shared.progress().present();
        self.streams
            .retain(|partition, known| present.get(partition) == Some(&known.assignment));
        for (partition, assignment) in present {
            if self.streams.contains_key(&partition) {
                continue;
            }
            if self.consumer.pause(partition.clone()).is_err() {
                // It goes already.
                continue;
            }
            let known = Known {
                assignment,
                waiter: None,
            };
            self.streams.insert(partition.clone(), known);
            let stream = PartitionStream {
                partition,
                assignment,
                commands: self.commands.clone(),
                asked: None,
                is_over: false,
            };
            // Whoever does not listen any more is about to leave.
            let _ = self.told.send(Ok(stream));
        }
    }

    fn known(&mut self, partition: &TopicPartition, assignment: u64) -> Option<&mut Known> {
        let known = self.streams.get_mut(partition)?;
        (known.assignment == assignment).then_some(known)
    }

    fn want(
        &mut self,
        partition: TopicPartition,
        assignment: u64,
        waiter: oneshot::Sender<Result<GroupBatch>>,
    ) {
        // If it goes, dropping the waiter ends the stream.
        if let Some(known) = self.known(&partition, assignment) {
            known.waiter = Some(waiter);
            if self.consumer.resume(partition.clone()).is_err() {
                self.streams.remove(&partition);
            }
        }
    }

    fn seek(&mut self, partition: TopicPartition, assignment: u64, to: Start) -> Result<()> {
        if self.known(&partition, assignment).is_none() {
            return Err(gone(&partition));
        }
        self.consumer.seek(partition, to)
    }

    fn give(&mut self, next: Result<GroupBatch>) {
        let partition = match &next {
            Ok(batch) => Some(batch.topic_partition().clone()),
            Err(error) => error.context().topic.as_ref().and_then(|topic| {
                let partition = error.context().partition?;
                Some(TopicPartition::new(Arc::clone(topic), partition))
            }),
        };
        let waiter = partition.as_ref().and_then(|partition| {
            let waiter = self.streams.get_mut(partition)?.waiter.take();
            // If it goes, it is paused for good.
            let _ = self.consumer.pause(partition.clone());
            waiter
        });
        match (waiter, next) {
            // What is not taken comes again.
            (Some(waiter), next) => drop(waiter.send(next)),
            (None, Ok(early)) => drop(early),
            (None, Err(error)) => drop(self.told.send(Err(error))),
        }
    }
}
