//! What a coordinator is told with each input, and what it has others do.

use std::time::{Duration, Instant};

use copart_protocol::messages::join_group::JoinGroupResponse;
use copart_protocol::messages::sync_group::SyncGroupResponse;
use copart_protocol::{ErrorCode, Uuid};

use super::record::Record;
use super::timers::{Timer, Timers};
use crate::configs::BrokerConfig;

/// A moment, on the clock that never jumps and on the one that records have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) at: Instant,
    /// Milliseconds since 1970.
    pub(crate) ms: i64,
}

/// A topic, as groups see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TopicInfo {
    pub(crate) id: Uuid,
    pub(crate) partitions: i32,
}

/// What members of a consumer group are told, which settings of the group may change (KIP-848).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConsumerGroupConfig {
    pub(crate) session_timeout_ms: i32,
    pub(crate) heartbeat_interval_ms: i32,
}

/// What a coordinator looks up in the cluster's state.
pub(crate) trait Cluster {
    fn topic(&self, name: &str) -> Option<TopicInfo>;
    fn topic_name(&self, id: Uuid) -> Option<String>;
    fn each_topic(&self, visit: &mut dyn FnMut(&str));
    /// Another one after each change of topics.
    fn version(&self) -> i64;
    fn group_config(&self, group: &str) -> ConsumerGroupConfig;
}

/// A request that is answered later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Token(pub(crate) u64);

/// Its answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reply {
    Join(JoinGroupResponse),
    Sync(SyncGroupResponse),
}

/// What a coordinator has others do: append the records, all or none, and then send the replies.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) records: Vec<Record>,
    pub(crate) replies: Vec<(Token, Reply)>,
}

/// Who sent a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller<'a> {
    pub(crate) client_id: &'a str,
    /// As Kafka prints it, with a slash in front.
    pub(crate) host: &'a str,
    /// The version of the request.
    pub(crate) version: i16,
}

/// Why a group does not do what a member asks of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GroupError {
    pub(crate) code: ErrorCode,
    pub(crate) message: Option<String>,
}

pub(crate) type GroupResult<T> = std::result::Result<T, GroupError>;

impl From<ErrorCode> for GroupError {
    fn from(code: ErrorCode) -> Self {
        Self {
            code,
            message: None,
        }
    }
}

impl GroupError {
    pub(super) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: Some(message.into()),
        }
    }
}

/// What a group works with during one input.
pub(super) struct Env<'a> {
    pub(super) now: Moment,
    pub(super) config: &'a BrokerConfig,
    pub(super) max_batch_bytes: usize,
    pub(super) cluster: &'a dyn Cluster,
    pub(super) timers: &'a mut Timers,
    pub(super) out: &'a mut Output,
}

impl Env<'_> {
    pub(super) fn set_timer(&mut self, timer: Timer, after_ms: i32) {
        let after = Duration::from_millis(after_ms.max(0).unsigned_abs().into());
        self.timers.set(timer, self.now.at + after);
    }

    pub(super) fn reply(&mut self, token: Token, reply: Reply) {
        self.out.replies.push((token, reply));
    }

    pub(super) fn write(&mut self, record: Record) {
        self.out.records.push(record);
    }
}
