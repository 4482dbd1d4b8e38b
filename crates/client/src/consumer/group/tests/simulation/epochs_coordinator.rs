//! A coordinator of one group of the consumer protocol (KIP-848), as Kafka's is: epochs, reconciliation, sessions,
//! revocations that take too long, static members; and writes that are lost when it moves before they are replicated,
//! of which nobody was told.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use copart_protocol::ErrorCode;
use copart_protocol::messages::consumer_group_heartbeat::{
    Assignment, ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, TopicPartitions,
};
use fastrand::Rng;
use tokio::time::Instant;

use super::super::info;
use super::{Answer, Caller, Coordinator, GroupRequest, Identity, TOPIC, refusal};

/// After so long a silence a member is out.
const SESSION: Duration = Duration::from_secs(10);
const INTERVAL_MS: i32 = 1_000;
/// The epoch of a member that leaves.
const LEAVE: i32 = -1;
/// The epoch of a static member that will be back.
const LEAVE_STATIC: i32 = -2;

/// In what coordinators differ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// A member that it knows under an epoch may join again with epoch 0: since KAFKA-19233.
    pub(super) lets_back: bool,
    /// So may a static member that did not leave: later than Kafka 4.4 (apache/kafka#23542).
    pub(super) lets_static_back: bool,
    /// As few partitions as possible move. Otherwise the members' order decides.
    pub(super) is_sticky: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Has what its epoch's assignment says.
    Stable,
    /// Was told to give partitions back, and did not say yet that it has.
    Unrevoked,
    /// Waits for what others have not given back.
    Unreleased,
}

#[derive(Clone, Debug, PartialEq)]
struct Member {
    instance: Option<String>,
    rebalance: Duration,
    epoch: i32,
    previous: i32,
    state: State,
    assigned: BTreeSet<i32>,
    revoking: BTreeSet<i32>,
    target: BTreeSet<i32>,
}

/// What is stored.
#[derive(Clone, Debug, Default)]
struct Group {
    is_there: bool,
    epoch: i32,
    assignment_epoch: i32,
    /// How many partitions the epoch is for.
    partitions: usize,
    members: BTreeMap<String, Member>,
}

/// An answer that goes out once what it tells of is replicated.
#[derive(Debug)]
struct Unwritten {
    at: Instant,
    caller: Caller,
    request: GroupRequest,
    answer: Answer,
    before: Group,
}

#[derive(Debug)]
pub(super) struct EpochsCoordinator {
    rules: Rules,
    chance: Rng,
    group: Group,
    partitions: usize,
    sessions: BTreeMap<String, Instant>,
    /// Until when members have to give partitions back, and in which epoch they are.
    revocations: BTreeMap<String, (Instant, i32)>,
    unwritten: VecDeque<Unwritten>,
    answers: Vec<(Caller, Answer)>,
}

impl Coordinator for EpochsCoordinator {
    fn ask(&mut self, caller: Caller, request: &GroupRequest, now: Instant) {
        let GroupRequest::ConsumerHeartbeat(asked) = request else {
            panic!("the other protocol: {request:?}");
        };
        let before = self.group.clone();
        let answer = match self.heartbeat(asked, now) {
            Ok(response) => Answer::ConsumerHeartbeat(response),
            Err(code) => return self.answers.push((caller, refusal(request, code))),
        };
        let soonest = self.unwritten.back().map_or(now, |it| it.at);
        let wait = match self.chance.u32(..10) {
            0 => self.chance.u64(..1_000),
            _ => 0,
        };
        self.unwritten.push_back(Unwritten {
            at: soonest.max(now + Duration::from_millis(wait)),
            caller,
            request: request.clone(),
            answer,
            before,
        });
    }

    fn tick(&mut self, now: Instant) {
        let written = self.unwritten.iter().take_while(|it| it.at <= now).count();
        let written = self.unwritten.drain(..written);
        self.answers
            .extend(written.map(|it| (it.caller, it.answer)));
        let silent = self.sessions.iter().filter(|(_, until)| **until <= now);
        let silent: Vec<String> = silent.map(|(id, _)| id.clone()).collect();
        let slow = self.revocations.iter().filter(|(id, (until, epoch))| {
            let member = self.group.members.get(*id);
            *until <= now && member.is_some_and(|it| it.epoch == *epoch)
        });
        let slow: Vec<String> = slow.map(|(id, _)| id.clone()).collect();
        for id in silent.iter().chain(&slow) {
            self.remove(id);
        }
        self.revocations.retain(|_, (until, _)| *until > now);
        // A group without members and offsets is deleted now and then.
        if self.group.members.is_empty() && self.chance.u32(..50) == 0 {
            self.group = Group::default();
        }
    }

