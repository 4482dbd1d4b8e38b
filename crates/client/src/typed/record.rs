//! Records whose key and value are decoded.

use std::fmt;
use std::sync::Arc;

use copart_protocol::records::Headers;

use crate::{GroupRecord, OwnedRecord};

/// A record with its key and its value decoded, as a [`TypedConsumer`](crate::TypedConsumer) or a
/// [`TypedReader`](crate::TypedReader) gives it; `R` is the record as it came.
#[must_use = "a record of a consumer that is dropped before it is `done` comes again"]
pub struct TypedRecord<K, V, R = GroupRecord> {
    key: K,
    value: V,
    raw: R,
}

impl<K, V, R: AsRef<OwnedRecord>> TypedRecord<K, V, R> {
    pub(super) fn new(key: K, value: V, raw: R) -> Self {
        Self { key, value, raw }
    }

    /// The key.
    pub fn key(&self) -> &K {
        &self.key
    }

    /// The value.
    pub fn value(&self) -> &V {
        &self.value
    }

    /// The topic.
    pub fn topic(&self) -> &Arc<str> {
        self.raw.as_ref().topic()
    }

    /// The partition.
    pub fn partition(&self) -> i32 {
        self.raw.as_ref().partition()
    }

    /// Its place in the partition.
    pub fn offset(&self) -> i64 {
        self.raw.as_ref().offset()
    }

    /// Its time in milliseconds since 1970; -1 for none.
    pub fn timestamp(&self) -> i64 {
        self.raw.as_ref().timestamp()
    }

    /// The headers, in the producer's order.
    pub fn headers(&self) -> Headers<'_> {
        self.raw.as_ref().headers()
    }

    /// The record as it came: its bytes, and all else that is known of it.
    pub fn raw(&self) -> &R {
        &self.raw
    }

    pub(crate) fn raw_mut(&mut self) -> &mut R {
        &mut self.raw
    }

    /// Takes it apart: key, value, and the record as it came, which still has to be
    /// [`done`](GroupRecord::done) if it is a consumer's.
    pub fn into_parts(self) -> (K, V, R) {
        (self.key, self.value, self.raw)
    }
}

impl<K, V> TypedRecord<K, V> {
    /// It is processed.
    pub fn done(self) {
        self.raw.done();
    }

    /// Whether its partition is still this consumer's.
    pub fn is_valid(&self) -> bool {
        self.raw.is_valid()
    }

    /// The span of processing its batch.
    pub fn span(&self) -> &tracing::Span {
        self.raw.span()
    }
}

impl<K: fmt::Debug, V: fmt::Debug, R: AsRef<OwnedRecord>> fmt::Debug for TypedRecord<K, V, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedRecord")
            .field("topic", self.topic())
            .field("partition", &self.partition())
            .field("offset", &self.offset())
            .field("key", &self.key)
            .field("value", &self.value)
            .finish()
    }
}

/// Decoded records of one partition that were written together, in the order of their offsets. There is at least one;
/// records that could not be decoded, and were skipped or set aside, are not among them.
#[must_use = "a batch of a consumer that is dropped before it is `done` comes again"]
pub struct TypedBatch<K, V, R = GroupRecord> {
    records: Vec<TypedRecord<K, V, R>>,
}

impl<K, V, R: AsRef<OwnedRecord>> TypedBatch<K, V, R> {
    pub(super) fn new(records: Vec<TypedRecord<K, V, R>>) -> Self {
        Self { records }
    }

    /// The records.
    pub fn records(&self) -> &[TypedRecord<K, V, R>] {
        &self.records
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Never: a batch without records is not given out.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The offset of the first record.
    pub fn first_offset(&self) -> i64 {
        self.records.first().map_or(-1, TypedRecord::offset)
    }

    /// The offset of the last record.
    pub fn last_offset(&self) -> i64 {
        self.records.last().map_or(-1, TypedRecord::offset)
    }
}

impl<K, V> TypedBatch<K, V> {
    /// All its records are processed. It does not wait for a commit: see [`commit`](Self::commit).
    pub fn done(self) {
        GroupRecord::all_done(self.records.iter().map(TypedRecord::raw));
    }

    /// The records before this offset are processed.
    pub fn done_to(&self, offset: i64) {
        let before = self.records.iter().map(TypedRecord::raw);
        GroupRecord::all_done(before.take_while(|record| record.offset() < offset));
    }

    /// All its records are processed, and so is to be committed now: waits for the answer. Where a record before one of
    /// them is on its way to the dead-letter topic, what is committed ends before that.
    ///
    /// # Errors
    /// As [`GroupBatch::commit`](crate::GroupBatch::commit).
    ///
    /// # Cancel safety
    /// Cancel-safe: the records are done, and are committed later if not now.
    pub async fn commit(self) -> crate::Result<()> {
        let records = self.records.into_iter();
        let raw: Vec<_> = records.map(|record| record.raw).collect();
        GroupRecord::commit_all(raw).await
    }

    /// Whether its partition is still this consumer's, so that what is done of it counts.
    pub fn is_valid(&self) -> bool {
        self.records.first().is_some_and(TypedRecord::is_valid)
    }
}

impl<K, V, R> IntoIterator for TypedBatch<K, V, R> {
    type Item = TypedRecord<K, V, R>;
    type IntoIter = std::vec::IntoIter<TypedRecord<K, V, R>>;

    fn into_iter(self) -> Self::IntoIter {
        self.records.into_iter()
    }
}

impl<'a, K, V, R> IntoIterator for &'a TypedBatch<K, V, R> {
    type Item = &'a TypedRecord<K, V, R>;
    type IntoIter = std::slice::Iter<'a, TypedRecord<K, V, R>>;

    fn into_iter(self) -> Self::IntoIter {
        self.records.iter()
    }
}

impl<K, V, R: AsRef<OwnedRecord>> fmt::Debug for TypedBatch<K, V, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.records.first().map(|record| record.raw.as_ref());
        f.debug_struct("TypedBatch")
            .field("topic", &first.map(OwnedRecord::topic))
            .field("partition", &first.map(OwnedRecord::partition))
            .field("offsets", &(self.first_offset()..=self.last_offset()))
            .field("records", &self.records.len())
            .finish()
    }
}
