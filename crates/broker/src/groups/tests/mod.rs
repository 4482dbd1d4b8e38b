//! Coordinators with a clock that tests turn, and a log that they look into.

mod classic;
mod consumer;
mod migrate;
mod offsets;
mod simulation;

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use bytes::Bytes;
use copart_protocol::messages::consumer_protocol_subscription::ConsumerProtocolSubscription;
use copart_protocol::messages::heartbeat::HeartbeatRequest;
use copart_protocol::messages::join_group::{
    JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse,
};
use copart_protocol::messages::leave_group::{LeaveGroupRequest, MemberIdentity};
use copart_protocol::messages::sync_group::{
    SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse,
};
use copart_protocol::{ErrorCode, Uuid};

use super::coordinator::{Coordinator, Input};
use super::embedded;
use super::env::{Caller, Cluster, ConsumerGroupConfig, Moment, Reply, Token, TopicInfo};
use super::record::Record;
use crate::configs::{BrokerConfig, BrokerSettings, Values};

/// Topics that tests make.
#[derive(Debug, Default)]
pub(super) struct FakeCluster {
    pub(super) topics: BTreeMap<String, TopicInfo>,
    version: i64,
}

impl FakeCluster {
    pub(super) fn set(&mut self, name: &str, partitions: i32) -> Uuid {
        self.version += 1;
        let mut id = [0; 16];
        id[..name.len()].copy_from_slice(name.as_bytes());
        let id = Uuid(id);
        self.topics
            .insert(name.to_owned(), TopicInfo { id, partitions });
        id
    }
}

impl Cluster for FakeCluster {
    fn topic(&self, name: &str) -> Option<TopicInfo> {
        self.topics.get(name).copied()
    }

    fn topic_name(&self, id: Uuid) -> Option<String> {
        let found = self.topics.iter().find(|(_, topic)| topic.id == id);
        found.map(|(name, _)| name.clone())
    }

    fn each_topic(&self, visit: &mut dyn FnMut(&str)) {
        self.topics.keys().for_each(|name| visit(name));
    }

    fn version(&self) -> i64 {
        self.version
    }

    fn group_config(&self, _: &str) -> ConsumerGroupConfig {
        ConsumerGroupConfig {
            session_timeout_ms: 45_000,
            heartbeat_interval_ms: 5_000,
        }
    }
}

/// A coordinator, its clock, its log and the answers that came.
pub(super) struct Bench {
    pub(super) coordinator: Coordinator,
    pub(super) cluster: FakeCluster,
    pub(super) config: BrokerConfig,
    pub(super) max_batch_bytes: usize,
    start: Instant,
    pub(super) elapsed_ms: u64,
    pub(super) log: Vec<Record>,
    next_token: u64,
    restarts: u64,
    pub(super) replies: HashMap<Token, Reply>,
}

pub(super) const START_MS: i64 = 1_700_000_000_000;

impl Bench {
    pub(super) fn new(settings: &[(&str, &str)]) -> Self {
        let values = settings.iter();
        let values: Values = values
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let settings = BrokerSettings {
            started: Some(&values),
            node_count: 1,
            ..BrokerSettings::default()
        };
        let mut cluster = FakeCluster::default();
        cluster.set("t", 4);
        Self {
            coordinator: Coordinator::new(Some(7)),
            cluster,
            config: BrokerConfig::resolve(settings).expect("settings that are known"),
            max_batch_bytes: 1_048_588,
            start: Instant::now(),
            elapsed_ms: 0,
            log: Vec::new(),
            next_token: 0,
            restarts: 0,
            replies: HashMap::new(),
        }
    }

    pub(super) fn now(&self) -> Moment {
        Moment {
            at: self.start + Duration::from_millis(self.elapsed_ms),
            ms: START_MS + i64::try_from(self.elapsed_ms).expect("a test's time"),
        }
    }

