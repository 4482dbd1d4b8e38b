//! The keys of most records, in bounded memory.
//!
//! A summary counts [`COUNTERS`] keys. When there are more, the largest count that does not fit is
//! taken off every counter, and off what is known of all other keys as well: that sum is the
//! error. This is Misra and Gries' summary in the mergeable form of Agarwal et al. 2012
//! ("Mergeable summaries"), who show it equal to Metwally's Space-Saving up to the error's
//! side. Of `N` records no count is off by more than `N / (COUNTERS + 1)`; the error that is
//! reported is what was really taken off, which is less.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::{KEPT_BYTES, Sample};

/// Keys that a summary counts. Every key of more than a thousandth of the records is among them.
pub(crate) const COUNTERS: usize = 1024;

/// A key of a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Counter {
    hash: u64,
    /// All of it, or its beginning.
    key: Box<[u8]>,
    len: usize,
    records: u64,
    placed: Box<[u32]>,
}

/// The keys of one block.
#[derive(Default)]
pub(super) struct Summary {
    counters: Vec<Counter>,
    error: u64,
}

impl Summary {
    /// Summarises keys by their records; `key` has the rest of what is known of each.
    pub(super) fn of<'b>(
        records: impl Iterator<Item = u64> + Clone,
        key: impl Fn(usize) -> (u64, &'b [u8], &'b [u32]),
    ) -> Self {
        let mut sorted: Vec<u64> = records.clone().collect();
        let error = beyond(&mut sorted);
        let counters = records
            .enumerate()
            .filter(|&(_, records)| records > error)
            .map(|(at, records)| {
                let (hash, bytes, placed) = key(at);
                Counter {
                    hash,
                    key: bytes[..bytes.len().min(KEPT_BYTES)].into(),
                    len: bytes.len(),
                    records: records - error,
                    placed: placed.into(),
                }
            })
            .collect();
        Self { counters, error }
    }
}

/// The largest count that does not fit in a summary; 0 when all do.
fn beyond(counts: &mut [u64]) -> u64 {
    if counts.len() <= COUNTERS {
        return 0;
    }
    let (_, &mut count, _) = counts.select_nth_unstable_by_key(COUNTERS, |&count| Reverse(count));
    count
}

/// The keys of all blocks so far.
#[derive(Default)]
pub(crate) struct Heavy {
    counters: HashMap<u64, Counter>,
    error: u64,
}

/// A key of many records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeavyKey {
    /// All of it, or its beginning.
    pub(crate) key: Vec<u8>,
    pub(crate) len: usize,
    /// Its code in each column.
    pub(crate) placed: Vec<u32>,
    /// Its records are between these, both included.
    pub(crate) at_least: u64,
    pub(crate) at_most: u64,
}

impl Heavy {
    pub(super) fn merge(&mut self, block: Summary) {
        self.error += block.error;
        for counter in block.counters {
            match self.counters.get_mut(&counter.hash) {
                Some(own) => own.records = own.records.saturating_add(counter.records),
                None => {
                    self.counters.insert(counter.hash, counter);
                }
            }
        }
        // Not at once, since each time all counters are looked at.
        if self.counters.len() > 2 * COUNTERS {
            self.prune();
        }
    }

    fn prune(&mut self) {
        let mut counts: Vec<u64> = self.counters.values().map(|c| c.records).collect();
        let error = beyond(&mut counts);
        self.error += error;
        self.counters.retain(|_, counter| counter.records > error);
        for counter in self.counters.values_mut() {
            counter.records -= error;
        }
    }

    /// The keys that have more records than any other, those of most records first, and how many
    /// records another key has at most. Where a key is in the sample, its records are known.
    pub(crate) fn keys(&self, sample: &Sample) -> (Vec<HeavyKey>, u64) {
        let mut keys: Vec<HeavyKey> = self
            .counters
            .values()
            .map(|counter| {
                let known = sample.records_of(counter.hash);
                HeavyKey {
                    key: counter.key.to_vec(),
                    len: counter.len,
                    placed: counter.placed.to_vec(),
                    at_least: known.unwrap_or(counter.records),
                    at_most: known.unwrap_or(counter.records.saturating_add(self.error)),
                }
            })
            .collect();
        keys.sort_unstable_by(|a, b| {
            (b.at_least, b.at_most)
                .cmp(&(a.at_least, a.at_most))
                .then_with(|| a.key.cmp(&b.key))
                .then(a.len.cmp(&b.len))
        });
        // What is not in the summary has no more than was taken off, nor than any key has.
        let most = sample.most_records().unwrap_or(u64::MAX);
        let mut others = self.error.min(most);
        // The lightest first: what may be lighter than another key is not told apart from it.
        while let Some(last) = keys.pop_if(|key| key.at_least <= others) {
            others = others.max(last.at_most);
        }
        (keys, others)
    }
}
