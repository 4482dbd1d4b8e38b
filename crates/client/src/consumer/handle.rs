//! The consumer that users hold.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::batch::{GroupBatch, GroupRecord, IntoRecords};
use super::committer::Committer;
use super::group::{Identity, Subscription};
use super::locate;
use super::offsets::Committed;
use super::shared::{Command, Shared};
use super::stream::GroupRecords;
use crate::client::bounded;
use crate::reader::{Origin, Reader};
use crate::{Error, ErrorKind, OffsetAndTimestamp, Result, Start, TopicPartition, Watermarks};

/// How long a consumer that is dropped takes to commit and to leave at most.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Reads topics as a member of a group, which shares their partitions among its members and remembers where they are.
///
/// ```no_run
/// # async fn run(client: copart::Client) -> copart::Result<()> {
/// let mut consumer = client.consumer("billing").topic("orders").build()?;
/// while let Some(batch) = consumer.recv().await {
///     let batch = batch?;
///     for record in batch.records() {
///         println!("{:?}", record.value());
///     }
///     batch.done();
/// }
/// # Ok(()) }
/// ```
///
/// **What is processed is committed, nothing else.** A batch counts once it is [`done`](GroupBatch::done); one that is
/// dropped before comes again. Commits go as far as everything is done without a gap, in whichever order that happens.
/// A record can come more than once: after a crash, and when a partition was lost. It is never passed over.
///
/// **What is out is not taken away.** When another member is to have a partition, it waits for the batches of it that are
/// out, commits, and then lets go: up to the [rebalance timeout](super::ConsumerBuilder::rebalance_timeout). After that
/// the partition is lost, and what is done of it later counts for nothing.
///
/// **A handler that hangs is noticed.** A consumer that has a batch out for longer than the
/// [max processing time](super::ConsumerBuilder::max_processing_time), or does not ask for the next one, leaves the group:
/// [`recv`](Self::recv) tells [`Stalled`](ErrorKind::Stalled), and the next call joins again.
///
/// Heartbeats, fetching ahead and commits go on in the background, whatever the program does.
///
/// Dropping it takes no time: what was processed is committed and the group is told in the background, if the runtime
/// lives on; if not, the group notices after the session timeout. [`close`](Self::close) waits for that.
pub struct Consumer {
    pub(super) shared: Arc<Shared>,
    reader: Reader,
    /// What is being handed out record by record.
    pub(super) records: Option<IntoRecords>,
    is_closed: bool,
}

/// Who a consumer is in its group.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Membership {
    /// The member's id.
    pub member_id: Arc<str>,
    /// The generation of the group, or the member's epoch in the consumer protocol.
    pub generation: i32,
    /// Whether it is in the group by the consumer protocol (KIP-848).
    pub is_consumer_protocol: bool,
}

impl Consumer {
    pub(super) fn new(shared: Arc<Shared>, reader: Reader) -> Self {
        Self {
            shared,
            reader,
            records: None,
            is_closed: false,
        }
    }

    /// The next batch, of whichever partition has one. `None` when the consumer can do no more, after the error that
    /// said why.
    ///
    /// # Errors
    /// - About one partition, as [`Reader::recv`] has them; it stays where it is until a [`seek`](Self::seek), and others
    ///   go on.
    /// - [`Stalled`](ErrorKind::Stalled): the consumer has left the group, as the program took too long. The next call
    ///   joins again.
    /// - Why the consumer is not in its group, or can't be: it may not, it was fenced, no assignor is common to all
    ///   members. After one that it does not get over, there is `None`.
    ///
    /// # Cancel safety
    /// Cancel-safe: when the future is dropped before it is ready, no batch is lost.
    pub async fn recv(&mut self) -> Option<Result<GroupBatch>> {
        let waiting = self.waiting();
        let next = std::future::poll_fn(|cx| self.poll_batch(cx)).await;
        drop(waiting);
        next
    }

    /// Somebody waits for the next batch, until it is dropped.
    pub(super) fn waiting(&self) -> Waiting {
        Waiting(Arc::clone(&self.shared))
    }

