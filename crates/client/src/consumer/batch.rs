//! What a consumer gives: batches and records that hold their partition until they are done.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::config::Commit;
use super::progress::Ticket;
use super::shared::Shared;
use crate::reader::{Batch, OwnedRecord};
use crate::{Result, TopicPartition};

/// What a batch and its records have in common: it holds the partition as long as one of them is there.
pub(super) struct Lease {
    shared: Arc<Shared>,
    ticket: Ticket,
    span: tracing::Span,
    /// It goes out record by record: what of it was not taken is not delivered.
    is_cut: AtomicBool,
}

impl Drop for Lease {
    fn drop(&mut self) {
        let as_a_whole = !self.is_cut.load(Ordering::Relaxed);
        self.shared.release(&self.ticket, as_a_whole);
    }
}

impl Lease {
    fn done(&self, span: Range<i64>) {
        self.all_done(std::iter::once(span));
    }

    fn all_done(&self, spans: impl IntoIterator<Item = Range<i64>>) {
        let mut progress = self.shared.progress();
        let late = spans
            .into_iter()
            .find(|span| !progress.done(&self.ticket, span.clone()));
        drop(progress);
        if let Some(span) = late {
            tracing::warn!(
                partition = %self.ticket.partition,
                from = span.start,
                "records were done after their partition was taken away or sought elsewhere: they are not committed"
            );
        }
    }

    /// Commits after these are done.
    async fn commit(lease: Arc<Self>, spans: impl IntoIterator<Item = Range<i64>>) -> Result<()> {
        let (shared, ticket) = (Arc::clone(&lease.shared), lease.ticket.clone());
        let counts = {
            let mut progress = shared.progress();
            spans.into_iter().all(|span| progress.done(&ticket, span))
        };
        drop(lease);
        if !counts {
            return Err(shared.not_ours(&ticket.partition));
        }
        let of = [ticket.partition];
        let offsets = shared.progress().uncommitted(Some(&of));
        shared.commit(offsets).await
    }

    fn is_valid(&self) -> bool {
        self.shared.progress().is_valid(&self.ticket)
    }
}

/// Records of one partition that were written together, handed out by a [`Consumer`](super::Consumer).
///
/// It has all that a [`Batch`] has. As long as it is there, its partition is not given to another member of the group,
/// up to the [rebalance timeout](super::ConsumerBuilder::rebalance_timeout).
///
/// **Say that it is done.** [`done`](Self::done) says that all its records are processed, [`done_to`](Self::done_to) that
/// some are. A batch that is dropped before that was not processed: nothing beyond it is committed, and its records
/// **come again**, from the first one that is not done, before any others of the partition. That is what happens when a
/// handler fails, panics, or is cancelled. With [`Commit::Delivered`](super::Commit::Delivered), dropping it is
/// enough.
#[must_use = "a batch that is dropped before it is `done` comes again"]
pub struct GroupBatch {
    batch: Batch,
    lease: Arc<Lease>,
}

impl GroupBatch {
    pub(super) fn new(shared: &Arc<Shared>, batch: Batch, ticket: Ticket) -> Self {
        let span = crate::telemetry::spans::process(
            &shared.settings.group,
            batch.topic(),
            batch.partition(),
            batch.first_offset(),
            batch.len(),
        );
        let lease = Lease {
            shared: Arc::clone(shared),
            ticket,
            span,
            is_cut: AtomicBool::new(false),
        };
        Self {
            batch,
            lease: Arc::new(lease),
        }
    }

    /// All its records are processed.
    ///
    /// It does not wait for a commit: see [`commit`](Self::commit).
    pub fn done(self) {
        self.lease.done(self.lease.ticket.span.clone());
    }

    /// The records before this offset are processed.
    pub fn done_to(&self, offset: i64) {
        let span = &self.lease.ticket.span;
        self.lease.done(span.start..offset.min(span.end));
    }

    /// All its records are processed, and so is to be committed now: waits for the answer.
    ///
    /// # Errors
    /// As [`Committer::commit`](super::Committer::commit): [`Revoked`](crate::ErrorKind::Revoked) if the partition was
    /// taken away meanwhile. Then another member processes these records too.
    ///
    /// # Cancel safety
    /// Cancel-safe: the records are done, and are committed later if not now.
    pub async fn commit(self) -> Result<()> {
        let Self { batch: _, lease } = self;
        let span = lease.ticket.span.clone();
        Lease::commit(lease, std::iter::once(span)).await
    }

    /// Whether its partition is still this consumer's, so that what is done of it counts.
    pub fn is_valid(&self) -> bool {
        self.lease.is_valid()
    }

    /// The partition.
    pub fn topic_partition(&self) -> &TopicPartition {
        &self.lease.ticket.partition
    }

    /// The span of processing it, of OpenTelemetry's kind `consumer`: to be entered, or a parent of others.
    pub fn span(&self) -> &tracing::Span {
        &self.lease.span
    }

