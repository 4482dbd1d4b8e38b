//! The reader that users hold.

use std::sync::Arc;
use std::task::{Context, Poll};

use copart_protocol::records::Decompressor;
use tokio::time::Instant;

use super::batch::Batch;
use super::config::{End, Start};
use super::core::{Anchor, Cursor, Event, Position};
use super::lookup::{self, Asked, Told};
use super::record::OwnedRecord;
use super::shared::Shared;
use super::stream::RecordStream;
use super::supervisor;
use crate::{Error, ErrorKind, Result, TopicPartition};

/// Reads partitions, without a group: nothing is committed, and nobody else takes part.
///
/// Partitions take turns. Within a partition, records come in the order of their offsets, each once. Brokers
/// that cannot be reached, leaders that move and sessions that end are dealt with in silence; [`trouble`](Self::trouble)
/// says what holds it up. An error is about one partition, which then stays where it is until a
/// [`seek`](Self::seek); the others go on.
///
/// It is also a `futures_core::Stream` of batches. Fetching ahead goes on while it is not polled, within the
/// budget of [`memory`](super::ReaderBuilder::memory), and ends when it is dropped.
pub struct Reader {
    shared: Arc<Shared>,
    decompressor: Decompressor,
    /// What is being handed out.
    cursor: Option<Cursor>,
    /// What is being handed out record by record.
    batch: Option<Batch>,
}

/// Where a partition ends, as its broker said last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Watermarks {
    /// Behind the last record that all in-sync replicas have.
    pub high_watermark: i64,
    /// Before the first record of a transaction that is open; the high watermark if there is none.
    pub last_stable_offset: i64,
    /// The oldest offset that is there; -1 from brokers before Kafka 1.0.
    pub log_start_offset: i64,
}

/// A record that was found by its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OffsetAndTimestamp {
    /// Its offset.
    pub offset: i64,
    /// Its time, in milliseconds since 1970.
    pub timestamp: i64,
    /// The epoch of the leader that wrote it; -1 if it is not known.
    pub leader_epoch: i32,
}

impl Reader {
    pub(crate) fn start(shared: Arc<Shared>) -> Self {
        let supervisor = supervisor::run(Arc::clone(&shared));
        shared.runtime().spawn(supervisor);
        Self {
            decompressor: Decompressor::new(shared.settings.max_decompressed),
            shared,
            cursor: None,
            batch: None,
        }
    }

    /// The next batch. `None` when every partition has reached its [end](super::ReaderBuilder::until) or failed;
    /// without an end it waits for ever.
    ///
    /// # Errors
    /// Why one partition can't be read on: it may not be read, its position is not in the log, a batch is
    /// damaged. The partition stays where it is until a [`seek`](Self::seek); the next call gives batches of
    /// others.
    ///
    /// # Cancel safety
    /// Cancel-safe: when the future is dropped before it is ready, no batch is lost.
    pub async fn recv(&mut self) -> Option<Result<Batch>> {
        std::future::poll_fn(|cx| self.poll_batch(cx)).await
    }

