use std::path::PathBuf;

use serde::Serialize;

use super::UnpinnedPolicy;
use crate::settings::Setting;

/// Do these clients agree on these keys?
///
/// Serialised, it is the JSON output of `copart verify`; [`VerifyReport::SCHEMA`] is its version.
#[derive(Clone, Debug, Serialize)]
pub struct VerifyReport {
    /// [`VerifyReport::SCHEMA`].
    pub schema: &'static str,
    /// The answer.
    pub verdict: Verdict,
    /// The run was interrupted: the counts hold for the beginning of the input.
    pub partial: bool,
    /// What keys count as that no client pins.
    pub unpinned_policy: UnpinnedPolicy,
    /// What was read.
    pub input: InputSummary,
    /// Who was compared, in the order given. The first is the reference.
    pub clients: Vec<ClientSummary>,
    /// The answer for each partition count that was asked for.
    pub counts: Vec<CountReport>,
    /// Other counts, tried to see whether the answer depends on the count.
    pub probes: ProbeReport,
    /// Why clients differ from the reference, and what to do about it.
    pub findings: Vec<Finding>,
    /// What may make the answer worth less than it seems.
    pub warnings: Vec<String>,
}

impl VerifyReport {
    /// The name and version of the serialised form. Members may be added in one version; none is
    /// removed or changes its meaning.
    pub const SCHEMA: &'static str = "copart.verify/1";

    /// What `copart` exits with when it was interrupted: as a shell reports SIGINT.
    pub const INTERRUPTED: u8 = 130;

    /// What `copart verify` exits with.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        if self.partial {
            Self::INTERRUPTED
        } else {
            self.verdict.exit_code()
        }
    }
}

/// The answer, for one count or in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every key that some client pins is pinned to the same partition by all.
    Agree,
    /// Some key is not.
    Disagree,
    /// There was no key on which clients could agree or disagree.
    Inconclusive,
}

impl Verdict {
    /// The word for it in every output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agree => "agree",
            Self::Disagree => "disagree",
            Self::Inconclusive => "inconclusive",
        }
    }

    /// What `copart verify` exits with after reading the whole input.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Agree => 0,
            Self::Disagree => 1,
            Self::Inconclusive => 4,
        }
    }
}

/// The keys of the input by kind.
#[derive(Clone, Debug, Serialize)]
pub struct InputSummary {
    /// The file's name.
    pub name: String,
    /// The file; standard input has none.
    #[serde(skip)]
    pub path: Option<PathBuf>,
    /// Whether record 7 is line 7 of the file.
    pub records_are_lines: bool,
    /// All of them.
    pub keys: u64,
    /// Those of at least one byte.
    pub keyed: u64,
    /// Those of zero bytes.
    pub empty: u64,
    /// Null keys.
    pub null: u64,
}

/// A client that was compared.
#[derive(Clone, Debug, Serialize)]
pub struct ClientSummary {
    /// As the user typed it.
    pub name: String,
    /// The catalogue's id; a user-defined profile has none.
    pub id: Option<&'static str>,
    /// What it does with a key that has bytes.
    pub rule: String,
    /// Whether it pins such keys; if not, it spreads their records.
    pub pins_keys: bool,
    /// What it does with an empty key.
    pub empty: String,
    /// What it does with a null key.
    pub null: String,
    /// Why its placements are unproven, if they are.
    pub unverified: Option<&'static str>,
}

/// How many keys of one kind agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Agreement {
    /// Pinned to one partition by all clients.
    pub agree: u64,
    /// Not so.
    pub disagree: u64,
    /// Pinned by no client (or refused by all).
    pub unpinned: u64,
}

/// The answer for one partition count.
#[derive(Clone, Debug, Serialize)]
pub struct CountReport {
    /// The partition count.
    pub partitions: u32,
    /// The answer at this count.
    pub verdict: Verdict,
    /// Keys of at least one byte.
    pub keyed: Agreement,
    /// Empty keys.
    pub empty: KeylessReport,
    /// Null keys.
    pub null: KeylessReport,
    /// Clients that placed every keyed key alike, together; by name.
    pub groups: Vec<Vec<String>>,
    /// How every two groups compare on keyed keys.
    pub pairs: Vec<Pair>,
    /// The first keyed keys on which clients differ.
    pub mismatches: Vec<Mismatch>,
}

/// Empty or null keys at one count: where each client puts all of them.
#[derive(Clone, Debug, Serialize)]
pub struct KeylessReport {
    /// How they compare.
    #[serde(flatten)]
    pub agreement: Agreement,
    /// Each client's placement.
    pub placements: Vec<ClientPlacement>,
}

/// Two groups of clients compared on keyed keys.
#[derive(Clone, Debug, Serialize)]
pub struct Pair {
    /// Index of a group.
    pub a: usize,
    /// Index of another.
    pub b: usize,
    /// Keys placed alike (both unpinned counts).
    pub same: u64,
    /// Keys placed differently.
    pub different: u64,
}

