//! What members ask of a coordinator: joining, staying, leaving.

use copart_protocol::ErrorCode;
use copart_protocol::messages::consumer_group_heartbeat::{
    ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse,
};
use copart_protocol::messages::heartbeat::HeartbeatRequest;
use copart_protocol::messages::join_group::JoinGroupRequest;
use copart_protocol::messages::leave_group::{LeaveGroupRequest, MemberResponse};
use copart_protocol::messages::sync_group::SyncGroupRequest;

use super::classic::{ClassicGroup, join_error, sync_error};
use super::consumer::{ConsumerGroup, LEAVE, LEAVE_STATIC, validate};
use super::coordinator::{Coordinator, Group, Input};
use super::env::{Caller, GroupResult, Reply, Token};

impl Coordinator {
    /// JoinGroup. The answer comes as a [`Reply::Join`].
    pub(crate) fn join(
        &mut self,
        input: Input<'_>,
        caller: Caller<'_>,
        token: Token,
        request: &JoinGroupRequest,
    ) {
        if let Err(code) = self.prepare_join(input, request) {
            let response = join_error(caller.version, code, &request.member_id);
            return self.out.replies.push((token, Reply::Join(response)));
        }
        let id = match &request.group_instance_id {
            Some(instance) => format!("{instance}-{}", self.chance.uuid()),
            None => format!("{}-{}", caller.client_id, self.chance.uuid()),
        };
        let (groups, _, mut env) = self.split(input);
        match groups.get_mut(&request.group_id) {
            Some(Group::Classic(group)) => group.join(&mut env, caller, token, request, || id),
            Some(Group::Consumer(group)) => {
                let response = group
                    .classic_join(&mut env, caller, request, || id)
                    .unwrap_or_else(|(code, id)| join_error(caller.version, code, &id));
                env.reply(token, Reply::Join(response));
                self.downgrade_if_classic(input, &request.group_id, false);
            }
            None => {}
        }
    }

    /// Checks what can be checked without the group, and sees to it that there is one.
    fn prepare_join(
        &mut self,
        input: Input<'_>,
        request: &JoinGroupRequest,
    ) -> Result<(), ErrorCode> {
        if request.group_id.is_empty() {
            return Err(ErrorCode::INVALID_GROUP_ID);
        }
        let config = input.config;
        let sessions = config.group_min_session_timeout_ms..=config.group_max_session_timeout_ms;
        if !sessions.contains(&request.session_timeout_ms) {
            return Err(ErrorCode::INVALID_SESSION_TIMEOUT);
        }
        match self.groups.get(&request.group_id) {
            Some(Group::Consumer(group)) if group.members.is_empty() => {
                let tombstones = group.tombstones();
                self.out.records.extend(tombstones);
            }
            Some(_) => return Ok(()),
            None if !request.member_id.is_empty() => return Err(ErrorCode::UNKNOWN_MEMBER_ID),
            None => self.check_room()?,
        }
        let group = ClassicGroup::new(&request.group_id, input.now);
        let group = Group::Classic(Box::new(group));
        self.groups.insert(request.group_id.clone(), group);
        Ok(())
    }

    /// SyncGroup. The answer comes as a [`Reply::Sync`].
    pub(crate) fn sync(&mut self, input: Input<'_>, token: Token, request: SyncGroupRequest) {
        let (groups, _, mut env) = self.split(input);
        let code = match groups.get_mut(&request.group_id) {
            _ if request.group_id.is_empty() => ErrorCode::INVALID_GROUP_ID,
            Some(Group::Classic(group)) => return group.sync(&mut env, token, request),
            Some(Group::Consumer(group)) => match group.classic_sync(&mut env, &request) {
                Ok(response) => return env.reply(token, Reply::Sync(response)),
                Err(code) => code,
            },
            None => ErrorCode::UNKNOWN_MEMBER_ID,
        };
        env.reply(token, Reply::Sync(sync_error(code)));
    }

