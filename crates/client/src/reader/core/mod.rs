//! What a reader knows and decides: no socket, no clock, no task.
//!
//! Which partitions are read is an input ([`FetchCore::assign`], `revoke`, `seek`, `pause`, `resume`), so that a
//! group can decide it as well as a program. What comes out are requests to be sent ([`FetchCore::poll_fetch`],
//! [`FetchCore::poll_lookups`]) and what was read ([`FetchCore::poll_event`]).
//!
//! - `slot`: one partition and its states.
//! - `position`: where it stands, and what a leader is asked about that.
//! - `fetch`: requests and answers, under one memory budget.
//! - `lookup`: finding positions, and noticing truncation.
//! - `session`: what a broker knows of our partitions.
//! - `cursor`: from bytes to batches; `aborted`: what of them is hidden.

mod aborted;
mod cursor;
mod fetch;
mod lookup;
mod position;
mod session;
mod slot;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use copart_protocol::{ErrorCode, Uuid};
use tokio::time::Instant;

pub(crate) use cursor::{Chunk, Cursor, Cut};
pub(crate) use fetch::{Aftermath, Offered, Plan, Turn, read_answer};
pub(crate) use position::{Anchor, Bound, Origin, Position, Query, QueryKind, Reply};
pub(crate) use session::TOPIC_IDS;
pub(crate) use slot::Ends;

use crate::cluster::Topic;
use crate::{Backoff, Error, ErrorKind, TopicPartition};
use fetch::Node;
use slot::{Slot, State, Verdict};

/// What is done when a position is not in the log any more, or not yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reset {
    Earliest,
    Latest,
    /// To the first record that is not older than this.
    Ago(Duration),
    Error,
}

#[derive(Clone, Debug)]
pub(crate) struct CoreConfig {
    /// Aborted transactions are hidden, and reading ends at the last stable offset.
    pub(crate) committed: bool,
    pub(crate) min_bytes: i32,
    pub(crate) max_bytes: i32,
    pub(crate) max_wait: Duration,
    pub(crate) partition_max_bytes: i32,
    /// Bytes that are fetched ahead, of all partitions together.
    pub(crate) memory: usize,
    pub(crate) rack: String,
    pub(crate) reset: Reset,
    /// More partitions may come, also when nothing comes of those that there are.
    pub(crate) endless: bool,
    pub(crate) backoff: Backoff,
    /// How long a follower is read from before the leader is asked again.
    pub(crate) replica_max_age: Duration,
}

/// What there is for the application.
#[derive(Debug)]
pub(crate) enum Event {
    Chunk(Chunk),
    /// A partition can't be read on. Others can.
    Error(Error),
    /// Nothing more will come.
    End,
}

/// Bytes of one answer that something still refers to.
#[derive(Debug)]
struct Frame {
    node: i32,
    bytes: usize,
    chunks: usize,
}

#[derive(Debug)]
pub(crate) struct FetchCore {
    config: CoreConfig,
    /// A partition keeps its place as long as it is assigned.
    slots: Vec<Option<Slot>>,
    places: HashMap<TopicPartition, usize>,
    /// Names by ids, for answers that have no names.
    names: HashMap<Uuid, Arc<str>>,
    brokers: BTreeSet<i32>,
    nodes: HashMap<i32, Node>,
    frames: HashMap<u64, Frame>,
    /// Partitions that have something, in the order of their turns.
    line: VecDeque<usize>,
    errors: VecDeque<Error>,
    /// For generations, tokens and frames.
    counter: u64,
}

impl FetchCore {
    pub(crate) fn new(config: CoreConfig) -> Self {
        Self {
            config,
            slots: Vec::new(),
            places: HashMap::new(),
            names: HashMap::new(),
            brokers: BTreeSet::new(),
            nodes: HashMap::new(),
            frames: HashMap::new(),
            line: VecDeque::new(),
            errors: VecDeque::new(),
            counter: 0,
        }
    }

    fn count(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }

    fn slot(&self, place: usize) -> Option<&Slot> {
        self.slots.get(place)?.as_ref()
    }

    fn slot_mut(&mut self, place: usize) -> Option<&mut Slot> {
        self.slots.get_mut(place)?.as_mut()
    }

