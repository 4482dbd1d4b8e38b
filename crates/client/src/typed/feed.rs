//! Decoded batches and records, one after the other.

use std::sync::Arc;
use std::task::{Context, Poll, ready};

use copart_serializers::Deserialize;

use super::decoder::Decoder;
use super::decoding::{Decoding, Lot};
use super::record::{TypedBatch, TypedRecord};
use crate::{Result, TopicPartition};

/// A decoded batch of a kind of batches.
pub(crate) type Decoded<L, K, V> =
    TypedBatch<<K as Deserialize>::Value, <V as Deserialize>::Value, <L as Lot>::Record>;

/// A decoded record of a kind of batches.
pub(crate) type DecodedRecord<L, K, V> =
    TypedRecord<<K as Deserialize>::Value, <V as Deserialize>::Value, <L as Lot>::Record>;

/// What comes next, if it is there; `None` at the end.
pub(crate) type Next<T> = Poll<Option<Result<T>>>;

/// Takes batches, and gives them decoded.
pub(crate) struct Feed<L: Lot, K: Deserialize, V: Deserialize> {
    decoder: Arc<Decoder<K, V>>,
    decoding: Option<Decoding<L, K, V>>,
    /// What is being handed out record by record.
    records: Option<std::vec::IntoIter<DecodedRecord<L, K, V>>>,
}

impl<L: Lot, K: Deserialize, V: Deserialize> Unpin for Feed<L, K, V> {}

impl<L: Lot, K: Deserialize + 'static, V: Deserialize + 'static> Feed<L, K, V> {
    pub(crate) fn new(decoder: Decoder<K, V>) -> Self {
        Self {
            decoder: Arc::new(decoder),
            decoding: None,
            records: None,
        }
    }

    pub(crate) fn decoder(&self) -> &Decoder<K, V> {
        &self.decoder
    }

    /// Changes what becomes of records that can't be decoded, from the next one on.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Decoder<K, V>)) {
        // Nothing was read yet, so nobody else has it.
        if let Some(decoder) = Arc::get_mut(&mut self.decoder) {
            change(decoder);
        }
    }

    /// Forgets what is not handed out yet, of a partition or of all.
    pub(crate) fn forget(&mut self, of: Option<&TopicPartition>) {
        let is_of = |lot: &L| of.is_none_or(|of| lot.is_of(of));
        if self.decoding.as_ref().is_some_and(|it| is_of(it.lot())) {
            self.decoding = None;
        }
        self.forget_records(of);
    }

    /// Forgets what is being handed out record by record.
    pub(crate) fn forget_records(&mut self, of: Option<&TopicPartition>) {
        let next = self.records.as_ref().and_then(|it| it.as_slice().first());
        if next.is_none_or(|next| of.is_none_or(|of| is_of(next, of))) {
            self.records = None;
        }
    }

    /// The first offset of a partition that came and that the program does not have yet.
    pub(crate) fn first_open(&self, of: &TopicPartition) -> Option<i64> {
        let records = self.records.as_ref();
        let next = records.and_then(|records| records.as_slice().first());
        let next = next
            .filter(|next| is_of(*next, of))
            .map(TypedRecord::offset);
        let decoding = self.decoding.as_ref().filter(|it| it.lot().is_of(of));
        let open = decoding.and_then(Decoding::first_open);
        next.into_iter().chain(open).min()
    }

    /// The next batch, where `source` gives those that are not decoded.
    pub(crate) fn poll_batch(
        &mut self,
        cx: &mut Context<'_>,
        source: impl FnMut(&mut Context<'_>) -> Next<L>,
    ) -> Next<Decoded<L, K, V>> {
        let mut next = ready!(self.poll_decoded(cx, source));
        if let Some(Ok(records)) = &mut next {
            for record in records {
                L::hand_out(record.raw_mut());
            }
        }
        Poll::Ready(next.map(|records| records.map(TypedBatch::new)))
    }

    /// What was not handed out of a batch that is handed out record by record.
    pub(crate) fn take_rest(&mut self) -> Option<Decoded<L, K, V>> {
        let mut rest: Vec<_> = self.records.take()?.collect();
        for record in &mut rest {
            L::hand_out(record.raw_mut());
        }
        (!rest.is_empty()).then(|| TypedBatch::new(rest))
    }

    fn poll_decoded(
        &mut self,
        cx: &mut Context<'_>,
        mut source: impl FnMut(&mut Context<'_>) -> Next<L>,
    ) -> Next<Vec<DecodedRecord<L, K, V>>> {
        loop {
            if let Some(decoding) = self.decoding.as_mut().filter(|it| it.lot().is_current()) {
                let next = ready!(decoding.poll(&self.decoder, cx)).transpose();
                if decoding.is_over() {
                    self.decoding = None;
                }
                if next.is_some() {
                    return Poll::Ready(next);
                }
            }
            self.decoding = None;
            match ready!(source(cx)) {
                Some(Ok(lot)) => self.decoding = Some(Decoding::new(lot)),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
    }

    /// The next record, where `source` gives batches that are not decoded.
    pub(crate) fn poll_record(
        &mut self,
        cx: &mut Context<'_>,
        mut source: impl FnMut(&mut Context<'_>) -> Next<L>,
    ) -> Next<DecodedRecord<L, K, V>> {
        loop {
            if let Some(mut record) = self.records.as_mut().and_then(Iterator::next) {
                L::hand_out(record.raw_mut());
                return Poll::Ready(Some(Ok(record)));
            }
            self.records = None;
            match ready!(self.poll_decoded(cx, &mut source)) {
                Some(Ok(records)) => self.records = Some(records.into_iter()),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
    }
}

fn is_of<K, V, R: AsRef<crate::OwnedRecord>>(
    record: &TypedRecord<K, V, R>,
    partition: &TopicPartition,
) -> bool {
    record.partition() == partition.partition && *record.topic() == partition.topic
}
