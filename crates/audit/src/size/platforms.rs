//! What known platforms allow or recommend, as their own documentation says.
//!
//! Such numbers change, and some are per account: the source is the authority, not this table.

use serde::Serialize;

use crate::Error;

/// A limit of a platform.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Limit {
    /// The platform, and its flavour.
    pub platform: &'static str,
    /// What is limited.
    pub of: Limited,
    /// To how many.
    pub at_most: u64,
    /// Whether more is refused, or advised against.
    pub enforced: bool,
    /// Where that is written.
    pub source: &'static str,
}

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limited {
    /// Replicas of all topics on one broker, leaders included.
    ReplicasPerBroker,
    /// Replicas of all topics in the cluster.
    ReplicasPerCluster,
    /// Partitions of one topic.
    PartitionsPerTopic,
}

impl Limited {
    /// In words.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::ReplicasPerBroker => "replicas on a broker, of all topics",
            Self::ReplicasPerCluster => "replicas in the cluster, of all topics",
            Self::PartitionsPerTopic => "partitions of the topic",
        }
    }
}

const MSK: &str = "https://docs.aws.amazon.com/msk/latest/developerguide/bestpractices.html";
const EVENT_HUBS: &str = "https://learn.microsoft.com/azure/event-hubs/event-hubs-quotas";
const APACHE: &str = "https://blogs.apache.org/kafka/entry/apache-kafka-supports-more-partitions (Kafka 1.1, with ZooKeeper)";

/// The limits that are known, by platform.
pub const LIMITS: &[Limit] = &[
    recommended(
        "apache-kafka with ZooKeeper",
        Limited::ReplicasPerBroker,
        4000,
        APACHE,
    ),
    recommended(
        "apache-kafka with ZooKeeper",
        Limited::ReplicasPerCluster,
        200_000,
        APACHE,
    ),
    recommended("msk kafka.t3.small", Limited::ReplicasPerBroker, 300, MSK),
    recommended(
        "msk m5/m7g large, xlarge",
        Limited::ReplicasPerBroker,
        1000,
        MSK,
    ),
    recommended("msk m5/m7g 2xlarge", Limited::ReplicasPerBroker, 2000, MSK),
    recommended(
        "msk m5/m7g 4xlarge and larger",
        Limited::ReplicasPerBroker,
        4000,
        MSK,
    ),
    enforced(
        "event-hubs basic, standard",
        Limited::PartitionsPerTopic,
        32,
        EVENT_HUBS,
    ),
    enforced(
        "event-hubs premium",
        Limited::PartitionsPerTopic,
        100,
        EVENT_HUBS,
    ),
    enforced(
        "event-hubs dedicated",
        Limited::PartitionsPerTopic,
        1024,
        EVENT_HUBS,
    ),
];

const fn recommended(
    platform: &'static str,
    of: Limited,
    at_most: u64,
    source: &'static str,
) -> Limit {
    Limit {
        platform,
        of,
        at_most,
        enforced: false,
        source,
    }
}

const fn enforced(
    platform: &'static str,
    of: Limited,
    at_most: u64,
    source: &'static str,
) -> Limit {
    Limit {
        enforced: true,
        ..recommended(platform, of, at_most, source)
    }
}

/// The limits of the platforms whose name begins so.
///
/// # Errors
///
/// When there is none; the message names what there is.
pub fn of_platform(name: &str) -> Result<Vec<Limit>, Error> {
    let limits: Vec<_> = LIMITS
        .iter()
        .filter(|limit| limit.platform.starts_with(name))
        .copied()
        .collect();
    if limits.is_empty() {
        let mut names: Vec<_> = LIMITS
            .iter()
            .filter_map(|limit| limit.platform.split(' ').next())
            .collect();
        names.dedup();
        return Err(Error::usage(format!(
            "no limits of `{name}` are known; there are those of {}",
            names.join(", ")
        )));
    }
    Ok(limits)
}
