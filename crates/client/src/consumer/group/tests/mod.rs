//! Members whose coordinator is a test, which answers by hand.

mod choice;
mod classic;
mod cooperative;
mod epochs;
mod simulation;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use copart_protocol::messages::heartbeat::HeartbeatResponse;
use copart_protocol::messages::join_group::{
    JoinGroupRequest, JoinGroupResponse, JoinGroupResponseMember,
};
use copart_protocol::messages::sync_group::{SyncGroupRequest, SyncGroupResponse};
use copart_protocol::{ErrorCode, Uuid};
use tokio::time::Instant;

use super::{
    Action, Answer, Assignor, GroupConfig, GroupCore, GroupRequest, GroupState, Protocol,
    Subscription, Token, TopicInfo, Topics, assign,
};
use crate::{Backoff, Error, ErrorKind, Result, TopicPartition};

const TOPIC: &str = "orders";
const BEAT: Duration = Duration::from_secs(3);
const RELEASE: Duration = Duration::from_secs(60);

fn config(protocol: Protocol, assignors: &[Assignor]) -> GroupConfig {
    GroupConfig {
        group: Arc::from("billing"),
        instance_id: None,
        protocol,
        assignors: assignors.to_vec(),
        server_assignor: None,
        session_timeout: Duration::from_secs(45),
        heartbeat_interval: BEAT,
        rebalance_timeout: RELEASE,
        request_timeout: Duration::from_secs(30),
        rack: None,
        backoff: Backoff::new(Duration::from_millis(100), Duration::from_secs(1)),
    }
}

fn info(id: u8, partitions: usize) -> TopicInfo {
    let mut bytes = [0; 16];
    bytes[15] = id;
    TopicInfo {
        id: Uuid(bytes),
        is_internal: false,
        partitions: vec![Vec::new(); partitions],
    }
}

/// What is known of a cluster with these topics.
fn topics(all: &[(&str, usize)]) -> Topics {
    let all = all.iter().zip(1..);
    all.map(|(&(name, partitions), id)| (Arc::from(name), Some(info(id, partitions))))
        .collect()
}

fn partitions(indexes: impl IntoIterator<Item = i32>) -> Vec<TopicPartition> {
    let indexes = indexes.into_iter();
    indexes
        .map(|index| TopicPartition::new(TOPIC, index))
        .collect()
}

fn lost() -> Error {
    Error::new(ErrorKind::Disconnected, "the connection ended")
}

/// A member, the time, and what it did that was not looked at yet.
struct Hand {
    core: GroupCore,
    now: Instant,
    actions: Vec<Action>,
}

impl Hand {
    fn new(config: GroupConfig) -> Self {
        Self {
            core: GroupCore::new(config),
            now: Instant::now(),
            actions: Vec::new(),
        }
    }

    /// One that subscribes to the topic, which has that many partitions.
    fn subscribed(config: GroupConfig, partitions: usize) -> Self {
        let mut hand = Self::new(config);
        let subscription = Subscription::Topics(vec![Arc::from(TOPIC)]);
        let taken = hand.core.subscribe(subscription, hand.now);
        taken.expect("a good subscription");
        hand.know(&[(TOPIC, partitions)]);
        hand
    }

    /// A member of the classic protocol that is alone in its group, as its leader, in generation 1.
    fn alone(assignors: &[Assignor], partitions: usize) -> Self {
        let config = config(Protocol::Classic, assignors);
        let mut hand = Self::subscribed(config, partitions);
        let join = hand.join();
        assert_eq!(join.1.member_id, "");
        hand.ask_for_id(join.0);
        hand.lead_alone(1);
        hand
    }

    fn know(&mut self, all: &[(&str, usize)]) {
        self.core.set_topics(topics(all), self.now);
        self.work();
    }

    fn work(&mut self) {
        while let Some(action) = self.core.poll(self.now) {
            self.actions.push(action);
        }
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
        self.work();
    }

    /// The request that matches, which was sent.
    fn sent<T>(&mut self, matches: impl Fn(&GroupRequest) -> Option<T>) -> (Token, T) {
        self.work();
        let found = self.actions.iter().position(
            |action| matches!(action, Action::Send { request, .. } if matches(request).is_some()),
        );
        let found = found.unwrap_or_else(|| panic!("not sent: {:?}", self.actions));
        match self.actions.remove(found) {
            Action::Send { token, request, .. } => (token, matches(&request).expect("it is")),
            other => panic!("{other:?}"),
        }
    }

