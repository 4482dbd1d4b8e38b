//! SyncGroup, Heartbeat and LeaveGroup of classic groups, and members that fall silent.

use std::collections::HashMap;

use copart_protocol::ErrorCode;
use copart_protocol::messages::heartbeat::HeartbeatRequest;
use copart_protocol::messages::leave_group::{LeaveGroupRequest, MemberResponse};
use copart_protocol::messages::sync_group::{SyncGroupRequest, SyncGroupResponse};

use super::group::{ClassicGroup, State};
use crate::groups::batches;
use crate::groups::env::{Env, Reply, Token};
use crate::groups::timers::Timer;
use crate::groups::topic::CONSUMER_OFFSETS;

/// A sync that failed.
pub(in crate::groups) fn sync_error(error_code: ErrorCode) -> SyncGroupResponse {
    SyncGroupResponse {
        error_code,
        ..SyncGroupResponse::default()
    }
}

impl ClassicGroup {
    /// A member asks for its assignment; the leader also brings everybody's.
    pub(in crate::groups) fn sync(
        &mut self,
        env: &mut Env<'_>,
        token: Token,
        request: SyncGroupRequest,
    ) {
        if let Err(code) = self.check_sync(&request) {
            return env.reply(token, Reply::Sync(sync_error(code)));
        }
        let id = &request.member_id;
        match self.state {
            State::Empty | State::PreparingRebalance { .. } => {
                let code = ErrorCode::REBALANCE_IN_PROGRESS;
                env.reply(token, Reply::Sync(sync_error(code)));
            }
            State::Stable => {
                self.synced(id, env);
                let response = self.assignment_of(id);
                env.reply(token, Reply::Sync(response));
            }
            State::CompletingRebalance => {
                self.synced(id, env);
                if let Some(before) = self.members[id].sync.replace(token) {
                    let code = ErrorCode::REBALANCE_IN_PROGRESS;
                    env.reply(before, Reply::Sync(sync_error(code)));
                }
                if self.is_leader(id) {
                    self.assign(env, request);
                }
            }
        }
    }

