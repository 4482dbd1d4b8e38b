//! A coordinator of one classic group, as Kafka's is: what is under way, timers, static members, and what is left of it
//! after a restart.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::Bytes;
use copart_protocol::ErrorCode;
use copart_protocol::messages::heartbeat::HeartbeatResponse;
use copart_protocol::messages::join_group::{
    JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse, JoinGroupResponseMember,
};
use copart_protocol::messages::leave_group::LeaveGroupResponse;
use copart_protocol::messages::sync_group::{SyncGroupRequest, SyncGroupResponse};
use tokio::time::Instant;

use super::{Answer, Caller, Coordinator, GroupRequest, Identity};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Empty,
    /// Members join, until then.
    Preparing(Instant),
    /// Members ask for what they are assigned, until then.
    Completing(Instant),
    Stable,
}

#[derive(Clone, Debug)]
struct Member {
    instance: Option<String>,
    session: Duration,
    rebalance: Duration,
    protocols: Vec<JoinGroupRequestProtocol>,
    assignment: Bytes,
    join: Option<Caller>,
    sync: Option<Caller>,
    has_synced: bool,
    alive_until: Instant,
}

#[derive(Clone, Debug)]
pub(super) struct ClassicCoordinator {
    state: State,
    generation: i32,
    protocol: String,
    leader: String,
    members: BTreeMap<String, Member>,
    pending: BTreeSet<String>,
    next_id: u32,
    /// What a restart finds: the last generation that was complete.
    stored: Option<Box<ClassicCoordinator>>,
    answers: Vec<(Caller, Answer)>,
}

fn refuse_join(error_code: ErrorCode, member_id: &str) -> Answer {
    Answer::Join(JoinGroupResponse {
        error_code,
        member_id: member_id.to_owned(),
        ..JoinGroupResponse::default()
    })
}

fn refuse_sync(error_code: ErrorCode) -> Answer {
    Answer::Sync(SyncGroupResponse {
        error_code,
        ..SyncGroupResponse::default()
    })
}

fn milliseconds(time: i32) -> Duration {
    Duration::from_millis(time.try_into().expect("not negative"))
}

impl Coordinator for ClassicCoordinator {
    fn ask(&mut self, caller: Caller, request: &GroupRequest, now: Instant) {
        let answer = match request {
            GroupRequest::Join(join) => self.join(caller, join, now),
            GroupRequest::Sync(sync) => self.sync(caller, sync, now),
            GroupRequest::Heartbeat(beat) => {
                let instance = beat.group_instance_id.as_deref();
                Some(Answer::Heartbeat(HeartbeatResponse {
                    error_code: self.beat(&beat.member_id, instance, beat.generation_id, now),
                    ..HeartbeatResponse::default()
                }))
            }
            GroupRequest::Leave(leave) => {
                for member in &leave.members {
                    self.remove(&member.member_id, now);
                }
                Some(Answer::Leave(LeaveGroupResponse::default()))
            }
            GroupRequest::ConsumerHeartbeat(_) => panic!("the other protocol"),
        };
        self.answers.extend(answer.map(|answer| (caller, answer)));
    }

    fn tick(&mut self, now: Instant) {
        let silent: Vec<String> = self
            .members
            .iter()
            .filter(|(_, it)| it.join.is_none() && it.sync.is_none() && it.alive_until <= now)
            .map(|(id, _)| id.clone())
            .collect();
        for id in silent {
            self.remove(&id, now);
        }
        match self.state {
            State::Preparing(until) if until <= now => {
                self.pending.clear();
                self.begin(now);
            }
            State::Completing(until) if until <= now => {
                self.members.retain(|_, member| member.has_synced);
                self.state = State::Stable;
                self.rebalance(now);
            }
            _ => {}
        }
    }

