//! The groups of one partition of `__consumer_offsets`.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use copart_protocol::ErrorCode;

use super::classic::ClassicGroup;
use super::consumer::{ConsumerGroup, MemberState};
use super::env::{Cluster, Env, GroupError, GroupResult, Moment, Output};
use super::offsets::Offsets;
use super::record::Record;
use super::timers::{Timer, Timers};
use crate::cluster::Chance;
use crate::configs::BrokerConfig;

/// The most groups of one partition: a stranger can name as many as it likes.
const MAX_GROUPS: usize = 10_000;

/// What comes with every input.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    pub(crate) now: Moment,
    pub(crate) config: &'a BrokerConfig,
    /// `max.message.bytes` of the log.
    pub(crate) max_batch_bytes: usize,
    pub(crate) cluster: &'a dyn Cluster,
}

/// A group of either protocol.
#[derive(Debug)]
pub(super) enum Group {
    Classic(Box<ClassicGroup>),
    Consumer(Box<ConsumerGroup>),
}

impl Group {
    /// Has it no members?
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Classic(group) => group.state == super::classic::State::Empty,
            Self::Consumer(group) => group.members.is_empty(),
        }
    }

    /// What takes it away, but for its offsets.
    pub(super) fn tombstones(&self) -> Vec<Record> {
        match self {
            Self::Classic(group) => vec![group.tombstone()],
            Self::Consumer(group) => group.tombstones(),
        }
    }
}

pub(super) type GroupTable = HashMap<String, Group>;

/// Groups and their offsets.
///
/// Each input changes the state at once and leaves its [output](Self::take_output): records to append, and replies to
/// send when they are. If the records cannot be appended, the coordinator is of no use any more, and another one has
/// to read the log.
#[derive(Debug)]
pub(crate) struct Coordinator {
    pub(super) groups: GroupTable,
    pub(super) offsets: Offsets,
    pub(super) timers: Timers,
    pub(super) out: Output,
    pub(super) chance: Chance,
}

impl Coordinator {
    /// One without groups, to which the log's records are [applied](Self::apply) next.
    pub(crate) fn new(seed: Option<u64>) -> Self {
        Self {
            groups: HashMap::new(),
            offsets: Offsets::default(),
            timers: Timers::default(),
            out: Output::default(),
            chance: Chance::new(seed),
        }
    }

    /// Takes note of a record of the log; `producer` wrote it in a transaction.
    pub(crate) fn apply(&mut self, record: Record, producer: Option<i64>, now: Moment) {
        match record {
            Record::OffsetCommit(key, value) => self.offsets.apply(key, value, producer),
            Record::Group(key, Some(value)) => {
                let group = ClassicGroup::from_record(&key.group, value, now);
                self.groups
                    .insert(key.group, Group::Classic(Box::new(group)));
            }
            Record::Group(key, None) => {
                if let Some(Group::Classic(_)) = self.groups.get(&key.group) {
                    self.groups.remove(&key.group);
                }
            }
            Record::ConsumerGroup(key, None) => {
                if let Some(Group::Consumer(_)) = self.groups.get(&key.group_id) {
                    self.groups.remove(&key.group_id);
                }
            }
            other => {
                let (id, tombstone) = match &other {
                    Record::ConsumerGroup(key, value) => (&key.group_id, value.is_none()),
                    Record::ConsumerMember(key, value) => (&key.group_id, value.is_none()),
                    Record::ConsumerTarget(key, value) => (&key.group_id, value.is_none()),
                    Record::ConsumerMemberTarget(key, value) => (&key.group_id, value.is_none()),
                    Record::ConsumerMemberCurrent(key, value) => (&key.group_id, value.is_none()),
                    Record::ConsumerRegex(key, value) => (&key.group_id, value.is_none()),
                    Record::OffsetCommit(..) | Record::Group(..) => return,
                };
                match self.groups.get_mut(id) {
                    Some(Group::Consumer(group)) => group.apply(&other),
                    _ if tombstone => {}
                    _ => {
                        let mut group = ConsumerGroup::new(id);
                        let id = id.clone();
                        group.apply(&other);
                        self.groups.insert(id, Group::Consumer(Box::new(group)));
                    }
                }
            }
        }
    }

    /// Takes note of the end of a transaction in the log.
    pub(crate) fn transaction_ended(&mut self, producer: i64, commit: bool) {
        self.offsets.transaction_ended(producer, commit);
    }