    /// Its records one by one, each on its own.
    pub fn into_records(self) -> IntoRecords {
        self.lease.is_cut.store(true, Ordering::Relaxed);
        IntoRecords {
            index: 0,
            from: self.lease.ticket.span.start,
            batch: self,
        }
    }
}

impl Deref for GroupBatch {
    type Target = Batch;

    fn deref(&self) -> &Batch {
        &self.batch
    }
}

impl<'a> IntoIterator for &'a GroupBatch {
    type Item = crate::Record<'a>;
    type IntoIter = crate::Records<'a>;

    fn into_iter(self) -> crate::Records<'a> {
        self.batch.records()
    }
}

impl fmt::Debug for GroupBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupBatch")
            .field("partition", &self.lease.ticket.partition)
            .field("offsets", &(self.first_offset()..=self.last_offset()))
            .finish_non_exhaustive()
    }
}

/// The records of a [`GroupBatch`] one by one. What was not taken when it is dropped comes again.
#[derive(Debug)]
pub struct IntoRecords {
    batch: GroupBatch,
    index: usize,
    from: i64,
}

impl IntoRecords {
    /// The next record, which the program does not have yet.
    pub(super) fn cut(&mut self) -> Option<GroupRecord> {
        let record = self.batch.batch.get(self.index)?;
        self.index += 1;
        // Offsets without a record belong to the one behind them, and those behind the last to it.
        let end = match self.batch.batch.get(self.index) {
            Some(_) => record.offset() + 1,
            None => self.batch.lease.ticket.span.end,
        };
        let span = self.from..end;
        self.from = end;
        Some(GroupRecord {
            record: record.share(),
            span,
            lease: Arc::clone(&self.batch.lease),
            is_taken: false,
        })
    }

    /// The offset of the next record.
    pub(super) fn peek(&self) -> Option<i64> {
        Some(self.batch.batch.get(self.index)?.offset())
    }

    pub(super) fn batch(&self) -> &GroupBatch {
        &self.batch
    }
}

impl Iterator for IntoRecords {
    type Item = GroupRecord;

    fn next(&mut self) -> Option<GroupRecord> {
        let mut record = self.cut()?;
        record.is_taken = true;
        Some(record)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.batch.batch.len() - self.index;
        (left, Some(left))
    }
}

impl ExactSizeIterator for IntoRecords {}

/// A record on its own, handed out by a [`Consumer`](super::Consumer). It has all that an [`OwnedRecord`] has.
///
/// As a [`GroupBatch`] does, it holds its partition; if it is dropped before it is [`done`](Self::done), it and those
/// behind it that are not done come again, once all others of its batch are dropped.
#[must_use = "a record that is dropped before it is `done` comes again"]
pub struct GroupRecord {
    record: OwnedRecord,
    span: Range<i64>,
    lease: Arc<Lease>,
    /// The program has it.
    is_taken: bool,
}

impl Drop for GroupRecord {
    fn drop(&mut self) {
        let shared = &self.lease.shared;
        if self.is_taken && matches!(shared.settings.commit, Commit::Delivered { .. }) {
            // If it does not count any more, another member has it.
            let mut progress = shared.progress();
            progress.done(&self.lease.ticket, self.span.clone());
        }
    }
}

impl GroupRecord {
    /// It is processed.
    pub fn done(self) {
        self.mark_done();
    }

    pub(super) fn mark_done(&self) {
        self.lease.done(self.span.clone());
    }

    /// From now on the program has it.
    pub(super) fn take(&mut self) {
        self.is_taken = true;
    }

    /// Reading stops before it.
    pub(super) fn stop(&self) {
        self.lease.shared.stop(&self.lease.ticket, self.span.start);
    }

    /// These records, of one batch, are processed.
    pub(crate) fn all_done<'a>(records: impl IntoIterator<Item = &'a Self>) {
        let mut records = records.into_iter().peekable();
        if let Some(first) = records.peek() {
            let lease = &first.lease;
            lease.all_done(records.map(|record| record.span.clone()));
        }
    }

    /// As [`all_done`](Self::all_done), and commits. It lets go of them.
    pub(crate) async fn commit_all(records: Vec<Self>) -> Result<()> {
        let Some(first) = records.first() else {
            return Ok(());
        };
        let lease = Arc::clone(&first.lease);
        let spans: Vec<_> = records.iter().map(|record| record.span.clone()).collect();
        drop(records);
        Lease::commit(lease, spans).await
    }

    /// Whether its partition is still this consumer's.
    pub fn is_valid(&self) -> bool {
        self.lease.is_valid()
    }

    /// The partition.
    pub fn topic_partition(&self) -> &TopicPartition {
        &self.lease.ticket.partition
    }

    /// The span of processing its batch.
    pub fn span(&self) -> &tracing::Span {
        &self.lease.span
    }
}

impl AsRef<OwnedRecord> for GroupRecord {
    fn as_ref(&self) -> &OwnedRecord {
        &self.record
    }
}

impl Deref for GroupRecord {
    type Target = OwnedRecord;

    fn deref(&self) -> &OwnedRecord {
        &self.record
    }
}

impl fmt::Debug for GroupRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.record.fmt(f)
    }
}
