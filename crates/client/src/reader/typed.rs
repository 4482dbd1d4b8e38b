//! Readers of typed keys and values.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use copart_serializers::{Deserialize, Poison};
use futures_core::Stream;

use super::batch::Batch;
use super::config::Start;
use super::core::Position;
use super::handle::Reader;
use super::record::OwnedRecord;
use super::shared::Shared;
use crate::typed::{Decoder, Feed, Lot, Next, TypedBatch, TypedRecord};
use crate::{Producer, Result, TopicPartition};

/// A [`Reader`] with a deserializer for keys and one for values. Made by [`Reader::typed`].
///
/// ```no_run
/// # async fn run(reader: copart::Reader) -> copart::Result<()> {
/// use copart::serializers::{Int64, Utf8};
///
/// let mut clicks = reader.typed(Int64, Utf8);
/// while let Some(batch) = clicks.recv().await {
///     for click in &batch? {
///         println!("{} {} {}", click.offset(), click.key(), click.value());
///     }
/// }
/// # Ok(()) }
/// ```
///
/// Records that can't be decoded are dealt with as by a [`TypedConsumer`](crate::TypedConsumer): the program is told, and
/// the partition stays there until a [`seek`](Self::seek), unless they are [skipped](Self::skip_poison) or
/// [set aside](Self::dead_letters). [`position`](Self::position) does not pass a record that is not acknowledged in
/// the dead-letter topic.
pub struct TypedReader<K: Deserialize, V: Deserialize> {
    reader: Reader,
    feed: Feed<Cut, K, V>,
}

/// A batch that is taken apart.
pub(crate) struct Cut {
    batch: Batch,
    index: usize,
    shared: Arc<Shared>,
}

impl Reader {
    /// The same reader, with these deserializers for keys and values.
    pub fn typed<K, V>(self, key: K, value: V) -> TypedReader<K, V>
    where
        K: Deserialize + 'static,
        V: Deserialize + 'static,
    {
        let patience = self.shared().settings.metadata_timeout;
        TypedReader {
            feed: Feed::new(Decoder::new(key, value, None, patience)),
            reader: self,
        }
    }
}

impl<K: Deserialize + 'static, V: Deserialize + 'static> TypedReader<K, V> {
    /// Leaves records out that can't be decoded. They are logged as warnings, and counted.
    #[must_use]
    pub fn skip_poison(mut self) -> Self {
        self.feed.change(Decoder::skip);
        self
    }

    /// Writes records that can't be decoded to `topic`, by `producer`. See
    /// [`TypedConsumer::dead_letters`](crate::TypedConsumer::dead_letters).
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

    /// The reader without deserializers.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// The next batch, decoded. See [`Reader::recv`].
    ///
    /// # Errors
    /// As there; [`Decoding`](crate::ErrorKind::Decoding) when a record can't be decoded, with the deserializer's own
    /// error as the source; why a record could not be written to the dead-letter topic.
    ///
    /// # Cancel safety
    /// Cancel-safe: when the future is dropped before it is ready, no batch is lost, and no record is written to the
    /// dead-letter topic twice.
    pub async fn recv(&mut self) -> Option<Result<TypedBatch<K::Value, V::Value, OwnedRecord>>> {
        std::future::poll_fn(|cx| self.poll_batch(cx)).await
    }

