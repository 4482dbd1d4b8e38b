//! What a reader gives: the records of one batch.

use std::iter::FusedIterator;
use std::slice;
use std::sync::Arc;

use copart_protocol::records::{RecordRange, TimestampType};

use super::core::{Chunk, Cut, Position};
use super::record::Record;

/// Records of one partition that were written together, in the order of their offsets. There is at least one.
///
/// They lie in one buffer: that of the answer that brought them, or the one they were decompressed to. It stays in
/// memory as long as a batch, or a record that [shares](Record::share) it, does. To keep a few records for long,
/// [`detach`](Record::detach) them.
#[derive(Debug)]
pub struct Batch {
    pub(super) topic: Arc<str>,
    pub(super) partition: i32,
    pub(super) cut: Cut,
    /// Records before this one were taken by a [`RecordStream`](super::RecordStream).
    pub(super) taken: usize,
    /// Of the partition among those that are read, and of what was fetched: a seek makes it another one.
    pub(crate) slot: usize,
    pub(crate) generation: u64,
    /// Behind the batch, whatever of it may be seen.
    pub(crate) next: Position,
    high_watermark: i64,
    last_stable_offset: i64,
}

impl Batch {
    pub(super) fn new(chunk: &Chunk, cut: Cut, next: Position) -> Self {
        Self {
            topic: Arc::clone(&chunk.partition.topic),
            partition: chunk.partition.partition,
            cut,
            taken: 0,
            slot: chunk.slot,
            generation: chunk.generation,
            next,
            high_watermark: chunk.high_watermark,
            last_stable_offset: chunk.last_stable_offset,
        }
    }

    /// The topic.
    pub fn topic(&self) -> &Arc<str> {
        &self.topic
    }

    /// The partition.
    pub fn partition(&self) -> i32 {
        self.partition
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.ranges().len()
    }

    /// Never: a batch without records is not given out.
    pub fn is_empty(&self) -> bool {
        self.ranges().is_empty()
    }

    /// The records.
    #[inline]
    pub fn records(&self) -> Records<'_> {
        Records {
            batch: self,
            ranges: self.ranges().iter(),
        }
    }

    /// One of the records, counted from 0.
    pub fn get(&self, index: usize) -> Option<Record<'_>> {
        let range = self.ranges().get(index)?;
        Some(Record::new(self, range))
    }

    /// The offset of the first record.
    pub fn first_offset(&self) -> i64 {
        self.ranges().first().map_or(-1, RecordRange::offset)
    }

    /// The offset of the last record.
    pub fn last_offset(&self) -> i64 {
        self.cut.ranges.last().map_or(-1, RecordRange::offset)
    }

    /// The epoch of the leader that wrote the batch; -1 if it is not known.
    pub fn leader_epoch(&self) -> i32 {
        self.cut.leader_epoch
    }

    /// What the timestamps mean.
    pub fn timestamp_type(&self) -> TimestampType {
        self.cut.timestamp_type
    }

    /// The id of the producer that wrote it, if that is idempotent. Each run of a producer has another one.
    pub fn producer_id(&self) -> Option<i64> {
        (self.cut.producer_id >= 0).then_some(self.cut.producer_id)
    }

    /// Whether it was written in a transaction.
    pub fn is_transactional(&self) -> bool {
        self.cut.is_transactional
    }

    /// The offset behind the last record that all in-sync replicas have, as the broker said with this batch.
    pub fn high_watermark(&self) -> i64 {
        self.high_watermark
    }

    /// The offset up to which no transaction is open, as the broker said with this batch.
    pub fn last_stable_offset(&self) -> i64 {
        self.last_stable_offset
    }

    fn ranges(&self) -> &[RecordRange] {
        &self.cut.ranges[self.taken..]
    }
}

impl<'a> IntoIterator for &'a Batch {
    type Item = Record<'a>;
    type IntoIter = Records<'a>;

    fn into_iter(self) -> Records<'a> {
        self.records()
    }
}

/// Iterates over the records of a batch.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    batch: &'a Batch,
    ranges: slice::Iter<'a, RecordRange>,
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    #[inline]
    fn next(&mut self) -> Option<Record<'a>> {
        let range = self.ranges.next()?;
        Some(Record::new(self.batch, range))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.ranges.size_hint()
    }
}

impl DoubleEndedIterator for Records<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let range = self.ranges.next_back()?;
        Some(Record::new(self.batch, range))
    }
}

impl ExactSizeIterator for Records<'_> {}

impl FusedIterator for Records<'_> {}
