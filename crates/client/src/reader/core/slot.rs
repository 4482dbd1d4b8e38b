//! One partition that is read.

use std::collections::VecDeque;

use copart_protocol::Uuid;
use tokio::time::Instant;

use super::cursor::Chunk;
use super::position::{Anchor, Bound, Origin, Position};
use crate::{Error, TopicPartition};

/// What is done about a partition.
#[derive(Clone, Debug)]
pub(crate) enum State {
    /// Its position is asked for. At first, after a seek to a time or an end, and after [`Draining`](Self::Draining).
    Locating(Anchor),
    /// It is fetched. After `Locating`, `Validating`, or a seek to an offset.
    Fetching,
    /// Its leader has changed: whether the new one has what was read is asked for (KIP-320). After `Fetching`.
    Validating,
    /// What was fetched is handed out; then comes the verdict. After `Fetching`.
    Draining(Verdict),
    /// It is at its end. After all but `Failed`.
    Ended,
    /// An error was told, and a seek makes it go on. After any.
    Failed,
}

/// What happens to a partition once all that was fetched is handed out.
#[derive(Clone, Debug)]
pub(crate) enum Verdict {
    /// Its position is not in the log.
    OutOfRange,
    Fail(Error),
}

/// A request that is out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InFlight {
    pub(crate) node: i32,
    pub(crate) token: u64,
}

/// The last that was heard of a partition's ends; -1 for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    pub(crate) high_watermark: i64,
    pub(crate) last_stable_offset: i64,
    pub(crate) log_start_offset: i64,
}

#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) partition: TopicPartition,
    pub(crate) topic_id: Uuid,
    /// Changes with each seek: what was fetched before is void.
    pub(crate) generation: u64,
    /// Changes whenever answers to what was asked before are void.
    pub(crate) token: u64,
    pub(crate) state: State,
    pub(crate) bound: Bound,
    pub(crate) paused: bool,
    pub(crate) leader: Option<i32>,
    pub(crate) leader_epoch: i32,
    /// The replica that the leader sent us to, and until when (KIP-392).
    pub(crate) preferred: Option<(i32, Instant)>,
    /// Behind what was handed out.
    pub(crate) position: Position,
    /// Behind what was fetched.
    pub(crate) fetched: Position,
    pub(crate) queue: VecDeque<Chunk>,
    /// Bytes in `queue`.
    pub(crate) buffered: usize,
    /// Whether it stands in the line of those that have something.
    pub(crate) listed: bool,
    pub(crate) in_flight: Option<InFlight>,
    /// A lookup is out.
    pub(crate) asking: bool,
    pub(crate) failures: u32,
    pub(crate) not_before: Option<Instant>,
    /// The most that is asked for; grows when a batch does not fit.
    pub(crate) max_bytes: i32,
    pub(crate) ends: Ends,
}

impl Slot {
    pub(crate) fn new(partition: TopicPartition, max_bytes: i32) -> Self {
        Self {
            partition,
            topic_id: Uuid::ZERO,
            generation: 0,
            token: 0,
            state: State::Failed,
            bound: Bound::None,
            paused: false,
            leader: None,
            leader_epoch: -1,
            preferred: None,
            position: Position::at(-1),
            fetched: Position::at(-1),
            queue: VecDeque::new(),
            buffered: 0,
            listed: false,
            in_flight: None,
            asking: false,
            failures: 0,
            not_before: None,
            max_bytes,
            ends: Ends {
                high_watermark: -1,
                last_stable_offset: -1,
                log_start_offset: -1,
            },
        }
    }

    /// Begins at `origin`. What was fetched has been taken out before.
    pub(crate) fn begin(&mut self, origin: Origin) {
        match origin {
            Origin::At(position) => {
                self.position = position;
                self.fetched = position;
                self.state = State::Fetching;
                self.end_if_through();
            }
            Origin::Find(anchor) => {
                self.position = Position::at(-1);
                self.fetched = self.position;
                self.state = State::Locating(anchor);
            }
        }
        self.forgive();
    }

    /// Where it ends, if that is known.
    pub(crate) fn until(&self) -> i64 {
        match self.bound {
            Bound::At(offset) => offset,
            Bound::None | Bound::Find(_) => i64::MAX,
        }
    }

    pub(crate) fn end_if_through(&mut self) {
        let at_end = self.position.offset >= self.until();
        if at_end && matches!(self.state, State::Fetching | State::Validating) {
            self.state = State::Ended;
        }
    }

    /// Nothing will come of it by itself.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self.state, State::Ended | State::Failed)
    }

    /// Everything that was fetched is handed out.
    pub(crate) fn is_drained(&self) -> bool {
        self.position.offset >= self.fetched.offset
    }

    /// The node to fetch from.
    pub(crate) fn node(&self, now: Instant) -> Option<i32> {
        match self.preferred {
            Some((node, until)) if now < until => Some(node),
            _ => self.leader,
        }
    }

    /// Whether it may be fetched at all, buffers aside.
    pub(crate) fn is_fetchable(&self) -> bool {
        matches!(self.state, State::Fetching)
            && !matches!(self.bound, Bound::Find(_))
            && !self.paused
            && self.in_flight.is_none()
            && self.fetched.offset < self.until()
    }

    pub(crate) fn is_ripe(&self, now: Instant) -> bool {
        self.not_before.is_none_or(|at| at <= now)
    }

    /// Something went well: the next failure is the first.
    pub(crate) fn forgive(&mut self) {
        self.failures = 0;
        self.not_before = None;
    }
}