    /// The records one by one.
    pub fn records(&mut self) -> TypedRecordStream<'_, K, V> {
        TypedRecordStream { reader: self }
    }

    /// Goes on from another place: behind a record that can't be decoded, for one. See [`Reader::seek`].
    ///
    /// # Errors
    /// As there.
    pub fn seek(&mut self, partition: impl Into<TopicPartition>, to: Start) -> Result<()> {
        let partition = partition.into();
        self.reader.seek(partition.clone(), to)?;
        self.feed.forget(Some(&partition));
        Ok(())
    }

    /// See [`Reader::pause`]. A batch that is being decoded still comes.
    ///
    /// # Errors
    /// As there.
    pub fn pause(&mut self, partition: impl Into<TopicPartition>) -> Result<()> {
        self.reader.pause(partition)
    }

    /// See [`Reader::resume`].
    ///
    /// # Errors
    /// As there.
    pub fn resume(&mut self, partition: impl Into<TopicPartition>) -> Result<()> {
        self.reader.resume(partition)
    }

    /// The next offset of a partition to be handed out. `None` while it is not known. See [`Reader::position`].
    pub fn position(&self, partition: impl Into<TopicPartition>) -> Option<i64> {
        let partition = partition.into();
        let open = self.feed.first_open(&partition);
        open.or_else(|| self.reader.position(partition))
    }

    fn poll_batch(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Next<TypedBatch<K::Value, V::Value, OwnedRecord>> {
        if let Some(rest) = self.feed.take_rest() {
            return Poll::Ready(Some(Ok(rest)));
        }
        let reader = &mut self.reader;
        self.feed.poll_batch(cx, |cx| poll_cut(reader, cx))
    }

    fn poll_record(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Next<TypedRecord<K::Value, V::Value, OwnedRecord>> {
        let reader = &mut self.reader;
        self.feed.poll_record(cx, |cx| poll_cut(reader, cx))
    }
}

fn poll_cut(reader: &mut Reader, cx: &mut Context<'_>) -> Next<Cut> {
    reader.poll_batch(cx).map(|next| {
        next.map(|batch| {
            batch.map(|batch| Cut {
                batch,
                index: 0,
                shared: Arc::clone(reader.shared()),
            })
        })
    })
}

impl Lot for Cut {
    type Record = OwnedRecord;

    fn next(&mut self) -> Option<OwnedRecord> {
        let record = self.batch.get(self.index)?;
        self.index += 1;
        Some(record.share())
    }

    fn peek(&self) -> Option<i64> {
        Some(self.batch.get(self.index)?.offset())
    }

    fn is_of(&self, of: &TopicPartition) -> bool {
        self.batch.partition() == of.partition && *self.batch.topic() == of.topic
    }

    fn is_current(&self) -> bool {
        let core = self.shared.core();
        core.is_current(self.batch.slot, self.batch.generation)
    }

    fn settle(&self, _: &OwnedRecord) {}

    fn stop(&self, record: &OwnedRecord) {
        let partition = TopicPartition::new(Arc::clone(record.topic()), record.partition());
        let is_first = record.offset() == self.batch.first_offset();
        let epoch = if is_first { -1 } else { record.leader_epoch() };
        let position = Position::new(record.offset(), epoch);
        let mut core = self.shared.core();
        if core.is_current(self.batch.slot, self.batch.generation) {
            core.stop_at(&partition, position);
        }
    }

    fn hand_out(_: &mut OwnedRecord) {}
}

/// The decoded records of a reader one by one.
///
/// Nothing is lost when it is dropped: the reader goes on with the record after the last one that was given out.
#[must_use = "a stream does nothing until it is polled"]
#[derive(Debug)]
pub struct TypedRecordStream<'a, K: Deserialize, V: Deserialize> {
    reader: &'a mut TypedReader<K, V>,
}

impl<K: Deserialize + 'static, V: Deserialize + 'static> TypedRecordStream<'_, K, V> {
    /// The next record, as [`TypedReader::recv`] gives the next batch.
    ///
    /// # Cancel safety
    /// Cancel-safe.
    pub async fn next(&mut self) -> Option<Result<TypedRecord<K::Value, V::Value, OwnedRecord>>> {
        std::future::poll_fn(|cx| self.reader.poll_record(cx)).await
    }
}

impl<K: Deserialize + 'static, V: Deserialize + 'static> Stream for TypedRecordStream<'_, K, V> {
    type Item = Result<TypedRecord<K::Value, V::Value, OwnedRecord>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.reader.poll_record(cx)
    }
}

impl<K: Deserialize + 'static, V: Deserialize + 'static> Stream for TypedReader<K, V> {
    type Item = Result<TypedBatch<K::Value, V::Value, OwnedRecord>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_batch(cx)
    }
}

impl<K: Deserialize, V: Deserialize> fmt::Debug for TypedReader<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedReader")
            .field("partitions", &self.reader.partitions())
            .finish_non_exhaustive()
    }
}