    /// Does something, and takes note of records and replies.
    pub(super) fn act<T>(&mut self, act: impl FnOnce(&mut Coordinator, Input<'_>) -> T) -> T {
        let input = Input {
            now: self.now(),
            config: &self.config,
            max_batch_bytes: self.max_batch_bytes,
            cluster: &self.cluster,
        };
        let result = act(&mut self.coordinator, input);
        let output = self.coordinator.take_output();
        self.log.extend(output.records);
        for (token, reply) in output.replies {
            assert!(
                self.replies.insert(token, reply).is_none(),
                "answered twice"
            );
        }
        result
    }

    /// Lets time pass, and what is due happen at its time.
    pub(super) fn pass(&mut self, ms: u64) {
        let end = self.elapsed_ms + ms;
        while let Some(due) = self.coordinator.next_timeout() {
            let due = due.saturating_duration_since(self.start);
            let due = u64::try_from(due.as_millis()).expect("a test's time");
            if due > end {
                break;
            }
            self.elapsed_ms = self.elapsed_ms.max(due);
            self.act(|coordinator, input| coordinator.handle_timeout(input));
        }
        self.elapsed_ms = end;
    }

    /// As after a restart: another coordinator that reads the log.
    pub(super) fn restart(&mut self) {
        self.restarts += 1;
        self.coordinator = Coordinator::new(Some(7 + self.restarts));
        let now = self.now();
        for record in self.log.clone() {
            let (key, value) = record.encode().expect("encodes");
            let record = Record::decode(key.into(), value.map(Bytes::from)).expect("decodes");
            self.coordinator.apply(record.expect("is known"), None, now);
        }
        self.act(Coordinator::loaded);
    }

    pub(super) fn token(&mut self) -> Token {
        self.next_token += 1;
        Token(self.next_token)
    }

    pub(super) fn join(&mut self, version: i16, request: &JoinGroupRequest) -> Token {
        let token = self.token();
        let caller = caller(version);
        self.act(|coordinator, input| coordinator.join(input, caller, token, request));
        token
    }

    pub(super) fn joined(&mut self, token: Token) -> Option<JoinGroupResponse> {
        match self.replies.remove(&token)? {
            Reply::Join(response) => Some(response),
            Reply::Sync(_) => panic!("a sync for a join"),
        }
    }

    /// Joins, and is answered at once.
    pub(super) fn join_now(
        &mut self,
        version: i16,
        request: &JoinGroupRequest,
    ) -> JoinGroupResponse {
        let token = self.join(version, request);
        self.joined(token).expect("an answer at once")
    }

    pub(super) fn sync(&mut self, request: SyncGroupRequest) -> Token {
        let token = self.token();
        self.act(|coordinator, input| coordinator.sync(input, token, request));
        token
    }

    pub(super) fn synced(&mut self, token: Token) -> Option<SyncGroupResponse> {
        match self.replies.remove(&token)? {
            Reply::Sync(response) => Some(response),
            Reply::Join(_) => panic!("a join for a sync"),
        }
    }

    pub(super) fn beat(&mut self, member: &str, generation: i32) -> ErrorCode {
        let request = HeartbeatRequest {
            group_id: "g".to_owned(),
            member_id: member.to_owned(),
            generation_id: generation,
            group_instance_id: None,
        };
        self.act(|coordinator, input| coordinator.heartbeat(input, &request))
    }

    pub(super) fn leave(&mut self, member: &str, instance: Option<&str>) -> ErrorCode {
        let request = LeaveGroupRequest {
            group_id: "g".to_owned(),
            members: vec![MemberIdentity {
                member_id: member.to_owned(),
                group_instance_id: instance.map(str::to_owned),
                ..Default::default()
            }],
            ..Default::default()
        };
        let left = self.act(|coordinator, input| coordinator.leave(input, &request));
        left.map_or_else(|code| code, |members| members[0].error_code)
    }

    pub(super) fn state(&self) -> String {
        let listed = self.coordinator.list(&[], &[]);
        listed
            .first()
            .map_or_else(|| "Dead".to_owned(), |group| group.group_state.clone())
    }
}

pub(super) fn caller(version: i16) -> Caller<'static> {
    Caller {
        client_id: "client",
        host: "/127.0.0.1",
        version,
    }
}

pub(super) fn wants(topics: &[&str]) -> Bytes {
    let subscription = ConsumerProtocolSubscription {
        topics: topics.iter().map(|it| (*it).to_owned()).collect(),
        ..Default::default()
    };
    embedded::write(&subscription, 1)
}

/// Of a dynamic member that can do these.
pub(super) fn join_request(member: &str, protocols: &[&str]) -> JoinGroupRequest {
    JoinGroupRequest {
        group_id: "g".to_owned(),
        session_timeout_ms: 10_000,
        rebalance_timeout_ms: 60_000,
        member_id: member.to_owned(),
        protocol_type: "consumer".to_owned(),
        protocols: protocols
            .iter()
            .map(|name| JoinGroupRequestProtocol {
                name: (*name).to_owned(),
                metadata: wants(&["t"]),
            })
            .collect(),
        ..Default::default()
    }
}

pub(super) fn static_join(instance: &str, member: &str) -> JoinGroupRequest {
    JoinGroupRequest {
        group_instance_id: Some(instance.to_owned()),
        ..join_request(member, &["range"])
    }
}

pub(super) fn sync_request(
    joined: &JoinGroupResponse,
    assign: &[(&str, &'static [u8])],
) -> SyncGroupRequest {
    SyncGroupRequest {
        group_id: "g".to_owned(),
        generation_id: joined.generation_id,
        member_id: joined.member_id.clone(),
        assignments: assign
            .iter()
            .map(|(member, assignment)| SyncGroupRequestAssignment {
                member_id: (*member).to_owned(),
                assignment: Bytes::from_static(assignment),
            })
            .collect(),
        ..Default::default()
    }
}