    /// Heartbeat.
    pub(crate) fn heartbeat(&mut self, input: Input<'_>, request: &HeartbeatRequest) -> ErrorCode {
        let (groups, _, mut env) = self.split(input);
        match groups.get_mut(&request.group_id) {
            _ if request.group_id.is_empty() => ErrorCode::INVALID_GROUP_ID,
            Some(Group::Classic(group)) => group.heartbeat(&mut env, request),
            Some(Group::Consumer(group)) => group.classic_heartbeat(&mut env, request),
            None => ErrorCode::UNKNOWN_MEMBER_ID,
        }
    }

    /// LeaveGroup: what became of each member.
    pub(crate) fn leave(
        &mut self,
        input: Input<'_>,
        request: &LeaveGroupRequest,
    ) -> Result<Vec<MemberResponse>, ErrorCode> {
        let (groups, _, mut env) = self.split(input);
        let responses = match groups.get_mut(&request.group_id) {
            _ if request.group_id.is_empty() => return Err(ErrorCode::INVALID_GROUP_ID),
            Some(Group::Classic(group)) => group.leave(&mut env, request),
            Some(Group::Consumer(group)) => group.classic_leave(&mut env, request),
            None => return Err(ErrorCode::UNKNOWN_MEMBER_ID),
        };
        self.downgrade_if_classic(input, &request.group_id, true);
        Ok(responses)
    }

    /// ConsumerGroupHeartbeat (KIP-848).
    pub(crate) fn consumer_heartbeat(
        &mut self,
        input: Input<'_>,
        caller: Caller<'_>,
        request: &mut ConsumerGroupHeartbeatRequest,
    ) -> GroupResult<ConsumerGroupHeartbeatResponse> {
        validate(caller.version, request)?;
        if request.member_id.is_empty() {
            // Version 0: the coordinator chooses it.
            request.member_id = self.chance.uuid().to_string();
        }
        if matches!(request.member_epoch, LEAVE | LEAVE_STATIC) {
            self.consumer_group(&request.group_id)?;
            let (groups, _, mut env) = self.split(input);
            let Some(Group::Consumer(group)) = groups.get_mut(&request.group_id) else {
                return Err(ErrorCode::GROUP_ID_NOT_FOUND.into());
            };
            let response = group.leave(&mut env, request)?;
            self.downgrade_if_classic(input, &request.group_id, true);
            return Ok(response);
        }
        let created = self.prepare_consumer_group(input, request)?;
        let (groups, _, mut env) = self.split(input);
        let Some(Group::Consumer(group)) = groups.get_mut(&request.group_id) else {
            return Err(ErrorCode::GROUP_ID_NOT_FOUND.into());
        };
        let response = group.heartbeat(&mut env, caller, request);
        if created && response.is_err() {
            self.groups.remove(&request.group_id);
        }
        response
    }

    /// Sees to it that there is a consumer group. Returns whether it is new.
    fn prepare_consumer_group(
        &mut self,
        input: Input<'_>,
        request: &ConsumerGroupHeartbeatRequest,
    ) -> GroupResult<bool> {
        let id = &request.group_id;
        match self.groups.get(id) {
            Some(Group::Consumer(_)) => return Ok(false),
            Some(Group::Classic(group)) if request.member_epoch == 0 => {
                if !group.members.is_empty() {
                    self.upgrade(input, id)?;
                    return Ok(false);
                }
                let tombstone = group.tombstone();
                let had_record = group.protocol_type.is_some();
                self.out.records.extend(had_record.then_some(tombstone));
            }
            None if request.member_epoch == 0 => self.check_room()?,
            Some(Group::Classic(_)) | None => {
                self.consumer_group(id)?;
            }
        }
        let group = ConsumerGroup::new(id);
        self.groups
            .insert(id.clone(), Group::Consumer(Box::new(group)));
        Ok(true)
    }
}
