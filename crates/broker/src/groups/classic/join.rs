//! JoinGroup, and how a generation of a classic group begins.

use copart_protocol::ErrorCode;
use copart_protocol::messages::join_group::{JoinGroupRequest, JoinGroupResponse};

use super::group::{ClassicGroup, InitialDelay, State};
use super::member::{Member, WaitingJoin};
use crate::groups::env::{Caller, Env, Reply, Token};
use crate::groups::timers::Timer;

/// The most ids of a group that were given out and not used yet: each takes memory, and a stranger asks for them.
const MAX_PENDING: usize = 1_000;

/// How long a member that waits for its first generation is believed to wait, as in Kafka.
const NEW_MEMBER_TIMEOUT_MS: i32 = 5 * 60 * 1000;

/// Does a dynamic member need an id before it joins (KIP-394)?
pub(in crate::groups) fn is_required(version: i16, request: &JoinGroupRequest) -> bool {
    version >= 4 && request.group_instance_id.is_none() && request.member_id.is_empty()
}

/// A join that failed.
pub(in crate::groups) fn join_error(
    version: i16,
    error_code: ErrorCode,
    member_id: &str,
) -> JoinGroupResponse {
    JoinGroupResponse {
        error_code,
        member_id: member_id.to_owned(),
        protocol_name: absent(version),
        ..JoinGroupResponse::default()
    }
}

/// Before version 7, what is not there is empty.
fn absent(version: i16) -> Option<String> {
    (version < 7).then(String::new)
}

