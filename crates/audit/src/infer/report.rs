use std::path::PathBuf;

use serde::Serialize;

use super::framing::Framing;
use super::spread::Spread;
use super::timeline::Timeline;

/// Which rule placed a topic's records?
///
/// Serialised, it is the JSON output of `copart infer`; [`InferReport::SCHEMA`] is its version.
#[derive(Clone, Debug, Serialize)]
pub struct InferReport {
    /// [`InferReport::SCHEMA`].
    pub schema: &'static str,
    /// The answer.
    pub verdict: InferVerdict,
    /// The run was interrupted: everything holds for the beginning of the input.
    pub partial: bool,
    /// What was read.
    pub input: InferInput,
    /// The topic's partition count.
    pub partitions: Partitions,
    /// How certain the answer is, and what it rests on.
    pub evidence: EvidenceReport,
    /// The rules that wrote the topic, the one that explains most first.
    pub components: Vec<ComponentReport>,
    /// The best of the other hypotheses.
    pub runner_up: Option<Candidate>,
    /// The best hypotheses, tested on one partition of each key.
    pub ranking: Vec<Candidate>,
    /// What no rule explains.
    pub unexplained: Unexplained,
    /// Keys on more than one partition.
    pub moved: Moved,
    /// When each rule wrote, if there are several.
    pub timeline: Option<Timeline>,
    /// Headers and producer names that go with the rules, if there are several.
    pub hints: Vec<HintReport>,
    /// How records are spread, if no rule placed them.
    pub spread: Option<Spread>,
    /// Records with empty keys.
    pub empty: KeylessRecords,
    /// Records without a key.
    pub null: KeylessRecords,
    /// Keys under a schema registry's framing.
    pub framing: Option<Framing>,
    /// The answer to `--expect`.
    pub expected: Option<Expectation>,
    /// What may make the answer worth less than it seems.
    pub warnings: Vec<String>,
}

impl InferReport {
    /// The name and version of the serialised form. Members may be added in one version; none is
    /// removed or changes its meaning.
    pub const SCHEMA: &'static str = "copart.infer/1";

    /// What `copart infer` exits with.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        if self.partial {
            return crate::verify::VerifyReport::INTERRUPTED;
        }
        match &self.expected {
            Some(expected) => expected.outcome.exit_code(),
            None => self.verdict.exit_code(),
        }
    }
}

/// The kinds of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InferVerdict {
    /// One rule placed all keys (at most a hundredth of them aside).
    OneProfile,
    /// One of several rules did, which can't be told apart at this partition count.
    Twins,
    /// One rule did, modulo another count than the topic has.
    StaleCount,
    /// Several rules, or one rule and something unknown, wrote the topic.
    Mixed,
    /// Records of one key are on any partition.
    NotKeyed,
    /// Records of one key are on one partition, by a rule that the catalogue does not have.
    UnknownRule,
    /// No known rule placed the keys, and no key is repeated, so that it can't be told whether
    /// they were placed by key at all.
    NoRuleFits,
    /// Too few distinct keys to tell.
    TooFewKeys,
    /// No record has a key with bytes.
    NoKeys,
}

impl InferVerdict {
    /// The word for it in every output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OneProfile => "one_profile",
            Self::Twins => "twins",
            Self::StaleCount => "stale_count",
            Self::Mixed => "mixed",
            Self::NotKeyed => "not_keyed",
            Self::UnknownRule => "unknown_rule",
            Self::NoRuleFits => "no_rule_fits",
            Self::TooFewKeys => "too_few_keys",
            Self::NoKeys => "no_keys",
        }
    }

    /// What `copart infer` exits with if nothing is expected.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::OneProfile | Self::NotKeyed => 0,
            Self::StaleCount | Self::Mixed => 1,
            Self::Twins
            | Self::UnknownRule
            | Self::NoRuleFits
            | Self::TooFewKeys
            | Self::NoKeys => 4,
        }
    }
}