    /// All of the log was applied: members have a whole session from now on to show up.
    pub(crate) fn loaded(&mut self, input: Input<'_>) {
        let unknown: Vec<String> = self
            .offsets
            .groups()
            .filter(|id| !self.groups.contains_key(*id))
            .cloned()
            .collect();
        for id in unknown {
            let group = ClassicGroup::new(&id, input.now);
            self.groups.insert(id, Group::Classic(Box::new(group)));
        }
        let (groups, _, mut env) = self.split(input);
        for (id, group) in groups.iter() {
            match group {
                Group::Classic(group) => {
                    for member in group.members.keys() {
                        group.alive(member, &mut env);
                    }
                }
                Group::Consumer(group) => {
                    for member in group.members.values() {
                        group.alive(&mut env, &member.id);
                        if member.state == MemberState::UnrevokedPartitions
                            && member.classic.is_none()
                        {
                            let timer = Timer::Rebalance {
                                group: id.clone(),
                                member: member.id.clone(),
                            };
                            env.set_timer(timer, member.rebalance_timeout_ms);
                        }
                    }
                }
            }
        }
        self.schedule_expiry(input);
    }

    pub(super) fn schedule_expiry(&mut self, input: Input<'_>) {
        let interval = input.config.offsets_retention_check_interval_ms.max(1);
        let interval = Duration::from_millis(interval.unsigned_abs());
        self.timers.set(Timer::Expiry, input.now.at + interval);
    }

    /// What there is to do since it was asked last.
    pub(crate) fn take_output(&mut self) -> Output {
        std::mem::take(&mut self.out)
    }

    /// When [`handle_timeouts`](Self::handle_timeouts) has something to do.
    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        self.timers.next_due()
    }

    /// Does one thing that is due. Returns false if there is none.
    pub(crate) fn handle_timeout(&mut self, input: Input<'_>) -> bool {
        let Some(timer) = self.timers.pop(input.now.at) else {
            return false;
        };
        let (groups, _, mut env) = self.split(input);
        let env = &mut env;
        match &timer {
            Timer::Expiry => {
                self.expire(input);
                self.schedule_expiry(input);
                return true;
            }
            Timer::Join { group } => {
                if let Some(Group::Classic(group)) = groups.get_mut(group) {
                    group.join_timed_out(env);
                }
            }
            Timer::Sync { group } => {
                if let Some(Group::Classic(group)) = groups.get_mut(group) {
                    group.sync_timed_out(env);
                }
            }
            Timer::Session { group, member } => match groups.get_mut(group) {
                Some(Group::Classic(group)) => group.session_ended(env, member),
                Some(Group::Consumer(group)) => {
                    fence(group, env, member, "was silent for too long")
                }
                None => {}
            },
            Timer::Rebalance { group, member } => {
                if let Some(Group::Consumer(group)) = groups.get_mut(group) {
                    let revokes = group
                        .members
                        .get(member)
                        .is_some_and(|it| it.state == MemberState::UnrevokedPartitions);
                    if revokes {
                        fence(group, env, member, "gave no partitions back in time");
                    }
                }
            }
            Timer::MemberJoin { group, member } => {
                if let Some(Group::Consumer(group)) = groups.get_mut(group) {
                    fence(group, env, member, "did not join again in time");
                }
            }
            Timer::MemberSync { group, member } => {
                if let Some(Group::Consumer(group)) = groups.get_mut(group) {
                    fence(group, env, member, "did not ask for its assignment in time");
                }
            }
        }
        if let Timer::Session { group, .. }
        | Timer::Rebalance { group, .. }
        | Timer::MemberJoin { group, .. }
        | Timer::MemberSync { group, .. } = &timer
        {
            self.downgrade_if_classic(input, group, true);
        }
        true
    }

    /// The groups, the offsets, and what groups work with.
    pub(super) fn split<'a>(
        &'a mut self,
        input: Input<'a>,
    ) -> (&'a mut GroupTable, &'a mut Offsets, Env<'a>) {
        let env = Env {
            now: input.now,
            config: input.config,
            max_batch_bytes: input.max_batch_bytes,
            cluster: input.cluster,
            timers: &mut self.timers,
            out: &mut self.out,
        };
        (&mut self.groups, &mut self.offsets, env)
    }

    /// Is there room for another group? The code is one with which clients come back.
    pub(super) fn check_room(&self) -> Result<(), ErrorCode> {
        match self.groups.len() < MAX_GROUPS {
            true => Ok(()),
            false => Err(ErrorCode::COORDINATOR_NOT_AVAILABLE),
        }
    }

    /// The group, if it is of the consumer protocol.
    pub(super) fn consumer_group(&self, id: &str) -> GroupResult<&ConsumerGroup> {
        match self.groups.get(id) {
            Some(Group::Consumer(group)) => Ok(group),
            Some(Group::Classic(_)) => Err(GroupError::new(
                ErrorCode::GROUP_ID_NOT_FOUND,
                format!("Group {id} is not a consumer group."),
            )),
            None => Err(GroupError::new(
                ErrorCode::GROUP_ID_NOT_FOUND,
                format!("Group {id} not found."),
            )),
        }
    }
}

fn fence(group: &mut ConsumerGroup, env: &mut Env<'_>, member: &str, why: &str) {
    if group.members.contains_key(member) {
        tracing::info!(group = group.id, member, "taken out of its group: it {why}");
        group.remove(env, &[member.to_owned()]);
    }
}
