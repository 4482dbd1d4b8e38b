//! How a topic is written whose keys have nothing to do with its partitions.

use serde::Serialize;

use super::sample::Sample;
use super::stats::{FAMILY_ERROR, ln_chance};

/// How records are spread over partitions.
#[derive(Clone, Debug, Serialize)]
pub struct Spread {
    /// What it looks like.
    pub kind: SpreadKind,
    /// Why, in a sentence.
    pub why: String,
    /// Distinct keys with more than one record.
    pub repeated_keys: u64,
    /// Of those, keys whose records are all on one partition.
    pub on_one_partition: u64,
}

/// Ways to spread records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SpreadKind {
    /// All on one partition.
    Constant,
    /// More evenly than chance would have it.
    RoundRobin,
    /// The same partition for a while, then another.
    Sticky,
    /// As by chance.
    Random,
}

impl SpreadKind {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::RoundRobin => "round-robin",
            Self::Sticky => "sticky",
            Self::Random => "random",
        }
    }
}

/// What can be seen of `partitions` partitions.
pub(super) fn spread(sample: &Sample, partitions: u32) -> Spread {
    let (repeated_keys, on_one_partition) = repeated(sample);
    let (kind, why) = kind(sample, partitions);
    Spread {
        kind,
        why,
        repeated_keys,
        on_one_partition,
    }
}

/// Keys with several records, and those of them that are on one partition.
pub(super) fn repeated(sample: &Sample) -> (u64, u64) {
    let mut of_key = vec![(0u64, 0u32); sample.keys.len()];
    for place in &sample.places {
        let (records, places) = &mut of_key[place.key as usize];
        *records += place.records;
        *places += 1;
    }
    let repeated = of_key.iter().filter(|(records, _)| *records > 1);
    let together = repeated.clone().filter(|(_, places)| *places == 1);
    (repeated.count() as u64, together.count() as u64)
}

/// Whether keys that have several records keep to one partition more than chance explains.
pub(super) fn keys_keep_their_partition(sample: &Sample, overall: &[f64]) -> bool {
    let mut of_key = vec![0u64; sample.keys.len()];
    let mut places = vec![0u32; sample.keys.len()];
    for place in &sample.places {
        of_key[place.key as usize] += place.records;
        places[place.key as usize] += 1;
    }
    // The second record of a key: is it where the first one is?
    let (mut keys, mut kept) = (0u64, 0u64);
    for (&records, &places) in of_key.iter().zip(&places) {
        if records > 1 {
            keys += 1;
            kept += u64::from(places == 1);
        }
    }
    let q: f64 = overall.iter().map(|share| share * share).sum();
    kept * 20 >= keys * 19 && ln_chance(keys, q, kept) <= FAMILY_ERROR.ln()
}

fn kind(sample: &Sample, partitions: u32) -> (SpreadKind, String) {
    if sample.by_partition.len() == 1 && partitions > 1 {
        let partition = sample.by_partition.keys().next().copied().unwrap_or(0);
        return (
            SpreadKind::Constant,
            format!("all records are on partition {partition}"),
        );
    }
    if let Some((pairs, same, expected)) = in_time(sample) {
        if same > expected
            && ln_chance(pairs, expected, (same * pairs as f64) as u64) <= FAMILY_ERROR.ln()
        {
            return (
                SpreadKind::Sticky,
                format!(
                    "{:.0} % of records are on the partition of the one before them in time, where chance gives {:.0} %",
                    100.0 * same,
                    100.0 * expected
                ),
            );
        }
        let different = ((1.0 - same) * pairs as f64) as u64;
        if ln_chance(pairs, 1.0 - expected, different) <= FAMILY_ERROR.ln() {
            return (
                SpreadKind::RoundRobin,
                format!(
                    "{:.1} % of records are on the partition of the one before them in time, where chance gives {:.0} %",
                    100.0 * same,
                    100.0 * expected
                ),
            );
        }
    }
    let expected = sample.records as f64 / f64::from(partitions);
    let counts = (0..partitions).map(|p| sample.by_partition.get(&p).copied().unwrap_or(0) as f64);
    let chi_squared: f64 = counts
        .map(|count| (count - expected).powi(2) / expected)
        .sum();
    let degrees = f64::from(partitions - 1);
    // Chernoff's bound on the lower tail of the chi-squared distribution. Records are whole ones,
    // so that exactly equal shares are not rare when partitions are few: half the diagonal of a
    // cell of that lattice is added.
    let half_diagonal = 0.5 * (f64::from(partitions) / expected).sqrt();
    let ratio = (chi_squared.sqrt() + half_diagonal).powi(2) / degrees;
    let ln_tail = degrees / 2.0 * (ratio.ln() + 1.0 - ratio);
    if ratio < 1.0 && ln_tail <= FAMILY_ERROR.ln() && expected >= 5.0 {
        return (
            SpreadKind::RoundRobin,
            format!(
                "partitions have more equal shares than chance gives (chi-squared {chi_squared:.1} at {degrees} degrees of freedom)"
            ),
        );
    }
    (
        SpreadKind::Random,
        "no order in time and no evenness beyond chance is seen".into(),
    )
}

