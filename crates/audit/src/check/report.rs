use std::path::PathBuf;

use serde::Serialize;

use crate::verify::VerifyReport;

/// Does a repository keep its partition contract?
///
/// Serialised, it is the JSON output of `copart check`; [`CheckReport::SCHEMA`] is its version.
#[derive(Clone, Debug, Serialize)]
pub struct CheckReport {
    /// [`CheckReport::SCHEMA`].
    pub schema: &'static str,
    /// The answer.
    pub verdict: CheckVerdict,
    /// The run was interrupted: not all was checked.
    pub partial: bool,
    /// The contract's file, as it was named.
    pub contract: String,
    /// The topics, in the contract's order.
    pub topics: Vec<TopicReport>,
    /// Everything that is not as it should be, and what is worth knowing.
    pub findings: Vec<Finding>,
    /// What may make the answer worth less than it seems.
    pub warnings: Vec<String>,
}

impl CheckReport {
    /// The name and version of the serialised form. Members may be added in one version; none is
    /// removed or changes its meaning.
    pub const SCHEMA: &'static str = "copart.check/1";

    /// What `copart check` exits with.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        if self.partial {
            return VerifyReport::INTERRUPTED;
        }
        self.verdict.exit_code()
    }
}

/// The kinds of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckVerdict {
    /// Everything is as the contract says.
    Kept,
    /// Something is not.
    Broken,
    /// The contract makes no sense.
    Invalid,
    /// A file that it names can't be read.
    Unreadable,
    /// Nothing speaks against it, and something could not be told.
    Inconclusive,
    /// The cluster could not be asked.
    Unreached,
}

impl CheckVerdict {
    /// The word for it in every output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Broken => "broken",
            Self::Invalid => "invalid",
            Self::Unreadable => "unreadable",
            Self::Inconclusive => "inconclusive",
            Self::Unreached => "unreached",
        }
    }

    /// What `copart check` exits with.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Kept => 0,
            Self::Broken => 1,
            Self::Invalid => 2,
            Self::Unreadable => 3,
            Self::Inconclusive => 4,
            Self::Unreached => 5,
        }
    }
}

/// A topic of the contract.
#[derive(Clone, Debug, Serialize)]
pub struct TopicReport {
    /// Its name.
    pub name: String,
    /// Its partition count, as the contract has it.
    pub partitions: u32,
    /// The rule that its keys are placed by, as the contract names it.
    pub profile: Option<String>,
    /// Sample keys.
    pub keys: u64,
    /// Those whose partition the contract names.
    pub expected: u64,
    /// Its producers.
    pub producers: Vec<ProducerReport>,
    /// The topic in the cluster, if it was asked.
    pub cluster: Option<ClusterReport>,
    /// Records that were looked at.
    pub records: Vec<RecordsReport>,
}

/// A producer of a topic.
#[derive(Clone, Debug, Serialize)]
pub struct ProducerReport {
    /// Its name.
    pub name: String,
    /// The file that says what it does: a lock file, or the contract.
    pub file: String,
    /// The line there.
    pub line: Option<u64>,
    /// The client and its release, if they come from a lock file.
    pub release: Option<String>,
    /// The profile that it was found to have.
    pub profile: Option<String>,
    /// What it does.
    pub rule: Option<String>,
    /// What the answer rests on besides.
    pub note: Option<String>,
    /// How it did.
    pub outcome: Outcome,
    /// Sample keys that it puts where they belong.
    pub kept: u64,
    /// Sample keys that it puts elsewhere.
    pub moved: u64,
    /// Sample keys that are to be on no partition in particular, and are not.
    pub unpinned: u64,
    /// Those that it puts elsewhere; the first hundred.
    pub moves: Vec<MovedKey>,
}

/// A key that goes elsewhere than the contract says.
#[derive(Clone, Debug, Serialize)]
pub struct MovedKey {
    /// Its bytes in hexadecimal; the first 1,024 of them. Null for the null key.
    pub key_hex: Option<String>,
    /// Where it belongs; null for no partition in particular.
    pub belongs: Option<u32>,
    /// Where it goes; null for no partition in particular.
    pub goes: Option<u32>,
    /// The file that has the key.
    pub file: String,
    /// The line there.
    pub line: u64,
}

/// A topic in the cluster.
#[derive(Clone, Debug, Serialize)]
pub struct ClusterReport {
    /// Where the cluster is.
    pub bootstrap: String,
    /// How it did.
    pub outcome: Outcome,
    /// The partition count there, if the topic is.
    pub partitions: Option<u32>,
}

/// Records that were looked at.
#[derive(Clone, Debug, Serialize)]
pub struct RecordsReport {
    /// The file, or the topic.
    pub name: String,
    /// Records that were read.
    pub records: u64,
    /// Distinct keys among them.
    pub keys: u64,
    /// The profile that they are expected to be placed by.
    pub profile: String,
    /// How they did.
    pub outcome: Outcome,
    /// Why, in a sentence.
    pub why: String,
}

/// How a part of the contract did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// As the contract says.
    Kept,
    /// Not as the contract says.
    Broken,
    /// It can't be told.
    Unknown,
}

impl Outcome {
    /// The word for it in every output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Broken => "broken",
            Self::Unknown => "unknown",
        }
    }
}

/// Something that is not as it should be, or worth knowing.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// What kind of thing it is.
    pub rule: CheckRule,
    /// Whether it decides the exit code.
    pub decides: bool,
    /// The topic, if it is about one.
    pub topic: Option<String>,
    /// The producer, if it is about one.
    pub producer: Option<String>,
    /// What is the matter.
    pub message: String,
    /// The file that shows it, as it is named in reports.
    pub file: String,
    /// The same for programs.
    #[serde(skip)]
    pub path: PathBuf,
    /// The line there.
    pub line: Option<u64>,
}