    /// Nobody is answered.
    fn restart(&mut self, ready: Instant) {
        let next_id = self.next_id;
        let stored = self.stored.take();
        *self = match stored {
            Some(stored) => Self {
                stored: Some(stored.clone()),
                ..*stored
            },
            None => Self::new(),
        };
        self.next_id = next_id;
        for member in self.members.values_mut() {
            member.alive_until = ready + member.session;
        }
    }

    /// The leader finds out.
    fn set_partitions(&mut self, _: usize) {}

    fn answers(&mut self) -> Vec<(Caller, Answer)> {
        std::mem::take(&mut self.answers)
    }

    fn counts_on(&self, member: &Identity) -> bool {
        // A static member that did not join in time stays in the group, and learns from its next heartbeat that its
        // generation is over.
        let is_behind = member.generation != self.generation;
        self.has(&member.member_id) && !(is_behind && member.instance_id.is_some())
    }

    /// It does not read what the leader assigns.
    fn grants(&self, _: &Identity, _: i32) -> bool {
        true
    }

    fn has(&self, member_id: &str) -> bool {
        self.members.contains_key(member_id)
    }

    fn may_fence(&self, _: &Identity) -> bool {
        true
    }

    fn generation(&self) -> i32 {
        self.generation
    }

    fn is_stable(&self) -> bool {
        self.state == State::Stable
    }
}

impl ClassicCoordinator {
    pub(super) fn new() -> Self {
        Self {
            state: State::Empty,
            generation: 0,
            protocol: String::new(),
            leader: String::new(),
            members: BTreeMap::new(),
            pending: BTreeSet::new(),
            next_id: 0,
            stored: None,
            answers: Vec::new(),
        }
    }

    fn check(&self, id: &str, instance: Option<&str>) -> Result<(), ErrorCode> {
        if let Some(instance) = instance {
            match self.instance(instance) {
                None => return Err(ErrorCode::UNKNOWN_MEMBER_ID),
                Some(known) if known != id => return Err(ErrorCode::FENCED_INSTANCE_ID),
                Some(_) => {}
            }
        }
        match self.members.contains_key(id) {
            true => Ok(()),
            false => Err(ErrorCode::UNKNOWN_MEMBER_ID),
        }
    }

    fn instance(&self, instance: &str) -> Option<String> {
        let mut members = self.members.iter();
        let found = members.find(|(_, member)| member.instance.as_deref() == Some(instance));
        found.map(|(id, _)| id.clone())
    }

    fn beat(
        &mut self,
        id: &str,
        instance: Option<&str>,
        generation: i32,
        now: Instant,
    ) -> ErrorCode {
        if let Err(code) = self.check(id, instance) {
            return code;
        }
        if generation != self.generation {
            return ErrorCode::ILLEGAL_GENERATION;
        }
        let member = self.members.get_mut(id).expect("checked");
        member.alive_until = now + member.session;
        match self.state {
            State::Empty => ErrorCode::UNKNOWN_MEMBER_ID,
            State::Preparing(_) => ErrorCode::REBALANCE_IN_PROGRESS,
            State::Completing(_) | State::Stable => ErrorCode::NONE,
        }
    }

