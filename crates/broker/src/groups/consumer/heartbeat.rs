//! ConsumerGroupHeartbeat: joining, staying and leaving; and members that fall silent.

use std::collections::{BTreeMap, BTreeSet};

use copart_protocol::ErrorCode;
use copart_protocol::messages::consumer_group_heartbeat::{
    Assignment as AssignmentResponse, ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse, TopicPartitions,
};

use super::assign::{Assignor, Candidate};
use super::group::{ConsumerGroup, remove_records};
use super::member::{Assignment, ClassicSide, Member, MemberState, plain};
use super::reconcile::Step;
use super::regex;
use crate::groups::env::{Caller, Env, GroupError, GroupResult};
use crate::groups::record::Record;
use crate::groups::timers::Timer;

/// The epoch of a member that leaves.
pub(in crate::groups) const LEAVE: i32 = -1;
/// The epoch of a static member that will be back.
pub(in crate::groups) const LEAVE_STATIC: i32 = -2;

/// What a member wants. `None` is: as before.
#[derive(Clone, Debug, Default)]
pub(in crate::groups) struct Subscription {
    pub(in crate::groups) instance: Option<String>,
    pub(in crate::groups) rack: Option<String>,
    pub(in crate::groups) rebalance_timeout_ms: Option<i32>,
    pub(in crate::groups) topics: Option<BTreeSet<String>>,
    /// Empty for none.
    pub(in crate::groups) regex: Option<String>,
    pub(in crate::groups) assignor: Option<String>,
    pub(in crate::groups) classic: Option<ClassicSide>,
}

fn invalid(message: &str) -> GroupError {
    GroupError::new(ErrorCode::INVALID_REQUEST, message)
}

/// Is the request one that a client may send?
pub(in crate::groups) fn validate(
    version: i16,
    request: &ConsumerGroupHeartbeatRequest,
) -> GroupResult<()> {
    let empty = |text: &Option<String>| text.as_ref().is_some_and(String::is_empty);
    if request.group_id.is_empty() {
        return Err(invalid("GroupId can't be empty."));
    }
    if request.member_id.is_empty() && (version > 0 || request.member_epoch != 0) {
        return Err(invalid("MemberId can't be empty."));
    }
    if empty(&request.instance_id) {
        return Err(invalid("InstanceId can't be empty."));
    }
    if empty(&request.rack_id) {
        return Err(invalid("RackId can't be empty."));
    }
    match request.member_epoch {
        0 => {
            if request.rebalance_timeout_ms == -1 {
                return Err(invalid(
                    "RebalanceTimeoutMs must be provided in first request.",
                ));
            }
            if request
                .topic_partitions
                .as_ref()
                .is_none_or(|it| !it.is_empty())
            {
                return Err(invalid("TopicPartitions must be empty when (re-)joining."));
            }
            if request.subscribed_topic_names.is_none() && request.subscribed_topic_regex.is_none()
            {
                return Err(invalid(
                    "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
                ));
            }
        }
        LEAVE_STATIC if request.instance_id.is_none() => {
            return Err(invalid("InstanceId can't be null."));
        }
        epoch if epoch < LEAVE_STATIC => return Err(invalid("MemberEpoch is invalid.")),
        _ => {}
    }
    if let Some(name) = &request.server_assignor
        && Assignor::named(name).is_none()
    {
        return Err(GroupError::new(
            ErrorCode::UNSUPPORTED_ASSIGNOR,
            format!("ServerAssignor {name} is not supported. Supported assignors: uniform, range."),
        ));
    }
    if let Some(expression) = request
        .subscribed_topic_regex
        .as_ref()
        .filter(|it| !it.is_empty())
    {
        regex::compile(expression)?;
    }
    Ok(())
}

