//! How far a partition is processed: what of the records that were handed out is done, and up to where without a gap.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use crate::reader::Position;

/// One partition's progress.
///
/// Offsets are taken as spans that touch each other: a span reaches from behind what was handed out before to behind
/// its batch, so that offsets without a record (control records, compaction) belong to one and never hold the
/// watermark back.
#[derive(Debug, Default)]
pub(crate) struct Watermark {
    /// The first offset that is not known to be done; `None` until it is known where reading begins.
    position: Option<i64>,
    /// Behind what was handed out.
    delivered: i64,
    /// What is done beyond `position`: from, to. They neither touch nor overlap.
    done: BTreeMap<i64, i64>,
    /// Where what was handed out ends, and the epochs of the leaders that wrote it (KIP-320). In order.
    epochs: VecDeque<(i64, i32)>,
}

impl Watermark {
    /// Begins there, and nothing of what was done before counts.
    pub(crate) fn start(&mut self, position: Position) {
        *self = Self {
            position: Some(position.offset),
            delivered: position.offset,
            done: BTreeMap::new(),
            epochs: VecDeque::from([(position.offset, position.epoch)]),
        };
    }

    /// What may be committed. The epoch is that of the last record before it; -1 if it is not known.
    pub(crate) fn position(&self) -> Option<Position> {
        let offset = self.position?;
        let found = self.epochs.iter().find(|&&(end, _)| end >= offset);
        Some(Position::new(offset, found.map_or(-1, |&(_, epoch)| epoch)))
    }

    /// A batch is handed out, which begins with `first` and ends before `next`. Gives its span.
    pub(crate) fn deliver(&mut self, first: i64, next: Position) -> Range<i64> {
        if self.position.is_none() {
            self.start(Position::at(first));
        }
        let span = self.delivered.min(first)..next.offset;
        self.delivered = next.offset;
        self.epochs.push_back((next.offset, next.epoch));
        span
    }

    /// The reader has nothing more before this. What nobody has to process is done by itself: batches that hold
    /// nothing to see, for one.
    pub(crate) fn reached(&mut self, position: Position) {
        match self.position {
            None => self.start(position),
            Some(at) if at == self.delivered && position.offset > at => self.start(position),
            Some(_) => {}
        }
    }

    /// A span, or part of one, is done.
    pub(crate) fn done(&mut self, span: Range<i64>) {
        let Some(position) = self.position else {
            return;
        };
        let (mut from, mut to) = (span.start.max(position), span.end);
        if from >= to {
            return;
        }
        // What touches it becomes one with it.
        while let Some((&start, &end)) = self.done.range(..=to).next_back() {
            if end < from {
                break;
            }
            from = from.min(start);
            to = to.max(end);
            self.done.remove(&start);
        }
        if from == position {
            self.position = Some(to);
            while self.epochs.len() > 1 && self.epochs.front().is_some_and(|&(end, _)| end < to) {
                self.epochs.pop_front();
            }
        } else {
            self.done.insert(from, to);
        }
    }

    /// The first offset of a span that is not done.
    pub(crate) fn first_undone(&self, span: &Range<i64>) -> Option<i64> {
        let mut at = span.start.max(self.position?);
        if let Some((_, &end)) = self.done.range(..=at).next_back() {
            at = at.max(end);
        }
        (at < span.end).then_some(at)
    }

    /// What was handed out from there on comes again. What of it is done stays so. Gives where to read on, or
    /// `None` if it comes anyway.
    pub(crate) fn rewind(&mut self, to: i64) -> Option<Position> {
        if to >= self.delivered {
            return None;
        }
        self.delivered = to;
        let before = self.epochs.iter().find(|&&(end, _)| end >= to);
        let epoch = before.map_or(-1, |&(_, epoch)| epoch);
        while self.epochs.back().is_some_and(|&(end, _)| end > to) {
            self.epochs.pop_back();
        }
        self.epochs.push_back((to, epoch));
        Some(Position::new(to, epoch))
    }

