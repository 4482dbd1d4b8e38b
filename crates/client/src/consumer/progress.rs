//! The partitions that a consumer has, and how far each is processed: no socket, no clock, no task.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::time::Duration;

use tokio::time::Instant;

use super::offsets::Committed;
use super::watermark::Watermark;
use crate::TopicPartition;
use crate::reader::Position;

/// What a batch or record that was handed out refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) partition: TopicPartition,
    /// Of the partition: changes when it is taken away and given again, and with each seek.
    pub(crate) term: u64,
    /// Of this batch among all.
    pub(crate) number: u64,
    pub(crate) span: Range<i64>,
}

#[derive(Debug)]
struct Entry {
    /// Changes when the partition is taken away and given again.
    assignment: u64,
    term: u64,
    watermark: Watermark,
    /// Batches that are out, and since when.
    held: BTreeMap<u64, Instant>,
    /// It is to be given up: nothing more of it is handed out.
    leaving: bool,
    /// Where it begins is known, and it is read.
    located: bool,
    committed: Option<Committed>,
}

/// An offset that is to be committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToCommit {
    pub(crate) partition: TopicPartition,
    /// It counts as long as this is the partition's.
    pub(crate) assignment: u64,
    pub(crate) offset: Committed,
}

/// What follows when a batch was let go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Released {
    /// Nothing.
    Kept,
    /// The reader goes back to there: it comes again.
    Again(Position),
}

#[derive(Debug, Default)]
pub(crate) struct Progress {
    partitions: HashMap<TopicPartition, Entry>,
    counter: u64,
    /// What is let go is done, whether or not anybody said so.
    delivered_is_done: bool,
}

impl Progress {
    pub(crate) fn new(delivered_is_done: bool) -> Self {
        Self {
            delivered_is_done,
            ..Self::default()
        }
    }

    fn count(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }

    /// A partition is ours, and it is not known yet where it begins. Gives the assignment's number.
    pub(crate) fn assign(&mut self, partition: TopicPartition) -> u64 {
        let term = self.count();
        let entry = Entry {
            assignment: term,
            term,
            watermark: Watermark::default(),
            held: BTreeMap::new(),
            leaving: false,
            located: false,
            committed: None,
        };
        self.partitions.insert(partition, entry);
        term
    }

    /// It is known where a partition begins: at `start`, or where the reader will find out. Says whether it is
    /// still ours, of the same assignment.
    pub(crate) fn located(
        &mut self,
        partition: &TopicPartition,
        assignment: u64,
        committed: Option<Committed>,
        start: Option<Position>,
    ) -> bool {
        let Some(entry) = self.partitions.get_mut(partition) else {
            return false;
        };
        if entry.assignment != assignment || entry.leaving {
            return false;
        }
        entry.located = true;
        entry.committed = committed;
        if let Some(start) = start {
            entry.watermark.start(start);
        }
        true
    }

    /// It goes on from another place: what was handed out before does not count any more. `None` if the place is
    /// not known yet.
    pub(crate) fn seek(&mut self, partition: &TopicPartition, to: Option<Position>) -> bool {
        let term = self.count();
        let Some(entry) = self.partitions.get_mut(partition).filter(|e| e.located) else {
            return false;
        };
        entry.term = term;
        entry.held.clear();
        entry.watermark = Watermark::default();
        if let Some(to) = to {
            entry.watermark.start(to);
        }
        true
    }

    /// Nothing more of these is handed out.
    pub(crate) fn leave(&mut self, partitions: &[TopicPartition]) {
        for partition in partitions {
            if let Some(entry) = self.partitions.get_mut(partition) {
                entry.leaving = true;
            }
        }
    }

    /// They are not ours any more.
    pub(crate) fn remove(&mut self, partitions: &[TopicPartition]) {
        for partition in partitions {
            self.partitions.remove(partition);
        }
    }

    /// A batch is about to be handed out. `None`: it must not be, as its partition is leaving, or all of it is done
    /// already.
    pub(crate) fn deliver(
        &mut self,
        partition: &TopicPartition,
        first: i64,
        next: Position,
        now: Instant,
    ) -> Option<Ticket> {
        let number = self.count();
        let entry = self.partitions.get_mut(partition)?;
        if entry.leaving {
            return None;
        }
        let span = entry.watermark.deliver(first, next);
        entry.watermark.first_undone(&span)?;
        entry.held.insert(number, now);
        Some(Ticket {
            partition: partition.clone(),
            term: entry.term,
            number,
            span,
        })
    }

    fn entry(&mut self, ticket: &Ticket) -> Option<&mut Entry> {
        let entry = self.partitions.get_mut(&ticket.partition)?;
        (entry.term == ticket.term).then_some(entry)
    }

    /// Whether what was handed out with the ticket can still be committed.
    pub(crate) fn is_valid(&self, ticket: &Ticket) -> bool {
        self.partitions
            .get(&ticket.partition)
            .is_some_and(|entry| entry.term == ticket.term)
    }

