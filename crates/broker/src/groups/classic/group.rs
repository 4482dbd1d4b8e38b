//! A classic group's state.

use std::collections::{BTreeSet, HashMap, HashSet};

use copart_protocol::ErrorCode;
use copart_protocol::messages::describe_groups::{DescribedGroup, DescribedGroupMember};
use copart_protocol::messages::group_metadata_key::GroupMetadataKey;
use copart_protocol::messages::group_metadata_value::GroupMetadataValue;
use copart_protocol::messages::join_group::JoinGroupRequestProtocol;
use indexmap::IndexMap;

use super::member::Member;
use crate::groups::embedded::{self, CONSUMER};
use crate::groups::env::{Env, Moment, Reply};
use crate::groups::record::Record;
use crate::groups::timers::Timer;

/// Where a classic group is between two generations. A group that is not there at all is what Kafka calls Dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::groups) enum State {
    /// No members, only offsets maybe. From PreparingRebalance, when all members left; or at the beginning.
    Empty,
    /// Members join the next generation. From every other state, when the members or what they want change.
    PreparingRebalance {
        /// The group was empty before, and waits for more members.
        initial: Option<InitialDelay>,
    },
    /// All members are told of the generation, and the leader's assignment is awaited. From PreparingRebalance, when
    /// all have joined, or had enough time.
    CompletingRebalance,
    /// Everybody can ask for its assignment. From CompletingRebalance, with the leader's.
    Stable,
}

/// `group.initial.rebalance.delay.ms`, which each new member prolongs up to a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::groups) struct InitialDelay {
    /// How much longer the group may wait after the timer that is set.
    pub(in crate::groups) remaining_ms: i32,
    /// Has anybody joined since the timer was set?
    pub(in crate::groups) joined: bool,
}

impl State {
    /// Kafka's name.
    pub(in crate::groups) fn name(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::PreparingRebalance { .. } => "PreparingRebalance",
            Self::CompletingRebalance => "CompletingRebalance",
            Self::Stable => "Stable",
        }
    }
}

/// A group.
#[derive(Debug)]
pub(in crate::groups) struct ClassicGroup {
    pub(in crate::groups) id: String,
    pub(in crate::groups) state: State,
    /// Since when, in milliseconds since 1970.
    pub(in crate::groups) since_ms: i64,
    /// `consumer`, `connect` …: `None` if there are only offsets.
    pub(in crate::groups) protocol_type: Option<String>,
    /// The assignor that all members know.
    pub(in crate::groups) protocol: Option<String>,
    pub(in crate::groups) generation: i32,
    pub(in crate::groups) leader: Option<String>,
    /// In the order in which they joined.
    pub(in crate::groups) members: IndexMap<String, Member>,
    /// Static members' ids, by `group.instance.id`.
    pub(in crate::groups) statics: HashMap<String, String>,
    /// Ids that were given out, and have not joined with them yet (KIP-394).
    pub(super) pending: HashSet<String>,
    /// Members that know of the generation, and have not asked for their assignment.
    pub(super) pending_sync: BTreeSet<String>,
}

impl ClassicGroup {
    pub(in crate::groups) fn new(id: &str, now: Moment) -> Self {
        Self {
            id: id.to_owned(),
            state: State::Empty,
            since_ms: now.ms,
            protocol_type: None,
            protocol: None,
            generation: 0,
            leader: None,
            members: IndexMap::new(),
            statics: HashMap::new(),
            pending: HashSet::new(),
            pending_sync: BTreeSet::new(),
        }
    }

    pub(super) fn enter(&mut self, state: State, env: &Env<'_>) {
        self.state = state;
        self.since_ms = env.now.ms;
    }

    pub(super) fn session(&self, member: &str) -> Timer {
        Timer::Session {
            group: self.id.clone(),
            member: member.to_owned(),
        }
    }

    /// A sign of life.
    pub(in crate::groups) fn alive(&self, member: &str, env: &mut Env<'_>) {
        if let Some(member) = self.members.get(member) {
            env.set_timer(self.session(&member.id), member.session_timeout_ms);
        }
    }

    pub(in crate::groups) fn add(&mut self, member: Member) {
        if let Some(instance) = &member.instance {
            self.statics.insert(instance.clone(), member.id.clone());
        }
        self.pending.remove(&member.id);
        self.members.insert(member.id.clone(), member);
    }

    /// Takes a member out, with its timer. Whoever waits for an answer of it gets one.
    pub(super) fn remove(&mut self, id: &str, env: &mut Env<'_>) {
        env.timers.cancel(&self.session(id));
        self.pending.remove(id);
        self.pending_sync.remove(id);
        let Some(member) = self.members.shift_remove(id) else {
            return;
        };
        if let Some(instance) = &member.instance
            && self.statics.get(instance).map(String::as_str) == Some(id)
        {
            self.statics.remove(instance);
        }
        if self.leader.as_deref() == Some(id) {
            self.leader = self.members.first().map(|(id, _)| id.clone());
        }
        if let Some(join) = member.join {
            let code = ErrorCode::UNKNOWN_MEMBER_ID;
            env.reply(
                join.token,
                Reply::Join(super::join_error(join.version, code, "")),
            );
        }
        if let Some(token) = member.sync {
            let code = ErrorCode::UNKNOWN_MEMBER_ID;
            env.reply(token, Reply::Sync(super::sync_error(code)));
        }
    }

