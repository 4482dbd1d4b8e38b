//! What a member is told when it is made.

use std::sync::Arc;
use std::time::Duration;

use crate::Backoff;

/// Which of Kafka's two protocols for groups a member speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// The consumer protocol, or the classic one if the broker does not have that (before Kafka 4.0), or if the group is a
    /// classic one that stays so. What is chosen when the group is joined for the first time, stays.
    #[default]
    Auto,
    /// JoinGroup and SyncGroup: one of the members assigns.
    Classic,
    /// ConsumerGroupHeartbeat: the broker assigns (KIP-848).
    Consumer,
}

/// How the leader of a classic group deals partitions out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Assignor {
    /// Topic by topic, neighbours together: equal numbers of different topics meet at one member.
    Range,
    /// All partitions of all topics, in turn.
    RoundRobin,
    /// As even as can be, and as few partitions as possible move. Everybody lets go of everything first.
    Sticky,
    /// As `Sticky`, but only what moves is let go of (KIP-429).
    CooperativeSticky,
}

impl Assignor {
    /// As groups know it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Range => "range",
            Self::RoundRobin => "roundrobin",
            Self::Sticky => "sticky",
            Self::CooperativeSticky => "cooperative-sticky",
        }
    }

    /// The one with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        [
            Self::Range,
            Self::RoundRobin,
            Self::Sticky,
            Self::CooperativeSticky,
        ]
        .into_iter()
        .find(|assignor| assignor.name() == name)
    }

    /// Whether its members may keep partitions while the group is rebalanced.
    pub(crate) const fn is_cooperative(self) -> bool {
        matches!(self, Self::CooperativeSticky)
    }
}

/// What a consumer wants to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Subscription {
    /// These topics.
    Topics(Vec<Arc<str>>),
    /// All topics whose whole name matches, but for Kafka's own. In the consumer protocol the broker matches, with
    /// RE2/J; in the classic one it is the `regex` crate.
    Pattern(String),
}

/// What a member is told when it is made.
#[derive(Clone, Debug)]
pub(crate) struct GroupConfig {
    pub(crate) group: Arc<str>,
    /// Makes the member a static one (KIP-345): whoever comes back under this name in time has what it had, and a
    /// leave tells the group nothing, or in the consumer protocol that it will be back.
    pub(crate) instance_id: Option<Arc<str>>,
    pub(crate) protocol: Protocol,
    /// For the classic protocol, in order of preference; not empty. Unless all of them are cooperative, the member
    /// lets go of everything when the group is rebalanced, so that a group can be moved from one to the other kind
    /// one member at a time (KIP-429).
    pub(crate) assignors: Vec<Assignor>,
    /// For the consumer protocol; the broker's choice if there is none.
    pub(crate) server_assignor: Option<String>,
    /// For the classic protocol: after so long a silence the member is out. In the other, the broker decides.
    pub(crate) session_timeout: Duration,
    /// For the classic protocol. In the other, the broker decides.
    pub(crate) heartbeat_interval: Duration,
    /// How long members may take to let go of partitions and join again: `max.poll.interval.ms`.
    pub(crate) rebalance_timeout: Duration,
    /// How long answers may take, other than to JoinGroup, which waits for all the group.
    pub(crate) request_timeout: Duration,
    pub(crate) rack: Option<Arc<str>>,
    pub(crate) backoff: Backoff,
}

impl GroupConfig {
    /// Whether partitions are kept while the group is rebalanced: the common ground of all assignors (KIP-429).
    pub(crate) fn is_cooperative(&self) -> bool {
        self.assignors
            .iter()
            .all(|assignor| assignor.is_cooperative())
    }

    /// How long the application has to let go of partitions, from when it is asked to. A bit less than what the
    /// coordinator allows, which began to count before.
    pub(crate) fn release_timeout(&self) -> Duration {
        let early = self.heartbeat_interval.min(self.rebalance_timeout / 2);
        self.rebalance_timeout.saturating_sub(early)
    }
}
