//! What goes between a member and whoever drives it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use copart_protocol::VersionRange;
use copart_protocol::messages::consumer_group_heartbeat::{
    ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse,
};
use copart_protocol::messages::heartbeat::{HeartbeatRequest, HeartbeatResponse};
use copart_protocol::messages::join_group::{JoinGroupRequest, JoinGroupResponse};
use copart_protocol::messages::leave_group::{LeaveGroupRequest, LeaveGroupResponse};
use copart_protocol::messages::sync_group::{SyncGroupRequest, SyncGroupResponse};

use crate::{Error, TopicPartition};

/// A request that is under way. An answer to one that the member has given up is passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Token(pub(crate) u64);

/// What the driver has to do, in this order.
#[derive(Debug)]
pub(crate) enum Action {
    /// Send this to the group's coordinator, which is to be found first if it is not known, and hand the outcome in
    /// with `answered`. There are at most two under way: a heartbeat and another one.
    Send {
        token: Token,
        request: GroupRequest,
        timeout: Duration,
    },
    /// The coordinator moved, or does not answer: it has to be found anew before anything else is sent.
    ForgetCoordinator,
    /// These topics have to be known from now on, and what is known handed in with `set_topics`, now and after each
    /// change.
    Want(Wanted),
    /// What is known of topics is not enough: metadata has to be asked for anew, soon.
    RefreshTopics,
    /// The application has to let go of these, which it has, and commit; then `released` is called. If that takes too
    /// long, they are [`Lost`](Self::Lost) all the same.
    Revoke(Vec<TopicPartition>),
    /// The application has these too from now on.
    Assign(Vec<TopicPartition>),
    /// The application does not have these any more, and can commit nothing of them: others may have them already.
    Lost(Vec<TopicPartition>),
    /// To be told to the application. The member goes on.
    Warn(Error),
    /// The member can't go on, and has nothing any more. Nothing follows.
    Fail(Error),
    /// The member has left, after `leave`. Nothing follows.
    Left,
}

/// Topics that a member has to know of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Wanted {
    #[default]
    Nothing,
    Topics(BTreeSet<Arc<str>>),
    /// All that there are: a pattern chooses among them.
    All,
}

/// Something to ask the coordinator.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum GroupRequest {
    Join(JoinGroupRequest),
    Sync(SyncGroupRequest),
    Heartbeat(HeartbeatRequest),
    Leave(LeaveGroupRequest),
    ConsumerHeartbeat(ConsumerGroupHeartbeatRequest),
}

impl GroupRequest {
    /// The versions in which it can be sent: static members, patterns and the like need later ones. If the broker
    /// has none of them, the outcome is an error of the kind `UnsupportedVersion`.
    pub(crate) fn versions(&self) -> VersionRange {
        let from = |first, last, later: bool, max| VersionRange {
            min: if later { last } else { first },
            max,
        };
        match self {
            Self::Join(it) => from(0, 5, it.group_instance_id.is_some(), 9),
            Self::Sync(it) => from(0, 3, it.group_instance_id.is_some(), 5),
            Self::Heartbeat(it) => from(0, 3, it.group_instance_id.is_some(), 4),
            Self::Leave(_) => VersionRange { min: 0, max: 5 },
            Self::ConsumerHeartbeat(it) => from(0, 1, it.subscribed_topic_regex.is_some(), 1),
        }
    }

    /// Whether the answer comes only once other members have done their part.
    pub(crate) fn waits_for_group(&self) -> bool {
        matches!(self, Self::Join(_) | Self::Sync(_))
    }

    /// The same as it is in `version`: a LeaveGroup of old names one member only, elsewhere.
    pub(crate) fn in_version(self, version: i16) -> Self {
        match self {
            Self::Leave(mut leave) if version < 3 => {
                leave.member_id = leave
                    .members
                    .pop()
                    .map(|member| member.member_id)
                    .unwrap_or_default();
                leave.members.clear();
                Self::Leave(leave)
            }
            other => other,
        }
    }
}

/// What the coordinator answered, with whatever error code is in it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    Join(JoinGroupResponse),
    Sync(SyncGroupResponse),
    Heartbeat(HeartbeatResponse),
    Leave(LeaveGroupResponse),
    ConsumerHeartbeat(ConsumerGroupHeartbeatResponse),
}

/// As whom a member commits and fetches offsets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Whether the generation is an epoch of the consumer protocol. Then OffsetCommit has to be of version 9 or
    /// later, and OffsetFetch names the member.
    pub(crate) is_epoch: bool,
    pub(crate) member_id: Arc<str>,
    /// The generation of the classic protocol, or the member's epoch.
    pub(crate) generation: i32,
    pub(crate) instance_id: Option<Arc<str>>,
}
