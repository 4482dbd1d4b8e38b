//! Fetch requests and their answers, under one memory budget.
//!
//! Each broker has one request out at a time. Memory is shared out evenly between brokers, so that one whose
//! records nobody takes does not hold up another; within a broker, a partition with enough in store is left out
//! of the next request until it has been handed out.

use std::time::Duration;

use bytes::Bytes;
use copart_protocol::messages::fetch::{
    AbortedTransaction, FetchRequest, FetchResponse, PartitionData,
};
use copart_protocol::{ErrorCode, Uuid};
use tokio::time::Instant;

use super::cursor::{Chunk, Extent};
use super::lookup::passes;
use super::position::Position;
use super::session::{Session, TOPIC_IDS, Want};
use super::slot::{Ends, InFlight, State, Verdict};
use super::{FetchCore, Frame};
use crate::{Error, ErrorKind, TopicPartition};

/// The first wait of a request that leaves partitions out because they have enough in store.
const SHORT_WAIT: Duration = Duration::from_millis(10);

/// What is known of a broker.
#[derive(Debug, Default)]
pub(super) struct Node {
    session: Session,
    /// Bytes of its answers that are not handed out.
    pub(super) used: usize,
    /// Requests in a row that left partitions out.
    short_waits: u32,
    /// Which partition comes first when all are named.
    turn: usize,
    throttled_until: Option<Instant>,
}

/// The versions of Fetch that a connection has: the highest, and the highest that goes by names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offered {
    pub(crate) latest: i16,
    pub(crate) by_name: i16,
}

/// What to do with a broker.
#[derive(Debug)]
pub(crate) enum Turn {
    /// Nothing, until something changes, or until then.
    Wait(Option<Instant>),
    /// Connect: there is something to fetch.
    Connect,
    Fetch(Plan),
}

/// A request to send.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) version: i16,
    pub(crate) request: FetchRequest,
    /// The partitions that it is about, named in it or known from the session.
    pub(super) asked: Vec<(usize, InFlight)>,
    /// How long the broker may wait with its answer.
    pub(crate) wait: Duration,
}

impl Plan {
    /// How many partitions it is about.
    pub(crate) fn partitions(&self) -> usize {
        self.asked.len()
    }
}

/// An answer, as far as it can be read without the core.
#[derive(Debug)]
pub(crate) struct Answered {
    code: ErrorCode,
    session_id: i32,
    throttle: Duration,
    partitions: Vec<AnsweredPartition>,
}

#[derive(Debug)]
struct AnsweredPartition {
    topic: String,
    topic_id: Uuid,
    data: PartitionData,
    extent: copart_protocol::Result<Option<Extent>>,
}

/// Looks at the batches in an answer.
pub(crate) fn read_answer(response: FetchResponse) -> Answered {
    let topics = response.responses.into_iter();
    let partitions = topics.flat_map(|topic| {
        let (name, topic_id) = (topic.topic, topic.topic_id);
        topic
            .partitions
            .into_iter()
            .map(move |data| AnsweredPartition {
                topic: name.clone(),
                topic_id,
                extent: Extent::of(&data.records),
                data,
            })
    });
    Answered {
        code: response.error_code,
        session_id: response.session_id,
        throttle: Duration::from_millis(response.throttle_time_ms.max(0).unsigned_abs().into()),
        partitions: partitions.collect(),
    }
}

/// What follows from an answer, beside what the core took from it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Aftermath {
    /// Metadata is old.
    pub(crate) refresh: bool,
    /// Who leads now, as the broker says (KIP-951): partition, node, epoch.
    pub(crate) leaders: Vec<(TopicPartition, i32, i32)>,
}

