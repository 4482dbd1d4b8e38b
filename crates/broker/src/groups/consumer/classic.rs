//! Members of a consumer group that speak the classic protocol (KIP-848, online migration). The coordinator assigns to
//! them as to the others, and wraps it into the answers that they know: their generation is their member epoch.

use copart_protocol::ErrorCode;
use copart_protocol::messages::consumer_protocol_assignment::{
    ConsumerProtocolAssignment, TopicPartition,
};
use copart_protocol::messages::consumer_protocol_subscription::ConsumerProtocolSubscription;
use copart_protocol::messages::heartbeat::HeartbeatRequest;
use copart_protocol::messages::join_group::{JoinGroupRequest, JoinGroupResponse};
use copart_protocol::messages::leave_group::{LeaveGroupRequest, MemberResponse};
use copart_protocol::messages::sync_group::{SyncGroupRequest, SyncGroupResponse};

use super::group::ConsumerGroup;
use super::heartbeat::Subscription;
use super::member::{Assignment, ClassicSide, Member, MemberState, plain};
use crate::groups::classic::is_required;
use crate::groups::embedded::{self, CONSUMER};
use crate::groups::env::{Caller, Env};
use crate::groups::timers::Timer;

impl ConsumerGroup {
    /// A member that speaks the classic protocol joins. It is answered at once: it has not to wait for others.
    pub(in crate::groups) fn classic_join(
        &mut self,
        env: &mut Env<'_>,
        caller: Caller<'_>,
        request: &JoinGroupRequest,
        new_id: impl FnOnce() -> String,
    ) -> Result<JoinGroupResponse, (ErrorCode, String)> {
        let without_id = request.member_id.is_empty();
        let id = match without_id {
            true => new_id(),
            false => request.member_id.clone(),
        };
        let fail = |code: ErrorCode| (code, request.member_id.clone());
        self.check_room(env, &id, request.group_instance_id.as_deref())
            .map_err(|error| fail(error.code))?;
        let subscription = self.check_protocols(&id, request).map_err(fail)?;
        if is_required(caller.version, request) {
            return Err((ErrorCode::MEMBER_ID_REQUIRED, id));
        }
        let known = match &request.group_instance_id {
            None => self.members.get(&id).cloned(),
            Some(instance) => {
                let known = self
                    .statics
                    .get(instance)
                    .and_then(|id| self.members.get(id));
                match known.cloned() {
                    Some(known) if without_id => Some(self.replace(env, &known, &id)),
                    Some(known) => {
                        let checked = self.check_instance(&known, &id, instance);
                        checked.map_err(|error| fail(error.code))?;
                        Some(known)
                    }
                    None if without_id => None,
                    None => return Err(fail(ErrorCode::UNKNOWN_MEMBER_ID)),
                }
            }
        };
        let owned: Assignment = subscription
            .owned_partitions
            .iter()
            .filter_map(|it| {
                let topic = env.cluster.topic(&it.topic)?;
                Some((topic.id, it.partitions.iter().copied().collect()))
            })
            .collect();
        let protocols = request.protocols.iter();
        let protocols = protocols
            .map(|it| (it.name.clone(), it.metadata.clone()))
            .collect();
        let wants = Subscription {
            instance: request.group_instance_id.clone(),
            rack: subscription.rack_id,
            rebalance_timeout_ms: Some(match request.rebalance_timeout_ms {
                -1 => request.session_timeout_ms,
                timeout => timeout,
            }),
            topics: Some(subscription.topics.into_iter().collect()),
            regex: Some(String::new()),
            assignor: None,
            classic: Some(ClassicSide {
                session_timeout_ms: request.session_timeout_ms,
                protocols,
            }),
        };
        let before = known.unwrap_or_else(|| Member::new(&id));
        self.subscribe_and_assign(env, caller, before, wants, Some(&owned));
        self.alive(env, &id);
        env.timers.cancel(&self.member_join(&id));
        let member = &self.members[&id];
        env.set_timer(self.member_sync(&id), member.rebalance_timeout_ms);
        Ok(JoinGroupResponse {
            generation_id: member.epoch,
            protocol_type: Some(CONSUMER.to_owned()),
            protocol_name: request.protocols.first().map(|it| it.name.clone()),
            member_id: id,
            ..JoinGroupResponse::default()
        })
    }

    fn member_join(&self, member: &str) -> Timer {
        Timer::MemberJoin {
            group: self.id.clone(),
            member: member.to_owned(),
        }
    }

    fn member_sync(&self, member: &str) -> Timer {
        Timer::MemberSync {
            group: self.id.clone(),
            member: member.to_owned(),
        }
    }

