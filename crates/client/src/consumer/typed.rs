//! Consumers of typed keys and values.

use std::fmt;
use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use copart_serializers::{Deserialize, Poison};
use futures_core::Stream;

use super::batch::{GroupRecord, IntoRecords};
use super::concurrent::{self, Source};
use super::handle::Consumer;
use crate::typed::{Decoder, Feed, Lot, Next, TypedBatch, TypedRecord};
use crate::{Error, Producer, Result, Start, TopicPartition};

/// A [`Consumer`] with a deserializer for keys and one for values. Made by [`Consumer::typed`].
///
/// ```no_run
/// # async fn run(consumer: copart::Consumer) -> copart::Result<()> {
/// use copart::serializers::{Int64, Optional, Utf8};
///
/// let mut clicks = consumer.typed(Int64, Optional(Utf8));
/// while let Some(batch) = clicks.recv().await {
///     let batch = batch?;
///     for click in &batch {
///         println!("{} {:?}", click.key(), click.value());
///     }
///     batch.done();
/// }
/// # Ok(()) }
/// ```
///
/// What is processed is committed, and what is out is not taken away, as with the consumer itself.
///
/// **Null is explicit.** Only `Optional` and `Void` read it. To all others a null key or a tombstone is a record that
/// can't be decoded.
///
/// **Poison.** What becomes of a record that can't be decoded, and never will be:
///
/// - By default ([`Poison::Fail`]) the program is told, with topic, partition, offset and the reason, once it has
///   all records before it. The partition stays there until a [`seek`](Self::seek), or until another member has it, and
///   nothing behind is committed; other partitions go on.
/// - With [`skip_poison`](Self::skip_poison) it is left out. It is logged as a warning, and counted
///   (`copart.consumer.poison`).
/// - With [`dead_letters`](Self::dead_letters) it goes, as it came, to a dead-letter topic. It counts as processed when
///   that is acknowledged, and not before: while the topic can't be written to, the program is told, and it is
///   tried again with the next call.
///
/// **What may pass is not poison**: a schema registry that does not answer, for one. The program is told, with an error
/// that [is retriable](Error::is_retriable), and the next call tries the same record again.
pub struct TypedConsumer<K: Deserialize, V: Deserialize> {
    consumer: Consumer,
    feed: Feed<IntoRecords, K, V>,
}

impl Consumer {
    /// The same consumer, with these deserializers for keys and values.
    pub fn typed<K, V>(self, key: K, value: V) -> TypedConsumer<K, V>
    where
        K: Deserialize + 'static,
        V: Deserialize + 'static,
    {
        let settings = &self.shared.settings;
        let (group, patience) = (settings.group.clone(), settings.reader.metadata_timeout);
        let decoder = Decoder::new(key, value, Some(group), patience);
        TypedConsumer {
            feed: Feed::new(decoder),
            consumer: self,
        }
    }
}

impl<K: Deserialize + 'static, V: Deserialize + 'static> TypedConsumer<K, V> {
    /// Leaves records out that can't be decoded.
    #[must_use]
    pub fn skip_poison(mut self) -> Self {
        self.feed.change(Decoder::skip);
        self
    }