impl FetchCore {
    /// The nodes that there is something to fetch from, or may be.
    pub(crate) fn nodes(&self, now: Instant) -> Vec<i32> {
        let nodes = self.all().filter_map(|(_, slot)| slot.node(now));
        let mut nodes: Vec<i32> = nodes.collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// What to do with a broker. `offered` is what its connection has, if it has one.
    ///
    /// After [`Turn::Fetch`], [`fetched`](Self::fetched) or [`lost`](Self::lost) has to come before the next call.
    pub(crate) fn poll_fetch(&mut self, node: i32, now: Instant, offered: Option<Offered>) -> Turn {
        if let Some(until) = self.throttled(node).filter(|&until| until > now) {
            return Turn::Wait(Some(until));
        }
        let mut due = Vec::new();
        let mut next: Option<Instant> = None;
        let mut own = 0;
        for (place, slot) in self.all() {
            if slot.node(now) != Some(node) {
                continue;
            }
            own += 1;
            if !slot.is_fetchable() {
                continue;
            }
            if slot.is_ripe(now) {
                due.push(place);
            } else if let Some(at) = slot.not_before {
                next = Some(next.map_or(at, |next| next.min(at)));
            }
        }
        if due.is_empty() {
            return Turn::Wait(next);
        }
        let quota = self.config.memory / self.nodes(now).len().max(1);
        let least = (self.config.partition_max_bytes as usize).min(quota / 2);
        if self.room(node, quota) < least {
            self.evict(node, now);
        }
        let room = self.room(node, quota);
        if room < least && self.nodes.get(&node).is_some_and(|node| node.used > 0) {
            return Turn::Wait(next);
        }
        let share = (self.config.partition_max_bytes as usize).min(quota / own.max(1));
        let before = due.len();
        due.retain(|&place| {
            self.slot(place)
                .is_some_and(|slot| slot.buffered < share.max(1))
        });
        if due.is_empty() {
            return Turn::Wait(next);
        }
        let Some(offered) = offered else {
            return Turn::Connect;
        };
        let left_out = due.len() < before;
        Turn::Fetch(self.plan(node, due, left_out, room, offered))
    }

    fn throttled(&self, node: i32) -> Option<Instant> {
        self.nodes.get(&node)?.throttled_until
    }

    fn room(&self, node: i32, quota: usize) -> usize {
        let used = self.nodes.get(&node).map_or(0, |node| node.used);
        quota.saturating_sub(used)
    }

    /// Forgets what was fetched of paused partitions: they would keep the others from being read.
    fn evict(&mut self, node: i32, now: Instant) {
        let paused: Vec<usize> = self
            .all()
            .filter(|(_, slot)| {
                slot.paused && slot.node(now) == Some(node) && !slot.queue.is_empty()
            })
            .map(|(place, _)| place)
            .collect();
        for place in paused {
            // The chunk that is being handed out stays; what is behind it is fetched again.
            let first = self
                .slot(place)
                .and_then(|slot| slot.queue.front())
                .map(|chunk| chunk.from);
            let position = self.slot(place).map(|slot| slot.position);
            self.drop_queue(place);
            if let (Some(first), Some(position), Some(slot)) =
                (first, position, self.slot_mut(place))
                && first.offset > position.offset
            {
                slot.fetched = first;
            }
        }
    }

    fn plan(
        &mut self,
        node: i32,
        mut due: Vec<usize>,
        left_out: bool,
        room: usize,
        offered: Offered,
    ) -> Plan {
        let known = self.nodes.entry(node).or_default();
        // Whoever is asked for first is served first.
        known.turn = (known.turn + 1) % due.len();
        due.rotate_left(known.turn);
        // A partition that has enough now is not asked for, and would wait until this request is answered. So
        // that it does not wait longer than it took to get there, the first waits are short.
        let wait = if left_out {
            known.short_waits = known.short_waits.saturating_add(1);
            SHORT_WAIT
                .saturating_mul(1 << (known.short_waits - 1).min(16))
                .min(self.config.max_wait)
        } else {
            known.short_waits = 0;
            self.config.max_wait
        };
        let mut wanted = Vec::with_capacity(due.len());
        let mut asked = Vec::with_capacity(due.len());
        let mut all_have_ids = true;
        let mut largest = 0;
        for place in due {
            let Some(slot) = self.slot_mut(place) else {
                continue;
            };
            let in_flight = InFlight {
                node,
                token: slot.token,
            };
            slot.in_flight = Some(in_flight);
            asked.push((place, in_flight));
            all_have_ids &= !slot.topic_id.is_zero();
            largest = largest.max(slot.max_bytes);
            wanted.push(Want {
                partition: slot.partition.clone(),
                topic_id: slot.topic_id,
                offset: slot.fetched.offset,
                leader_epoch: slot.leader_epoch,
                max_bytes: slot.max_bytes,
            });
        }
        let version = if all_have_ids {
            offered.latest
        } else {
            offered.by_name
        };
        debug_assert!(all_have_ids || version < TOPIC_IDS);
        let max_bytes = i32::try_from(room).unwrap_or(i32::MAX);
        let known = self.nodes.entry(node).or_default();
        let named = known.session.name(&wanted, version);
        let request = FetchRequest {
            max_wait_ms: i32::try_from(wait.as_millis()).unwrap_or(i32::MAX),
            min_bytes: self.config.min_bytes,
            // A partition that needs more gets it: KIP-74 has one batch come in any case, and brokers without it
            // would send nothing for ever.
            max_bytes: self.config.max_bytes.min(max_bytes).max(largest),
            isolation_level: i8::from(self.config.committed),
            session_id: named.session_id,
            session_epoch: named.session_epoch,
            topics: named.topics,
            forgotten_topics_data: named.forgotten,
            rack_id: self.config.rack.clone(),
            ..FetchRequest::default()
        };
        Plan {
            version,
            request,
            asked,
            wait,
        }
    }

    /// Takes an answer.
    pub(crate) fn fetched(
        &mut self,
        node: i32,
        plan: &Plan,
        answer: Answered,
        now: Instant,
    ) -> Aftermath {
        let mut aftermath = Aftermath::default();
        if !answer.code.is_none() {
            self.refused(node, plan, answer.code, now, &mut aftermath);
            return aftermath;
        }
        let known = self.nodes.entry(node).or_default();
        known.session.answered(answer.session_id);
        known.throttled_until = (!answer.throttle.is_zero()).then(|| now + answer.throttle);
        let frame = self.count();
        let mut size = Frame {
            node,
            bytes: 0,
            chunks: 0,
        };
        for partition in answer.partitions {
            let Some(place) = self.place_of(&partition, plan.version) else {
                continue;
            };
            let is_wanted = self.slot(place).is_some_and(|slot| {
                let token = slot.token;
                slot.in_flight == Some(InFlight { node, token })
            });
            if is_wanted {
                self.take(place, partition, frame, &mut size, now, &mut aftermath);
            }
        }
        if size.chunks > 0 {
            self.nodes.entry(node).or_default().used += size.bytes;
            self.frames.insert(frame, size);
        }
        self.landed(plan);
        aftermath
    }

    fn place_of(&self, partition: &AnsweredPartition, version: i16) -> Option<usize> {
        let name = if version >= TOPIC_IDS {
            self.names.get(&partition.topic_id)?.clone()
        } else {
            partition.topic.as_str().into()
        };
        let key = TopicPartition::new(name, partition.data.partition_index);
        self.places.get(&key).copied()
    }

    /// The request is not out any more.
    fn landed(&mut self, plan: &Plan) {
        for &(place, in_flight) in &plan.asked {
            if let Some(slot) = self.slot_mut(place)
                && slot.in_flight == Some(in_flight)
            {
                slot.in_flight = None;
            }
        }
    }

    /// The answer as a whole is an error.
    fn refused(
        &mut self,
        node: i32,
        plan: &Plan,
        code: ErrorCode,
        now: Instant,
        aftermath: &mut Aftermath,
    ) {
        let known = self.nodes.entry(node).or_default();
        known.session.restart(Some(code));
        let about_sessions = matches!(
            code,
            ErrorCode::FETCH_SESSION_ID_NOT_FOUND | ErrorCode::INVALID_FETCH_SESSION_EPOCH
        );
        if !about_sessions {
            aftermath.refresh = true;
            for &(place, _) in &plan.asked {
                if passes(code) {
                    self.back_off(place, now);
                } else {
                    self.refuse(place, code);
                }
            }
        }
        self.landed(plan);
    }

    /// The request was not answered, or not even sent.
    pub(crate) fn lost(&mut self, node: i32, plan: &Plan, now: Instant) {
        self.nodes.entry(node).or_default().session.restart(None);
        for &(place, in_flight) in &plan.asked {
            if let Some(slot) = self.slot_mut(place)
                && slot.token == in_flight.token
            {
                self.back_off(place, now);
            }
        }
        self.landed(plan);
        self.unreachable(node, now);
    }

    /// A broker can't be reached. What was read from it as a follower is read from its leader again.
    pub(crate) fn unreachable(&mut self, node: i32, now: Instant) {
        let places: Vec<usize> = self
            .all()
            .filter(|(_, slot)| slot.node(now) == Some(node) && slot.in_flight.is_none())
            .map(|(place, _)| place)
            .collect();
        for place in places {
            let Some(slot) = self.slot_mut(place) else {
                continue;
            };
            if slot.preferred.take().is_none() && slot.is_ripe(now) {
                self.back_off(place, now);
            }
        }
    }

    /// A broker does not let us in, which waiting does not mend: all that is to be read from it fails.
    pub(crate) fn locked_out(&mut self, node: i32, error: &Error, now: Instant) {
        let places: Vec<usize> = self
            .all()
            .filter(|(_, slot)| slot.node(now) == Some(node) && !slot.is_over())
            .map(|(place, _)| place)
            .collect();
        for place in places {
            if let Some(slot) = self.slot_mut(place) {
                let TopicPartition { topic, partition } = slot.partition.clone();
                let error = error.clone().in_partition(topic, partition);
                slot.state = State::Draining(Verdict::Fail(error));
                self.settle(place);
            }
        }
    }

    /// The session that a last request to this broker closes.
    pub(crate) fn session_to_close(&self, node: i32) -> Option<i32> {
        self.nodes.get(&node)?.session.open_id()
    }

    fn take(
        &mut self,
        place: usize,
        answered: AnsweredPartition,
        frame: u64,
        size: &mut Frame,
        now: Instant,
        aftermath: &mut Aftermath,
    ) {
        let AnsweredPartition { data, extent, .. } = answered;
        let (leader, epoch) = (
            data.current_leader.leader_id,
            data.current_leader.leader_epoch,
        );
        let from_leader_node = self.slot(place).and_then(|slot| slot.leader) == Some(size.node);
        let replica_max_age = self.config.replica_max_age;
        let is_broker = self.brokers.contains(&data.preferred_read_replica);
        let Some(slot) = self.slot_mut(place) else {
            return;
        };
        match data.error_code {
            ErrorCode::NONE => {}
            // A follower may lag behind; only the leader knows (KIP-392).
            ErrorCode::OFFSET_OUT_OF_RANGE if !from_leader_node => {
                slot.preferred = None;
                return self.back_off(place, now);
            }
            ErrorCode::OFFSET_OUT_OF_RANGE => {
                slot.state = State::Draining(Verdict::OutOfRange);
                return self.settle(place);
            }
            code if passes(code) => {
                slot.preferred = None;
                aftermath.refresh = true;
                if leader >= 0 {
                    let partition = slot.partition.clone();
                    aftermath.leaders.push((partition, leader, epoch));
                }
                return self.back_off(place, now);
            }
            code => return self.refuse(place, code),
        }
        slot.forgive();
        slot.ends = Ends {
            high_watermark: data.high_watermark,
            last_stable_offset: data.last_stable_offset,
            log_start_offset: data.log_start_offset,
        };
        if data.diverging_epoch.epoch >= 0 {
            let divergent =
                Position::new(data.diverging_epoch.end_offset, data.diverging_epoch.epoch);
            return self.truncated(place, Some(divergent));
        }
        if data.preferred_read_replica >= 0 {
            if is_broker {
                slot.preferred = Some((data.preferred_read_replica, now + replica_max_age));
            }
            if data.records.is_empty() {
                return;
            }
        }
        match extent {
            Ok(None) if data.records.is_empty() => {}
            Ok(None) => {
                // Not even one batch fits. Since KIP-74 one comes in any case, if it is the first.
                slot.max_bytes = slot.max_bytes.saturating_mul(2);
            }
            Ok(Some(extent)) if extent.next.offset <= slot.fetched.offset => {
                let reason = format!(
                    "the broker sent records up to offset {}, which are not those that were asked for",
                    extent.next.offset - 1
                );
                let error = Error::new(ErrorKind::Protocol, reason);
                self.reject(place, error);
            }
            Ok(Some(extent)) => {
                let chunk = Chunk {
                    slot: place,
                    generation: slot.generation,
                    partition: slot.partition.clone(),
                    records: trimmed(data.records, extent.len),
                    aborted: aborted(data.aborted_transactions),
                    from: slot.fetched,
                    until: slot.until(),
                    high_watermark: data.high_watermark,
                    last_stable_offset: data.last_stable_offset,
                    frame,
                };
                size.bytes += extent.len;
                size.chunks += 1;
                slot.buffered += extent.len;
                slot.fetched = extent.next;
                slot.fetched.offset = slot.fetched.offset.min(slot.until());
                slot.queue.push_back(chunk);
                self.list(place);
            }
            Err(error) => self.reject(place, error.into()),
        }
    }

    /// What came makes no sense; what came before does.
    fn reject(&mut self, place: usize, error: Error) {
        if let Some(slot) = self.slot_mut(place) {
            let TopicPartition { topic, partition } = slot.partition.clone();
            let offset = slot.fetched.offset;
            let error = error.in_partition(topic, partition).at_offset(offset);
            slot.state = State::Draining(Verdict::Fail(error));
            self.settle(place);
        }
    }

    fn refuse(&mut self, place: usize, code: ErrorCode) {
        self.reject(place, Error::from_code(code, None));
    }
}

fn trimmed(mut records: Bytes, len: usize) -> Bytes {
    records.truncate(len);
    records
}

fn aborted(transactions: Option<Vec<AbortedTransaction>>) -> Vec<AbortedTransaction> {
    transactions.unwrap_or_default()
}