    fn restart(&mut self, ready: Instant) {
        let unwritten = std::mem::take(&mut self.unwritten);
        for (number, lost) in unwritten.into_iter().enumerate() {
            if number == 0 && self.chance.bool() {
                self.group = lost.before;
            }
            if self.chance.bool() {
                let answer = refusal(&lost.request, ErrorCode::NOT_COORDINATOR);
                self.answers.push((lost.caller, answer));
            }
        }
        let members = self.group.members.iter();
        self.sessions = members
            .clone()
            .map(|(id, _)| (id.clone(), ready + SESSION))
            .collect();
        self.revocations = members
            .filter(|(_, member)| member.state == State::Unrevoked)
            .map(|(id, member)| (id.clone(), (ready + member.rebalance, member.epoch)))
            .collect();
    }

    fn set_partitions(&mut self, count: usize) {
        self.partitions = count;
    }

    fn answers(&mut self) -> Vec<(Caller, Answer)> {
        std::mem::take(&mut self.answers)
    }

    fn counts_on(&self, member: &Identity) -> bool {
        let known = self.group.members.get(&*member.member_id);
        known.is_some_and(|it| [it.epoch, it.previous].contains(&member.generation))
    }

    fn grants(&self, member: &Identity, partition: i32) -> bool {
        let known = self.group.members.get(&*member.member_id);
        known.is_some_and(|it| it.assigned.contains(&partition) || it.revoking.contains(&partition))
    }

    fn has(&self, member_id: &str) -> bool {
        self.group.members.contains_key(member_id)
    }

    /// It does if the answer began an epoch by asking for more partitions, since the member still says that it has
    /// those.
    fn may_fence(&self, member: &Identity) -> bool {
        let known = self.group.members.get(&*member.member_id);
        known.is_none_or(|it| it.state == State::Unrevoked)
    }

    fn generation(&self) -> i32 {
        self.group.epoch
    }

    fn is_stable(&self) -> bool {
        let group = &self.group;
        let is_reconciled =
            |it: &Member| it.state == State::Stable && it.epoch == group.assignment_epoch;
        group.epoch == group.assignment_epoch
            && group.partitions == self.partitions
            && group.members.values().all(is_reconciled)
    }
}

impl EpochsCoordinator {
    pub(super) fn new(rules: Rules, seed: u64, partitions: usize) -> Self {
        Self {
            rules,
            chance: Rng::with_seed(seed),
            group: Group::default(),
            partitions,
            sessions: BTreeMap::new(),
            revocations: BTreeMap::new(),
            unwritten: VecDeque::new(),
            answers: Vec::new(),
        }
    }

    fn heartbeat(
        &mut self,
        request: &ConsumerGroupHeartbeatRequest,
        now: Instant,
    ) -> Result<ConsumerGroupHeartbeatResponse, ErrorCode> {
        if !is_valid(request) {
            return Err(ErrorCode::INVALID_REQUEST);
        }
        if matches!(request.member_epoch, LEAVE | LEAVE_STATIC) {
            return self.leave(request);
        }
        if !self.group.is_there && request.member_epoch != 0 {
            return Err(ErrorCode::GROUP_ID_NOT_FOUND);
        }
        self.group.is_there = true;
        let owned = request.topic_partitions.as_ref().map(|topics| {
            let topics = topics.iter();
            topics
                .flat_map(|it| it.partitions.iter().copied())
                .collect()
        });
        let id = &request.member_id;
        let is_new = match &request.instance_id {
            None => self.find_dynamic(request, owned.as_ref())?,
            Some(instance) => self.find_static(request, instance, owned.as_ref())?,
        };
        let member = self.group.members.entry(id.clone());
        let member = member.or_insert_with(|| Member {
            instance: request.instance_id.clone(),
            rebalance: Duration::ZERO,
            epoch: 0,
            previous: -1,
            state: State::Stable,
            assigned: BTreeSet::new(),
            revoking: BTreeSet::new(),
            target: BTreeSet::new(),
        });
        if let Ok(rebalance @ 0..) = u64::try_from(request.rebalance_timeout_ms) {
            member.rebalance = Duration::from_millis(rebalance);
        }
        let had = member.assigned.clone();
        if is_new || self.group.partitions != self.partitions {
            self.group.epoch += 1;
            self.group.partitions = self.partitions;
        }
        if self.group.epoch > self.group.assignment_epoch {
            self.assign();
        }
        self.reconcile(id, owned.as_ref(), now);
        self.sessions.insert(id.clone(), now + SESSION);
        let is_full = request.rebalance_timeout_ms >= 0
            && request.subscribed_topic_names.is_some()
            && owned.is_some();
        let member = &self.group.members[id];
        let is_told = request.member_epoch == 0 || is_full || member.assigned != had;
        Ok(ConsumerGroupHeartbeatResponse {
            member_id: Some(id.clone()),
            member_epoch: member.epoch,
            heartbeat_interval_ms: INTERVAL_MS,
            assignment: is_told.then(|| Assignment {
                topic_partitions: vec![TopicPartitions {
                    topic_id: info(1, 0).id,
                    partitions: member.assigned.iter().copied().collect(),
                }],
            }),
            ..ConsumerGroupHeartbeatResponse::default()
        })
    }

