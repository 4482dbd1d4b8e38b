//! What the leader does, SyncGroup, and what comes of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use copart_protocol::messages::join_group::JoinGroupResponseMember;
use copart_protocol::messages::sync_group::{
    SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse,
};
use copart_protocol::{ApiKey, ErrorCode};
use tokio::time::Instant;

use super::{ClassicMember, PROTOCOL_TYPE, Sent, State};
use crate::consumer::group::{Action, Assignor, GroupRequest, assign};
use crate::{Error, TopicPartition};

impl ClassicMember {
    /// It is the one who assigns, unless what was assigned is to stay (KIP-814). It keeps an eye on the topics either
    /// way.
    pub(super) fn lead(
        &mut self,
        assignor: Assignor,
        members: Vec<JoinGroupResponseMember>,
        skips: bool,
        now: Instant,
    ) {
        self.members.clear();
        for member in members {
            let instance = member.group_instance_id.as_deref();
            let id = &member.member_id;
            match assign::decode_subscription(assignor, id, instance, &member.metadata) {
                Ok(subscription) => self.members.push(subscription),
                Err(error) => {
                    let error = error
                        .about(format_args!(
                            "member {id} is given no partitions, as what it reads cannot be told"
                        ))
                        .in_group(Arc::clone(&self.config.group));
                    self.actions.push_back(Action::Warn(error));
                }
            }
        }
        let topics = self.members.iter().flat_map(|member| member.topics.iter());
        let topics = topics.map(|topic| (Arc::clone(topic), None));
        self.led = Some(topics.collect());
        self.want();
        if skips {
            // Before it was started again it may have left partitions to be let go of, or they were added meanwhile. To
            // see to that costs no more than a look where members keep what they have; others go by what they were told.
            self.leaves_some = assignor == Assignor::CooperativeSticky;
            self.members.clear();
            self.remember_counts();
            return self.sync(Vec::new());
        }
        let patience = self.config.request_timeout;
        let patience = patience.min(self.config.rebalance_timeout / 2);
        self.state = State::Leading(now + patience);
        if self.knows_enough() {
            self.assign();
        } else {
            self.actions.push_back(Action::RefreshTopics);
        }
    }

    /// What it goes by from now on.
    fn remember_counts(&mut self) {
        let mut led = self.led.take();
        for (topic, count) in led.iter_mut().flatten() {
            *count = self.count(topic).flatten();
        }
        self.led = led;
    }

    /// Assigns, with what is known.
    pub(super) fn assign(&mut self) {
        self.remember_counts();
        let members = std::mem::take(&mut self.members);
        let counts: BTreeMap<Arc<str>, i32> = self
            .led
            .iter()
            .flatten()
            .filter_map(|(topic, count)| Some((Arc::clone(topic), (*count)?)))
            .collect();
        let Some(assignor) = self.assignor else {
            return;
        };
        let assigned = assign::assign(assignor, &members, &counts);
        let all: i64 = counts.values().map(|&count| i64::from(count)).sum();
        let owned: usize = assigned.values().map(Vec::len).sum();
        self.leaves_some = i64::try_from(owned).is_ok_and(|owned| owned < all);
        tracing::debug!(
            group = %self.config.group,
            generation = self.generation,
            assignor = assignor.name(),
            members = members.len(),
            "partitions are dealt out"
        );
        let assignments = assigned.into_iter();
        let assignments = assignments.map(|(id, partitions)| SyncGroupRequestAssignment {
            member_id: id.to_string(),
            assignment: assign::encode_assignment(&partitions),
        });
        self.sync(assignments.collect());
    }

    /// Asks for its assignment; the leader brings everybody's.
    pub(super) fn sync(&mut self, assignments: Vec<SyncGroupRequestAssignment>) {
        let request = SyncGroupRequest {
            group_id: self.config.group.to_string(),
            generation_id: self.generation,
            member_id: self.member_id.to_string(),
            group_instance_id: self.config.instance_id.as_deref().map(str::to_owned),
            protocol_type: Some(PROTOCOL_TYPE.to_owned()),
            protocol_name: self.assignor.map(|assignor| assignor.name().to_owned()),
            assignments,
        };
        let token = self.send(GroupRequest::Sync(request), self.patience());
        self.sent = Some((token, Sent::Sync));
        self.state = State::Syncing;
    }

    pub(super) fn sync_answered(&mut self, response: SyncGroupResponse, now: Instant) {
        match response.error_code {
            ErrorCode::NONE => match assign::decode_assignment(&response.assignment) {
                Ok(assigned) => self.assigned(assigned, now),
                Err(error) => {
                    let error = error
                        .about("what the leader of the group assigned cannot be read")
                        .in_group(Arc::clone(&self.config.group));
                    self.fail(error);
                }
            },
            // Others came or went meanwhile. It is in the group, and has what it had.
            ErrorCode::REBALANCE_IN_PROGRESS => self.begin_join(now),
            ErrorCode::UNKNOWN_MEMBER_ID => self.fenced(true, now),
            ErrorCode::ILLEGAL_GENERATION => self.fenced(false, now),
            code => self.refused(ApiKey::SyncGroup, code, now),
        }
    }

    /// From what the member has to what it is to have.
    fn assigned(&mut self, assigned: Vec<TopicPartition>, now: Instant) {
        self.state = State::Stable;
        self.failures = 0;
        self.has_warned = false;
        self.next_heartbeat = Some(now + self.config.heartbeat_interval);
        // The subscription may have changed since it joined; then it joins again.
        let assigned = assigned.into_iter();
        let wanted: std::collections::BTreeSet<TopicPartition> = assigned
            .filter(|partition| self.is_read(&partition.topic))
            .collect();
        self.previous = (wanted.iter().cloned().collect(), self.generation);
        let gone: Vec<TopicPartition> = self.held.difference(&wanted).cloned().collect();
        let new: Vec<TopicPartition> = wanted.difference(&self.held).cloned().collect();
        if !gone.is_empty() {
            // Whoever is to have them gets them when the members join once more (KIP-429).
            self.must_rejoin = true;
            self.revoke(gone, now);
        }
        if !new.is_empty() {
            self.held.extend(new.iter().cloned());
            self.actions.push_back(Action::Assign(new));
        }
        // Partitions that one member is to let go of have no owner until it has joined again (KIP-429). If it is started
        // again instead, nobody else sees to them.
        self.looks_again = self
            .leaves_some
            .then(|| now + self.config.rebalance_timeout);
        self.watch();
    }
}

impl ClassicMember {
    /// Gives up what is under way. What is answered to it later is passed over.
    pub(super) fn abandon(&mut self) {
        self.sent = None;
        self.members.clear();
    }

    /// A failure of which nothing is known but that the coordinator does not answer.
    pub(super) fn lost_sight(&mut self, error: &Error, now: Instant) {
        tracing::debug!(group = %self.config.group, %error, "the coordinator does not answer");
        self.abandon();
        self.join_later(now);
    }
}