    /// Is this a member, and, if it is static, not another one with its instance id (KIP-345)?
    pub(in crate::groups) fn check_member(
        &self,
        id: &str,
        instance: Option<&str>,
    ) -> Result<(), ErrorCode> {
        if let Some(instance) = instance {
            match self.statics.get(instance) {
                None => return Err(ErrorCode::UNKNOWN_MEMBER_ID),
                Some(current) if current != id => return Err(ErrorCode::FENCED_INSTANCE_ID),
                Some(_) => {}
            }
        }
        match self.members.contains_key(id) {
            true => Ok(()),
            false => Err(ErrorCode::UNKNOWN_MEMBER_ID),
        }
    }

    pub(in crate::groups) fn is_leader(&self, id: &str) -> bool {
        self.leader.as_deref() == Some(id)
    }

    /// Could a member with these protocols be in the group?
    pub(super) fn supports(
        &self,
        protocol_type: &str,
        protocols: &[JoinGroupRequestProtocol],
    ) -> bool {
        if self.members.is_empty() {
            return !protocol_type.is_empty() && !protocols.is_empty();
        }
        self.protocol_type.as_deref() == Some(protocol_type)
            && protocols
                .iter()
                .any(|protocol| self.members.values().all(|it| it.supports(&protocol.name)))
    }

    /// The protocol that most members prefer of those that all know.
    pub(in crate::groups) fn select_protocol(&self) -> Option<String> {
        let mut votes: IndexMap<&str, usize> = IndexMap::new();
        for member in self.members.values() {
            let vote = member
                .protocols
                .iter()
                .find(|(name, _)| self.members.values().all(|other| other.supports(name)));
            if let Some((name, _)) = vote {
                *votes.entry(name).or_default() += 1;
            }
        }
        // Of several with as many votes, the one that was named first.
        let most = votes.values().copied().max()?;
        let winner = votes.iter().find(|(_, count)| **count == most)?;
        Some((*winner.0).to_owned())
    }

    /// How long all members may take to join.
    pub(super) fn rebalance_timeout_ms(&self) -> i32 {
        let timeouts = self.members.values().map(|it| it.rebalance_timeout_ms);
        timeouts.max().unwrap_or(0)
    }

    pub(super) fn all_joined(&self) -> bool {
        self.pending.is_empty() && self.members.values().all(|member| member.join.is_some())
    }

    /// The topics that the members consume, if they are consumers and say so.
    pub(in crate::groups) fn subscribed_topics(&self) -> Option<HashSet<String>> {
        if self.protocol_type.as_deref() != Some(CONSUMER) {
            return None;
        }
        let Some(protocol) = &self.protocol else {
            return (self.state == State::Empty).then(HashSet::new);
        };
        let mut topics = HashSet::new();
        for member in self.members.values() {
            topics.extend(embedded::subscription(&member.metadata(protocol))?.topics);
        }
        Some(topics)
    }

    /// What Kafka keeps of the group.
    pub(in crate::groups) fn to_record(&self) -> Record {
        let protocol = self.protocol.as_deref().unwrap_or_default();
        let key = GroupMetadataKey {
            group: self.id.clone(),
        };
        let value = GroupMetadataValue {
            protocol_type: self.protocol_type.clone().unwrap_or_default(),
            generation: self.generation,
            protocol: self.protocol.clone(),
            leader: self.leader.clone(),
            current_state_timestamp: self.since_ms,
            members: self
                .members
                .values()
                .map(|it| it.to_record(protocol))
                .collect(),
        };
        Record::Group(key, Some(value))
    }

    pub(in crate::groups) fn tombstone(&self) -> Record {
        let key = GroupMetadataKey {
            group: self.id.clone(),
        };
        Record::Group(key, None)
    }

    pub(in crate::groups) fn from_record(id: &str, value: GroupMetadataValue, now: Moment) -> Self {
        let mut group = Self::new(id, now);
        group.since_ms = match value.current_state_timestamp {
            -1 => now.ms,
            since => since,
        };
        group.protocol_type = Some(value.protocol_type).filter(|name| !name.is_empty());
        group.generation = value.generation;
        if !value.members.is_empty() {
            group.state = State::Stable;
            let protocol = value.protocol.clone().unwrap_or_default();
            group.protocol = value.protocol;
            group.leader = value.leader;
            for member in value.members {
                group.add(Member::from_record(member, &protocol));
            }
        }
        group
    }

    /// As DescribeGroups shows it.
    pub(in crate::groups) fn describe(&self) -> DescribedGroup {
        let protocol = match self.state {
            State::Stable => self.protocol.as_deref(),
            _ => None,
        };
        let members = self.members.values().map(|member| DescribedGroupMember {
            member_id: member.id.clone(),
            group_instance_id: member.instance.clone(),
            client_id: member.client_id.clone(),
            client_host: member.client_host.clone(),
            member_metadata: protocol.map_or_else(Default::default, |it| member.metadata(it)),
            member_assignment: match protocol {
                Some(_) => member.assignment.clone(),
                None => Default::default(),
            },
        });
        DescribedGroup {
            group_id: self.id.clone(),
            group_state: self.state.name().to_owned(),
            protocol_type: self.protocol_type.clone().unwrap_or_default(),
            protocol_data: protocol.unwrap_or_default().to_owned(),
            members: members.collect(),
            ..DescribedGroup::default()
        }
    }
}