    /// Whether it is a new member.
    fn find_dynamic(
        &self,
        request: &ConsumerGroupHeartbeatRequest,
        owned: Option<&BTreeSet<i32>>,
    ) -> Result<bool, ErrorCode> {
        match self.group.members.get(&request.member_id) {
            None if request.member_epoch == 0 => Ok(true),
            None => Err(ErrorCode::UNKNOWN_MEMBER_ID),
            Some(member) => {
                self.check_epoch(member, request.member_epoch, owned)?;
                Ok(false)
            }
        }
    }

    /// The same for a static member, which may take the place of one that left.
    fn find_static(
        &mut self,
        request: &ConsumerGroupHeartbeatRequest,
        instance: &str,
        owned: Option<&BTreeSet<i32>>,
    ) -> Result<bool, ErrorCode> {
        let Some(known) = self.instance(instance) else {
            return match request.member_epoch {
                0 => Ok(true),
                _ => Err(ErrorCode::UNKNOWN_MEMBER_ID),
            };
        };
        let is_same = known == request.member_id;
        let has_left = self.group.members[&known].epoch == LEAVE_STATIC;
        match request.member_epoch {
            0 if has_left => {
                let mut member = self.group.members.remove(&known).expect("found");
                (member.epoch, member.previous) = (0, 0);
                self.sessions.remove(&known);
                self.revocations.remove(&known);
                self.group.members.insert(request.member_id.clone(), member);
                Ok(false)
            }
            0 if !(is_same && self.rules.lets_static_back) => {
                Err(ErrorCode::UNRELEASED_INSTANCE_ID)
            }
            _ if !is_same => Err(ErrorCode::FENCED_INSTANCE_ID),
            epoch => {
                self.check_epoch(&self.group.members[&known], epoch, owned)?;
                Ok(false)
            }
        }
    }

    fn instance(&self, instance: &str) -> Option<String> {
        let mut members = self.group.members.iter();
        let found = members.find(|(_, member)| member.instance.as_deref() == Some(instance));
        found.map(|(id, _)| id.clone())
    }

    /// The epoch before will do if the answer with the last one may have been lost.
    fn check_epoch(
        &self,
        member: &Member,
        epoch: i32,
        owned: Option<&BTreeSet<i32>>,
    ) -> Result<(), ErrorCode> {
        let has_no_more = owned.is_some_and(|it| it.is_subset(&member.assigned));
        let is_good = (epoch == 0 && self.rules.lets_back)
            || epoch == member.epoch
            || (epoch < member.epoch && epoch == member.previous && has_no_more);
        match is_good {
            true => Ok(()),
            false => Err(ErrorCode::FENCED_MEMBER_EPOCH),
        }
    }

    fn assign(&mut self) {
        let count = self.partitions;
        let members = self.group.members.len();
        let mut left: Vec<i32> = (0..count as i32).rev().collect();
        let quota = |index: usize| count / members + usize::from(index < count % members);
        if self.rules.is_sticky {
            for (index, member) in self.group.members.values_mut().enumerate() {
                let kept = member.target.iter().take(quota(index)).copied().collect();
                member.target = kept;
                left.retain(|it| !member.target.contains(it));
            }
        } else {
            self.group
                .members
                .values_mut()
                .for_each(|it| it.target.clear());
        }
        for (index, member) in self.group.members.values_mut().enumerate() {
            while member.target.len() < quota(index) {
                member.target.insert(left.pop().expect("as many as quotas"));
            }
        }
        self.group.assignment_epoch = self.group.epoch;
    }