    fn find(&self, partition: &TopicPartition) -> Option<&Slot> {
        self.slot(*self.places.get(partition)?)
    }

    fn all(&self) -> impl Iterator<Item = (usize, &Slot)> {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(|(place, slot)| Some((place, slot.as_ref()?)))
    }

    /// Reads a partition from now on. One that is assigned already stays as it is.
    pub(crate) fn assign(&mut self, partition: TopicPartition, origin: Origin, bound: Bound) {
        if self.places.contains_key(&partition) {
            return;
        }
        let mut slot = Slot::new(partition.clone(), self.config.partition_max_bytes);
        slot.generation = self.count();
        slot.token = slot.generation;
        slot.bound = bound;
        slot.begin(origin);
        let free = self.slots.iter().position(Option::is_none);
        let place = free.unwrap_or(self.slots.len());
        if free.is_none() {
            self.slots.push(None);
        }
        self.slots[place] = Some(slot);
        self.places.insert(partition, place);
    }

    /// Takes a partition that there is no place to begin in: the error is told, and a seek makes it go on.
    pub(crate) fn assign_failed(&mut self, partition: TopicPartition, error: Error) {
        self.assign(partition.clone(), Origin::At(Position::at(-1)), Bound::None);
        if let Some(&place) = self.places.get(&partition) {
            self.fail(place, error);
        }
    }

    /// Whether anything waits to be handed out.
    pub(crate) fn has_event(&self) -> bool {
        !self.errors.is_empty() || !self.line.is_empty()
    }

    /// The next offset to be handed out and the epoch of what is before it; `None` while it is not known.
    pub(crate) fn standing(&self, partition: &TopicPartition) -> Option<Position> {
        let position = self.find(partition)?.position;
        (position.offset >= 0).then_some(position)
    }

    /// Reads it no more. What was fetched of it is forgotten.
    pub(crate) fn revoke(&mut self, partition: &TopicPartition) -> bool {
        let Some(place) = self.places.remove(partition) else {
            return false;
        };
        self.errors.retain(|error| {
            let context = error.context();
            context.partition != Some(partition.partition)
                || context.topic.as_ref() != Some(&partition.topic)
        });
        self.drop_queue(place);
        self.slots[place] = None;
        self.line.retain(|&listed| listed != place);
        true
    }

    /// Goes on from another place, also after an error.
    pub(crate) fn seek(&mut self, partition: &TopicPartition, origin: Origin) -> bool {
        let Some(&place) = self.places.get(partition) else {
            return false;
        };
        self.begin_at(place, origin);
        true
    }

    /// As [`seek`](Self::seek), with another end.
    pub(crate) fn seek_within(
        &mut self,
        partition: &TopicPartition,
        origin: Origin,
        bound: Bound,
    ) -> bool {
        let Some(&place) = self.places.get(partition) else {
            return false;
        };
        if let Some(slot) = self.slot_mut(place) {
            slot.bound = bound;
        }
        self.begin_at(place, origin);
        true
    }

    /// Stands there, and reads nothing until a seek: whoever calls tells why.
    pub(crate) fn stop_at(&mut self, partition: &TopicPartition, position: Position) {
        let Some(&place) = self.places.get(partition) else {
            return;
        };
        self.begin_at(place, Origin::At(position));
        if let Some(slot) = self.slot_mut(place) {
            slot.state = State::Failed;
        }
    }

    fn begin_at(&mut self, place: usize, origin: Origin) {
        self.drop_queue(place);
        let generation = self.count();
        if let Some(slot) = self.slot_mut(place) {
            slot.generation = generation;
            slot.token = generation;
            slot.asking = false;
            slot.begin(origin);
        }
    }

    /// Hands nothing of it out until it is resumed. What was fetched of it stays while there is memory.
    pub(crate) fn pause(&mut self, partition: &TopicPartition, paused: bool) -> bool {
        let Some(&place) = self.places.get(partition) else {
            return false;
        };
        if let Some(slot) = self.slot_mut(place) {
            slot.paused = paused;
        }
        if paused {
            self.line.retain(|&listed| listed != place);
            if let Some(slot) = self.slot_mut(place) {
                slot.listed = false;
            }
        } else {
            self.list(place);
        }
        true
    }