impl ConsumerGroup {
    /// A member joins, or stays.
    pub(in crate::groups) fn heartbeat(
        &mut self,
        env: &mut Env<'_>,
        caller: Caller<'_>,
        request: &ConsumerGroupHeartbeatRequest,
    ) -> GroupResult<ConsumerGroupHeartbeatResponse> {
        self.check_room(env, &request.member_id, request.instance_id.as_deref())?;
        let owned: Option<Assignment> = request.topic_partitions.as_ref().map(|topics| {
            let topics = topics.iter();
            topics
                .map(|it| (it.topic_id, it.partitions.iter().copied().collect()))
                .collect()
        });
        let before = match &request.instance_id {
            None => self.dynamic_member(request, owned.as_ref())?,
            Some(instance) => self.static_member(env, request, instance, owned.as_ref())?,
        };
        let before = before.unwrap_or_else(|| Member::new(&request.member_id));
        let wants = Subscription {
            instance: request.instance_id.clone(),
            rack: request.rack_id.clone(),
            rebalance_timeout_ms: Some(request.rebalance_timeout_ms).filter(|ms| *ms != -1),
            topics: request
                .subscribed_topic_names
                .as_ref()
                .map(|it| it.iter().cloned().collect()),
            regex: request.subscribed_topic_regex.clone(),
            assignor: request.server_assignor.clone(),
            classic: None,
        };
        self.subscribe_and_assign(env, caller, before.clone(), wants, owned.as_ref());
        self.alive(env, &request.member_id);

        let member = &self.members[&request.member_id];
        let full = request.rebalance_timeout_ms != -1
            && (request.subscribed_topic_names.is_some()
                || request.subscribed_topic_regex.is_some())
            && owned.is_some();
        let told =
            request.member_epoch == 0 || full || plain(&member.assigned) != plain(&before.assigned);
        Ok(ConsumerGroupHeartbeatResponse {
            member_id: Some(member.id.clone()),
            member_epoch: member.epoch,
            heartbeat_interval_ms: env.cluster.group_config(&self.id).heartbeat_interval_ms,
            assignment: told.then(|| AssignmentResponse {
                topic_partitions: to_response(&plain(&member.assigned)),
            }),
            ..ConsumerGroupHeartbeatResponse::default()
        })
    }

    pub(super) fn check_room(
        &self,
        env: &Env<'_>,
        member: &str,
        instance: Option<&str>,
    ) -> GroupResult<()> {
        let max = env.config.group_consumer_max_size;
        let replaces = instance.is_some_and(|instance| self.statics.contains_key(instance));
        let full = self.members.len() >= usize::try_from(max).unwrap_or(0);
        if !replaces && full && !self.members.contains_key(member) {
            return Err(GroupError::new(
                ErrorCode::GROUP_MAX_SIZE_REACHED,
                format!("The consumer group has reached its maximum capacity of {max} members."),
            ));
        }
        Ok(())
    }

    /// The member as it is, or `None` for a new one.
    fn dynamic_member(
        &self,
        request: &ConsumerGroupHeartbeatRequest,
        owned: Option<&Assignment>,
    ) -> GroupResult<Option<Member>> {
        let Some(member) = self.members.get(&request.member_id) else {
            return match request.member_epoch {
                0 => Ok(None),
                _ => Err(self.unknown(&request.member_id)),
            };
        };
        check_epoch(member, request.member_epoch, owned)?;
        Ok(Some(member.clone()))
    }

    /// The same for a static member, which may take another one's place.
    fn static_member(
        &mut self,
        env: &mut Env<'_>,
        request: &ConsumerGroupHeartbeatRequest,
        instance: &str,
        owned: Option<&Assignment>,
    ) -> GroupResult<Option<Member>> {
        let known = self
            .statics
            .get(instance)
            .and_then(|id| self.members.get(id));
        let Some(known) = known.cloned() else {
            return match request.member_epoch {
                0 => Ok(None),
                _ => Err(GroupError::new(
                    ErrorCode::UNKNOWN_MEMBER_ID,
                    format!("Instance id {instance} is unknown."),
                )),
            };
        };
        if request.member_epoch != 0 || known.id == request.member_id && known.epoch != LEAVE_STATIC
        {
            self.check_instance(&known, &request.member_id, instance)?;
            check_epoch(&known, request.member_epoch, owned)?;
            return Ok(Some(known));
        }
        if known.classic.is_none() && known.epoch != LEAVE_STATIC {
            return Err(GroupError::new(
                ErrorCode::UNRELEASED_INSTANCE_ID,
                format!(
                    "Static member {} with instance id {instance} cannot join the group because the instance id \
                     is owned by {} member.",
                    request.member_id, known.id
                ),
            ));
        }
        Ok(Some(self.replace(env, &known, &request.member_id)))
    }

