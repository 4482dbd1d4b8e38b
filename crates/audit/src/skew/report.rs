use serde::Serialize;

use crate::census::report::{Distinct, Heavy, Records, Verdict};
pub use crate::stats::{ChiSquare, LEAST_EXPECTED, Spread};
use crate::verify::{ClientSummary, InputSummary};

/// How evenly keys and records are spread.
///
/// Serialised, it is the JSON output of `copart skew`; [`SkewReport::SCHEMA`] is its version.
#[derive(Clone, Debug, Serialize)]
pub struct SkewReport {
    /// [`SkewReport::SCHEMA`].
    pub schema: &'static str,
    /// The answer.
    pub verdict: Verdict,
    /// The run was interrupted: the numbers hold for the beginning of the input.
    pub partial: bool,
    /// The limit for the busiest partition's records over the mean, if there is one.
    pub max_skew: Option<f64>,
    /// What was read, in rows.
    pub input: InputSummary,
    /// The records that the rows stand for.
    pub records: Records,
    /// The different keys among them.
    pub distinct: Distinct,
    /// Who places them.
    pub client: ClientSummary,
    /// The measures at each partition count.
    pub counts: Vec<CountReport>,
    /// The keys of most records; each has a place for each count.
    pub heavy: Heavy,
    /// All records over those of the heaviest key: no number of partitions lets more consumers
    /// share the work evenly. Null when no key stands out.
    pub hot_key_parallelism: Option<f64>,
    /// What may make the answer worth less than it seems.
    pub warnings: Vec<String>,
}

impl SkewReport {
    /// The name and version of the serialised form. Members may be added in one version; none is
    /// removed or changes its meaning.
    pub const SCHEMA: &'static str = "copart.skew/1";

    /// What `copart skew` exits with.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        self.verdict.exit_code(self.partial)
    }
}

/// The measures at one partition count.
#[derive(Clone, Debug, Serialize)]
pub struct CountReport {
    /// The partition count.
    pub partitions: u32,
    /// The answer at this count.
    pub verdict: Verdict,
    /// Records on partitions. Those that the client does not pin are not among them.
    pub records: Spread,
    /// Pearson's test of the records: small when hot keys or few keys make them uneven. Null when
    /// there are too few.
    pub records_test: Option<ChiSquare>,
    /// Distinct keys on partitions, each once.
    pub keys: Spread,
    /// Pearson's test of the distinct keys: small when the hash does not spread them as random
    /// placement would. Null when there are too few.
    pub keys_test: Option<ChiSquare>,
    /// Records of keys that the client does not pin, or refuses.
    pub unpinned_records: u64,
    /// All pinned records over those of the busiest partition: so many consumers' work can be
    /// done at a time when the busiest one never idles.
    pub parallelism: f64,
    /// Each partition.
    pub loads: Vec<Load>,
}

/// What is on one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Load {
    /// The partition.
    pub partition: u32,
    /// Its records.
    pub records: u64,
    /// Its distinct keys.
    pub keys: u64,
}

impl CountReport {
    /// The p-value below which the distinct keys are said to be uneven. So small, because many
    /// topics are looked at, and with many keys a difference that nobody feels is significant.
    pub const SIGNIFICANT: f64 = 1e-3;

    /// Whether the hash spreads the distinct keys worse than chance would.
    #[must_use]
    pub fn keys_are_uneven(&self) -> Option<bool> {
        self.keys_test.map(|test| test.p_value < Self::SIGNIFICANT)
    }
}