    fn join(&mut self, caller: Caller, join: &JoinGroupRequest, now: Instant) -> Option<Answer> {
        let instance = join.group_instance_id.as_deref();
        let mut id = join.member_id.clone();
        if id.is_empty() {
            self.next_id += 1;
            id = format!("member-{}", self.next_id);
            match instance {
                None => {
                    self.pending.insert(id.clone());
                    return Some(refuse_join(ErrorCode::MEMBER_ID_REQUIRED, &id));
                }
                Some(instance) => {
                    if let Some(old) = self.instance(instance) {
                        return self.replace(caller, join, &old, id, now);
                    }
                }
            }
        } else if !(instance.is_none() && self.pending.remove(&id)) {
            if let Err(code) = self.check(&id, instance) {
                return Some(refuse_join(code, &id));
            }
            let same = self.members[&id].protocols == join.protocols;
            let is_told = match self.state {
                State::Stable => same && self.leader != id,
                State::Completing(_) => same,
                State::Empty | State::Preparing(_) => false,
            };
            if is_told {
                return Some(self.told(&id, false));
            }
        }
        let before = self.members.get(&id).and_then(|member| member.join);
        let assignment = self
            .members
            .get(&id)
            .map(|member| member.assignment.clone());
        self.members.insert(
            id.clone(),
            Member {
                instance: instance.map(str::to_owned),
                session: milliseconds(join.session_timeout_ms),
                rebalance: milliseconds(join.rebalance_timeout_ms),
                protocols: join.protocols.clone(),
                assignment: assignment.unwrap_or_default(),
                join: Some(caller),
                sync: None,
                has_synced: false,
                alive_until: now + milliseconds(join.session_timeout_ms),
            },
        );
        if let Some(before) = before {
            let code = ErrorCode::REBALANCE_IN_PROGRESS;
            self.answers.push((before, refuse_join(code, &id)));
        }
        self.rebalance(now);
        None
    }

    /// A static member is back under another id (KIP-345).
    fn replace(
        &mut self,
        caller: Caller,
        join: &JoinGroupRequest,
        old: &str,
        id: String,
        now: Instant,
    ) -> Option<Answer> {
        let mut member = self.members.remove(old).expect("found");
        let code = ErrorCode::FENCED_INSTANCE_ID;
        let waiting = member.join.take().map(|it| (it, refuse_join(code, old)));
        let sync = member.sync.take().map(|it| (it, refuse_sync(code)));
        self.answers.extend(waiting.into_iter().chain(sync));
        member.alive_until = now + member.session;
        member.protocols.clone_from(&join.protocols);
        if self.leader == old {
            self.leader.clone_from(&id);
        }
        self.members.insert(id.clone(), member);
        if self.state == State::Stable && self.common().as_deref() == Some(&*self.protocol) {
            self.store();
            return Some(self.told(&id, self.leader == id));
        }
        self.members.get_mut(&id).expect("put in").join = Some(caller);
        self.rebalance(now);
        None
    }

    fn told(&self, id: &str, skip_assignment: bool) -> Answer {
        let members = self.members.iter().filter(|_| self.leader == id);
        let members = members.map(|(id, member)| JoinGroupResponseMember {
            member_id: id.clone(),
            group_instance_id: member.instance.clone(),
            metadata: {
                let mut protocols = member.protocols.iter();
                let said = protocols.find(|it| it.name == self.protocol);
                said.map(|it| it.metadata.clone()).unwrap_or_default()
            },
        });
        Answer::Join(JoinGroupResponse {
            generation_id: self.generation,
            protocol_name: Some(self.protocol.clone()),
            leader: self.leader.clone(),
            member_id: id.to_owned(),
            members: members.collect(),
            skip_assignment,
            ..JoinGroupResponse::default()
        })
    }

    /// The first protocol of the first member that all have.
    fn common(&self) -> Option<String> {
        let first = self.members.values().next()?;
        let has = |member: &Member, name: &str| member.protocols.iter().any(|it| it.name == name);
        let mut names = first.protocols.iter().map(|it| it.name.clone());
        names.find(|name| self.members.values().all(|member| has(member, name)))
    }

    fn rebalance(&mut self, now: Instant) {
        if !matches!(self.state, State::Preparing(_)) {
            for member in self.members.values_mut() {
                member.has_synced = false;
                if let Some(sync) = member.sync.take() {
                    member.alive_until = now + member.session;
                    let code = ErrorCode::REBALANCE_IN_PROGRESS;
                    self.answers.push((sync, refuse_sync(code)));
                }
            }
            let longest = self.members.values().map(|member| member.rebalance).max();
            self.state = State::Preparing(now + longest.unwrap_or_default());
        }
        if self.pending.is_empty() && self.members.values().all(|member| member.join.is_some()) {
            self.begin(now);
        }
    }

