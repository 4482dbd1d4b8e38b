use serde::Serialize;

pub use super::expect::{Basis, Expected};
use crate::census::report::{Distinct, Heavy, Place, Records, Verdict};
use crate::verify::{ClientSummary, InputSummary, UnpinnedPolicy};

/// What moves when a partition count or an algorithm changes.
///
/// Serialised, it is the JSON output of `copart movement`; [`MovementReport::SCHEMA`] is its
/// version.
#[derive(Clone, Debug, Serialize)]
pub struct MovementReport {
    /// [`MovementReport::SCHEMA`].
    pub schema: &'static str,
    /// The answer.
    pub verdict: Verdict,
    /// The run was interrupted: the numbers hold for the beginning of the input.
    pub partial: bool,
    /// What keys count as that neither side pins.
    pub unpinned_policy: UnpinnedPolicy,
    /// The limit for the share of keys that move, in percent, if there is one.
    pub max_moved: Option<f64>,
    /// What was read, in rows.
    pub input: InputSummary,
    /// The records that the rows stand for.
    pub records: Records,
    /// The different keys among them.
    pub distinct: Distinct,
    /// Before.
    pub from: Side,
    /// After.
    pub to: Side,
    /// Distinct keys; the null key is none.
    pub moved_keys: Moved,
    /// Records.
    pub moved_records: Moved,
    /// The share of keys that should move.
    pub expected: Expected,
    /// What moves by one of the changes alone, where both the algorithm and the count change.
    pub alone: Option<Alone>,
    /// Where the empty and the null key go.
    pub keyless: Vec<Keyless>,
    /// From where to where: every pair of places with a key or a record.
    pub flows: Vec<Flow>,
    /// Each partition before, and what leaves it.
    pub leaving: Vec<Through>,
    /// Each partition after, and what comes to it.
    pub arriving: Vec<Through>,
    /// The keys of most records; each has its place before and after.
    pub heavy: Heavy,
    /// The first keys that move.
    pub examples: Vec<MovedKey>,
    /// What may make the answer worth less than it seems.
    pub warnings: Vec<String>,
}

impl MovementReport {
    /// The name and version of the serialised form. Members may be added in one version; none is
    /// removed or changes its meaning.
    pub const SCHEMA: &'static str = "copart.movement/1";

    /// What `copart movement` exits with.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        self.verdict.exit_code(self.partial)
    }
}

/// A client at a partition count.
#[derive(Clone, Debug, Serialize)]
pub struct Side {
    /// Who places the keys.
    pub client: ClientSummary,
    /// The partition count.
    pub partitions: u32,
}

/// How much moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Moved {
    /// On one partition before, and on the same after.
    pub stay: u64,
    /// Not so.
    #[serde(rename = "move")]
    pub moved: u64,
    /// Pinned to no partition, neither before nor after.
    pub unpinned: u64,
    /// What moves as a share of what stays or moves, from 0 to 1; null when there is neither.
    pub share: Option<f64>,
}

impl Moved {
    pub(super) fn new(stay: u64, moved: u64, unpinned: u64) -> Self {
        let all = stay.saturating_add(moved);
        Self {
            stay,
            moved,
            unpinned,
            share: (all > 0).then(|| moved as f64 / all as f64),
        }
    }
}

/// What one of two changes would move by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Alone {
    /// Distinct keys that the new algorithm moves at the old count.
    pub algorithm_keys: u64,
    /// Records that it moves.
    pub algorithm_records: u64,
    /// Distinct keys that the new count moves with the old algorithm.
    pub count_keys: u64,
    /// Records that it moves.
    pub count_records: u64,
}

/// Where empty or null keys go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Keyless {
    /// Which.
    pub kind: KeylessKind,
    /// How many records have it.
    pub records: u64,
    /// Where they go before.
    pub from: Place,
    /// And after.
    pub to: Place,
}

/// The keys that have no bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeylessKind {
    /// The key of zero bytes.
    Empty,
    /// No key at all.
    Null,
}

impl KeylessKind {
    /// The word for it in every output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Null => "null",
        }
    }
}

/// What goes from one place to another, or stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Flow {
    /// Where it is before.
    pub from: Place,
    /// Where it is after.
    pub to: Place,
    /// Distinct keys.
    pub keys: u64,
    /// Records.
    pub records: u64,
}

/// What a partition has in all, and what of it moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Through {
    /// The partition.
    pub partition: u32,
    /// Its distinct keys.
    pub keys: u64,
    /// Those of them that move.
    pub moved_keys: u64,
    /// Its records.
    pub records: u64,
    /// Those of them that move.
    pub moved_records: u64,
}

/// A key that moves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MovedKey {
    /// The position of its first row in the input, from 1.
    pub record: u64,
    /// Its bytes in hexadecimal; the first 1,024 of them.
    pub key_hex: String,
    /// Whether the key has more bytes than shown.
    pub truncated: bool,
    /// Where it is before.
    pub from: Place,
    /// Where it is after.
    pub to: Place,
}