    /// The records one by one.
    pub fn records(&mut self) -> RecordStream<'_> {
        RecordStream::new(self)
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) fn poll_batch(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Batch>>> {
        if let Some(batch) = self.batch.take() {
            // The rest of what was handed out record by record.
            if !batch.is_empty() {
                return Poll::Ready(Some(Ok(batch)));
            }
        }
        loop {
            if let Some(batch) = self.next_of_cursor() {
                return Poll::Ready(Some(batch));
            }
            let event = {
                let mut core = self.shared.core();
                let event = core.poll_event();
                if event.is_none() {
                    // Under the lock: whoever changes the core wakes after that.
                    self.shared.wait(cx.waker());
                }
                event
            };
            match event {
                None => return Poll::Pending,
                Some(Event::End) => return Poll::Ready(None),
                Some(Event::Error(error)) => return Poll::Ready(Some(Err(error))),
                Some(Event::Chunk(chunk)) => self.cursor = Some(Cursor::new(chunk)),
            }
        }
    }

    /// The next batch of what was fetched of one partition.
    fn next_of_cursor(&mut self) -> Option<Result<Batch>> {
        let cursor = self.cursor.as_mut()?;
        let (slot, generation) = (cursor.chunk().slot, cursor.chunk().generation);
        let next = if self.shared.core().is_current(slot, generation) {
            cursor.next(&mut self.decompressor)
        } else {
            None
        };
        let position = cursor.position();
        let given = match next {
            Some(Ok(cut)) => {
                let batch = Batch::new(cursor.chunk(), cut, position);
                let mut core = self.shared.core();
                let settled = core.delivered(slot, generation, position);
                drop(core);
                if settled {
                    self.shared.stir();
                }
                return Some(Ok(batch));
            }
            Some(Err(error)) => {
                let mut core = self.shared.core();
                core.delivered(slot, generation, position);
                core.damaged(slot, generation, error);
                None
            }
            None => {
                let mut core = self.shared.core();
                core.delivered(slot, generation, position);
                None
            }
        };
        let frame = cursor.chunk().frame;
        self.cursor = None;
        self.shared.core().release(frame);
        // There is room now.
        self.shared.stir();
        given
    }

    pub(super) fn poll_record(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<OwnedRecord>>> {
        loop {
            if let Some(batch) = &mut self.batch {
                if let Some(record) = batch.get(0) {
                    let record = record.share();
                    batch.taken += 1;
                    return Poll::Ready(Some(Ok(record)));
                }
                self.batch = None;
            }
            match self.poll_batch(cx) {
                Poll::Ready(Some(Ok(batch))) => self.batch = Some(batch),
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// The partitions that are read.
    pub fn partitions(&self) -> Vec<TopicPartition> {
        self.shared.core().partitions()
    }

    /// Goes on from another place. What was fetched of the partition and not handed out is forgotten; a
    /// partition that failed or has reached its end goes on.
    ///
    /// # Errors
    /// When the partition is not read, or the place cannot be one.
    pub fn seek(&mut self, partition: impl Into<TopicPartition>, to: Start) -> Result<()> {
        let partition = partition.into();
        self.check_place(&partition, to)?;
        if !self.shared.core().seek(&partition, to.origin()) {
            return Err(not_read(partition));
        }
        self.shared.stir();
        Ok(())
    }

    /// As [`seek`](Self::seek), with another end: to read several ranges of a partition with one reader.
    ///
    /// # Errors
    /// When the partition is not read, or the place cannot be one.
    pub fn seek_within(
        &mut self,
        partition: impl Into<TopicPartition>,
        from: Start,
        until: End,
    ) -> Result<()> {
        let partition = partition.into();
        self.check_place(&partition, from)?;
        let mut core = self.shared.core();
        if !core.seek_within(&partition, from.origin(), until.bound()) {
            return Err(not_read(partition));
        }
        drop(core);
        self.shared.stir();
        Ok(())
    }

    /// Whether a partition can begin there. What is being handed out of it is void then.
    fn check_place(&mut self, partition: &TopicPartition, place: Start) -> Result<()> {
        if let Some(violation) = place.violation() {
            let error = Error::new(ErrorKind::Config, violation);
            return Err(error.in_partition(Arc::clone(&partition.topic), partition.partition));
        }
        self.forget(partition);
        Ok(())
    }

    /// Forgets what is being handed out record by record of a partition.
    pub(super) fn forget(&mut self, of: &TopicPartition) {
        self.batch
            .take_if(|batch| batch.partition == of.partition && batch.topic == of.topic);
    }

    /// Hands out nothing of a partition until it is resumed, and fetches nothing of it.
    ///
    /// # Errors
    /// When the partition is not read.
    pub fn pause(&mut self, partition: impl Into<TopicPartition>) -> Result<()> {
        self.set_paused(partition.into(), true)
    }

    /// Goes on with a partition that was paused, from where it was.
    ///
    /// # Errors
    /// When the partition is not read.
    pub fn resume(&mut self, partition: impl Into<TopicPartition>) -> Result<()> {
        self.set_paused(partition.into(), false)
    }

    fn set_paused(&mut self, partition: TopicPartition, paused: bool) -> Result<()> {
        if !self.shared.core().pause(&partition, paused) {
            return Err(not_read(partition));
        }
        self.shared.stir();
        Ok(())
    }

    /// Whether a partition is paused.
    pub fn is_paused(&self, partition: impl Into<TopicPartition>) -> bool {
        self.shared.core().is_paused(&partition.into())
    }

    /// The next offset of a partition to be handed out. `None` while it is not known: until a leader has
    /// answered, when reading does not begin with an offset.
    ///
    /// Keep it outside of Kafka, together with what was made of the records, and begin there with
    /// [`start_of`](super::ReaderBuilder::start_of) the next time.
    pub fn position(&self, partition: impl Into<TopicPartition>) -> Option<i64> {
        let partition = partition.into();
        if let Some(batch) = &self.batch
            && batch.partition == partition.partition
            && batch.topic == partition.topic
            && let Some(next) = batch.get(0)
        {
            return Some(next.offset());
        }
        self.shared.core().position(&partition)
    }

    /// Where a partition ends, as its broker said last. `None` until it was fetched once.
    pub fn watermarks(&self, partition: impl Into<TopicPartition>) -> Option<Watermarks> {
        let ends = self.shared.core().ends(&partition.into())?;
        (ends.high_watermark >= 0).then_some(Watermarks {
            high_watermark: ends.high_watermark,
            last_stable_offset: ends.last_stable_offset,
            log_start_offset: ends.log_start_offset,
        })
    }

    /// How many offsets there are from the position to where reading ends for now: the last stable offset, or the
    /// high watermark when uncommitted records are read. `None` until the partition was fetched once.
    pub fn lag(&self, partition: impl Into<TopicPartition>) -> Option<u64> {
        let partition = partition.into();
        let position = self.position(partition.clone())?;
        let ends = self.watermarks(partition)?;
        let end = match self.shared.settings.isolation {
            super::Isolation::ReadCommitted => ends.last_stable_offset,
            super::Isolation::ReadUncommitted => ends.high_watermark,
        };
        Some(end.saturating_sub(position).max(0).unsigned_abs())
    }

    /// What keeps it from reading now, if the last thing that it tried failed: for messages when nothing comes.
    /// It goes on trying.
    pub fn trouble(&self) -> Option<Error> {
        self.shared.trouble()
    }

    /// The oldest offset of each partition that is read.
    ///
    /// # Errors
    /// When a leader does not tell within the metadata timeout, or refuses to.
    ///
    /// # Cancel safety
    /// Cancel-safe.
    pub async fn beginning_offsets(&self) -> Result<Vec<(TopicPartition, i64)>> {
        self.offsets_at(Anchor::Earliest).await
    }

    /// The offset of each partition behind the last record that may be read with the reader's isolation.
    ///
    /// # Errors
    /// When a leader does not tell within the metadata timeout, or refuses to.
    ///
    /// # Cancel safety
    /// Cancel-safe.
    pub async fn end_offsets(&self) -> Result<Vec<(TopicPartition, i64)>> {
        self.offsets_at(Anchor::Latest).await
    }

    async fn offsets_at(&self, anchor: Anchor) -> Result<Vec<(TopicPartition, i64)>> {
        let partitions = self.partitions().into_iter();
        let asked = partitions.map(|partition| (partition, anchor.timestamp()));
        let told = self.ask(asked.collect()).await?;
        Ok(told
            .into_iter()
            .map(|(partition, told)| (partition, told.position.offset))
            .collect())
    }

    /// The first record of each partition that is not older than its time, in milliseconds since 1970; `None`
    /// where there is none. The partitions need not be those that are read.
    ///
    /// # Errors
    /// When a leader does not tell within the metadata timeout, or refuses to.
    ///
    /// # Cancel safety
    /// Cancel-safe.
    pub async fn offsets_for_times(
        &self,
        times: impl IntoIterator<Item = (TopicPartition, i64)>,
    ) -> Result<Vec<(TopicPartition, Option<OffsetAndTimestamp>)>> {
        let times: Vec<_> = times.into_iter().collect();
        if let Some((partition, time)) = times.iter().find(|(_, time)| *time < 0) {
            let reason = format!("{time} is no timestamp; they are milliseconds since 1970");
            return Err(Error::new(ErrorKind::Config, reason)
                .in_partition(partition.topic.clone(), partition.partition));
        }
        let told = self.ask(times).await?;
        let found = told.into_iter().map(|(partition, told)| {
            let Position { offset, epoch } = told.position;
            let found = (offset >= 0).then_some(OffsetAndTimestamp {
                offset,
                timestamp: told.timestamp,
                leader_epoch: epoch,
            });
            (partition, found)
        });
        Ok(found.collect())
    }

    async fn ask(&self, asked: Vec<(TopicPartition, i64)>) -> Result<Vec<(TopicPartition, Told)>> {
        let settings = &self.shared.settings;
        let asked = asked.into_iter().map(|(partition, timestamp)| Asked {
            partition,
            leader_epoch: -1,
            timestamp,
        });
        let deadline = Instant::now() + settings.metadata_timeout;
        lookup::of_times(
            &self.shared.cluster,
            settings.isolation,
            asked.collect(),
            deadline,
            settings.backoff,
        )
        .await
    }
}

fn not_read(partition: TopicPartition) -> Error {
    Error::new(ErrorKind::Config, "the reader does not read this partition")
        .in_partition(partition.topic, partition.partition)
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.shared.close();
    }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader")
            .field("partitions", &self.partitions())
            .finish_non_exhaustive()
    }
}