    /// Behind all that was handed out.
    #[cfg(test)]
    pub(crate) fn delivered(&self) -> i64 {
        self.delivered
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn what_is_done_out_of_order_counts_once_the_gap_is_closed() {
        let mut watermark = Watermark::default();
        watermark.start(Position::new(5, 1));
        let first = watermark.deliver(5, Position::new(10, 2));
        let second = watermark.deliver(12, Position::new(20, 3));
        assert_eq!((first.clone(), second.clone()), (5..10, 10..20));
        watermark.done(second);
        assert_eq!(watermark.position(), Some(Position::new(5, 1)));
        watermark.done(7..9);
        watermark.done(5..7);
        assert_eq!(watermark.position(), Some(Position::new(9, 2)));
        assert_eq!(watermark.first_undone(&first), Some(9));
        watermark.done(9..10);
        assert_eq!(watermark.position(), Some(Position::new(20, 3)));
        // What holds no records is done by itself, and only when nothing is out.
        watermark.reached(Position::new(23, 3));
        assert_eq!(watermark.position(), Some(Position::new(23, 3)));
        watermark.deliver(23, Position::new(24, 3));
        watermark.reached(Position::new(30, 4));
        assert_eq!(watermark.position(), Some(Position::new(23, 3)));
    }

    #[test]
    fn what_comes_again_keeps_what_was_done_of_it() {
        let mut watermark = Watermark::default();
        let first = watermark.deliver(0, Position::new(10, 1));
        watermark.deliver(10, Position::new(20, 2));
        watermark.done(10..20);
        let undone = watermark.first_undone(&first).expect("something");
        assert_eq!(watermark.rewind(undone), Some(Position::new(0, -1)));
        assert_eq!(watermark.rewind(10), None, "it comes anyway");
        assert_eq!(watermark.deliver(0, Position::new(10, 1)), 0..10);
        watermark.done(0..10);
        assert_eq!(watermark.position().map(|at| at.offset), Some(20));
    }

    /// Against a set of offsets: batches with gaps, done in any order, dropped, and handed out again.
    #[test]
    fn it_is_the_first_offset_that_is_not_done() {
        for seed in 0..2000 {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut watermark = Watermark::default();
            watermark.start(Position::at(0));
            let mut done = BTreeSet::new();
            let mut out: Vec<Range<i64>> = Vec::new();
            let mut behind = 0;
            let mut reached = 0;
            for _ in 0..60 {
                match random.u8(0..6) {
                    0..=2 => {
                        let first = behind + random.i64(0..3);
                        let next = first + random.i64(1..8);
                        let span = watermark.deliver(first, Position::new(next, 7));
                        assert_eq!(span, behind..next);
                        behind = next;
                        reached = reached.max(next);
                        out.push(span);
                    }
                    3 if !out.is_empty() => {
                        let span = out.swap_remove(random.usize(0..out.len()));
                        done.extend(span.clone());
                        watermark.done(span);
                    }
                    4 if !out.is_empty() => {
                        // Part of it.
                        let span = out[random.usize(0..out.len())].clone();
                        let from = random.i64(span.clone());
                        let to = random.i64(from..span.end) + 1;
                        done.extend(from..to);
                        watermark.done(from..to);
                    }
                    5 if !out.is_empty() => {
                        let span = out.swap_remove(random.usize(0..out.len()));
                        let undone = span.clone().find(|offset| !done.contains(offset));
                        assert_eq!(watermark.first_undone(&span), undone);
                        if let Some(undone) = undone {
                            let place = watermark.rewind(undone);
                            assert_eq!(place.is_some(), undone < behind);
                            behind = behind.min(undone);
                        }
                    }
                    _ => {}
                }
                let expected = (0..).find(|offset| !done.contains(offset));
                let position = watermark.position().map(|position| position.offset);
                assert_eq!(position, expected, "seed {seed}");
                assert_eq!(watermark.delivered(), behind);
                assert!(
                    position <= Some(reached),
                    "never beyond what was handed out"
                );
            }
        }
    }
}
