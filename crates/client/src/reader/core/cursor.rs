//! From what was fetched of one partition to batches of records that an application may see.

use bytes::Bytes;
use copart_protocol::messages::fetch::AbortedTransaction;
use copart_protocol::records::{
    Batch, Batches, Decompressor, RecordRange, Records, TimestampType, TransactionMarker,
};

use super::aborted::Aborted;
use super::position::Position;
use crate::{Error, Result, TopicPartition};

/// What one fetch brought of one partition: whole batches, not decoded.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) slot: usize,
    /// Of the partition when it was fetched: a seek makes it void.
    pub(crate) generation: u64,
    pub(crate) partition: TopicPartition,
    pub(crate) records: Bytes,
    pub(crate) aborted: Vec<AbortedTransaction>,
    /// Records before this offset are not wanted: a fetch from the middle of a batch brings all of it.
    pub(crate) from: Position,
    /// Nor are those from this offset on.
    pub(crate) until: i64,
    pub(crate) high_watermark: i64,
    pub(crate) last_stable_offset: i64,
    /// What its memory is accounted under.
    pub(crate) frame: u64,
}

/// The records of one batch that may be seen.
#[derive(Debug)]
pub(crate) struct Cut {
    pub(crate) records: Records,
    pub(crate) ranges: Vec<RecordRange>,
    pub(crate) leader_epoch: i32,
    pub(crate) timestamp_type: TimestampType,
    pub(crate) producer_id: i64,
    pub(crate) is_transactional: bool,
}

/// Reads a chunk batch by batch.
#[derive(Debug)]
pub(crate) struct Cursor {
    chunk: Chunk,
    batches: Batches,
    aborted: Aborted,
    position: Position,
}

impl Cursor {
    pub(crate) fn new(mut chunk: Chunk) -> Self {
        Self {
            batches: Batches::new(std::mem::take(&mut chunk.records)),
            aborted: Aborted::new(&std::mem::take(&mut chunk.aborted)),
            position: chunk.from,
            chunk,
        }
    }

    pub(crate) fn chunk(&self) -> &Chunk {
        &self.chunk
    }

    /// Behind what was given out, and behind batches that hold nothing to see.
    pub(crate) fn position(&self) -> Position {
        self.position
    }

    /// The next batch with records to see. `None` when the chunk is through. After an error the position is
    /// where the batch begins that could not be read.
    pub(crate) fn next(&mut self, decompressor: &mut Decompressor) -> Option<Result<Cut>> {
        while self.position.offset < self.chunk.until {
            let cut = match self.batches.next()? {
                Ok(batch) => self.cut(&batch, decompressor),
                Err(error) => Err(error),
            };
            match cut {
                Ok(Some(cut)) => return Some(Ok(cut)),
                Ok(None) => {}
                Err(error) => {
                    let TopicPartition { topic, partition } = &self.chunk.partition;
                    return Some(Err(Error::from(error)
                        .in_partition(topic.clone(), *partition)
                        .at_offset(self.position.offset)));
                }
            }
        }
        None
    }

    fn cut(
        &mut self,
        batch: &Batch,
        decompressor: &mut Decompressor,
    ) -> copart_protocol::Result<Option<Cut>> {
        let next = batch.next_offset();
        if next <= self.position.offset {
            return Ok(None);
        }
        let mut cut = match batch {
            Batch::Records(batch) => {
                let header = batch.header();
                let epoch = header.partition_leader_epoch;
                if header.attributes.is_control() {
                    for record in batch.records(decompressor)?.iter() {
                        let marker = TransactionMarker::decode(&record?)?;
                        if marker.is_some_and(|marker| !marker.commit) {
                            self.aborted.end(header);
                        }
                    }
                    self.advance(next, epoch);
                    return Ok(None);
                }
                if self.aborted.hides(header) {
                    self.advance(next, epoch);
                    return Ok(None);
                }
                let records = batch.records(decompressor)?;
                Cut {
                    ranges: records.ranges()?,
                    records,
                    leader_epoch: epoch,
                    timestamp_type: header.attributes.timestamp_type(),
                    producer_id: header.producer.id,
                    is_transactional: header.attributes.is_transactional(),
                }
            }
            Batch::Messages(messages) => {
                let records = messages.records(decompressor)?;
                Cut {
                    ranges: records.ranges()?,
                    records,
                    leader_epoch: -1,
                    timestamp_type: messages.attributes().timestamp_type(),
                    producer_id: -1,
                    is_transactional: false,
                }
            }
        };
        // Only the first batch and the last can hold what is not wanted.
        let wanted = self.position.offset..self.chunk.until;
        if !cut
            .ranges
            .iter()
            .all(|range| wanted.contains(&range.offset()))
        {
            cut.ranges.retain(|range| wanted.contains(&range.offset()));
        }
        self.advance(next, cut.leader_epoch);
        Ok((!cut.ranges.is_empty()).then_some(cut))
    }

    fn advance(&mut self, next: i64, epoch: i32) {
        self.position = Position::new(next.min(self.chunk.until), epoch);
    }
}

/// How far the whole batches in an answer reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Behind the last batch.
    pub(crate) next: Position,
    /// Their size in bytes.
    pub(crate) len: usize,
}

impl Extent {
    /// Looks at the headers alone. `None` if there is no whole batch, as when the first one is larger than the
    /// answer. What follows a damaged batch is left for the next fetch, which then begins with it.
    pub(crate) fn of(records: &Bytes) -> copart_protocol::Result<Option<Self>> {
        let mut batches = Batches::unverified(records.clone());
        let mut extent = None;
        while let Some(batch) = batches.next() {
            let batch = match batch {
                Ok(batch) => batch,
                Err(error) if extent.is_none() => return Err(error),
                Err(_) => break,
            };
            let epoch = match &batch {
                Batch::Records(batch) => batch.header().partition_leader_epoch,
                Batch::Messages(_) => -1,
            };
            extent = Some(Self {
                next: Position::new(batch.next_offset(), epoch),
                len: batches.position(),
            });
        }
        Ok(extent)
    }
}
