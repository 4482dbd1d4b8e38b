//! A member by the classic protocol: all members join anew whenever something changes, and one of them, the leader,
//! assigns.
//!
//! - `join`: letting go of what others may get, and JoinGroup.
//! - `sync`: what the leader does, SyncGroup, and what comes of it.
//! - `stay`: heartbeats, and leaving.
//! - `want`: which topics the member reads, and which it has to know of.

mod join;
mod stay;
mod sync;
mod want;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use copart_protocol::{ApiKey, ErrorCode};
use regex::Regex;
use tokio::time::Instant;

use super::{
    Action, Answer, Assignor, GroupConfig, GroupRequest, Identity, Subscription, Token, Topics,
    Wanted,
};
use crate::{Error, ErrorKind, Result, TopicPartition};

/// What all members of groups of consumers call what they are.
const PROTOCOL_TYPE: &str = "consumer";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// In no group, and nothing is subscribed to. The first one.
    Idle,
    /// Lets go of what it must not have meanwhile, then joins. After `Idle`, `Stable` and `Stalled`, and after `Leading`
    /// and `Syncing` if those come to nothing.
    Joining,
    /// Has to assign, and waits until then at the latest to know of the group's topics. After `Joining`.
    Leading(Instant),
    /// Waits for its assignment. After `Joining` and `Leading`.
    Syncing,
    /// Has its assignment. After `Syncing`.
    Stable,
    /// The program is stuck. After any that is in the group.
    Stalled,
    /// Lets go of everything, and leaves for good. After any but `Ended`.
    Leaving,
    /// Out. After `Leaving`, or an error that it does not get over.
    Ended,
}

/// What is under way besides a heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sent {
    Join,
    Sync,
    Leave,
}

#[derive(Debug)]
pub(super) struct ClassicMember {
    config: GroupConfig,
    state: State,
    /// Empty until the coordinator has given it one.
    member_id: Arc<str>,
    /// Negative while it is in none.
    generation: i32,
    /// How this generation is dealt out.
    assignor: Option<Assignor>,
    subscription: Option<Subscription>,
    /// What the subscription's pattern is, if it is one.
    pattern: Option<Regex>,
    known: Topics,
    wanted: Wanted,
    /// All topics were listed at least once, which is what a pattern needs. Or it was waited for long enough.
    is_listed: bool,
    /// Until when that is waited for.
    listed_by: Option<Instant>,
    /// What the member said that it reads when it joined.
    joined: Vec<Arc<str>>,
    /// What the leader assigns: the members' topics, and how many partitions they had.
    led: Option<BTreeMap<Arc<str>, Option<i32>>>,
    /// Who is to be assigned to, while the leader gathers what it has to know.
    members: Vec<super::assign::MemberSubscription>,
    /// Has to join again as soon as it can.
    must_rejoin: bool,
    /// As the leader it does not know of each partition that it is assigned.
    leaves_some: bool,
    /// When it joins again because of that.
    looks_again: Option<Instant>,
    held: BTreeSet<TopicPartition>,
    /// Of `held`, what the program is to let go of, and until when.
    releasing: BTreeMap<TopicPartition, Instant>,
    /// What it had last, and in which generation: the sticky assignor goes by it, also when all was let go of.
    previous: (Vec<TopicPartition>, i32),
    sent: Option<(Token, Sent)>,
    /// The coordinator may have begun a generation with this member that it does not know of: a join went out since it
    /// has learnt of the last one.
    has_asked: bool,
    /// When to join, if nothing is under way.
    next_join: Option<Instant>,
    /// A heartbeat, and the generation that it speaks of.
    heartbeat: Option<(Token, i32)>,
    next_heartbeat: Option<Instant>,
    heartbeat_failures: u32,
    failures: u32,
    counter: u64,
    /// That another member has our instance id was told.
    has_warned: bool,
    actions: VecDeque<Action>,
}