    /// Part of a batch is done. Says whether that counts: the partition is still ours.
    pub(crate) fn done(&mut self, ticket: &Ticket, span: Range<i64>) -> bool {
        let Some(entry) = self.entry(ticket) else {
            return false;
        };
        entry.watermark.done(span);
        true
    }

    /// Reading stops before this offset of a batch that is out. Gives where it stands then; `None` if that is of no
    /// matter: the partition is not ours any more, is being given up, or comes again from before anyway.
    pub(crate) fn stop(&mut self, ticket: &Ticket, offset: i64) -> Option<Position> {
        let entry = self.entry(ticket).filter(|entry| !entry.leaving)?;
        entry.watermark.rewind(offset)
    }

    /// A batch is let go, done or not. `as_a_whole`: it was handed out so, not record by record.
    pub(crate) fn release(&mut self, ticket: &Ticket, as_a_whole: bool) -> Released {
        let delivered_is_done = self.delivered_is_done && as_a_whole;
        let Some(entry) = self.entry(ticket) else {
            return Released::Kept;
        };
        entry.held.remove(&ticket.number);
        if delivered_is_done {
            entry.watermark.done(ticket.span.clone());
            return Released::Kept;
        }
        if entry.leaving {
            return Released::Kept;
        }
        let undone = entry.watermark.first_undone(&ticket.span);
        let again = undone.and_then(|undone| entry.watermark.rewind(undone));
        again.map_or(Released::Kept, Released::Again)
    }

    /// The reader stands there and has nothing more to hand out now.
    pub(crate) fn reached(
        &mut self,
        mut position: impl FnMut(&TopicPartition) -> Option<Position>,
    ) {
        for (partition, entry) in &mut self.partitions {
            if entry.located
                && !entry.leaving
                && let Some(at) = position(partition)
            {
                entry.watermark.reached(at);
            }
        }
    }

    /// What is processed and not committed, of all partitions or of some.
    pub(crate) fn uncommitted(&self, of: Option<&[TopicPartition]>) -> Vec<ToCommit> {
        let all = self.partitions.iter();
        let wanted = all.filter(|(partition, _)| of.is_none_or(|of| of.contains(partition)));
        wanted
            .filter_map(|(partition, entry)| {
                let at = entry.watermark.position()?;
                let known = entry.committed.as_ref();
                let news = known.is_none_or(|known| known.offset != at.offset);
                news.then(|| ToCommit {
                    partition: partition.clone(),
                    assignment: entry.assignment,
                    offset: Committed::at(at),
                })
            })
            .collect()
    }

    /// The coordinator has these.
    pub(crate) fn committed(&mut self, partition: &TopicPartition, offset: Committed) {
        if let Some(entry) = self.partitions.get_mut(partition) {
            entry.committed = Some(offset);
        }
    }

    pub(crate) fn is_leaving(&self, partition: &TopicPartition) -> bool {
        self.partitions
            .get(partition)
            .is_some_and(|entry| entry.leaving)
    }

    /// Nobody waits for batches that are out, as nobody would say that they are done.
    pub(crate) fn let_go(&mut self) {
        for entry in self.partitions.values_mut() {
            entry.held.clear();
        }
    }

    /// The number of the assignment that gave us a partition.
    pub(crate) fn assignment_of(&self, partition: &TopicPartition) -> Option<u64> {
        self.partitions.get(partition).map(|entry| entry.assignment)
    }

    /// What can be committed of a partition.
    pub(crate) fn processed(&self, partition: &TopicPartition) -> Option<Position> {
        self.partitions.get(partition)?.watermark.position()
    }

    /// The partitions that are ours, sorted.
    pub(crate) fn assignment(&self) -> Vec<TopicPartition> {
        let mut partitions: Vec<_> = self.partitions.keys().cloned().collect();
        partitions.sort_unstable();
        partitions
    }

    /// Those that are read and stay, and the numbers of their assignments.
    pub(crate) fn present(&self) -> HashMap<TopicPartition, u64> {
        let all = self.partitions.iter();
        all.filter(|(_, entry)| entry.located && !entry.leaving)
            .map(|(partition, entry)| (partition.clone(), entry.assignment))
            .collect()
    }

    /// Whether batches of these are out.
    pub(crate) fn is_held(&self, partitions: &[TopicPartition]) -> bool {
        partitions.iter().any(|partition| {
            let entry = self.partitions.get(partition);
            entry.is_some_and(|entry| !entry.held.is_empty())
        })
    }

    /// The batch that is out for longest: of which partition, and since when.
    pub(crate) fn oldest(&self) -> Option<(&TopicPartition, Instant)> {
        let held = self.partitions.iter().filter_map(|(partition, entry)| {
            let since = entry.held.values().min()?;
            Some((partition, *since))
        });
        held.min_by_key(|(_, since)| *since)
    }
}

/// When a consumer that does not come back for more is given up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub(crate) limit: Duration,
    /// Since when nobody waits for the next batch; `None` while somebody does.
    pub(crate) idle_since: Option<Instant>,
}