/// What was read.
#[derive(Clone, Debug, Serialize)]
pub struct InferInput {
    /// The source, for people.
    pub name: String,
    /// The file; standard input and topics have none.
    #[serde(skip)]
    pub path: Option<PathBuf>,
    /// Whether a record's number is the line that it is on.
    pub records_are_lines: bool,
    /// Records, all of them.
    pub records: u64,
    /// Records whose key has bytes.
    pub keyed: u64,
    /// Distinct keys that were kept to look at.
    pub distinct_keys: u64,
    /// Whether those are all there are; if not, they are a uniform sample of them.
    pub all_keys: bool,
    /// How many distinct keys there are, by the sample's share.
    pub estimated_distinct_keys: u64,
    /// Whether records with an empty key may have none.
    pub empty_may_be_null: bool,
}

/// The topic's partition count.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Partitions {
    /// The count.
    pub count: u32,
    /// Where it is from.
    pub source: CountSource,
    /// Partitions that have records.
    pub with_records: u32,
}

/// Where a partition count is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CountSource {
    /// It was asked for, or the source knows it.
    Given,
    /// The highest partition with a record, and one.
    HighestPartition,
    /// The count at which a rule explains the keys.
    Inferred,
}

/// How certain the answer is.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct EvidenceReport {
    /// Distinct keys that were tested.
    pub keys: u64,
    /// Hypotheses, times the rounds in which they may be tested.
    pub tests: u64,
    /// The probability, over all tests, of believing a rule when placement is independent of keys.
    pub family_error: f64,
    /// The same for one test, as a power of ten.
    pub log10_threshold: f64,
    /// How many keys, all placed rightly, it takes to believe a rule; null when no number does.
    pub keys_needed: Option<u64>,
}

/// A hypothesis and how well it does.
#[derive(Clone, Debug, Serialize)]
pub struct Candidate {
    /// The rule's best known name.
    pub profile: String,
    /// What it does.
    pub rule: String,
    /// Which bytes are hashed.
    pub key_bytes: &'static str,
    /// The partition count it divides by.
    pub partitions: u32,
    /// Keys that it was tested on.
    pub keys: u64,
    /// Keys that are where it says.
    pub matches: u64,
    /// The share of matching keys that chance gives.
    pub by_chance: f64,
    /// A bound on the probability of so many by chance, as a power of ten.
    pub log10_chance: f64,
}

/// A rule that wrote some of the topic.
#[derive(Clone, Debug, Serialize)]
pub struct ComponentReport {
    /// The rule's best known name.
    pub profile: String,
    /// What it does.
    pub rule: String,
    /// Which bytes are hashed.
    pub key_bytes: &'static str,
    /// The same for people.
    pub key_bytes_text: &'static str,
    /// The partition count it divides by.
    pub partitions: u32,
    /// Whether that is another than the topic's.
    pub stale_count: bool,
    /// Keys on partitions (each pair once) that it explains.
    pub places: u64,
    /// Those that no other component explains.
    pub places_alone: u64,
    /// Records on those.
    pub records_alone: u64,
    /// Its share of the places that exactly one component or none explains.
    pub share: f64,
    /// How it did when it was found: on one partition of each key that no component before it
    /// explains.
    pub tested: Candidate,
    /// The clients that have the rule.
    pub clients: Vec<ClientReport>,
    /// Other rules that explain the same keys.
    pub twins: Vec<TwinReport>,
    /// Its first record among those that no other component explains.
    pub first: Option<super::timeline::Point>,
    /// Its last.
    pub last: Option<super::timeline::Point>,
}

/// A client that has a rule.
#[derive(Clone, Debug, Serialize)]
pub struct ClientReport {
    /// The catalogue's id.
    pub id: &'static str,
    /// Whether it is what the client's newest release does with nothing configured.
    pub default: bool,
    /// What speaks against it: records with empty or null keys where it would not put them.
    pub ruled_out: Option<String>,
}