/// The kinds of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckRule {
    /// The contract makes no sense.
    InvalidContract,
    /// A file that the contract names can't be read.
    UnreadableFile,
    /// A lock file does not have the client.
    ClientNotLocked,
    /// Which profile a release has can't be told.
    UnknownRelease,
    /// A producer places keys by another rule than the contract's.
    ProfileChanged,
    /// A producer puts keys elsewhere than the contract says.
    KeysElsewhere,
    /// A producer has another rule, which places these keys alike.
    OtherRule,
    /// The contract's profile puts a sample key elsewhere than the contract says.
    ContractContradicts,
    /// There are no sample keys that could tell.
    NoEvidence,
    /// The cluster has no such topic.
    TopicMissing,
    /// The cluster's topic has another partition count.
    PartitionCount,
    /// The cluster can't be reached, or refuses access.
    ClusterUnreached,
    /// Records are not where the profile puts them.
    RecordsElsewhere,
    /// Records can't tell which profile placed them.
    RecordsInconclusive,
    /// The run was interrupted.
    Interrupted,
}

impl CheckRule {
    /// Every rule.
    pub const ALL: &[Self] = &[
        Self::InvalidContract,
        Self::UnreadableFile,
        Self::ClientNotLocked,
        Self::UnknownRelease,
        Self::ProfileChanged,
        Self::KeysElsewhere,
        Self::OtherRule,
        Self::ContractContradicts,
        Self::NoEvidence,
        Self::TopicMissing,
        Self::PartitionCount,
        Self::ClusterUnreached,
        Self::RecordsElsewhere,
        Self::RecordsInconclusive,
        Self::Interrupted,
    ];

    /// A stable name.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::InvalidContract => "invalid-contract",
            Self::UnreadableFile => "unreadable-file",
            Self::ClientNotLocked => "client-not-locked",
            Self::UnknownRelease => "unknown-release",
            Self::ProfileChanged => "profile-changed",
            Self::KeysElsewhere => "keys-elsewhere",
            Self::OtherRule => "other-rule",
            Self::ContractContradicts => "contract-contradicts",
            Self::NoEvidence => "no-evidence",
            Self::TopicMissing => "topic-missing",
            Self::PartitionCount => "partition-count",
            Self::ClusterUnreached => "cluster-unreached",
            Self::RecordsElsewhere => "records-elsewhere",
            Self::RecordsInconclusive => "records-inconclusive",
            Self::Interrupted => "interrupted",
        }
    }

    /// What it is, as a sentence without its full stop.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::InvalidContract => "the contract makes no sense",
            Self::UnreadableFile => "a file that the contract names can't be read",
            Self::ClientNotLocked => "the lock file does not have the client",
            Self::UnknownRelease => "what a release does with keys can't be told",
            Self::ProfileChanged => "a producer places keys by another rule than the contract's",
            Self::KeysElsewhere => "a producer puts keys elsewhere than the contract says",
            Self::OtherRule => "a producer has another rule, which places these keys alike",
            Self::ContractContradicts => {
                "the contract's profile puts a key elsewhere than the contract says"
            }
            Self::NoEvidence => "no sample key could tell",
            Self::TopicMissing => "the cluster does not have the topic",
            Self::PartitionCount => "the cluster's topic has another partition count",
            Self::ClusterUnreached => "the cluster can't be asked",
            Self::RecordsElsewhere => "records are not where the contract says",
            Self::RecordsInconclusive => "records can't tell who placed them",
            Self::Interrupted => "not everything was checked",
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn help(self) -> &'static str {
        match self {
            Self::InvalidContract => {
                "Correct the contract; `copart check --help` names the page that describes it."
            }
            Self::UnreadableFile => "Paths are relative to the contract's folder.",
            Self::ClientNotLocked => {
                "Name the lock file that has it, or the package with `package`."
            }
            Self::UnknownRelease => {
                "Pin a release that the catalogue knows (`copart clients`), or state `profile` in place of `client` and `lock`."
            }
            Self::ProfileChanged => {
                "Configure the partitioner that the contract has, or move the topic on purpose: finish the old records, then change the contract."
            }
            Self::KeysElsewhere => {
                "Configure the partitioner that puts them there (`copart config`), or change the contract on purpose."
            }
            Self::OtherRule => {
                "Other keys or another partition count would tell the two apart: configure the contract's partitioner."
            }
            Self::ContractContradicts => {
                "Correct the profile, the partition or the partition count: all three can't hold."
            }
            Self::NoEvidence => {
                "Add sample keys to the contract as they are in production; `copart check --init` takes them from a topic."
            }
            Self::TopicMissing => "Correct the name, or create the topic.",
            Self::PartitionCount => {
                "Keys are placed by the cluster's count: change the contract and its keys, or the topic."
            }
            Self::ClusterUnreached => {
                "Correct `bootstrap`, or leave the cluster out with --offline."
            }
            Self::RecordsElsewhere => "`copart infer` says who wrote them.",
            Self::RecordsInconclusive => "Give more records with distinct keys.",
            Self::Interrupted => "Run the command again and let it finish.",
        }
    }

    /// The verdict that such a finding comes to, if it decides.
    pub(crate) const fn verdict(self) -> CheckVerdict {
        match self {
            Self::InvalidContract => CheckVerdict::Invalid,
            Self::UnreadableFile => CheckVerdict::Unreadable,
            Self::ClusterUnreached => CheckVerdict::Unreached,
            Self::UnknownRelease
            | Self::NoEvidence
            | Self::RecordsInconclusive
            | Self::Interrupted => CheckVerdict::Inconclusive,
            _ => CheckVerdict::Broken,
        }
    }
}