impl ClassicMember {
    /// One whose requests are counted from there on.
    pub(super) fn new(config: GroupConfig, counter: u64) -> Self {
        Self {
            config,
            state: State::Idle,
            member_id: Arc::from(""),
            generation: -1,
            assignor: None,
            subscription: None,
            pattern: None,
            known: Topics::new(),
            wanted: Wanted::Nothing,
            is_listed: false,
            listed_by: None,
            joined: Vec::new(),
            led: None,
            members: Vec::new(),
            must_rejoin: false,
            leaves_some: false,
            looks_again: None,
            held: BTreeSet::new(),
            releasing: BTreeMap::new(),
            previous: (Vec::new(), -1),
            sent: None,
            has_asked: false,
            next_join: None,
            heartbeat: None,
            next_heartbeat: None,
            heartbeat_failures: 0,
            failures: 0,
            counter,
            has_warned: false,
            actions: VecDeque::new(),
        }
    }

    pub(super) fn poll(&mut self, now: Instant) -> Option<Action> {
        if let Some(action) = self.actions.pop_front() {
            return Some(action);
        }
        self.release_late(now);
        if self.state == State::Stable && self.looks_again.take_if(|at| *at <= now).is_some() {
            self.must_rejoin = true;
        }
        if matches!(self.state, State::Idle | State::Stable)
            && self.must_rejoin
            && self.releasing.is_empty()
        {
            self.begin_join(now);
        }
        match self.state {
            State::Joining => self.join(now),
            State::Leading(until) if until <= now => self.assign(),
            State::Leaving => self.leave_when_free(),
            _ => {}
        }
        self.show_life(now);
        self.actions.pop_front()
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let heartbeat = self
            .next_heartbeat
            .filter(|_| self.heartbeat.is_none() && self.shows_life());
        let release = self.releasing.values().min().copied();
        let other = match self.state {
            State::Joining if self.sent.is_none() && self.releasing.is_empty() => {
                let listed = self.listed_by.filter(|_| self.waits_for_list());
                self.next_join.max(listed)
            }
            State::Leading(until) => Some(until),
            State::Stable => self.looks_again,
            _ => None,
        };
        [heartbeat, release, other].into_iter().flatten().min()
    }

    pub(super) fn answered(&mut self, token: Token, outcome: Result<Answer>, now: Instant) {
        if let Some((_, generation)) = self.heartbeat.take_if(|(known, _)| *known == token) {
            self.heartbeat_answered(generation, outcome, now);
            return;
        }
        let Some((_, sent)) = self.sent.take_if(|(known, _)| *known == token) else {
            return;
        };
        match (sent, outcome) {
            (Sent::Leave, outcome) => self.left(outcome, now),
            (Sent::Join, Ok(Answer::Join(response))) => self.join_answered(response, now),
            (Sent::Sync, Ok(Answer::Sync(response))) => self.sync_answered(response, now),
            (Sent::Join | Sent::Sync, Ok(_)) => {
                let error = Error::new(ErrorKind::Protocol, "the answer is to another request");
                self.fail(error);
            }
            (Sent::Join | Sent::Sync, Err(error)) if error.is_retriable() => {
                tracing::debug!(group = %self.config.group, %error, "the group is joined again");
                self.actions.push_back(Action::ForgetCoordinator);
                self.join_later(now);
            }
            (Sent::Join | Sent::Sync, Err(error)) => self.fail(error),
        }
    }

    fn send(&mut self, request: GroupRequest, timeout: std::time::Duration) -> Token {
        self.counter += 1;
        let token = Token(self.counter);
        self.actions.push_back(Action::Send {
            token,
            request,
            timeout,
        });
        token
    }

    /// Time is up for what the program does not let go of.
    fn release_late(&mut self, now: Instant) {
        let late = self.releasing.iter().filter(|(_, until)| **until <= now);
        let late: Vec<TopicPartition> = late.map(|(partition, _)| partition.clone()).collect();
        if !late.is_empty() {
            self.forget(&late);
            self.actions.push_back(Action::Lost(late));
        }
    }

    fn forget(&mut self, partitions: &[TopicPartition]) {
        for partition in partitions {
            self.releasing.remove(partition);
            self.held.remove(partition);
        }
    }

