//! Heartbeats, and leaving.

use copart_protocol::messages::heartbeat::HeartbeatRequest;
use copart_protocol::messages::leave_group::{LeaveGroupRequest, MemberIdentity};
use copart_protocol::{ApiKey, ErrorCode};
use tokio::time::Instant;

use super::{ClassicMember, Sent, State};
use crate::consumer::group::{Action, Answer, GroupRequest};
use crate::{Error, ErrorKind, Result};

/// After so many heartbeats in a row without an answer, what else is under way is not waited for any longer.
const SILENCE: u32 = 2;

impl ClassicMember {
    /// Whether it is in a generation, and has to show it. While it joins, the coordinator does not count its silence:
    /// then a heartbeat finds out whether the coordinator is still there.
    pub(super) fn shows_life(&self) -> bool {
        self.generation >= 0
            && matches!(
                self.state,
                State::Joining
                    | State::Leading(_)
                    | State::Syncing
                    | State::Stable
                    | State::Leaving
            )
    }

    pub(super) fn show_life(&mut self, now: Instant) {
        let is_due = self.next_heartbeat.is_some_and(|at| at <= now);
        if !is_due || self.heartbeat.is_some() || !self.shows_life() {
            return;
        }
        let request = HeartbeatRequest {
            group_id: self.config.group.to_string(),
            generation_id: self.generation,
            member_id: self.member_id.to_string(),
            group_instance_id: self.config.instance_id.as_deref().map(str::to_owned),
        };
        let token = self.send(
            GroupRequest::Heartbeat(request),
            self.config.request_timeout.min(self.config.session_timeout),
        );
        self.heartbeat = Some((token, self.generation));
    }

    pub(super) fn heartbeat_answered(
        &mut self,
        generation: i32,
        outcome: Result<Answer>,
        now: Instant,
    ) {
        self.next_heartbeat = Some(now + self.config.heartbeat_interval);
        let code = match outcome {
            Ok(Answer::Heartbeat(response)) => response.error_code,
            Ok(_) => {
                let error = Error::new(ErrorKind::Protocol, "the answer is to another request");
                return self.fail(error);
            }
            Err(error) if error.is_retriable() => {
                self.actions.push_back(Action::ForgetCoordinator);
                return self.unheard(&error, now);
            }
            Err(error) => return self.fail(error),
        };
        if generation != self.generation || !self.shows_life() {
            return;
        }
        // The answer to what is under way tells it as well, and what comes next. What this member said when it joined
        // counts in the next generation, too.
        let waits = self.sent.is_some() || self.has_asked;
        match code {
            ErrorCode::NONE => self.heartbeat_failures = 0,
            ErrorCode::REBALANCE_IN_PROGRESS => {
                self.heartbeat_failures = 0;
                self.must_rejoin |= self.state != State::Joining;
            }
            ErrorCode::UNKNOWN_MEMBER_ID if !waits => self.fenced(true, now),
            ErrorCode::ILLEGAL_GENERATION if !waits => self.fenced(false, now),
            ErrorCode::FENCED_INSTANCE_ID if !waits => {
                let error = self.error(ApiKey::Heartbeat, code);
                self.fail(error);
            }
            ErrorCode::UNKNOWN_MEMBER_ID
            | ErrorCode::ILLEGAL_GENERATION
            | ErrorCode::FENCED_INSTANCE_ID => {}
            ErrorCode::NOT_COORDINATOR | ErrorCode::COORDINATOR_NOT_AVAILABLE => {
                self.actions.push_back(Action::ForgetCoordinator);
                let error = self.error(ApiKey::Heartbeat, code);
                self.unheard(&error, now);
            }
            code if code.is_retriable() => {
                let error = self.error(ApiKey::Heartbeat, code);
                self.unheard(&error, now);
            }
            code => {
                let error = self.error(ApiKey::Heartbeat, code);
                self.fail(error);
            }
        }
    }

    /// A heartbeat did not reach the coordinator.
    fn unheard(&mut self, error: &Error, now: Instant) {
        self.heartbeat_failures = self.heartbeat_failures.saturating_add(1);
        let wait = self.config.backoff.after(self.heartbeat_failures);
        self.next_heartbeat = Some(now + wait.min(self.config.heartbeat_interval));
        let waits = matches!(self.sent, Some((_, Sent::Join | Sent::Sync)));
        if waits && self.heartbeat_failures >= SILENCE {
            self.lost_sight(error, now);
        }
    }

    pub(in crate::consumer::group) fn processing_stalled(&mut self, now: Instant) {
        if matches!(
            self.state,
            State::Idle | State::Stalled | State::Leaving | State::Ended
        ) {
            return;
        }
        self.lose_all();
        self.abandon();
        self.state = State::Stalled;
        self.generation = -1;
        self.led = None;
        self.next_join = Some(now);
        self.send_leave();
    }

    pub(in crate::consumer::group) fn processing_resumed(&mut self, now: Instant) {
        if self.state == State::Stalled {
            self.begin_join(now);
        }
    }

    pub(in crate::consumer::group) fn leave(&mut self, now: Instant) {
        if matches!(self.state, State::Leaving | State::Ended) {
            return;
        }
        if !matches!(self.sent, Some((_, Sent::Leave))) {
            self.abandon();
        }
        self.state = State::Leaving;
        let all = self.held.iter().cloned().collect();
        self.revoke(all, now);
    }

    /// Leaves as soon as the program has let go of everything.
    pub(super) fn leave_when_free(&mut self) {
        if self.held.is_empty() && self.sent.is_none() && !self.send_leave() {
            self.end(Action::Left);
        }
    }

    /// Tells the group, if there is something to tell. A static member says nothing: it may be back in time (KIP-345).
    fn send_leave(&mut self) -> bool {
        if self.member_id.is_empty() || self.config.instance_id.is_some() {
            return false;
        }
        let member = MemberIdentity {
            member_id: self.member_id.to_string(),
            group_instance_id: None,
            reason: None,
        };
        let request = LeaveGroupRequest {
            group_id: self.config.group.to_string(),
            member_id: String::new(),
            members: vec![member],
        };
        let token = self.send(GroupRequest::Leave(request), self.config.request_timeout);
        self.sent = Some((token, Sent::Leave));
        true
    }

    /// It has left, or the coordinator will notice by itself.
    pub(super) fn left(&mut self, outcome: Result<Answer>, now: Instant) {
        if outcome.is_err() {
            // What it is known by is kept: whoever comes back with it replaces it.
            self.actions.push_back(Action::ForgetCoordinator);
        } else {
            self.member_id = std::sync::Arc::from("");
        }
        match self.state {
            State::Leaving => self.end(Action::Left),
            // Went on meanwhile.
            State::Joining => self.next_join = Some(now),
            _ => {}
        }
    }
}