    /// Writes records that can't be decoded to `topic`, by `producer`.
    ///
    /// Key, value and headers are those that came. Headers are added that say where from and why: `__dlq.topic`,
    /// `__dlq.partition`, `__dlq.offset`, `__dlq.timestamp`, `__dlq.part` (`key` or `value`), `__dlq.kind`,
    /// `__dlq.message`. Its timestamp is the time at which it is set aside. The partition is for the producer's partitioner
    /// to choose.
    ///
    /// A record of the dead-letter topic itself that can't be decoded is told as with [`Poison::Fail`].
    ///
    /// ```no_run
    /// # fn run(client: copart::Client, consumer: copart::Consumer) -> copart::Result<()> {
    /// use copart::Partitioning;
    /// use copart::serializers::{Int64, Utf8};
    ///
    /// let producer = client.producer().partitioner(Partitioning::uniform()).build()?;
    /// let clicks = consumer.typed(Int64, Utf8).dead_letters("clicks.dead", &producer);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn dead_letters(mut self, topic: impl Into<String>, producer: &Producer) -> Self {
        let (topic, producer) = (topic.into(), producer.clone());
        self.feed
            .change(|decoder| decoder.set_aside(topic, producer));
        self
    }

    /// What becomes of records that can't be decoded.
    pub fn poison(&self) -> &Poison {
        self.feed.decoder().poison()
    }

    /// The consumer without deserializers: its assignment, its lag, and what else it knows.
    pub fn consumer(&self) -> &Consumer {
        &self.consumer
    }

    /// The next batch, decoded. See [`Consumer::recv`].
    ///
    /// # Errors
    /// As there; [`Decoding`](crate::ErrorKind::Decoding) when a record can't be decoded, with the deserializer's own
    /// error as the source; why a record could not be written to the dead-letter topic.
    ///
    /// # Cancel safety
    /// Cancel-safe: when the future is dropped before it is ready, no batch is lost, and no record is written to the
    /// dead-letter topic twice.
    pub async fn recv(&mut self) -> Option<Result<TypedBatch<K::Value, V::Value>>> {
        let waiting = self.consumer.waiting();
        let next = std::future::poll_fn(|cx| self.poll_batch(cx)).await;
        drop(waiting);
        next
    }

    /// The records one by one.
    pub fn records(&mut self) -> TypedGroupRecords<'_, K, V> {
        TypedGroupRecords { consumer: self }
    }

    /// Processes records with `handler`, up to `limit` at a time, and those with the same key one after the other. See
    /// [`Consumer::for_each_concurrent`].
    ///
    /// # Errors
    /// As there. When a record can't be decoded, what was begun before it is finished first.
    ///
    /// # Panics
    /// When a handler does.
    ///
    /// # Cancel safety
    /// When the future is dropped, handlers are cancelled where they wait. What is not done comes again.
    pub async fn for_each_concurrent<F, Fut, E>(
        &mut self,
        limit: NonZeroUsize,
        handler: F,
    ) -> Result<(), E>
    where
        F: Fn(Arc<TypedRecord<K::Value, V::Value>>) -> Fut,
        Fut: Future<Output = Result<(), E>> + Send + 'static,
        E: From<Error> + Send + 'static,
    {
        concurrent::for_each(self, limit, handler).await
    }

    /// Goes on from another place: behind a record that can't be decoded, for one. See [`Consumer::seek`].
    ///
    /// # Errors
    /// As there.
    pub fn seek(&mut self, partition: impl Into<TopicPartition>, to: Start) -> Result<()> {
        let partition = partition.into();
        self.consumer.seek(partition.clone(), to)?;
        self.feed.forget(Some(&partition));
        Ok(())
    }

    /// See [`Consumer::pause`]. A batch that is being decoded still comes.
    ///
    /// # Errors
    /// As there.
    pub fn pause(&mut self, partition: impl Into<TopicPartition>) -> Result<()> {
        self.consumer.pause(partition)
    }

    /// See [`Consumer::resume`].
    ///
    /// # Errors
    /// As there.
    pub fn resume(&mut self, partition: impl Into<TopicPartition>) -> Result<()> {
        self.consumer.resume(partition)
    }

    /// The next offset of a partition to be handed out. `None` while it is not known.
    pub fn position(&self, partition: impl Into<TopicPartition>) -> Option<i64> {
        let partition = partition.into();
        let open = self.feed.first_open(&partition);
        open.or_else(|| self.consumer.position(partition))
    }

    /// Commits what was processed, and waits for the answer. See [`Consumer::commit`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Cancel safety
    /// Cancel-safe: a commit that was begun goes on.
    pub async fn commit(&self) -> Result<()> {
        self.consumer.commit().await
    }

    /// See [`Consumer::close`]. Records that wait for the dead-letter topic are not waited for: the next member sets them
    /// aside.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Cancel safety
    /// As there.
    pub async fn close(self, timeout: Duration) -> Result<()> {
        let Self { consumer, feed } = self;
        drop(feed);
        consumer.close(timeout).await
    }

    /// The consumer without deserializers. What was read and not handed out comes again.
    pub fn into_consumer(self) -> Consumer {
        self.consumer
    }

    fn poll_batch(&mut self, cx: &mut Context<'_>) -> Next<TypedBatch<K::Value, V::Value>> {
        // What of it was not taken comes again.
        self.feed.forget_records(None);
        let consumer = &mut self.consumer;
        self.feed.poll_batch(cx, |cx| poll_lot(consumer, cx))
    }
}

fn poll_lot(consumer: &mut Consumer, cx: &mut Context<'_>) -> Next<IntoRecords> {
    consumer
        .poll_batch(cx)
        .map(|next| next.map(|batch| batch.map(super::batch::GroupBatch::into_records)))
}

impl Lot for IntoRecords {
    type Record = GroupRecord;

    fn next(&mut self) -> Option<GroupRecord> {
        self.cut()
    }

    fn peek(&self) -> Option<i64> {
        Self::peek(self)
    }

    fn is_of(&self, partition: &TopicPartition) -> bool {
        self.batch().topic_partition() == partition
    }

    fn is_current(&self) -> bool {
        self.batch().is_valid()
    }

    fn settle(&self, record: &GroupRecord) {
        record.mark_done();
    }

    fn stop(&self, record: &GroupRecord) {
        record.stop();
    }

    fn hand_out(record: &mut GroupRecord) {
        record.take();
    }
}

impl<K: Deserialize + 'static, V: Deserialize + 'static> Source for TypedConsumer<K, V> {
    type Record = TypedRecord<K::Value, V::Value>;

    fn poll_record(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Self::Record>>> {
        let consumer = &mut self.consumer;
        self.feed.poll_record(cx, |cx| poll_lot(consumer, cx))
    }

    fn begin_anew(&mut self) {
        self.feed.forget_records(None);
    }
}

/// The decoded records of a consumer one by one.
///
/// What of a batch was not taken when the consumer is asked for a batch, comes again with it.
#[must_use = "a stream does nothing until it is polled"]
#[derive(Debug)]
pub struct TypedGroupRecords<'a, K: Deserialize, V: Deserialize> {
    consumer: &'a mut TypedConsumer<K, V>,
}

impl<K: Deserialize + 'static, V: Deserialize + 'static> TypedGroupRecords<'_, K, V> {
    /// The next record, as [`TypedConsumer::recv`] gives the next batch.
    ///
    /// # Cancel safety
    /// Cancel-safe.
    pub async fn next(&mut self) -> Option<Result<TypedRecord<K::Value, V::Value>>> {
        std::future::poll_fn(|cx| self.consumer.poll_record(cx)).await
    }
}

impl<K: Deserialize + 'static, V: Deserialize + 'static> Stream for TypedGroupRecords<'_, K, V> {
    type Item = Result<TypedRecord<K::Value, V::Value>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.consumer.poll_record(cx)
    }
}

impl<K: Deserialize + 'static, V: Deserialize + 'static> Stream for TypedConsumer<K, V> {
    type Item = Result<TypedBatch<K::Value, V::Value>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_batch(cx)
    }
}

impl<K: Deserialize, V: Deserialize> fmt::Debug for TypedConsumer<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedConsumer")
            .field("consumer", &self.consumer)
            .finish_non_exhaustive()
    }
}