impl Patience {
    /// When that is, going by the batch that is out for longest and by when a batch was last asked for. The second
    /// counts only while there is something to hand out.
    pub(crate) fn deadline(&self, oldest: Option<Instant>, has_event: bool) -> Option<Instant> {
        let idle = self.idle_since.filter(|_| has_event);
        let since = match (oldest, idle) {
            (Some(held), Some(idle)) => Some(held.min(idle)),
            (held, idle) => held.or(idle),
        };
        since.map(|since| since + self.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partition() -> TopicPartition {
        TopicPartition::new("orders", 3)
    }

    fn with_one(delivered_is_done: bool) -> Progress {
        let mut progress = Progress::new(delivered_is_done);
        let term = progress.assign(partition());
        assert!(progress.located(&partition(), term, None, Some(Position::at(0))));
        progress
    }

    fn offsets(progress: &Progress) -> Vec<i64> {
        let all = progress.uncommitted(None).into_iter();
        all.map(|one| one.offset.offset).collect()
    }

    #[tokio::test]
    async fn what_is_dropped_before_it_is_done_comes_again() {
        let now = Instant::now();
        let mut progress = with_one(false);
        let first = progress.deliver(&partition(), 0, Position::at(10), now);
        let first = first.expect("a ticket");
        let second = progress.deliver(&partition(), 10, Position::at(20), now);
        let second = second.expect("a ticket");
        assert!(progress.done(&second, second.span.clone()));
        assert_eq!(progress.release(&second, true), Released::Kept);
        assert!(progress.done(&first, 0..4));
        let again = Position::at(4);
        assert_eq!(progress.release(&first, true), Released::Again(again));
        assert!(!progress.is_held(&[partition()]));
        assert_eq!(offsets(&progress), [4]);
        let rest = progress.deliver(&partition(), 4, Position::at(10), now);
        let rest = rest.expect("a ticket");
        assert_eq!(rest.span, 4..10);
        // The second one is done: it is not handed out again.
        assert_eq!(
            progress.deliver(&partition(), 10, Position::at(20), now),
            None
        );
        progress.done(&rest, 4..10);
        assert_eq!(progress.release(&rest, true), Released::Kept);
        assert_eq!(offsets(&progress), [20]);
        progress.committed(&partition(), Committed::at(Position::at(20)));
        assert!(offsets(&progress).is_empty());
    }

    #[tokio::test]
    async fn after_a_revocation_nothing_counts() {
        let now = Instant::now();
        let mut progress = with_one(false);
        let ticket = progress.deliver(&partition(), 0, Position::at(10), now);
        let ticket = ticket.expect("a ticket");
        progress.leave(&[partition()]);
        assert!(progress.is_held(&[partition()]));
        assert_eq!(
            progress.deliver(&partition(), 10, Position::at(20), now),
            None
        );
        assert!(progress.is_valid(&ticket), "not yet");
        progress.remove(&[partition()]);
        assert!(!progress.is_valid(&ticket));
        let term = progress.assign(partition());
        assert!(progress.located(&partition(), term, None, Some(Position::at(0))));
        assert!(!progress.done(&ticket, ticket.span.clone()));
        assert_eq!(progress.release(&ticket, true), Released::Kept);
        assert_eq!(offsets(&progress), [0]);
    }

    #[tokio::test]
    async fn what_was_delivered_is_done_when_it_is_let_go() {
        let mut progress = with_one(true);
        let ticket = progress.deliver(&partition(), 0, Position::at(10), Instant::now());
        assert_eq!(offsets(&progress), [0], "it is being looked at");
        assert_eq!(
            progress.release(&ticket.expect("a ticket"), true),
            Released::Kept
        );
        assert_eq!(offsets(&progress), [10]);
    }

    #[tokio::test]
    async fn of_what_goes_out_record_by_record_only_what_was_taken_is_done() {
        let now = Instant::now();
        let mut progress = with_one(true);
        let ticket = progress.deliver(&partition(), 0, Position::at(10), now);
        let ticket = ticket.expect("a ticket");
        assert!(progress.done(&ticket, 0..3));
        let again = Released::Again(Position::at(3));
        assert_eq!(progress.release(&ticket, false), again);
        assert_eq!(offsets(&progress), [3]);
    }

    #[tokio::test]
    async fn a_partition_that_was_stopped_does_not_go_on_when_its_batch_is_let_go() {
        let now = Instant::now();
        let mut progress = with_one(false);
        let ticket = progress.deliver(&partition(), 0, Position::at(10), now);
        let ticket = ticket.expect("a ticket");
        assert_eq!(progress.stop(&ticket, 4), Some(Position::at(4)));
        assert!(progress.done(&ticket, 0..4));
        assert_eq!(progress.release(&ticket, true), Released::Kept);
        assert_eq!(offsets(&progress), [4]);
        // What is before it and not done comes again.
        let mut progress = with_one(false);
        let ticket = progress.deliver(&partition(), 0, Position::at(10), now);
        let ticket = ticket.expect("a ticket");
        assert!(progress.stop(&ticket, 4).is_some());
        assert!(progress.done(&ticket, 0..2));
        let again = Released::Again(Position::at(2));
        assert_eq!(progress.release(&ticket, true), again);
        progress.leave(&[partition()]);
        assert_eq!(progress.stop(&ticket, 4), None, "it goes");
    }
}