    pub(super) fn check_instance(
        &self,
        known: &Member,
        id: &str,
        instance: &str,
    ) -> GroupResult<()> {
        match known.id == id {
            true => Ok(()),
            false => Err(GroupError::new(
                ErrorCode::FENCED_INSTANCE_ID,
                format!(
                    "Static member {id} with instance id {instance} was fenced by member {}.",
                    known.id
                ),
            )),
        }
    }

    pub(super) fn unknown(&self, id: &str) -> GroupError {
        GroupError::new(
            ErrorCode::UNKNOWN_MEMBER_ID,
            format!("Member {id} is not a member of group {}.", self.id),
        )
    }

    /// Puts a static member that is back in the place of what it was.
    pub(super) fn replace(&mut self, env: &mut Env<'_>, old: &Member, id: &str) -> Member {
        let target = self.target(&old.id);
        self.cancel_timers(env, &old.id);
        for record in remove_records(&self.id, &old.id) {
            self.write(env, record);
        }
        let member = Member {
            id: id.to_owned(),
            epoch: 0,
            previous_epoch: 0,
            ..old.clone()
        };
        self.write(env, self.member_record(&member));
        self.write(env, self.member_target_record(id, &target));
        self.write(env, self.current_record(&member));
        member
    }

    /// Takes over what a member wants; makes another assignment if there has to be one; and has the member take a
    /// step towards it.
    pub(super) fn subscribe_and_assign(
        &mut self,
        env: &mut Env<'_>,
        caller: Caller<'_>,
        before: Member,
        wants: Subscription,
        owned: Option<&Assignment>,
    ) {
        let id = before.id.clone();
        let is_new = !self.members.contains_key(&id);
        let assignor = self.assignor();
        let mut after = before.clone();
        after.client_id = caller.client_id.to_owned();
        after.client_host = caller.host.to_owned();
        after.instance = wants.instance.or(after.instance);
        after.rack = wants.rack.or(after.rack);
        after.rebalance_timeout_ms = wants
            .rebalance_timeout_ms
            .unwrap_or(after.rebalance_timeout_ms);
        after.topics = wants.topics.unwrap_or(after.topics);
        after.assignor = wants.assignor.or(after.assignor);
        after.classic = wants.classic;
        if let Some(expression) = wants.regex {
            after.regex = Some(expression).filter(|it| !it.is_empty());
        }
        if is_new || after != before {
            self.write(env, self.member_record(&after));
        }
        let regex_changed = after.regex != before.regex;
        if regex_changed {
            self.resolve_new_regex(env, after.regex.as_deref());
        }
        let subscription_changed = is_new || after.topics != before.topics || regex_changed;
        let changed = subscription_changed || self.assignor() != assignor;
        self.refresh_metadata(env, changed);
        self.assign(env);
        self.reconcile(env, &id, subscription_changed, owned);
    }

    fn resolve_new_regex(&mut self, env: &mut Env<'_>, expression: Option<&str>) {
        if let Some(expression) = expression.filter(|it| !self.regexes.contains_key(*it)) {
            let topics = regex::resolve(expression, env.cluster);
            self.write(env, self.regex_record(expression, &topics, env));
        }
        self.forget_regexes(env);
    }

    /// Forgets the regular expressions that no member has any more.
    fn forget_regexes(&mut self, env: &mut Env<'_>) {
        let used: BTreeSet<&String> = self
            .members
            .values()
            .filter_map(|it| it.regex.as_ref())
            .collect();
        let unused = self.regexes.keys().filter(|it| !used.contains(it));
        let unused: Vec<String> = unused.cloned().collect();
        for expression in unused {
            let key = self.regex_key(&expression);
            self.write(env, Record::ConsumerRegex(key, None));
        }
    }