/// Of records that follow each other in time: how many pairs there are, the share on one
/// partition, and the share expected by chance.
fn in_time(sample: &Sample) -> Option<(u64, f64, f64)> {
    let mut records = sample.first.clone();
    records.sort_unstable();
    records.dedup();
    // Of records in one millisecond the order is not known: those on several partitions are left out.
    let mut groups: Vec<(i64, Option<u32>)> = Vec::new();
    for (timestamp, partition) in records {
        match groups.last_mut() {
            Some((last, of_group)) if *last == timestamp => *of_group = None,
            _ => groups.push((timestamp, Some(partition))),
        }
    }
    let partitions: Vec<u32> = groups
        .iter()
        .filter_map(|(_, partition)| *partition)
        .collect();
    if partitions.len() < 30 || partitions.len() * 2 < groups.len() {
        return None;
    }
    let pairs = partitions.len() as u64 - 1;
    let same = partitions
        .windows(2)
        .filter(|pair| pair[0] == pair[1])
        .count();
    let shares = super::score::shares(partitions.iter().copied());
    let expected: f64 = shares.iter().map(|share| share * share).sum();
    Some((pairs, same as f64 / pairs as f64, expected))
}

#[cfg(test)]
mod tests {
    use super::super::sample::Limits;
    use super::*;
    use crate::input::records::Record;

    /// The key and the partition of each of so many records, a millisecond apart or without time.
    fn kind_of(records: u32, timed: bool, at: impl Fn(u32) -> (u32, u32)) -> Spread {
        let mut sample = Sample::new(Limits::default());
        for i in 0..records {
            let (key, partition) = at(i);
            sample.add(&Record {
                partition,
                timestamp: timed.then(|| i64::from(i)),
                key: Some(format!("k{key}").as_bytes()),
                ..Record::default()
            });
        }
        spread(&sample, 12)
    }

    fn noise(i: u32) -> u32 {
        (i.wrapping_add(1).wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995).wrapping_mul(0x85eb_ca6b) >> 16
    }

    #[test]
    fn each_way_is_told() {
        for timed in [false, true] {
            let spread = kind_of(600, timed, |i| (noise(i) % 50, i % 12));
            assert_eq!(spread.kind, SpreadKind::RoundRobin, "{}", spread.why);
            let spread = kind_of(600, timed, |i| (i, 0));
            assert_eq!(spread.kind, SpreadKind::Constant);
            let spread = kind_of(600, timed, |i| (noise(i) % 50, noise(i + 7000) % 12));
            assert_eq!(spread.kind, SpreadKind::Random, "{}", spread.why);
            assert!(spread.repeated_keys >= 45 && spread.on_one_partition < 5);
        }
        let spread = kind_of(600, true, |i| (i, noise(i / 25) % 12));
        assert_eq!(spread.kind, SpreadKind::Sticky, "{}", spread.why);
    }
}
