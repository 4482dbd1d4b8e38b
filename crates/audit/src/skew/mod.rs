//! How evenly a client spreads keys and records over partitions, and which keys are hot.

mod report;

use copart_partitioners::PartitionCount;

pub use report::*;

use crate::census::report::{Distinct, Heavy, Verdict, input, warnings};
use crate::census::{Cells, Census, Column, Counted};
use crate::input::Source;
use crate::pipeline::{Ended, Run};
use crate::verify::summary;
use crate::{Client, Error};

/// The most partition counts in one run: each costs memory for each distinct key.
pub const MAX_COUNTS: usize = 8;

/// The most partitions that are told apart.
pub const MAX_PARTITIONS: u32 = 200_000;

/// What to measure.
#[derive(Clone, Debug)]
pub struct SkewOptions {
    /// Who places the keys.
    pub client: Client,
    /// The partition counts of the topics in question.
    pub counts: Vec<PartitionCount>,
    /// The busiest partition may have so many times the mean, in records.
    pub max_skew: Option<f64>,
    /// How many heavy keys to show.
    pub show: usize,
    /// How many distinct keys to count exactly; beyond them, a sample is taken.
    pub exact_keys: usize,
}

/// Reads all keys and measures how evenly they are spread.
///
/// # Errors
///
/// When there are no counts, or more or larger ones than can be told apart, or a record of the
/// input can't be read.
pub fn skew(source: &Source, options: &SkewOptions, run: &Run<'_>) -> Result<SkewReport, Error> {
    if options.counts.is_empty() {
        return Err(Error::usage("no partition count is given"));
    }
    if options.counts.len() > MAX_COUNTS {
        return Err(Error::usage(format!(
            "{} partition counts are more than the {MAX_COUNTS} that one run measures; measure them in several",
            options.counts.len()
        )));
    }
    if let Some(count) = options.counts.iter().find(|n| n.get() > MAX_PARTITIONS) {
        return Err(Error::usage(format!(
            "{count} partitions are more than the {MAX_PARTITIONS} that are told apart"
        )));
    }
    let clients = std::slice::from_ref(&options.client);
    let columns: Vec<_> = options
        .counts
        .iter()
        .map(|&count| Column { client: 0, count })
        .collect();
    let cells = ByPartition::new(&options.counts);
    let census = Census::new(clients, &columns, &cells, options.exact_keys);
    let counted = census.take(source, run)?;
    Ok(report(source, options, &cells, &counted))
}

/// For each count a cell for each of its partitions, and one for keys without a fixed one.
struct ByPartition {
    /// Where each count's cells begin, and its partitions.
    counts: Vec<(usize, u32)>,
    len: usize,
}

impl ByPartition {
    fn new(counts: &[PartitionCount]) -> Self {
        let mut len = 0;
        let counts = counts.iter().map(|count| {
            let begin = len;
            len += count.get() as usize + 1;
            (begin, count.get())
        });
        let counts = counts.collect();
        Self { counts, len }
    }

    /// The loads of a count's partitions, and what has no fixed one.
    fn of_count<'l>(&self, at: usize, loads: &'l [u64]) -> (&'l [u64], u64) {
        let (begin, count) = self.counts[at];
        let end = begin + count as usize;
        (&loads[begin..end], loads[end])
    }
}

impl Cells for ByPartition {
    fn len(&self) -> usize {
        self.len
    }

    fn of(&self, placed: &[u32], mut add: impl FnMut(usize)) {
        for (&code, &(begin, count)) in placed.iter().zip(&self.counts) {
            add(begin + code.min(count) as usize);
        }
    }

    fn is_example(&self, _: &[u32]) -> bool {
        false
    }
}

fn report(
    source: &Source,
    options: &SkewOptions,
    cells: &ByPartition,
    counted: &Counted,
) -> SkewReport {
    let keys = counted.keys(cells);
    let sampled = counted.sampled_keys(cells);
    let counts: Vec<_> = (0..options.counts.len())
        .map(|at| {
            let (records, unpinned) = cells.of_count(at, &counted.cells);
            count_report(
                options,
                records,
                cells.of_count(at, &keys).0,
                cells.of_count(at, &sampled).0,
                unpinned,
            )
        })
        .collect();
    let records = counted.records.into();
    let heavy = Heavy::of(counted, options.show, options.counts.len());
    SkewReport {
        schema: SkewReport::SCHEMA,
        verdict: overall(&counts),
        partial: counted.ended == Ended::Interrupted,
        max_skew: options.max_skew,
        input: input(source, counted),
        records,
        distinct: Distinct::of(counted),
        client: summary(&options.client),
        hot_key_parallelism: hot_key_parallelism(&heavy, counted.records.total()),
        heavy,
        counts,
        warnings: warnings(counted, std::slice::from_ref(&options.client)),
    }
}

/// The worst answer wins: above the limit, then nothing to measure.
fn overall(counts: &[CountReport]) -> Verdict {
    let worst = [
        Verdict::OverLimit,
        Verdict::Inconclusive,
        Verdict::WithinLimit,
    ];
    let any = |verdict| counts.iter().any(|count| count.verdict == verdict);
    let found = worst.into_iter().find(|&verdict| any(verdict));
    found.unwrap_or(Verdict::Measured)
}

fn count_report(
    options: &SkewOptions,
    records: &[u64],
    keys: &[u64],
    sampled: &[u64],
    unpinned_records: u64,
) -> CountReport {
    let spread = Spread::of(records);
    let verdict = if spread.total == 0 {
        Verdict::Inconclusive
    } else {
        Verdict::within(spread.max_over_mean, options.max_skew)
    };
    CountReport {
        partitions: records.len() as u32,
        verdict,
        unpinned_records,
        parallelism: if spread.max == 0 {
            0.0
        } else {
            spread.total as f64 / spread.max as f64
        },
        records: spread,
        records_test: ChiSquare::uniform(records),
        keys: Spread::of(keys),
        keys_test: ChiSquare::uniform(sampled),
        loads: records
            .iter()
            .zip(keys)
            .zip(0..)
            .map(|((&records, &keys), partition)| Load {
                partition,
                records,
                keys,
            })
            .collect(),
    }
}

/// How many partitions' worth of work there is at most beside the heaviest key.
fn hot_key_parallelism(heavy: &Heavy, records: u64) -> Option<f64> {
    let most = heavy.keys.first()?.records_at_least;
    (most > 0).then(|| records as f64 / most as f64)
}

#[cfg(test)]
mod tests;