    fn check_sync(&self, request: &SyncGroupRequest) -> Result<(), ErrorCode> {
        self.check_member(&request.member_id, request.group_instance_id.as_deref())?;
        if request.generation_id != self.generation {
            return Err(ErrorCode::ILLEGAL_GENERATION);
        }
        let differs = |said: &Option<String>, is: &Option<String>| matches!((said, is), (Some(said), Some(is)) if said != is);
        if differs(&request.protocol_type, &self.protocol_type)
            || differs(&request.protocol_name, &self.protocol)
        {
            return Err(ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
        }
        Ok(())
    }

    /// The leader's assignment is there: the generation is complete.
    fn assign(&mut self, env: &mut Env<'_>, request: SyncGroupRequest) {
        let mut assigned: HashMap<String, _> = request
            .assignments
            .into_iter()
            .map(|it| (it.member_id, it.assignment))
            .collect();
        for member in self.members.values_mut() {
            // Whoever the leader forgot has nothing.
            member.assignment = assigned.remove(&member.id).unwrap_or_default();
        }
        let size = batches::size(&[self.to_record()]);
        if size.map_or(true, |size| size > env.max_batch_bytes) {
            tracing::warn!(
                group = self.id,
                "the assignment does not fit into a record of {CONSUMER_OFFSETS}: max.message.bytes is {}",
                env.max_batch_bytes
            );
            self.refuse_syncs(env, ErrorCode::UNKNOWN_SERVER_ERROR);
            return self.rebalance(env);
        }
        self.enter(State::Stable, env);
        env.write(self.to_record());
        let waiting: Vec<(String, Token)> = self
            .members
            .values_mut()
            .filter_map(|member| Some((member.id.clone(), member.sync.take()?)))
            .collect();
        for (id, token) in waiting {
            // While it waited, its silence did not count.
            self.alive(&id, env);
            let response = self.assignment_of(&id);
            env.reply(token, Reply::Sync(response));
        }
    }

    fn assignment_of(&self, id: &str) -> SyncGroupResponse {
        let member = self.members.get(id);
        SyncGroupResponse {
            protocol_type: self.protocol_type.clone(),
            protocol_name: self.protocol.clone(),
            assignment: member.map_or_else(Default::default, |it| it.assignment.clone()),
            ..SyncGroupResponse::default()
        }
    }

    fn synced(&mut self, id: &str, env: &mut Env<'_>) {
        self.pending_sync.remove(id);
        if self.pending_sync.is_empty() {
            env.timers.cancel(&Timer::Sync {
                group: self.id.clone(),
            });
        }
    }

    pub(in crate::groups) fn refuse_syncs(&mut self, env: &mut Env<'_>, code: ErrorCode) {
        let waiting: Vec<(String, Token)> = self
            .members
            .values_mut()
            .filter_map(|member| {
                member.assignment.clear();
                Some((member.id.clone(), member.sync.take()?))
            })
            .collect();
        for (id, token) in waiting {
            self.alive(&id, env);
            env.reply(token, Reply::Sync(sync_error(code)));
        }
    }

    /// Members had time to ask for their assignment, and some did not.
    pub(in crate::groups) fn sync_timed_out(&mut self, env: &mut Env<'_>) {
        if !matches!(self.state, State::CompletingRebalance | State::Stable)
            || self.pending_sync.is_empty()
        {
            return;
        }
        for id in std::mem::take(&mut self.pending_sync) {
            self.remove(&id, env);
        }
        self.rebalance(env);
    }

    /// A sign of life. The code says whether the member has to join again.
    pub(in crate::groups) fn heartbeat(
        &mut self,
        env: &mut Env<'_>,
        request: &HeartbeatRequest,
    ) -> ErrorCode {
        let checked = self.check_member(&request.member_id, request.group_instance_id.as_deref());
        if let Err(code) = checked {
            return code;
        }
        if request.generation_id != self.generation {
            return ErrorCode::ILLEGAL_GENERATION;
        }
        self.alive(&request.member_id, env);
        match self.state {
            State::Empty => ErrorCode::UNKNOWN_MEMBER_ID,
            State::PreparingRebalance { .. } => ErrorCode::REBALANCE_IN_PROGRESS,
            State::CompletingRebalance | State::Stable => ErrorCode::NONE,
        }
    }

    /// Members leave, or are taken out by an administrator, who knows only their instance ids.
    pub(in crate::groups) fn leave(
        &mut self,
        env: &mut Env<'_>,
        request: &LeaveGroupRequest,
    ) -> Vec<MemberResponse> {
        let mut left = false;
        let mut responses = Vec::with_capacity(request.members.len());
        for leaving in &request.members {
            let instance = leaving.group_instance_id.as_deref();
            let found = if leaving.member_id.is_empty() {
                let found = instance.and_then(|instance| self.statics.get(instance).cloned());
                found.ok_or(ErrorCode::UNKNOWN_MEMBER_ID)
            } else if self.pending.contains(&leaving.member_id) {
                Ok(leaving.member_id.clone())
            } else {
                let checked = self.check_member(&leaving.member_id, instance);
                checked.map(|()| leaving.member_id.clone())
            };
            let error_code = match found {
                Ok(id) => {
                    left = true;
                    self.remove(&id, env);
                    ErrorCode::NONE
                }
                Err(code) => code,
            };
            responses.push(MemberResponse {
                member_id: leaving.member_id.clone(),
                group_instance_id: leaving.group_instance_id.clone(),
                error_code,
            });
        }
        if left {
            self.members_left(env);
        }
        responses
    }

    /// A member was silent for too long.
    pub(in crate::groups) fn session_ended(&mut self, env: &mut Env<'_>, id: &str) {
        if let Some(member) = self.members.get(id) {
            let waits = member.join.is_some() || member.sync.is_some();
            // Its silence begins with the answer, unless it never had one.
            if waits && !member.new {
                return;
            }
        } else if self.pending.contains(id) {
            self.remove(id, env);
            return self.settle(env);
        } else {
            return;
        }
        self.remove(id, env);
        self.members_left(env);
    }

    fn members_left(&mut self, env: &mut Env<'_>) {
        match self.state {
            State::Stable | State::CompletingRebalance => self.rebalance(env),
            State::PreparingRebalance { .. } => self.settle(env),
            State::Empty => {}
        }
    }
}