    /// Looks whether the topics that the members want are as they were, and begins another epoch if not.
    fn refresh_metadata(&mut self, env: &mut Env<'_>, changed: bool) {
        let version = env.cluster.version();
        if !changed && self.seen == Some(version) {
            return;
        }
        // Also after a restart: nobody knows what happened meanwhile.
        if self.seen != Some(version) {
            for expression in self.regexes.keys().cloned().collect::<Vec<_>>() {
                let topics = regex::resolve(&expression, env.cluster);
                if self.regexes.get(&expression) != Some(&topics) {
                    self.write(env, self.regex_record(&expression, &topics, env));
                }
            }
        }
        self.seen = Some(version);
        let hash = self.hash(env);
        if changed || hash != self.metadata_hash {
            self.write(env, self.epoch_record(self.epoch.saturating_add(1), hash));
        }
    }

    /// Says whether the topics are the same that they were: FNV-1a. Another one than Kafka's costs a group that moves
    /// between the two one more assignment.
    fn hash(&self, env: &Env<'_>) -> i64 {
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        let mut eat = |bytes: &[u8]| {
            for byte in bytes {
                hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            }
        };
        for name in self.all_wanted() {
            if let Some(topic) = env.cluster.topic(&name) {
                eat(name.as_bytes());
                eat(&topic.id.0);
                eat(&topic.partitions.to_be_bytes());
            }
        }
        hash.cast_signed()
    }

    /// Makes another assignment if the group's epoch has passed the last one.
    fn assign(&mut self, env: &mut Env<'_>) {
        if self.assignment_epoch >= self.epoch {
            return;
        }
        let mut partitions = BTreeMap::new();
        for name in self.all_wanted() {
            if let Some(topic) = env.cluster.topic(&name) {
                partitions.insert(topic.id, topic.partitions);
            }
        }
        let candidates = self.members.values().map(|member| Candidate {
            id: member.id.clone(),
            instance: member.instance.clone(),
            topics: self.subscribed(member, env.cluster),
            target: self.target(&member.id),
        });
        let candidates: Vec<Candidate> = candidates.collect();
        let assigned = self.assignor().assign(&candidates, &partitions);
        for candidate in candidates {
            let target = &assigned[&candidate.id];
            if *target != candidate.target || !self.targets.contains_key(&candidate.id) {
                self.write(env, self.member_target_record(&candidate.id, target));
            }
        }
        self.write(env, self.target_record(self.epoch, env.now.ms));
    }

    fn reconcile(
        &mut self,
        env: &mut Env<'_>,
        id: &str,
        subscription_changed: bool,
        owned: Option<&Assignment>,
    ) {
        let Some(before) = self.members.get(id).cloned() else {
            return;
        };
        if !subscription_changed
            && before.state == MemberState::Stable
            && before.epoch == self.assignment_epoch
        {
            return;
        }
        let after = Step {
            target_epoch: self.assignment_epoch,
            target: &self.target(id),
            owned,
            subscribed: &self.subscribed(&before, env.cluster),
            subscription_changed,
            taken: |topic, partition| self.is_taken(id, topic, partition),
        }
        .take(&before);
        if after == before {
            return;
        }
        self.write(env, self.current_record(&after));
        if after.classic.is_some() {
            return;
        }
        let timer = Timer::Rebalance {
            group: self.id.clone(),
            member: id.to_owned(),
        };
        if after.state == MemberState::UnrevokedPartitions {
            env.set_timer(timer, after.rebalance_timeout_ms);
        } else {
            env.timers.cancel(&timer);
        }
    }

    /// A sign of life.
    pub(in crate::groups) fn alive(&self, env: &mut Env<'_>, id: &str) {
        let Some(member) = self.members.get(id) else {
            return;
        };
        let timeout = match &member.classic {
            Some(classic) => classic.session_timeout_ms,
            None => env.cluster.group_config(&self.id).session_timeout_ms,
        };
        let timer = Timer::Session {
            group: self.id.clone(),
            member: id.to_owned(),
        };
        env.set_timer(timer, timeout);
    }

