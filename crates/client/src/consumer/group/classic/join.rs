//! Letting go of what others may get, and JoinGroup.

use std::sync::Arc;
use std::time::Duration;

use copart_protocol::messages::join_group::{
    JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse,
};
use copart_protocol::{ApiKey, ErrorCode};
use tokio::time::Instant;

use super::{ClassicMember, PROTOCOL_TYPE, Sent, State};
use crate::consumer::group::{Action, Assignor, GroupRequest, assign};
use crate::{Error, ErrorKind, TopicPartition};

/// How much longer than the members may take an answer can: the coordinator takes them out first.
const SLACK: Duration = Duration::from_secs(5);

impl ClassicMember {
    /// On the way into the next generation.
    pub(super) fn begin_join(&mut self, now: Instant) {
        self.state = State::Joining;
        self.next_join = Some(now);
    }

    /// As soon as that can be.
    pub(super) fn join_soon(&mut self, now: Instant) {
        // Once at once: whoever is sent away again and again waits longer and longer.
        if self.failures == 0 {
            self.failures = 1;
            self.begin_join(now);
        } else {
            self.join_later(now);
        }
    }

    /// After a failure.
    pub(super) fn join_later(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        self.begin_join(now + self.config.backoff.after(self.failures));
    }

    /// What the program must not have while the group is rebalanced: everything, unless all assignors are cooperative.
    fn must_go(&self) -> Vec<TopicPartition> {
        let keeps = self.config.is_cooperative();
        let held = self.held.iter();
        let gone = held.filter(|partition| !keeps || !self.is_read(&partition.topic));
        gone.cloned().collect()
    }

    /// Goes on with joining, as far as that can be now.
    pub(super) fn join(&mut self, now: Instant) {
        if self.sent.is_some() {
            return;
        }
        self.revoke(self.must_go(), now);
        if !self.releasing.is_empty() || self.next_join.is_none_or(|at| at > now) {
            return;
        }
        if self.waits_for_list() && self.listed_by.is_some_and(|by| by > now) {
            return;
        }
        self.next_join = None;
        self.must_rejoin = false;
        self.joined = self.reads();
        let protocols = self.config.assignors.iter().map(|&assignor| {
            // The sticky assignor wants to know of what was let go of, too.
            let (owned, generation) = match assignor {
                Assignor::Sticky => self.previous.clone(),
                _ => (self.held.iter().cloned().collect(), self.generation),
            };
            let rack = self.config.rack.as_deref();
            JoinGroupRequestProtocol {
                name: assignor.name().to_owned(),
                metadata: assign::encode_subscription(
                    assignor,
                    &self.joined,
                    &owned,
                    generation,
                    rack,
                ),
            }
        });
        let request = JoinGroupRequest {
            group_id: self.config.group.to_string(),
            session_timeout_ms: milliseconds(self.config.session_timeout),
            rebalance_timeout_ms: milliseconds(self.config.rebalance_timeout),
            member_id: self.member_id.to_string(),
            group_instance_id: self.config.instance_id.as_deref().map(str::to_owned),
            protocol_type: PROTOCOL_TYPE.to_owned(),
            protocols: protocols.collect(),
            reason: None,
        };
        let token = self.send(GroupRequest::Join(request), self.patience());
        self.sent = Some((token, Sent::Join));
        self.has_asked = true;
    }

    /// How long answers may take that wait for all the group.
    pub(super) fn patience(&self) -> Duration {
        let patience = self.config.rebalance_timeout + SLACK;
        patience.max(self.config.request_timeout)
    }

    pub(super) fn join_answered(&mut self, response: JoinGroupResponse, now: Instant) {
        match response.error_code {
            ErrorCode::NONE => self.joined(response, now),
            // The first join of a dynamic member is for its id (KIP-394), so that a lost answer makes no ghost.
            ErrorCode::MEMBER_ID_REQUIRED if self.member_id.is_empty() => {
                self.member_id = response.member_id.into();
                self.begin_join(now);
            }
            ErrorCode::UNKNOWN_MEMBER_ID => self.fenced(true, now),
            ErrorCode::ILLEGAL_GENERATION => self.fenced(false, now),
            ErrorCode::REBALANCE_IN_PROGRESS => self.join_later(now),
            code => self.refused(ApiKey::JoinGroup, code, now),
        }
    }

    /// Codes that mean the same, whatever was asked.
    pub(super) fn refused(&mut self, api: ApiKey, code: ErrorCode, now: Instant) {
        match code {
            ErrorCode::NOT_COORDINATOR | ErrorCode::COORDINATOR_NOT_AVAILABLE => {
                self.actions.push_back(Action::ForgetCoordinator);
                self.join_later(now);
            }
            // A member of the consumer protocol has our instance id, or has died with it not long ago.
            ErrorCode::UNRELEASED_INSTANCE_ID => {
                if !std::mem::replace(&mut self.has_warned, true) {
                    let error = self.error(api, code);
                    self.actions.push_back(Action::Warn(error));
                }
                self.join_later(now);
            }
            code if code.is_retriable() => self.join_later(now),
            code => {
                let error = self.error(api, code);
                self.fail(error);
            }
        }
    }

    /// The next generation has begun.
    fn joined(&mut self, response: JoinGroupResponse, now: Instant) {
        let name = response.protocol_name.as_deref().unwrap_or_default();
        let mut assignors = self.config.assignors.iter();
        let Some(&assignor) = assignors.find(|assignor| assignor.name() == name) else {
            let reason =
                format!("the coordinator has chosen the assignor {name:?}, which was not offered");
            let error = Error::new(ErrorKind::Protocol, reason);
            return self.fail(error.in_group(Arc::clone(&self.config.group)));
        };
        // Silent static members stay in the group (KIP-345): a generation that it missed may have given what it has to
        // others.
        let follows = response.generation_id.saturating_sub(1) == self.generation
            || response.generation_id == self.generation;
        if self.config.instance_id.is_some() && !follows && !self.held.is_empty() {
            self.lose_all();
            // The leader goes by what it said that it has: what it is to lose is given to nobody before it joins again.
            self.must_rejoin = true;
        }
        let leads = !response.leader.is_empty() && response.leader == response.member_id;
        self.member_id = response.member_id.into();
        self.generation = response.generation_id;
        self.has_asked = false;
        self.leaves_some = false;
        self.looks_again = None;
        self.assignor = Some(assignor);
        self.next_heartbeat = Some(now + self.config.heartbeat_interval);
        self.heartbeat_failures = 0;
        if leads {
            self.lead(assignor, response.members, response.skip_assignment, now);
        } else {
            self.led = None;
            self.want();
            self.sync(Vec::new());
        }
    }
}

/// As requests have it. Longer ones are refused when a consumer is built.
fn milliseconds(time: Duration) -> i32 {
    i32::try_from(time.as_millis()).unwrap_or(i32::MAX)
}