/// A rule that explains the same keys as a component's.
#[derive(Clone, Debug, Serialize)]
pub struct TwinReport {
    /// Its best known name.
    pub profile: String,
    /// What it does.
    pub rule: String,
    /// Why they can't be told apart.
    pub because: TwinReason,
    /// What share of the sampled keys would tell at other counts.
    pub tell_at: Vec<TellAt>,
}

/// Why two rules can't be told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TwinReason {
    /// At this count they place every key alike.
    PartitionCount,
    /// They place keys like these alike; others would tell, such as keys that are not ASCII.
    Keys,
    /// They differ on many keys, by chance not on these few.
    FewKeys,
}

/// How two rules would differ at another count.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TellAt {
    /// The count.
    pub partitions: u32,
    /// The share of the sampled keys that they place differently.
    pub share: f64,
}

/// What no rule explains.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Unexplained {
    /// Keys on partitions, each pair once.
    pub places: u64,
    /// Their share of all.
    pub share: f64,
    /// Records on them.
    pub records: u64,
    /// The first.
    pub examples: Vec<KeyPlaces>,
}

/// Keys on more than one partition.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Moved {
    /// How many of the keys looked at.
    pub keys: u64,
    /// The first.
    pub examples: Vec<KeyPlaces>,
}

/// A key and its partitions.
#[derive(Clone, Debug, Serialize)]
pub struct KeyPlaces {
    /// Its bytes in hexadecimal; the first 1,024 of them.
    pub key_hex: String,
    /// Whether the key has more bytes than shown.
    pub truncated: bool,
    /// Where its records are, the first partition first; at most 20.
    pub places: Vec<PlaceReport>,
}

/// A key on a partition.
#[derive(Clone, Debug, Serialize)]
pub struct PlaceReport {
    /// The partition.
    pub partition: u32,
    /// Records of the key on it.
    pub records: u64,
    /// The first of them.
    pub first: super::timeline::Point,
    /// The last.
    pub last: super::timeline::Point,
    /// The components that explain it, by name.
    pub explained_by: Vec<String>,
}

/// A header, or the producers' names, and how its values go with the components.
#[derive(Clone, Debug, Serialize)]
pub struct HintReport {
    /// The header's name; `producer` for a producer's.
    pub name: String,
    /// Its values.
    pub values: Vec<HintValue>,
}

/// A value of a hint.
#[derive(Clone, Debug, Serialize)]
pub struct HintValue {
    /// The value; null for records without it.
    pub value: Option<String>,
    /// Records of each component with it, in the order of the components.
    pub records: Vec<u64>,
}

/// Records with empty keys, or without any.
#[derive(Clone, Debug, Default, Serialize)]
pub struct KeylessRecords {
    /// How many.
    pub records: u64,
    /// Partitions that have some.
    pub partitions: u32,
    /// The partition, if there is one only.
    pub only_partition: Option<u32>,
}

/// Whether the records are where an expected profile puts them.
#[derive(Clone, Debug, Serialize)]
pub struct Expectation {
    /// The profile, as the user named it.
    pub profile: String,
    /// The answer.
    pub outcome: ExpectedOutcome,
    /// Why, in a sentence.
    pub why: String,
    /// Keys on partitions (each pair once) where it puts them.
    pub places: u64,
    /// Those where it does not.
    pub elsewhere: u64,
    /// The first of these.
    pub examples: Vec<KeyPlaces>,
}

/// The answer to an expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ExpectedOutcome {
    /// All keys are where the profile puts them, and enough to be no accident.
    Met,
    /// Some are not.
    NotMet,
    /// None is elsewhere, but they are too few to tell.
    Inconclusive,
}

impl ExpectedOutcome {
    /// The word for it in every output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::NotMet => "not_met",
            Self::Inconclusive => "inconclusive",
        }
    }

    /// What `copart infer --expect` exits with.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Met => 0,
            Self::NotMet => 1,
            Self::Inconclusive => 4,
        }
    }
}