    pub(super) fn cancel_timers(&self, env: &mut Env<'_>, id: &str) {
        let (group, member) = (self.id.clone(), id.to_owned());
        for timer in [
            Timer::Session {
                group: group.clone(),
                member: member.clone(),
            },
            Timer::Rebalance {
                group: group.clone(),
                member: member.clone(),
            },
            Timer::MemberJoin {
                group: group.clone(),
                member: member.clone(),
            },
            Timer::MemberSync { group, member },
        ] {
            env.timers.cancel(&timer);
        }
    }

    /// A member leaves, for good or to be back.
    pub(in crate::groups) fn leave(
        &mut self,
        env: &mut Env<'_>,
        request: &ConsumerGroupHeartbeatRequest,
    ) -> GroupResult<ConsumerGroupHeartbeatResponse> {
        let id = &request.member_id;
        if let Some(instance) = &request.instance_id {
            let known = self
                .statics
                .get(instance)
                .and_then(|id| self.members.get(id));
            let Some(known) = known.cloned() else {
                return Err(GroupError::new(
                    ErrorCode::UNKNOWN_MEMBER_ID,
                    format!("Instance id {instance} is unknown."),
                ));
            };
            self.check_instance(&known, id, instance)?;
            if request.member_epoch == LEAVE_STATIC {
                // What it has stays with it until its session ends.
                let away = Member {
                    epoch: LEAVE_STATIC,
                    previous_epoch: LEAVE_STATIC,
                    revoking: Default::default(),
                    ..known
                };
                self.write(env, self.current_record(&away));
            } else {
                self.remove(env, std::slice::from_ref(id));
            }
        } else if self.members.contains_key(id) {
            self.remove(env, std::slice::from_ref(id));
        } else {
            return Err(self.unknown(id));
        }
        Ok(ConsumerGroupHeartbeatResponse {
            member_id: Some(id.clone()),
            member_epoch: request.member_epoch,
            ..ConsumerGroupHeartbeatResponse::default()
        })
    }

    /// Takes members out, and begins another epoch.
    pub(in crate::groups) fn remove(&mut self, env: &mut Env<'_>, ids: &[String]) {
        if ids.is_empty() {
            return;
        }
        for id in ids {
            self.cancel_timers(env, id);
            for record in remove_records(&self.id, id) {
                self.write(env, record);
            }
        }
        self.forget_regexes(env);
        let hash = self.hash(env);
        self.write(env, self.epoch_record(self.epoch.saturating_add(1), hash));
        if self.members.is_empty() {
            self.write(env, self.target_record(self.epoch, 0));
        }
    }
}

/// Is it the epoch that the member was told last? The one before will do if the answer may have been lost: then the
/// member cannot have more than it was assigned.
fn check_epoch(member: &Member, epoch: i32, owned: Option<&Assignment>) -> GroupResult<()> {
    if epoch == 0 || epoch == member.epoch {
        return Ok(());
    }
    let fenced = |how: &str| {
        GroupError::new(
            ErrorCode::FENCED_MEMBER_EPOCH,
            format!(
                "The consumer group member has a {how} member epoch ({epoch}) than the one known by the group \
                 coordinator ({}). The member must abandon all its partitions and rejoin.",
                member.epoch
            ),
        )
    };
    if epoch > member.epoch {
        return Err(fenced("greater"));
    }
    let has_no_more = owned.is_some_and(|owned| {
        owned.iter().all(|(topic, partitions)| {
            let assigned = member.assigned.get(topic);
            assigned.is_some_and(|it| {
                partitions
                    .iter()
                    .all(|partition| it.contains_key(partition))
            })
        })
    });
    match epoch == member.previous_epoch && has_no_more {
        true => Ok(()),
        false => Err(fenced("smaller")),
    }
}

fn to_response(assignment: &Assignment) -> Vec<TopicPartitions> {
    let topics = assignment
        .iter()
        .map(|(topic, partitions)| TopicPartitions {
            topic_id: *topic,
            partitions: partitions.iter().copied().collect(),
        });
    topics.collect()
}
