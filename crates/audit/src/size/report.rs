use serde::Serialize;

use super::platforms::Limit;
use super::units::Rate;

/// How many partitions a topic needs.
///
/// Serialised, it is the JSON output of `copart size`; [`SizeReport::SCHEMA`] is its version.
#[derive(Clone, Debug, Serialize)]
pub struct SizeReport {
    /// [`SizeReport::SCHEMA`].
    pub schema: &'static str,
    /// The answer.
    pub verdict: Verdict,
    /// What the topic has to take.
    pub throughput: Rate,
    /// Times the throughput that it is to grow to.
    pub growth: f64,
    /// The share of a partition's rates that is kept free.
    pub headroom: f64,
    /// The throughput after growth.
    pub peak: Rate,
    /// The least number of partitions; null when no number is enough.
    pub minimum: Option<u32>,
    /// What asks for how many.
    pub floors: Vec<Floor>,
    /// Numbers to choose from, the least first.
    pub candidates: Vec<Candidate>,
    /// What platforms allow or recommend, beside what the minimum uses.
    pub limits: Vec<LimitReport>,
    /// What to know besides.
    pub warnings: Vec<String>,
}

impl SizeReport {
    /// The name and version of the serialised form. Members may be added in one version; none is
    /// removed or changes its meaning.
    pub const SCHEMA: &'static str = "copart.size/1";

    /// What `copart size` exits with.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        match self.verdict {
            Verdict::Possible => 0,
            Verdict::Impossible => 1,
        }
    }
}

/// Whether some number of partitions is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// One is.
    Possible,
    /// None is, because one key has too much.
    Impossible,
}

impl Verdict {
    /// The word for it in every output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Possible => "possible",
            Self::Impossible => "impossible",
        }
    }
}

/// Something that asks for partitions.
#[derive(Clone, Debug, Serialize)]
pub struct Floor {
    /// What.
    pub reason: Reason,
    /// How many; null when no number is enough.
    pub partitions: Option<u32>,
    /// The computation in words.
    pub how: String,
}

/// What asks for partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// What a partition takes from producers.
    Produce,
    /// What a consumer reads from a partition.
    Consume,
    /// The time a consumer takes for a record.
    Latency,
    /// Consumers that are to have work.
    Parallelism,
    /// The key of most traffic, whose partition has to take it all.
    HotKey,
}

impl Reason {
    /// In words.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Produce => "produce rate",
            Self::Consume => "consume rate",
            Self::Latency => "time for each record",
            Self::Parallelism => "consumers",
            Self::HotKey => "hot key",
        }
    }
}

/// A number of partitions to choose.
#[derive(Clone, Debug, Serialize)]
pub struct Candidate {
    /// How many.
    pub partitions: u32,
    /// What speaks for it.
    pub why: Vec<Why>,
    /// The load of an average partition at the peak, as a share of what it takes; null when no
    /// rate of a partition is known.
    pub load: Option<f64>,
    /// The same of the partition of the hot key, if there is one.
    pub hot_load: Option<f64>,
    /// Replicas of all its partitions.
    pub replicas: u64,
    /// Replicas on each broker, if their number is known.
    pub replicas_per_broker: Option<f64>,
    /// The share of keys that moves when the topic goes from its current count to this one.
    pub moves_from_current: Option<f64>,
    /// The share of keys that moves when the topic begins with the minimum and goes to this one.
    pub moves_from_minimum: f64,
    /// What moves in later steps from here.
    pub later: Vec<Later>,
}

/// A later change of the count.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Later {
    /// To how many partitions.
    pub partitions: u32,
    /// The share of keys that should move.
    pub share: f64,
}

/// What speaks for a number of partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// It is the least that is enough.
    Minimum,
    /// Every broker leads as many partitions.
    Brokers,
    /// Groups of 2, 3, 4, 6 and 12 consumers share it evenly.
    Divisors,
    /// It doubles to powers of two. Clients that differ in their sign rules agree there by chance.
    PowerOfTwo,
    /// It is a multiple of the current count, so fewest keys move.
    MultipleOfCurrent,
    /// Twice the need: the next step is not needed soon.
    Double,
}

impl Why {
    /// In words.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Minimum => "the least",
            Self::Brokers => "as many leaders on each broker",
            Self::Divisors => "2, 3, 4, 6, 12 consumers share evenly",
            Self::PowerOfTwo => "power of two (sign rules do not show)",
            Self::MultipleOfCurrent => "multiple of the current count",
            Self::Double => "room to double",
        }
    }
}

/// A limit of a platform, and what the minimum uses of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LimitReport {
    /// The limit.
    #[serde(flatten)]
    pub limit: Limit,
    /// What this topic uses alone; null when the number of brokers is not known.
    pub used: Option<f64>,
    /// Whether that is more than the limit.
    pub exceeded: Option<bool>,
}