impl ClassicGroup {
    /// A member joins, or joins again. `new_id` is for one that has no id.
    pub(in crate::groups) fn join(
        &mut self,
        env: &mut Env<'_>,
        caller: Caller<'_>,
        token: Token,
        request: &JoinGroupRequest,
        new_id: impl FnOnce() -> String,
    ) {
        let join = WaitingJoin {
            token,
            version: caller.version,
        };
        let fail = |env: &mut Env<'_>, code, id: &str| {
            env.reply(token, Reply::Join(join_error(caller.version, code, id)));
        };
        if !self.accepts(&request.member_id, env.config.group_max_size) {
            let id = request.member_id.clone();
            self.remove(&id, env);
            self.settle(env);
            return fail(env, ErrorCode::GROUP_MAX_SIZE_REACHED, "");
        }
        if !self.supports(&request.protocol_type, &request.protocols) {
            let code = ErrorCode::INCONSISTENT_GROUP_PROTOCOL;
            return fail(env, code, &request.member_id);
        }
        if !request.member_id.is_empty() {
            return self.join_again(env, caller, join, request);
        }
        let id = new_id();
        let known = request
            .group_instance_id
            .as_ref()
            .and_then(|instance| self.statics.get(instance).cloned());
        match known {
            Some(old) => self.replace_static(env, caller, join, request, &old, id),
            None if is_required(caller.version, request) && self.pending.len() >= MAX_PENDING => {
                fail(env, ErrorCode::GROUP_MAX_SIZE_REACHED, "");
            }
            None if is_required(caller.version, request) => {
                env.set_timer(self.session(&id), request.session_timeout_ms);
                fail(env, ErrorCode::MEMBER_ID_REQUIRED, &id);
                self.pending.insert(id);
            }
            None => self.add_and_rebalance(env, caller, join, request, id),
        }
    }

    /// Is there room for the member?
    fn accepts(&self, id: &str, max_size: i32) -> bool {
        let max_size = usize::try_from(max_size).unwrap_or(0);
        let member = self.members.get(id);
        match self.state {
            State::Empty => true,
            // The last ones to join are those who find no room.
            State::PreparingRebalance { .. } => {
                let waiting = self.members.values().filter(|it| it.join.is_some()).count();
                member.is_some_and(|it| it.join.is_some()) || waiting < max_size
            }
            State::CompletingRebalance | State::Stable => {
                member.is_some() || self.members.len() < max_size
            }
        }
    }

    fn join_again(
        &mut self,
        env: &mut Env<'_>,
        caller: Caller<'_>,
        join: WaitingJoin,
        request: &JoinGroupRequest,
    ) {
        let id = &request.member_id;
        if self.pending.contains(id) && request.group_instance_id.is_none() {
            return self.add_and_rebalance(env, caller, join, request, id.clone());
        }
        if let Err(code) = self.check_member(id, request.group_instance_id.as_deref()) {
            return env.reply(join.token, Reply::Join(join_error(join.version, code, id)));
        }
        let same = self.members[id].matches(&request.protocols);
        let answered = match self.state {
            State::Empty => {
                let code = ErrorCode::UNKNOWN_MEMBER_ID;
                return env.reply(join.token, Reply::Join(join_error(join.version, code, id)));
            }
            State::PreparingRebalance { .. } => false,
            // It missed the answer.
            State::CompletingRebalance => same,
            // A leader that joins wants a rebalance, since partitions may have changed.
            State::Stable => same && !self.is_leader(id),
        };
        if answered {
            let response = self.generation_for(id, join.version);
            return env.reply(join.token, Reply::Join(response));
        }
        self.update(env, id, request, join);
        self.rebalance(env);
    }

    fn update(
        &mut self,
        env: &mut Env<'_>,
        id: &str,
        request: &JoinGroupRequest,
        join: WaitingJoin,
    ) {
        if let Some(member) = self.members.get_mut(id) {
            member.update(request);
            if let Some(before) = member.join.replace(join) {
                // Its client has sent another one: nobody reads this.
                let code = ErrorCode::REBALANCE_IN_PROGRESS;
                env.reply(
                    before.token,
                    Reply::Join(join_error(before.version, code, id)),
                );
            }
        }
    }

    fn add_and_rebalance(
        &mut self,
        env: &mut Env<'_>,
        caller: Caller<'_>,
        join: WaitingJoin,
        request: &JoinGroupRequest,
        id: String,
    ) {
        let mut member = Member::new(id, caller, request);
        member.join = Some(join);
        env.set_timer(self.session(&member.id), NEW_MEMBER_TIMEOUT_MS);
        if self.members.is_empty() {
            self.protocol_type = Some(request.protocol_type.clone());
        }
        self.add(member);
        if let State::PreparingRebalance {
            initial: Some(delay),
        } = &mut self.state
        {
            delay.joined = true;
        }
        self.rebalance(env);
    }

    /// A static member is back, with another id. What it has stays, if that can be (KIP-345).
    fn replace_static(
        &mut self,
        env: &mut Env<'_>,
        caller: Caller<'_>,
        join: WaitingJoin,
        request: &JoinGroupRequest,
        old: &str,
        id: String,
    ) {
        let was_leader = self.is_leader(old);
        let Some(position) = self.members.get_index_of(old) else {
            return self.add_and_rebalance(env, caller, join, request, id);
        };
        let old_leader = self.leader.clone();
        env.timers.cancel(&self.session(old));
        self.pending_sync.remove(old);
        let mut member = self.members[position].clone();
        let (old_join, old_sync) = (member.join.take(), member.sync.take());
        member.id.clone_from(&id);
        member.client_id = caller.client_id.to_owned();
        member.client_host = caller.host.to_owned();
        member.update(request);
        member.join = Some(join);
        self.members.shift_remove(old);
        self.add(member);
        // It keeps its place, and with it the leadership that comes with the first one.
        let last = self.members.len() - 1;
        self.members.move_index(last, position);
        if was_leader {
            self.leader = Some(id.clone());
        }
        let code = ErrorCode::FENCED_INSTANCE_ID;
        if let Some(old_join) = old_join {
            let response = join_error(old_join.version, code, old);
            env.reply(old_join.token, Reply::Join(response));
        }
        if let Some(token) = old_sync {
            env.reply(token, Reply::Sync(super::sync_error(code)));
        }
        self.alive(&id, env);
        match self.state {
            State::Stable if self.select_protocol() == self.protocol => {
                env.write(self.to_record());
                let mut response = self.generation_for(&id, join.version);
                if join.version >= 9 {
                    // The leader assigns nothing, but has to know all members (KIP-814).
                    response.skip_assignment = self.is_leader(&id);
                } else {
                    // One that does not know of that must not take itself for the leader.
                    response.members.clear();
                    response.leader = old_leader.unwrap_or_default();
                }
                if let Some(member) = self.members.get_mut(&id) {
                    member.join = None;
                }
                env.reply(join.token, Reply::Join(response));
            }
            State::PreparingRebalance { .. } => self.settle(env),
            // The old id may be at the leader already, which would assign to it.
            State::Stable | State::CompletingRebalance | State::Empty => self.rebalance(env),
        }
    }

    /// The generation that there is, as a member is told of it.
    fn generation_for(&self, id: &str, version: i16) -> JoinGroupResponse {
        let protocol = self.protocol.as_deref().unwrap_or_default();
        JoinGroupResponse {
            generation_id: self.generation,
            protocol_type: self.protocol_type.clone(),
            protocol_name: self.protocol.clone().or_else(|| absent(version)),
            leader: self.leader.clone().unwrap_or_default(),
            member_id: id.to_owned(),
            members: match self.is_leader(id) {
                true => self
                    .members
                    .values()
                    .map(|it| it.for_leader(protocol))
                    .collect(),
                false => Vec::new(),
            },
            ..JoinGroupResponse::default()
        }
    }

    /// Has all members join again, or goes on with that.
    pub(in crate::groups) fn rebalance(&mut self, env: &mut Env<'_>) {
        if matches!(self.state, State::PreparingRebalance { .. }) {
            return self.settle(env);
        }
        if self.state == State::CompletingRebalance {
            self.refuse_syncs(env, ErrorCode::REBALANCE_IN_PROGRESS);
        }
        self.pending_sync.clear();
        env.timers.cancel(&Timer::Sync {
            group: self.id.clone(),
        });
        let join = Timer::Join {
            group: self.id.clone(),
        };
        if self.state == State::Empty {
            let delay_ms = env.config.group_initial_rebalance_delay_ms.max(0);
            if delay_ms > 0 {
                let remaining_ms = self.rebalance_timeout_ms().saturating_sub(delay_ms).max(0);
                env.set_timer(join, delay_ms);
                let initial = InitialDelay {
                    remaining_ms,
                    joined: false,
                };
                let initial = Some(initial);
                return self.enter(State::PreparingRebalance { initial }, env);
            }
        }
        self.enter(State::PreparingRebalance { initial: None }, env);
        if self.all_joined() {
            self.begin_generation(env);
        } else {
            env.set_timer(join, self.rebalance_timeout_ms());
        }
    }

    /// Begins the generation if everybody is there.
    pub(super) fn settle(&mut self, env: &mut Env<'_>) {
        if self.state == (State::PreparingRebalance { initial: None }) && self.all_joined() {
            self.begin_generation(env);
        }
    }

    /// The time to join is over.
    pub(in crate::groups) fn join_timed_out(&mut self, env: &mut Env<'_>) {
        let State::PreparingRebalance { initial } = &mut self.state else {
            return;
        };
        match initial {
            Some(delay) if delay.joined && delay.remaining_ms > 0 => {
                let step = env
                    .config
                    .group_initial_rebalance_delay_ms
                    .min(delay.remaining_ms);
                delay.joined = false;
                delay.remaining_ms -= step;
                let join = Timer::Join {
                    group: self.id.clone(),
                };
                env.set_timer(join, step);
            }
            _ => self.begin_generation(env),
        }
    }

    /// Those who joined are the next generation. Static members stay, also silent ones, until their session ends.
    fn begin_generation(&mut self, env: &mut Env<'_>) {
        let join = Timer::Join {
            group: self.id.clone(),
        };
        env.timers.cancel(&join);
        let absent = self.members.values().filter(|it| it.join.is_none());
        let gone: Vec<String> = absent
            .filter(|it| it.instance.is_none())
            .map(|it| it.id.clone())
            .collect();
        for id in gone {
            self.remove(&id, env);
        }
        let joined = self.members.values().find(|it| it.join.is_some());
        let Some(first) = joined.map(|it| it.id.clone()) else {
            if self.members.is_empty() {
                return self.become_empty(env);
            }
            // Nobody is there to lead it, and nobody's session has ended.
            return env.set_timer(join, self.rebalance_timeout_ms());
        };
        let leads = |id: &String| self.members.get(id).is_some_and(|it| it.join.is_some());
        if !self.leader.as_ref().is_some_and(leads) {
            self.leader = Some(first);
        }
        self.generation = next_generation(self.generation);
        self.protocol = self.select_protocol();
        self.enter(State::CompletingRebalance, env);
        let ids: Vec<String> = self.members.keys().cloned().collect();
        for id in ids {
            let member = &mut self.members[&id];
            member.new = false;
            let join = member.join.take();
            self.alive(&id, env);
            self.pending_sync.insert(id.clone());
            if let Some(join) = join {
                let response = self.generation_for(&id, join.version);
                env.reply(join.token, Reply::Join(response));
            }
        }
        let sync = Timer::Sync {
            group: self.id.clone(),
        };
        env.set_timer(sync, self.rebalance_timeout_ms());
    }

    fn become_empty(&mut self, env: &mut Env<'_>) {
        self.generation = next_generation(self.generation);
        self.protocol = None;
        self.leader = None;
        self.enter(State::Empty, env);
        env.write(self.to_record());
    }
}

fn next_generation(generation: i32) -> i32 {
    // Where Kafka would become negative, which members take for no generation at all.
    generation.checked_add(1).unwrap_or(1)
}