    pub(crate) fn is_paused(&self, partition: &TopicPartition) -> bool {
        self.find(partition).is_some_and(|slot| slot.paused)
    }

    pub(crate) fn partitions(&self) -> Vec<TopicPartition> {
        let mut partitions: Vec<_> = self.places.keys().cloned().collect();
        partitions.sort_unstable();
        partitions
    }

    /// The next offset to be handed out; `None` while it is not known.
    pub(crate) fn position(&self, partition: &TopicPartition) -> Option<i64> {
        let position = self.find(partition)?.position.offset;
        (position >= 0).then_some(position)
    }

    pub(crate) fn ends(&self, partition: &TopicPartition) -> Option<Ends> {
        self.find(partition).map(|slot| slot.ends)
    }

    /// Whether what was fetched under `generation` is still wanted.
    pub(crate) fn is_current(&self, place: usize, generation: u64) -> bool {
        self.slot(place)
            .is_some_and(|slot| slot.generation == generation)
    }

    /// What there is. `None`: nothing now.
    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        if let Some(error) = self.errors.pop_front() {
            return Some(Event::Error(error));
        }
        while let Some(place) = self.line.pop_front() {
            let Some(slot) = self.slot_mut(place) else {
                continue;
            };
            slot.listed = false;
            let Some(chunk) = slot.queue.pop_front() else {
                continue;
            };
            slot.buffered -= chunk.records.len();
            // Behind the others: each partition has its turn.
            self.list(place);
            return Some(Event::Chunk(chunk));
        }
        if self.config.endless {
            return None;
        }
        let over = !self.places.is_empty() && self.all().all(|(_, slot)| slot.is_over());
        over.then_some(Event::End)
    }

    /// Part of a chunk was handed out. Says whether something else follows from it.
    pub(crate) fn delivered(&mut self, place: usize, generation: u64, position: Position) -> bool {
        let Some(slot) = self.slot_mut(place) else {
            return false;
        };
        if slot.generation != generation {
            return false;
        }
        slot.position = position;
        if slot.is_drained() {
            self.settle(place);
            return true;
        }
        false
    }

    /// A chunk is through, or was given up: its memory is free.
    pub(crate) fn release(&mut self, frame: u64) {
        let Some(known) = self.frames.get_mut(&frame) else {
            return;
        };
        known.chunks -= 1;
        if known.chunks == 0 {
            let (node, bytes) = (known.node, known.bytes);
            self.frames.remove(&frame);
            if let Some(node) = self.nodes.get_mut(&node) {
                node.used -= bytes;
            }
        }
    }

    /// A partition's data makes no sense: it is told, and reading it stops.
    pub(crate) fn damaged(&mut self, place: usize, generation: u64, error: Error) {
        if self.is_current(place, generation) {
            self.drop_queue(place);
            self.fail(place, error);
        }
    }

    /// Metadata names the brokers.
    pub(crate) fn set_brokers(&mut self, brokers: impl IntoIterator<Item = i32>) {
        self.brokers = brokers.into_iter().collect();
        let known = std::mem::take(&mut self.brokers);
        for slot in self.slots.iter_mut().flatten() {
            if slot
                .preferred
                .is_some_and(|(node, _)| !known.contains(&node))
            {
                slot.preferred = None;
            }
        }
        self.brokers = known;
    }

    /// Metadata describes a topic.
    pub(crate) fn set_topic(&mut self, topic: &Topic) {
        if !topic.id.is_zero() {
            self.names.insert(topic.id, Arc::clone(&topic.name));
        }
        for known in &topic.partitions {
            let partition = TopicPartition::new(Arc::clone(&topic.name), known.index);
            let Some(&place) = self.places.get(&partition) else {
                continue;
            };
            let token = self.count();
            let Some(slot) = self.slot_mut(place) else {
                continue;
            };
            let recreated = !slot.topic_id.is_zero() && slot.topic_id != topic.id;
            slot.topic_id = topic.id;
            if slot.leader != known.leader || known.leader_epoch > slot.leader_epoch {
                // Whatever failed, it was another leader.
                slot.not_before = None;
                slot.preferred = None;
            }
            let moved = known.leader_epoch > slot.leader_epoch;
            slot.leader = known.leader;
            slot.leader_epoch = known.leader_epoch;
            if recreated {
                slot.token = token;
                slot.asking = false;
                slot.fetched.epoch = -1;
                slot.position.epoch = -1;
                if matches!(slot.state, State::Fetching | State::Validating) {
                    slot.state = State::Draining(Verdict::OutOfRange);
                    self.settle(place);
                }
            } else if moved
                && matches!(slot.state, State::Fetching | State::Validating)
                && (0..known.leader_epoch).contains(&slot.fetched.epoch)
            {
                slot.token = token;
                slot.asking = false;
                slot.state = State::Validating;
            }
        }
    }

    /// A topic is not there, or may not be read.
    pub(crate) fn topic_failed(&mut self, topic: &str, code: ErrorCode) {
        let places: Vec<usize> = self
            .all()
            .filter(|(_, slot)| &*slot.partition.topic == topic && !slot.is_over())
            .map(|(place, _)| place)
            .collect();
        for place in places {
            if let Some(slot) = self.slot_mut(place) {
                let TopicPartition { topic, partition } = slot.partition.clone();
                let error = Error::from_code(code, None).in_partition(topic, partition);
                slot.state = State::Draining(Verdict::Fail(error));
                self.settle(place);
            }
        }
    }

    /// Puts a partition into the line, if it has something to hand out.
    fn list(&mut self, place: usize) {
        if let Some(slot) = self.slot_mut(place)
            && !slot.listed
            && !slot.paused
            && !slot.queue.is_empty()
        {
            slot.listed = true;
            self.line.push_back(place);
        }
    }

    /// Forgets what was fetched and not handed out, and what is on its way.
    fn drop_queue(&mut self, place: usize) {
        let token = self.count();
        let Some(slot) = self.slot_mut(place) else {
            return;
        };
        slot.token = token;
        slot.asking = false;
        slot.buffered = 0;
        slot.fetched = slot.position;
        let chunks = std::mem::take(&mut slot.queue);
        for chunk in chunks {
            self.release(chunk.frame);
        }
    }

    /// Carries out what waited until everything is handed out.
    fn settle(&mut self, place: usize) {
        let Some(slot) = self.slot_mut(place) else {
            return;
        };
        if !slot.is_drained() {
            return;
        }
        match &slot.state {
            State::Draining(Verdict::OutOfRange) => self.out_of_range(place),
            State::Draining(Verdict::Fail(error)) => {
                let error = error.clone();
                self.fail(place, error);
            }
            _ => slot.end_if_through(),
        }
    }

    fn fail(&mut self, place: usize, error: Error) {
        let token = self.count();
        if let Some(slot) = self.slot_mut(place) {
            slot.state = State::Failed;
            slot.token = token;
            slot.asking = false;
            self.errors.push_back(error);
        }
    }

    fn out_of_range(&mut self, place: usize) {
        let Some(slot) = self.slot(place) else {
            return;
        };
        let TopicPartition { topic, partition } = slot.partition.clone();
        let offset = slot.position.offset;
        let anchor = match self.config.reset {
            Reset::Earliest => Anchor::Earliest,
            Reset::Latest => Anchor::Latest,
            Reset::Ago(ago) => Anchor::Time(time_before(ago)),
            Reset::Error => {
                let error = Error::new(
                    ErrorKind::OffsetOutOfRange,
                    "the log does not have the position: records were deleted before they were read, or the \
                     topic was created anew; seek, or set a reset policy",
                );
                let error = error.in_partition(topic, partition).at_offset(offset);
                return self.fail(place, error);
            }
        };
        tracing::warn!(
            %topic,
            partition,
            offset,
            to = ?anchor,
            "the log does not have the position: it is reset"
        );
        self.begin_at(place, Origin::Find(anchor));
    }

    /// After a failure that will pass.
    fn back_off(&mut self, place: usize, now: Instant) {
        let backoff = self.config.backoff;
        if let Some(slot) = self.slot_mut(place) {
            slot.failures = slot.failures.saturating_add(1);
            slot.not_before = Some(now + backoff.after(slot.failures));
        }
    }
}

/// Milliseconds since 1970, so long ago.
pub(crate) fn time_before(ago: Duration) -> i64 {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(now.saturating_sub(ago).as_millis()).unwrap_or(i64::MAX)
}