    /// The records one by one.
    pub fn records(&mut self) -> GroupRecords<'_> {
        GroupRecords::new(self)
    }

    pub(super) fn poll_batch(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<GroupBatch>>> {
        let polled = self.poll_next_batch(cx);
        if polled.is_ready() {
            // From now on it is the program's turn.
            self.shared.reader.stop_waiting();
        }
        polled
    }

    fn poll_next_batch(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<GroupBatch>>> {
        // What of it was not taken comes again.
        self.records = None;
        self.shared.resume_if_told();
        loop {
            if let Some(error) = self.shared.told() {
                return Poll::Ready(Some(Err(error)));
            }
            if self.shared.is_ended() {
                return Poll::Ready(None);
            }
            match self.reader.poll_batch(cx) {
                Poll::Ready(Some(Ok(batch))) => {
                    if let Some(ticket) = self.shared.admit(&batch) {
                        self.shared.count(&batch);
                        let batch = GroupBatch::new(&self.shared, batch, ticket);
                        return Poll::Ready(Some(Ok(batch)));
                    }
                }
                Poll::Ready(Some(Err(error))) => {
                    let error = error.in_group(Arc::clone(&self.shared.settings.group));
                    return Poll::Ready(Some(Err(error)));
                }
                // A reader in a group has no end.
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => {
                    let mut progress = self.shared.progress();
                    let core = self.shared.reader.core();
                    progress.reached(|partition| core.standing(partition));
                    drop(core);
                    drop(progress);
                    // What was told meanwhile may have found nobody to wake.
                    if self.shared.has_told() || self.shared.is_ended() {
                        continue;
                    }
                    return Poll::Pending;
                }
            }
        }
    }

    pub(super) fn poll_record(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<GroupRecord>>> {
        loop {
            if let Some(record) = self.records.as_mut().and_then(Iterator::next) {
                return Poll::Ready(Some(Ok(record)));
            }
            match self.poll_batch(cx) {
                Poll::Ready(Some(Ok(batch))) => self.records = Some(batch.into_records()),
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Commits what was processed, and waits for the answer. See [`Committer::commit`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Cancel safety
    /// Cancel-safe: a commit that was begun goes on.
    pub async fn commit(&self) -> Result<()> {
        self.committer().commit().await
    }

    /// As [`commit`](Self::commit), and does not wait.
    pub fn commit_soon(&self) {
        self.committer().commit_soon();
    }

    /// Commits these offsets, whatever was processed. See [`Committer::commit_offsets`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Cancel safety
    /// Cancel-safe: a commit that was begun goes on.
    pub async fn commit_offsets<P, O>(
        &self,
        offsets: impl IntoIterator<Item = (P, O)>,
    ) -> Result<()>
    where
        P: Into<TopicPartition>,
        O: Into<Committed>,
    {
        self.committer().commit_offsets(offsets).await
    }

    /// A handle that commits from another task.
    pub fn committer(&self) -> Committer {
        Committer::new(&self.shared)
    }

    /// What the group has committed of these partitions, as the coordinator has it; `None` for nothing. Offsets of
    /// transactions that are open are waited for, unless uncommitted records are read (KIP-447).
    ///
    /// # Errors
    /// When the coordinator does not tell in time, or refuses to.
    ///
    /// # Cancel safety
    /// Cancel-safe.
    pub async fn committed<P: Into<TopicPartition>>(
        &self,
        partitions: impl IntoIterator<Item = P>,
    ) -> Result<HashMap<TopicPartition, Option<Committed>>> {
        let partitions: Vec<_> = partitions.into_iter().map(Into::into).collect();
        if partitions.is_empty() {
            return Ok(HashMap::new());
        }
        let deadline = Instant::now() + self.shared.settings.reader.metadata_timeout;
        locate::committed(&self.shared, &partitions, deadline).await
    }

    /// Reads other topics from now on, instead of those that it was built with. Partitions of topics that are left out
    /// are given up as in a rebalance.
    ///
    /// # Errors
    /// When no topic is named, or the consumer is closed.
    ///
    /// # Cancel safety
    /// Cancel-safe: what was begun goes on.
    pub async fn subscribe<T: Into<Arc<str>>>(
        &self,
        topics: impl IntoIterator<Item = T>,
    ) -> Result<()> {
        let topics: Vec<Arc<str>> = topics.into_iter().map(Into::into).collect();
        if topics.is_empty() || topics.iter().any(|topic| topic.is_empty()) {
            let reason = "name topics, none of them empty; to read none, close the consumer";
            return Err(Error::new(ErrorKind::Config, reason));
        }
        let (reply, answer) = oneshot::channel();
        let command = Command::Subscribe(Subscription::Topics(topics), reply);
        let sent = self.shared.commands.send(command);
        sent.map_err(|_| self.shared.closed())?;
        answer.await.unwrap_or_else(|_| Err(self.shared.closed()))
    }

    /// The partitions that it has now, sorted. Those that are being given up are among them.
    pub fn assignment(&self) -> Vec<TopicPartition> {
        self.shared.progress().assignment()
    }

    /// Who it is in its group; `None` while it is on its way into it.
    pub fn membership(&self) -> Option<Membership> {
        let identity = self.shared.identity.borrow().clone();
        identity.map(|identity: Identity| Membership {
            member_id: identity.member_id,
            generation: identity.generation,
            is_consumer_protocol: identity.is_epoch,
        })
    }

    /// Goes on from another place. What was handed out of the partition before does not count any more, done or not:
    /// commits follow from the new place on.
    ///
    /// # Errors
    /// When the partition is not this consumer's, or not yet located, or the place cannot be one.
    pub fn seek(&mut self, partition: impl Into<TopicPartition>, to: Start) -> Result<()> {
        let partition = partition.into();
        if let Some(violation) = to.violation() {
            return Err(Error::new(ErrorKind::Config, violation)
                .in_partition(partition.topic, partition.partition));
        }
        let origin = to.origin();
        let place = match origin {
            Origin::At(position) => Some(position),
            Origin::Find(_) => None,
        };
        {
            let mut progress = self.shared.progress();
            if !progress.seek(&partition, place) {
                return Err(self.shared.not_ours(&partition));
            }
            self.shared.reader.core().seek(&partition, origin);
        }
        self.shared.reader.stir();
        self.shared.change();
        Ok(())
    }

    /// Hands out nothing of a partition until it is resumed, and fetches nothing of it. When the partition is taken away
    /// and comes back, it is not paused any more.
    ///
    /// # Errors
    /// When the partition is not this consumer's.
    pub fn pause(&mut self, partition: impl Into<TopicPartition>) -> Result<()> {
        self.set_paused(&partition.into(), true)
    }

    /// Goes on with a partition that was paused, from where it was.
    ///
    /// # Errors
    /// When the partition is not this consumer's, or is being given up.
    pub fn resume(&mut self, partition: impl Into<TopicPartition>) -> Result<()> {
        self.set_paused(&partition.into(), false)
    }

    fn set_paused(&mut self, partition: &TopicPartition, paused: bool) -> Result<()> {
        {
            let progress = self.shared.progress();
            let is_set = !progress.is_leaving(partition)
                && self.shared.reader.core().pause(partition, paused);
            if !is_set {
                return Err(self.shared.not_ours(partition));
            }
        }
        self.shared.reader.stir();
        Ok(())
    }

    /// Whether a partition is paused.
    pub fn is_paused(&self, partition: impl Into<TopicPartition>) -> bool {
        self.reader.is_paused(partition)
    }

    /// The next offset of a partition to be handed out. `None` while it is not known.
    pub fn position(&self, partition: impl Into<TopicPartition>) -> Option<i64> {
        self.reader.position(partition)
    }

    /// The first offset of a partition that was not processed, which the next commit says. `None` while it is not
    /// known.
    pub fn processed(&self, partition: impl Into<TopicPartition>) -> Option<i64> {
        self.committer().processed(partition)
    }

    /// Where a partition ends, as its broker said last. `None` until it was fetched once.
    pub fn watermarks(&self, partition: impl Into<TopicPartition>) -> Option<Watermarks> {
        self.reader.watermarks(partition)
    }

    /// How many offsets there are from the first that was not processed to where reading ends for now. `None` until the
    /// partition was fetched once.
    pub fn lag(&self, partition: impl Into<TopicPartition>) -> Option<u64> {
        let partition = partition.into();
        let processed = self.processed(partition.clone())?;
        self.shared.lag_from(&partition, processed)
    }

    /// What keeps it from reading now, if the last thing that it tried failed. It goes on trying.
    pub fn trouble(&self) -> Option<Error> {
        self.reader.trouble()
    }

    /// The first record of each partition that is not older than its time, in milliseconds since 1970. See
    /// [`Reader::offsets_for_times`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Cancel safety
    /// Cancel-safe.
    pub async fn offsets_for_times(
        &self,
        times: impl IntoIterator<Item = (TopicPartition, i64)>,
    ) -> Result<Vec<(TopicPartition, Option<OffsetAndTimestamp>)>> {
        self.reader.offsets_for_times(times).await
    }

    /// The oldest offset of each partition that it has.
    ///
    /// # Errors
    /// When a leader does not tell in time, or refuses to.
    ///
    /// # Cancel safety
    /// Cancel-safe.
    pub async fn beginning_offsets(&self) -> Result<Vec<(TopicPartition, i64)>> {
        self.reader.beginning_offsets().await
    }

    /// The offset of each partition that it has behind the last record that may be read.
    ///
    /// # Errors
    /// When a leader does not tell in time, or refuses to.
    ///
    /// # Cancel safety
    /// Cancel-safe.
    pub async fn end_offsets(&self) -> Result<Vec<(TopicPartition, i64)>> {
        self.reader.end_offsets().await
    }

    /// Waits for batches that are out, commits what was processed (unless commits are [manual](super::Commit::Manual)),
    /// and leaves the group. A static member stays in it until its session ends, as others of its kind do.
    ///
    /// # Errors
    /// When something was not committed, or `timeout` is over: batches are still out, or the coordinator does not
    /// answer.
    ///
    /// # Cancel safety
    /// When the future is dropped, it goes on in the background.
    pub async fn close(mut self, timeout: Duration) -> Result<()> {
        self.records = None;
        let (reply, answer) = oneshot::channel();
        self.is_closed = true;
        let deadline = Instant::now() + bounded(timeout);
        if self
            .shared
            .commands
            .send(Command::Close(deadline, reply))
            .is_err()
        {
            // It has ended by itself, which was told.
            return Ok(());
        }
        answer.await.unwrap_or(Ok(()))
    }
}

/// Somebody waits for the next batch.
pub(super) struct Waiting(Arc<Shared>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.reader.stop_waiting();
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        self.records = None;
        if !self.is_closed {
            let (reply, _) = oneshot::channel();
            // What is out is not waited for: nobody would know when it is done.
            let command = Command::Leave(Instant::now() + LAST_WORDS, reply);
            // If the driver is gone, the consumer has left.
            let _ = self.shared.commands.send(command);
        }
    }
}

impl fmt::Debug for Consumer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consumer")
            .field("group", &self.shared.settings.group)
            .field("assignment", &self.assignment())
            .finish_non_exhaustive()
    }
}