    fn begin(&mut self, now: Instant) {
        // Silent static members stay until their session ends.
        self.members
            .retain(|_, member| member.join.is_some() || member.instance.is_some());
        let Some(first) = self
            .members
            .iter()
            .find_map(|(id, member)| member.join.map(|_| id.clone()))
        else {
            self.state = match self.members.is_empty() {
                true => State::Empty,
                false => State::Preparing(now + Duration::from_secs(5)),
            };
            return;
        };
        let leads = self.members.get(&self.leader);
        if leads.is_none_or(|leader| leader.join.is_none()) {
            self.leader = first;
        }
        self.generation += 1;
        self.protocol = self.common().expect("all are alike");
        let longest = self.members.values().map(|member| member.rebalance).max();
        self.state = State::Completing(now + longest.unwrap_or_default());
        let waiting: Vec<_> = self
            .members
            .iter_mut()
            .filter_map(|(id, member)| {
                member.alive_until = now + member.session;
                Some((member.join.take()?, id.clone()))
            })
            .collect();
        for (caller, id) in waiting {
            let told = self.told(&id, false);
            self.answers.push((caller, told));
        }
    }

    fn sync(&mut self, caller: Caller, sync: &SyncGroupRequest, now: Instant) -> Option<Answer> {
        let (id, instance) = (&sync.member_id, sync.group_instance_id.as_deref());
        if let Err(code) = self.check(id, instance) {
            return Some(refuse_sync(code));
        }
        if sync.generation_id != self.generation {
            return Some(refuse_sync(ErrorCode::ILLEGAL_GENERATION));
        }
        let member = self.members.get_mut(id).expect("checked");
        member.alive_until = now + member.session;
        match self.state {
            State::Empty | State::Preparing(_) => {
                Some(refuse_sync(ErrorCode::REBALANCE_IN_PROGRESS))
            }
            State::Stable => Some(Answer::Sync(SyncGroupResponse {
                assignment: member.assignment.clone(),
                ..SyncGroupResponse::default()
            })),
            State::Completing(_) => {
                member.has_synced = true;
                if let Some(before) = member.sync.replace(caller) {
                    let code = ErrorCode::REBALANCE_IN_PROGRESS;
                    self.answers.push((before, refuse_sync(code)));
                }
                if self.leader == *id {
                    self.complete(sync, now);
                }
                None
            }
        }
    }

    fn complete(&mut self, sync: &SyncGroupRequest, now: Instant) {
        self.state = State::Stable;
        for (id, member) in &mut self.members {
            let mut assignments = sync.assignments.iter();
            let assigned = assignments.find(|it| it.member_id == *id);
            member.assignment = assigned.map(|it| it.assignment.clone()).unwrap_or_default();
            if let Some(waiting) = member.sync.take() {
                member.alive_until = now + member.session;
                let response = SyncGroupResponse {
                    assignment: member.assignment.clone(),
                    ..SyncGroupResponse::default()
                };
                self.answers.push((waiting, Answer::Sync(response)));
            }
        }
        self.store();
    }

    fn store(&mut self) {
        self.stored = None;
        let mut stored = self.clone();
        stored.answers.clear();
        stored.pending.clear();
        self.stored = Some(Box::new(stored));
    }

    fn remove(&mut self, id: &str, now: Instant) {
        let was_pending = self.pending.remove(id);
        let gone = self.members.remove(id);
        let was_member = gone.is_some();
        if let Some(member) = gone {
            let code = ErrorCode::UNKNOWN_MEMBER_ID;
            let join = member.join.map(|it| (it, refuse_join(code, id)));
            let sync = member.sync.map(|it| (it, refuse_sync(code)));
            self.answers.extend(join.into_iter().chain(sync));
        }
        let prepares = matches!(self.state, State::Preparing(_));
        if was_member || (was_pending && prepares) {
            self.rebalance(now);
        }
    }
}