/// A key on which clients differ.
#[derive(Clone, Debug, Serialize)]
pub struct Mismatch {
    /// Its position in the input, from 1.
    pub record: u64,
    /// Its bytes in hexadecimal; the first 1,024 of them.
    pub key_hex: String,
    /// Whether the key has more bytes than shown.
    pub truncated: bool,
    /// Each client's placement.
    pub placements: Vec<ClientPlacement>,
}

/// Where one client puts a key.
#[derive(Clone, Debug, Serialize)]
pub struct ClientPlacement {
    /// The client's name.
    pub client: String,
    /// Its hash of the key, if it hashes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// The partition; null when there is no fixed one.
    pub partition: Option<i32>,
    /// `pinned`, `unpinned` or `rejected`.
    pub outcome: Outcome,
}

/// The kind of a placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A fixed partition.
    Pinned,
    /// Random, sticky or round-robin.
    Unpinned,
    /// The client raises.
    Rejected,
}

impl Outcome {
    /// The word for it in every output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pinned => "pinned",
            Self::Unpinned => "unpinned",
            Self::Rejected => "rejected",
        }
    }
}

/// The probed counts.
#[derive(Clone, Debug, Serialize)]
pub struct ProbeReport {
    /// Keyed keys that were probed: all of a small input, a sample of a large one.
    pub keys: u64,
    /// Each count.
    pub counts: Vec<Probe>,
}

/// One probed count.
#[derive(Clone, Debug, Serialize)]
pub struct Probe {
    /// The partition count.
    pub partitions: u32,
    /// The probed keys.
    pub keyed: Agreement,
}

/// Why some clients differ from the reference, or only seem to agree with it.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The kind of difference.
    pub reason: Reason,
    /// The clients that differ from the reference.
    pub clients: Vec<String>,
    /// The reference.
    pub reference: String,
    /// Whether keys of this input are placed differently because of it; if not, it shows at other
    /// counts only.
    pub affects_verdict: bool,
    /// The difference in a sentence.
    pub message: String,
    /// What makes the clients place keys as the reference does, for each client library.
    pub fixes: Vec<Fix>,
}

/// How to make a client place keys as the reference does.
#[derive(Clone, Debug, Serialize)]
pub struct Fix {
    /// The client library to change.
    pub client: String,
    /// Whose placement it then has.
    pub as_client: String,
    /// The setting, if there is one.
    pub setting: Option<Setting>,
    /// What to do where there is none.
    pub by_hand: Option<String>,
}

/// Why two clients place a key differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// One ignores keys.
    KeyIgnored,
    /// Different hash functions.
    OtherHash,
    /// The same hash with C's signed `char` in its tail.
    SignedTail,
    /// The same hash in floating-point arithmetic.
    FloatArithmetic,
    /// The same hash, with the sign bit treated differently.
    SignHandling,
    /// The same hash over fewer bytes of a multi-byte key.
    MultiByteView,
    /// A different rule for the empty key.
    EmptyKeyRule,
    /// A different rule for the null key.
    NullKeyRule,
}

impl Reason {
    /// A stable name for rules in machine-readable reports.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::KeyIgnored => "key-ignored",
            Self::OtherHash => "other-hash",
            Self::SignedTail => "signed-tail",
            Self::FloatArithmetic => "float-arithmetic",
            Self::SignHandling => "sign-handling",
            Self::MultiByteView => "multi-byte-view",
            Self::EmptyKeyRule => "empty-key-rule",
            Self::NullKeyRule => "null-key-rule",
        }
    }

    /// Whether it is a rule for empty or null keys, so that no other keys differ because of it.
    #[must_use]
    pub const fn is_keyless(self) -> bool {
        matches!(self, Self::EmptyKeyRule | Self::NullKeyRule)
    }

    /// Every reason.
    pub const ALL: &[Self] = &[
        Self::KeyIgnored,
        Self::OtherHash,
        Self::SignedTail,
        Self::FloatArithmetic,
        Self::SignHandling,
        Self::MultiByteView,
        Self::EmptyKeyRule,
        Self::NullKeyRule,
    ];

    /// What the reason means, for a rule's description.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::KeyIgnored => "one client ignores keys and spreads its records",
            Self::OtherHash => "the clients hash keys with different functions",
            Self::SignedTail => "one client's murmur2 sign-extends the last bytes of a key",
            Self::FloatArithmetic => "one client computes murmur2 in floating point",
            Self::SignHandling => {
                "the same hash is turned into a partition with different sign rules"
            }
            Self::MultiByteView => "one client hashes only part of a multi-byte key",
            Self::EmptyKeyRule => "the clients treat the empty key differently",
            Self::NullKeyRule => "the clients treat the null key differently",
        }
    }
}
