use serde::Serialize;

use crate::infer::InferReport;
use crate::lint::KeyKind;

/// May these two topics be joined by key?
///
/// Serialised, it is the JSON output of `copart copartition`; [`CopartitionReport::SCHEMA`] is its
/// version.
#[derive(Clone, Debug, Serialize)]
pub struct CopartitionReport {
    /// [`CopartitionReport::SCHEMA`].
    pub schema: &'static str,
    /// The answer.
    pub verdict: CopartitionVerdict,
    /// The run was interrupted: everything holds for the beginning of the inputs.
    pub partial: bool,
    /// What was checked.
    pub checks: Vec<Check>,
    /// Keys that both topics have.
    pub shared: SharedKeys,
    /// What follows for a join.
    pub consequences: Vec<Consequence>,
    /// What is known of each topic.
    pub topics: [InferReport; 2],
    /// The kinds of keys of each topic, the most frequent first.
    pub kinds: [Vec<KindShare>; 2],
    /// What may make the answer worth less than it seems.
    pub warnings: Vec<String>,
}

impl CopartitionReport {
    /// The name and version of the serialised form. Members may be added in one version; none is
    /// removed or changes its meaning.
    pub const SCHEMA: &'static str = "copart.copartition/1";

    /// What `copart copartition` exits with.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        if self.partial {
            return crate::verify::VerifyReport::INTERRUPTED;
        }
        match self.verdict {
            CopartitionVerdict::Copartitioned => 0,
            CopartitionVerdict::NotCopartitioned => 1,
            CopartitionVerdict::Inconclusive => 4,
        }
    }
}

/// The kinds of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CopartitionVerdict {
    /// They may be joined.
    Copartitioned,
    /// They may not.
    NotCopartitioned,
    /// It can't be told from these records.
    Inconclusive,
}

impl CopartitionVerdict {
    /// The word for it in every output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Copartitioned => "copartitioned",
            Self::NotCopartitioned => "not_copartitioned",
            Self::Inconclusive => "inconclusive",
        }
    }
}

/// One thing that must hold.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// Which.
    pub check: CheckKind,
    /// Whether it holds.
    pub outcome: CheckOutcome,
    /// What was seen, in a sentence.
    pub message: String,
}

/// What must hold for a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckKind {
    /// The topics have the same number of partitions.
    PartitionCount,
    /// One rule placed the keys of both.
    Partitioner,
    /// Keys are the same bytes in both.
    KeyEncoding,
    /// Keys that both have are on the same partitions.
    SharedKeys,
}

impl CheckKind {
    /// A stable name.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::PartitionCount => "partition-count",
            Self::Partitioner => "partitioner",
            Self::KeyEncoding => "key-encoding",
            Self::SharedKeys => "shared-keys",
        }
    }
}

/// Whether something holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    /// It does.
    Passed,
    /// It does not.
    Failed,
    /// It can't be told.
    Unknown,
}

impl CheckOutcome {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

/// Keys that both topics have.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SharedKeys {
    /// The same bytes in both; of the keys that were looked at.
    pub keys: u64,
    /// Whether those are all there are; if not, they are a uniform sample.
    pub all_keys: bool,
    /// On the same partition in both, and on no other.
    pub together: u64,
    /// On different partitions, or on several.
    pub apart: u64,
    /// Keys that are other bytes in both, and the same once spelled plainly (a number as text and
    /// in binary, a UUID in upper case, another schema id).
    pub in_other_bytes: u64,
    /// The first that are apart.
    pub examples: Vec<SharedExample>,
    /// The first in other bytes.
    pub spelling_examples: Vec<SpellingExample>,
}

/// A key that both topics have, and its partitions in each.
#[derive(Clone, Debug, Serialize)]
pub struct SharedExample {
    /// Its bytes in hexadecimal; the first 1,024 of them.
    pub key_hex: String,
    /// Whether the key has more bytes than shown.
    pub truncated: bool,
    /// Its partitions in each topic; at most 20.
    pub partitions: [Vec<u32>; 2],
}

/// A key that has other bytes in each topic.
#[derive(Clone, Debug, Serialize)]
pub struct SpellingExample {
    /// Its bytes in each topic, in hexadecimal; the first 1,024 of them.
    pub key_hex: [String; 2],
    /// Its partitions in each topic; at most 20.
    pub partitions: [Vec<u32>; 2],
}

/// What a stream processor would do.
#[derive(Clone, Debug, Serialize)]
pub struct Consequence {
    /// Which.
    pub system: &'static str,
    /// What it would do, in a sentence.
    pub effect: String,
}

/// How many of a topic's keys look like this.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct KindShare {
    /// The kind.
    pub kind: KeyKind,
    /// The share of the distinct keys that were looked at.
    pub share: f64,
}