    /// Has the program let go of these, unless it was asked to already.
    fn revoke(&mut self, partitions: Vec<TopicPartition>, now: Instant) {
        let until = now + self.config.release_timeout();
        let partitions = partitions.into_iter();
        let partitions: Vec<TopicPartition> = partitions
            .filter(|partition| !self.releasing.contains_key(partition))
            .collect();
        if !partitions.is_empty() {
            let each = partitions
                .iter()
                .map(|partition| (partition.clone(), until));
            self.releasing.extend(each);
            self.actions.push_back(Action::Revoke(partitions));
        }
    }

    pub(super) fn released(&mut self, partitions: &[TopicPartition]) {
        let partitions = partitions.iter();
        let asked: Vec<TopicPartition> = partitions
            .filter(|partition| self.releasing.contains_key(*partition))
            .cloned()
            .collect();
        self.forget(&asked);
    }

    fn lose_all(&mut self) {
        self.releasing.clear();
        let all: Vec<_> = std::mem::take(&mut self.held).into_iter().collect();
        if !all.is_empty() {
            self.actions.push_back(Action::Lost(all));
        }
    }

    /// The coordinator does not know it any more, or it is of a generation that is over: what it has may be another's.
    fn fenced(&mut self, is_unknown: bool, now: Instant) {
        self.lose_all();
        self.generation = -1;
        self.led = None;
        if is_unknown {
            self.member_id = Arc::from("");
        }
        if self.state != State::Leaving {
            self.sent = None;
            self.join_soon(now);
        }
    }

    fn error(&self, api: ApiKey, code: ErrorCode) -> Error {
        let about = match code {
            ErrorCode::INCONSISTENT_GROUP_PROTOCOL => {
                let names: Vec<_> = self.config.assignors.iter().map(|it| it.name()).collect();
                Some(format!(
                    "the members of the group have no assignor in common, or are no consumers; this one has {}",
                    names.join(", ")
                ))
            }
            ErrorCode::INVALID_SESSION_TIMEOUT => Some(format!(
                "the broker does not allow a session timeout of {:?}",
                self.config.session_timeout
            )),
            ErrorCode::FENCED_INSTANCE_ID => {
                Some("another member has taken this one's instance id".to_owned())
            }
            _ => None,
        };
        let error = Error::from_code(code, None)
            .in_group(Arc::clone(&self.config.group))
            .in_api(api, 0);
        match about {
            Some(about) => error.about(about),
            None => error,
        }
    }

    pub(super) fn fail(&mut self, error: Error) {
        self.lose_all();
        self.end(Action::Fail(error));
    }

    fn end(&mut self, last: Action) {
        self.state = State::Ended;
        self.generation = -1;
        self.sent = None;
        self.heartbeat = None;
        self.actions.push_back(last);
    }

    pub(super) fn committed(&mut self, by: &Identity, code: ErrorCode, now: Instant) {
        let is_of_member = matches!(
            code,
            ErrorCode::UNKNOWN_MEMBER_ID
                | ErrorCode::ILLEGAL_GENERATION
                | ErrorCode::FENCED_INSTANCE_ID
                | ErrorCode::REBALANCE_IN_PROGRESS
        );
        // The heartbeat tells for certain.
        if is_of_member && self.identity().as_ref() == Some(by) {
            self.next_heartbeat = Some(now);
        }
    }

    pub(super) fn identity(&self) -> Option<Identity> {
        (self.generation >= 0).then(|| Identity {
            is_epoch: false,
            member_id: Arc::clone(&self.member_id),
            generation: self.generation,
            instance_id: self.config.instance_id.clone(),
        })
    }

    pub(super) fn assignment(&self) -> &BTreeSet<TopicPartition> {
        &self.held
    }

    #[cfg(test)]
    pub(super) fn state(&self) -> super::GroupState {
        use super::GroupState;
        match self.state {
            State::Idle => GroupState::Idle,
            State::Joining if !self.releasing.is_empty() => GroupState::Releasing,
            State::Joining | State::Leading(_) | State::Syncing => GroupState::Joining,
            State::Stable if !self.releasing.is_empty() => GroupState::Releasing,
            State::Stable if self.must_rejoin => GroupState::Joining,
            State::Stable => GroupState::Stable,
            State::Stalled => GroupState::Stalled,
            State::Leaving => GroupState::Leaving,
            State::Ended => GroupState::Ended,
        }
    }
}