    /// The member's next step towards its target.
    fn reconcile(&mut self, id: &str, owned: Option<&BTreeSet<i32>>, now: Instant) {
        let target_epoch = self.group.assignment_epoch;
        let owns = |revoked: &BTreeSet<i32>| owned.is_none_or(|it| !it.is_disjoint(revoked));
        let before = self.group.members[id].clone();
        let epoch = match before.state {
            State::Stable if before.epoch == target_epoch => return,
            State::Unrevoked if owns(&before.revoking) => return,
            State::Unrevoked => target_epoch.min(before.epoch + 1),
            State::Stable | State::Unreleased => before.epoch,
        };
        let others = self.group.members.iter().filter(|(other, _)| *other != id);
        let taken: BTreeSet<i32> = others
            .flat_map(|(_, it)| it.assigned.union(&it.revoking).copied())
            .collect();
        let kept = before.assigned.intersection(&before.target).copied();
        let revoked: BTreeSet<i32> = before
            .assigned
            .difference(&before.target)
            .copied()
            .collect();
        let mut after = before.clone();
        after.assigned = kept.collect();
        let epoch = if !revoked.is_empty() && owns(&revoked) {
            after.state = State::Unrevoked;
            after.revoking = revoked;
            epoch
        } else {
            after.revoking.clear();
            let missing = before.target.difference(&after.assigned).copied();
            let (unreleased, free): (Vec<i32>, Vec<i32>) =
                missing.partition(|it| taken.contains(it));
            after.state = match unreleased.is_empty() {
                true => State::Stable,
                false => State::Unreleased,
            };
            after.assigned.extend(free);
            target_epoch
        };
        if epoch != after.epoch {
            (after.previous, after.epoch) = (after.epoch, epoch);
        }
        if after == before {
            return;
        }
        match after.state {
            State::Unrevoked => {
                let until = (now + after.rebalance, after.epoch);
                self.revocations.insert(id.to_owned(), until);
            }
            State::Stable | State::Unreleased => _ = self.revocations.remove(id),
        }
        self.group.members.insert(id.to_owned(), after);
    }

    fn leave(
        &mut self,
        request: &ConsumerGroupHeartbeatRequest,
    ) -> Result<ConsumerGroupHeartbeatResponse, ErrorCode> {
        let id = &request.member_id;
        let known = match &request.instance_id {
            _ if !self.group.is_there => return Err(ErrorCode::GROUP_ID_NOT_FOUND),
            None => id.clone(),
            Some(instance) => self
                .instance(instance)
                .ok_or(ErrorCode::UNKNOWN_MEMBER_ID)?,
        };
        if known != *id {
            return Err(ErrorCode::FENCED_INSTANCE_ID);
        }
        let Some(member) = self.group.members.get_mut(id) else {
            return Err(ErrorCode::UNKNOWN_MEMBER_ID);
        };
        if request.member_epoch == LEAVE_STATIC {
            (member.epoch, member.previous) = (LEAVE_STATIC, LEAVE_STATIC);
            member.revoking.clear();
        } else {
            self.remove(id);
        }
        Ok(ConsumerGroupHeartbeatResponse {
            member_id: Some(id.clone()),
            member_epoch: request.member_epoch,
            ..ConsumerGroupHeartbeatResponse::default()
        })
    }

    fn remove(&mut self, id: &str) {
        self.sessions.remove(id);
        self.revocations.remove(id);
        if self.group.members.remove(id).is_some() {
            self.group.epoch += 1;
        }
    }
}

/// Whether a client may send it.
fn is_valid(request: &ConsumerGroupHeartbeatRequest) -> bool {
    let names = request.subscribed_topic_names.as_ref();
    let is_join = names.is_some()
        && request.rebalance_timeout_ms > 0
        && request.topic_partitions.as_ref().is_some_and(Vec::is_empty);
    !request.member_id.is_empty()
        && names.is_none_or(|it| it.len() == 1 && it[0] == TOPIC)
        && match request.member_epoch {
            0 => is_join,
            LEAVE_STATIC => request.instance_id.is_some(),
            epoch => epoch >= LEAVE,
        }
}