    /// Only consumers can be in a consumer group, with an assignor that all others of the classic protocol know: the
    /// group may become a classic one again.
    fn check_protocols(
        &self,
        id: &str,
        request: &JoinGroupRequest,
    ) -> Result<ConsumerProtocolSubscription, ErrorCode> {
        let others: Vec<&ClassicSide> = self
            .members
            .values()
            .filter(|member| member.id != id)
            .filter_map(|member| member.classic.as_ref())
            .collect();
        let common = |name: &String| {
            others
                .iter()
                .all(|it| it.protocols.iter().any(|(other, _)| other == name))
        };
        if request.protocol_type != CONSUMER || !request.protocols.iter().any(|it| common(&it.name))
        {
            return Err(ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
        }
        let metadata = request.protocols.first().map(|it| &it.metadata);
        metadata
            .and_then(embedded::subscription)
            .ok_or(ErrorCode::INCONSISTENT_GROUP_PROTOCOL)
    }

    /// The member, if it is one that speaks the classic protocol, in this generation.
    fn classic_member(
        &self,
        id: &str,
        instance: Option<&str>,
        generation: Option<i32>,
    ) -> Result<&Member, ErrorCode> {
        let member = match instance {
            None => self.members.get(id),
            Some(instance) => self
                .statics
                .get(instance)
                .and_then(|id| self.members.get(id)),
        };
        let member = member.ok_or(ErrorCode::UNKNOWN_MEMBER_ID)?;
        if member.id != id {
            return Err(ErrorCode::FENCED_INSTANCE_ID);
        }
        if member.classic.is_none() {
            return Err(ErrorCode::UNKNOWN_MEMBER_ID);
        }
        match generation {
            Some(generation) if generation != member.epoch => Err(ErrorCode::ILLEGAL_GENERATION),
            _ => Ok(member),
        }
    }

    /// Such a member asks for its assignment.
    pub(in crate::groups) fn classic_sync(
        &mut self,
        env: &mut Env<'_>,
        request: &SyncGroupRequest,
    ) -> Result<SyncGroupResponse, ErrorCode> {
        let (id, instance) = (&request.member_id, request.group_instance_id.as_deref());
        let member = self.classic_member(id, instance, Some(request.generation_id))?;
        let first = member.classic.as_ref().and_then(|it| it.protocols.first());
        let Some((name, metadata)) = first else {
            return Err(ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
        };
        let differs = |said: &Option<String>, is: &str| said.as_ref().is_some_and(|it| it != is);
        if differs(&request.protocol_type, CONSUMER) || differs(&request.protocol_name, name) {
            return Err(ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
        }
        if member.epoch < self.assignment_epoch {
            return Err(ErrorCode::REBALANCE_IN_PROGRESS);
        }
        let version = embedded::version::<ConsumerProtocolSubscription>(metadata).unwrap_or(0);
        let assignment = plain(&member.assigned);
        let topics = assignment.iter().filter_map(|(topic, partitions)| {
            Some(TopicPartition {
                topic: env.cluster.topic_name(*topic)?,
                partitions: partitions.iter().copied().collect(),
            })
        });
        let assignment = ConsumerProtocolAssignment {
            assigned_partitions: topics.collect(),
            user_data: None,
        };
        let response = SyncGroupResponse {
            protocol_type: request.protocol_type.clone(),
            protocol_name: request.protocol_name.clone(),
            assignment: embedded::write(&assignment, version),
            ..SyncGroupResponse::default()
        };
        env.timers.cancel(&self.member_sync(id));
        self.alive(env, id);
        Ok(response)
    }

    /// A sign of life of such a member. It has to join again when there is another assignment for it.
    pub(in crate::groups) fn classic_heartbeat(
        &mut self,
        env: &mut Env<'_>,
        request: &HeartbeatRequest,
    ) -> ErrorCode {
        let (id, instance) = (&request.member_id, request.group_instance_id.as_deref());
        let member = match self.classic_member(id, instance, Some(request.generation_id)) {
            Ok(member) => member,
            Err(code) => return code,
        };
        let behind = member.epoch < self.assignment_epoch
            || match member.state {
                MemberState::Stable => false,
                MemberState::UnrevokedPartitions => true,
                MemberState::UnreleasedPartitions => !self.waits_for_others(member),
            };
        let timeout = member.rebalance_timeout_ms;
        self.alive(env, id);
        if !behind {
            return ErrorCode::NONE;
        }
        let join = self.member_join(id);
        if !env.timers.is_set(&join) {
            env.set_timer(join, timeout);
        }
        ErrorCode::REBALANCE_IN_PROGRESS
    }

    /// Is all that the member lacks still with others?
    fn waits_for_others(&self, member: &Member) -> bool {
        let has = plain(&member.assigned);
        let target = self.target(&member.id);
        let mut lacks = target.iter().flat_map(|(topic, partitions)| {
            let has = has.get(topic);
            let lacks = partitions
                .iter()
                .filter(move |it| !has.is_some_and(|has| has.contains(it)));
            lacks.map(|partition| (*topic, *partition))
        });
        lacks.all(|(topic, partition)| self.is_taken(&member.id, topic, partition))
    }

    /// Members leave in the classic way.
    pub(in crate::groups) fn classic_leave(
        &mut self,
        env: &mut Env<'_>,
        request: &LeaveGroupRequest,
    ) -> Vec<MemberResponse> {
        let mut leaving = Vec::new();
        let mut responses = Vec::with_capacity(request.members.len());
        for member in &request.members {
            let instance = member.group_instance_id.as_deref();
            let found = match (instance, member.member_id.is_empty()) {
                // An administrator knows only the instance.
                (Some(instance), true) => {
                    let id = self.statics.get(instance);
                    id.cloned().ok_or(ErrorCode::UNKNOWN_MEMBER_ID)
                }
                (Some(instance), false) => match self.statics.get(instance) {
                    None => Err(ErrorCode::UNKNOWN_MEMBER_ID),
                    Some(id) if *id != member.member_id => Err(ErrorCode::FENCED_INSTANCE_ID),
                    Some(id) => Ok(id.clone()),
                },
                (None, _) => match self.members.contains_key(&member.member_id) {
                    true => Ok(member.member_id.clone()),
                    false => Err(ErrorCode::UNKNOWN_MEMBER_ID),
                },
            };
            let error_code = match found {
                Ok(id) => {
                    if !leaving.contains(&id) {
                        leaving.push(id);
                    }
                    ErrorCode::NONE
                }
                Err(code) => code,
            };
            responses.push(MemberResponse {
                member_id: member.member_id.clone(),
                group_instance_id: member.group_instance_id.clone(),
                error_code,
            });
        }
        self.remove(env, &leaving);
        responses
    }
}
