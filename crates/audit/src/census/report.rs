//! What the reports of commands that weigh keys have in common.

use data_encoding::HEXLOWER;
use serde::{Serialize, Serializer};

use super::{Counted, Kinds};
use crate::input::Source;
use crate::pipeline::Ended;
use crate::plan::{REJECTED, UNPINNED};
use crate::verify::{InputSummary, VerifyReport};

/// The answer of a command that measures: with a limit it is a gate, without one it just answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It was measured, and nothing was asked of it.
    Measured,
    /// It is within the limit.
    WithinLimit,
    /// It is above the limit.
    OverLimit,
    /// There was nothing to measure.
    Inconclusive,
}

impl Verdict {
    /// Whether an amount is within a limit, if there is one.
    pub(crate) fn within(amount: f64, limit: Option<f64>) -> Self {
        match limit {
            None => Self::Measured,
            Some(limit) if amount > limit => Self::OverLimit,
            Some(_) => Self::WithinLimit,
        }
    }

    /// The word for it in every output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::WithinLimit => "within limit",
            Self::OverLimit => "over limit",
            Self::Inconclusive => "inconclusive",
        }
    }

    /// What the command exits with.
    #[must_use]
    pub const fn exit_code(self, partial: bool) -> u8 {
        match self {
            _ if partial => VerifyReport::INTERRUPTED,
            Self::Measured | Self::WithinLimit => 0,
            Self::OverLimit => 1,
            Self::Inconclusive => 4,
        }
    }
}

/// Records by the kind of their key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Records {
    /// All of them.
    pub total: u64,
    /// With a key of at least one byte.
    pub keyed: u64,
    /// With an empty key.
    pub empty: u64,
    /// Without a key.
    pub null: u64,
}

impl From<Kinds> for Records {
    fn from(kinds: Kinds) -> Self {
        Self {
            total: kinds.total(),
            keyed: kinds.keyed,
            empty: kinds.empty,
            null: kinds.null,
        }
    }
}

/// How many different keys there are, and how that is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Distinct {
    /// The distinct keys; the empty key is one of them, the null key none.
    pub keys: u64,
    /// Whether they were counted. If not, numbers of keys are estimates from a sample.
    pub exact: bool,
    /// How many keys were counted one by one.
    pub counted: u64,
    /// The standard error of `keys` as a share of it; 0 when it is exact.
    pub standard_error: f64,
}

impl Distinct {
    pub(crate) fn of(counted: &Counted) -> Self {
        let empty = u64::from(counted.rows.empty > 0);
        Self {
            keys: counted.distinct(),
            exact: counted.sample.is_exact(),
            counted: counted.sample.len() + empty,
            standard_error: counted.sample.standard_error(),
        }
    }

    /// What to say when numbers of keys are estimates.
    pub(crate) fn warning(&self) -> Option<String> {
        (!self.exact).then(|| {
            format!(
                "numbers of distinct keys are estimates from a uniform sample of {} keys (standard error {:.2} % of the total); records are counted exactly. --exact-keys raises the bound",
                crate::text::number(self.counted),
                100.0 * self.standard_error
            )
        })
    }
}

/// Where all records of a key go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// To this partition.
    Partition(u32),
    /// To no fixed one: random, sticky or round-robin.
    Unpinned,
    /// Nowhere, since the client raises.
    Rejected,
}

impl Place {
    pub(crate) const fn of(code: u32) -> Self {
        match code {
            UNPINNED => Self::Unpinned,
            REJECTED => Self::Rejected,
            partition => Self::Partition(partition),
        }
    }

    /// The partition, if there is one.
    #[must_use]
    pub const fn partition(self) -> Option<u32> {
        match self {
            Self::Partition(partition) => Some(partition),
            Self::Unpinned | Self::Rejected => None,
        }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Partition(partition) => partition.fmt(f),
            Self::Unpinned => f.pad("unpinned"),
            Self::Rejected => f.pad("rejected"),
        }
    }
}

/// A partition is a number; `"unpinned"` and `"rejected"` are strings.
impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Partition(partition) => serializer.serialize_u32(*partition),
            Self::Unpinned => serializer.serialize_str("unpinned"),
            Self::Rejected => serializer.serialize_str("rejected"),
        }
    }
}

/// A key of many records.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeavyKey {
    /// Its bytes in hexadecimal; the first 1,024 of them.
    pub key_hex: String,
    /// Whether the key has more bytes than shown.
    pub truncated: bool,
    /// It has at least so many records.
    pub records_at_least: u64,
    /// And at most so many; the same number when it is known.
    pub records_at_most: u64,
    /// `records_at_least` as a share of all records.
    pub share: f64,
    /// Where it goes: one place for each client and count of the report, in its order.
    pub places: Vec<Place>,
}

/// The keys of most records.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Heavy {
    /// Those that have more records than any key that is not listed could have, the heaviest
    /// first; the empty key may be one.
    pub keys: Vec<HeavyKey>,
    /// No key that is not listed has more records than this.
    pub others_at_most: u64,
}

impl Heavy {
    /// The first `show` of them, with the places of the first `columns` columns.
    pub(crate) fn of(counted: &Counted, show: usize, columns: usize) -> Self {
        let records = counted.records.total().max(1) as f64;
        let heavy = |key: &[u8], len, placed: &[u32], at_least, at_most| HeavyKey {
            key_hex: HEXLOWER.encode(key),
            truncated: len > key.len(),
            records_at_least: at_least,
            records_at_most: at_most,
            share: at_least as f64 / records,
            places: placed
                .iter()
                .take(columns)
                .map(|&code| Place::of(code))
                .collect(),
        };
        let (found, mut others) = counted.heavy.keys(&counted.sample);
        let mut keys: Vec<_> = found
            .iter()
            .map(|k| heavy(&k.key, k.len, &k.placed, k.at_least, k.at_most))
            .collect();
        let empty = counted.records.empty;
        if empty > others {
            let at = keys.partition_point(|key| key.records_at_least >= empty);
            keys.insert(at, heavy(&[], 0, &counted.empty_placed, empty, empty));
        }
        let hidden = keys.split_off(keys.len().min(show));
        others = hidden
            .iter()
            .map(|key| key.records_at_most)
            .fold(others, u64::max);
        // Of keys with no more records than one that is not listed, none stands out.
        keys.retain(|key| key.records_at_least > others);
        Self {
            keys,
            others_at_most: others,
        }
    }
}

/// What was read, in rows of the input.
pub(crate) fn input(source: &Source, counted: &Counted) -> InputSummary {
    let Kinds { keyed, empty, null } = counted.rows;
    InputSummary {
        name: source.name().to_owned(),
        path: source.path().map(Into::into),
        records_are_lines: source.records_are_lines(),
        keys: keyed + empty + null,
        keyed,
        empty,
        null,
    }
}

/// What makes the answer worth less, whatever the command.
pub(crate) fn warnings(counted: &Counted, clients: &[crate::Client]) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut named: Vec<&str> = Vec::new();
    for client in clients {
        if let Some(why) = client
            .unverified()
            .filter(|_| !named.contains(&client.name()))
        {
            named.push(client.name());
            warnings.push(format!(
                "{}: its placements have not been checked against the real client ({why})",
                client.name()
            ));
        }
    }
    warnings.extend(Distinct::of(counted).warning());
    if counted.carriage_returns > 0 {
        warnings.push(format!(
            "{} keys end in a carriage return (\\r), which is hashed too: if the file has Windows line ends, convert it first",
            counted.carriage_returns
        ));
    }
    if counted.ended == Ended::Interrupted {
        warnings.push("interrupted before the end of the input".into());
    }
    warnings
}