    fn join(&mut self) -> (Token, JoinGroupRequest) {
        self.sent(|request| match request {
            GroupRequest::Join(join) => Some(join.clone()),
            _ => None,
        })
    }

    /// The join that was sent, which is still to be answered.
    fn join_under_way(&mut self) -> JoinGroupRequest {
        self.work();
        let join = self.actions.iter().find_map(|action| match action {
            Action::Send {
                request: GroupRequest::Join(join),
                ..
            } => Some(join.clone()),
            _ => None,
        });
        join.unwrap_or_else(|| panic!("no join: {:?}", self.actions))
    }

    fn sync(&mut self) -> (Token, SyncGroupRequest) {
        self.sent(|request| match request {
            GroupRequest::Sync(sync) => Some(sync.clone()),
            _ => None,
        })
    }

    fn heartbeat(&mut self) -> Token {
        let (token, ()) =
            self.sent(|request| matches!(request, GroupRequest::Heartbeat(_)).then_some(()));
        token
    }

    fn answer(&mut self, token: Token, outcome: Result<Answer>) {
        self.core.answered(token, outcome, self.now);
        self.work();
    }

    fn ask_for_id(&mut self, token: Token) {
        let response = JoinGroupResponse {
            error_code: ErrorCode::MEMBER_ID_REQUIRED,
            member_id: "m-1".to_owned(),
            ..JoinGroupResponse::default()
        };
        self.answer(token, Ok(Answer::Join(response)));
    }

    fn beat(&mut self, code: ErrorCode) {
        self.pass(BEAT);
        let token = self.heartbeat();
        self.answer_beat(token, code);
    }

    fn answer_beat(&mut self, token: Token, error_code: ErrorCode) {
        let response = HeartbeatResponse {
            error_code,
            ..HeartbeatResponse::default()
        };
        self.answer(token, Ok(Answer::Heartbeat(response)));
    }

    fn refuse_join(&mut self, token: Token, error_code: ErrorCode) {
        let response = JoinGroupResponse {
            error_code,
            ..JoinGroupResponse::default()
        };
        self.answer(token, Ok(Answer::Join(response)));
    }

    fn refuse_sync(&mut self, token: Token, error_code: ErrorCode) {
        let response = SyncGroupResponse {
            error_code,
            ..SyncGroupResponse::default()
        };
        self.answer(token, Ok(Answer::Sync(response)));
    }

    /// Answers the join under way: the generation has these members, of which the first one leads.
    fn generation(&mut self, generation: i32, members: &[(&str, JoinGroupRequest)]) {
        let (token, join) = self.join();
        let leader = members[0].0.to_owned();
        let protocol = join.protocols[0].name.clone();
        let listed = members.iter().map(|(id, join)| JoinGroupResponseMember {
            member_id: (*id).to_owned(),
            group_instance_id: join.group_instance_id.clone(),
            metadata: join.protocols[0].metadata.clone(),
        });
        let response = JoinGroupResponse {
            generation_id: generation,
            protocol_type: Some("consumer".to_owned()),
            protocol_name: Some(protocol),
            members: match leader == "m-1" {
                true => listed.collect(),
                false => Vec::new(),
            },
            leader,
            member_id: "m-1".to_owned(),
            ..JoinGroupResponse::default()
        };
        self.answer(token, Ok(Answer::Join(response)));
    }

    /// Answers the join of a static member that led the generation before it was started again (KIP-814).
    fn returns_as_leader(&mut self, generation: i32) {
        let (token, join) = self.join();
        let response = JoinGroupResponse {
            generation_id: generation,
            protocol_name: Some(join.protocols[0].name.clone()),
            leader: "m-1".to_owned(),
            member_id: "m-1".to_owned(),
            skip_assignment: true,
            members: vec![JoinGroupResponseMember {
                member_id: "m-1".to_owned(),
                group_instance_id: join.group_instance_id.clone(),
                metadata: join.protocols[0].metadata.clone(),
            }],
            ..JoinGroupResponse::default()
        };
        self.answer(token, Ok(Answer::Join(response)));
    }

    /// Answers a sync with what is assigned.
    fn assigned(&mut self, token: Token, assigned: &[TopicPartition]) {
        let response = SyncGroupResponse {
            assignment: assign::encode_assignment(assigned),
            ..SyncGroupResponse::default()
        };
        self.answer(token, Ok(Answer::Sync(response)));
    }

    /// Goes through a generation in which the member is alone.
    fn lead_alone(&mut self, generation: i32) {
        let join = self.join_under_way();
        assert_eq!(join.member_id, "m-1");
        self.generation(generation, &[("m-1", join)]);
        let (token, sync) = self.sync();
        assert_eq!(sync.generation_id, generation);
        assert_eq!(sync.assignments.len(), 1);
        let assigned = assign::decode_assignment(&sync.assignments[0].assignment);
        self.assigned(token, &assigned.expect("readable"));
    }

    /// Goes through a generation as a follower.
    fn follow(&mut self, generation: i32, assigned: &[TopicPartition]) {
        self.generation_of(generation, "m-0");
        let (token, sync) = self.sync();
        assert!(sync.assignments.is_empty());
        assert_eq!((sync.generation_id, &*sync.member_id), (generation, "m-1"));
        self.assigned(token, assigned);
    }

    fn generation_of(&mut self, generation: i32, leader: &str) {
        let (token, join) = self.join();
        let response = JoinGroupResponse {
            generation_id: generation,
            protocol_type: Some("consumer".to_owned()),
            protocol_name: Some(join.protocols[0].name.clone()),
            leader: leader.to_owned(),
            member_id: "m-1".to_owned(),
            ..JoinGroupResponse::default()
        };
        self.answer(token, Ok(Answer::Join(response)));
    }

    fn taken(&mut self, matches: impl Fn(&Action) -> Option<Vec<TopicPartition>>) -> Vec<i32> {
        self.work();
        let mut found = Vec::new();
        self.actions.retain(|action| match matches(action) {
            Some(partitions) => {
                found.extend(partitions.iter().map(|it| it.partition));
                false
            }
            None => true,
        });
        found.sort_unstable();
        found
    }

    fn assigns(&mut self) -> Vec<i32> {
        self.taken(|action| match action {
            Action::Assign(partitions) => Some(partitions.clone()),
            _ => None,
        })
    }

    fn revokes(&mut self) -> Vec<i32> {
        self.taken(|action| match action {
            Action::Revoke(partitions) => Some(partitions.clone()),
            _ => None,
        })
    }

    fn loses(&mut self) -> Vec<i32> {
        self.taken(|action| match action {
            Action::Lost(partitions) => Some(partitions.clone()),
            _ => None,
        })
    }

    fn release(&mut self, indexes: impl IntoIterator<Item = i32>) {
        self.core.released(&partitions(indexes), self.now);
        self.work();
    }

    /// Nothing was sent that was not looked at.
    fn is_quiet(&mut self) -> bool {
        self.work();
        let mut actions = self.actions.iter();
        !actions.any(|action| matches!(action, Action::Send { .. }))
    }

    /// Whether it gave up the coordinator that it knew.
    fn looks_for_coordinator(&mut self) -> bool {
        self.work();
        let before = self.actions.len();
        self.actions
            .retain(|action| !matches!(action, Action::ForgetCoordinator));
        self.actions.len() < before
    }

    fn failure(&mut self) -> Option<Error> {
        self.work();
        self.actions.iter().find_map(|action| match action {
            Action::Fail(error) => Some(error.clone()),
            _ => None,
        })
    }

    fn has(&self) -> Vec<i32> {
        let has: BTreeSet<i32> = self
            .core
            .assignment()
            .iter()
            .map(|it| it.partition)
            .collect();
        has.into_iter().collect()
    }

    /// What it says in its join that it has.
    fn owned(&self, join: &JoinGroupRequest, assignor: Assignor) -> (Vec<i32>, i32) {
        let mut protocols = join.protocols.iter();
        let protocol = protocols.find(|it| it.name == assignor.name());
        let metadata = &protocol.expect("offered").metadata;
        let said = assign::decode_subscription(assignor, "m-1", None, metadata);
        let said = said.expect("readable");
        let mut owned: Vec<i32> = said.owned.iter().map(|it| it.partition).collect();
        owned.sort_unstable();
        (owned, said.generation)
    }
}
