use copart_partitioners::PartitionCount;

use crate::input::KeyBlock;
use crate::plan::{Plan, REJECTED};

/// Keys that are hashed and compared at a time: their hashes and placements stay in L1 and L2.
const BATCH: usize = 512;

/// How many mismatching keys are kept for each count.
pub(super) const KEPT: usize = 100;

/// Bytes of a mismatching key that are kept.
pub(super) const KEPT_BYTES: usize = 1 << 10;

/// What was counted over some keys.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) keyed: u64,
    pub(super) empty: u64,
    pub(super) null: u64,
    /// The counts that were asked for.
    pub(super) asked: Vec<CountTally>,
    /// The counts probed besides, on a sample of the keys.
    pub(super) probed: Vec<CountTally>,
    pub(super) probed_keys: u64,
}

/// Keyed keys at one partition count.
#[derive(Clone, Debug, Default)]
pub(super) struct CountTally {
    /// All rules pin the key, to one partition.
    pub(super) agree: u64,
    /// No rule pins the key, or all reject it.
    pub(super) apart: u64,
    pub(super) disagree: u64,
    /// Keys on which two rules differ; see [`pair`].
    pub(super) pairs: Vec<u64>,
    /// The first keys that disagree.
    pub(super) first: Vec<Kept>,
}

/// A key that disagrees.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    /// Its position in the input, from 1.
    pub(super) record: u64,
    /// All of it, or its beginning.
    pub(super) key: Vec<u8>,
    pub(super) len: usize,
}

/// The index of the pair `a < b` among the pairs of `n` rules.
pub(super) fn pair(a: usize, b: usize, n: usize) -> usize {
    a * (2 * n - a - 1) / 2 + b - a - 1
}

/// Buffers of one thread.
#[derive(Default)]
pub(super) struct Scratch {
    hashes: Vec<Vec<u32>>,
    placed: Vec<Vec<u32>>,
    unequal: Vec<bool>,
}

/// What to count.
pub(super) struct Counting<'p> {
    pub(super) plan: &'p Plan,
    pub(super) asked: &'p [PartitionCount],
    pub(super) probes: &'p [PartitionCount],
}

impl Counting<'_> {
    /// Counts one block; `probe` and `keep` say whether probes and examples are wanted too.
    pub(super) fn count(
        &self,
        scratch: &mut Scratch,
        block: &KeyBlock,
        probe: bool,
        keep: bool,
    ) -> Tally {
        let mut tally = Tally::default();
        tally
            .asked
            .resize_with(self.asked.len(), CountTally::default);
        tally
            .probed
            .resize_with(self.probes.len(), CountTally::default);
        let mut keys: Vec<&[u8]> = Vec::with_capacity(BATCH);
        let mut records: Vec<u32> = Vec::with_capacity(BATCH);
        let mut all = block.keys().enumerate();
        loop {
            keys.clear();
            records.clear();
            for (record, key) in all.by_ref() {
                match key {
                    None => tally.null += 1,
                    Some([]) => tally.empty += 1,
                    Some(bytes) => {
                        keys.push(bytes);
                        records.push(record as u32);
                        if keys.len() == BATCH {
                            break;
                        }
                    }
                }
            }
            if keys.is_empty() {
                return tally;
            }
            tally.keyed += keys.len() as u64;
            self.plan.hash(&keys, &mut scratch.hashes);
            for (&count, into) in self.asked.iter().zip(&mut tally.asked) {
                self.compare(scratch, &keys, &records, count, keep, into);
            }
            if probe {
                tally.probed_keys += keys.len() as u64;
                for (&count, into) in self.probes.iter().zip(&mut tally.probed) {
                    self.compare(scratch, &keys, &records, count, false, into);
                }
            }
        }
    }

    fn compare(
        &self,
        scratch: &mut Scratch,
        keys: &[&[u8]],
        records: &[u32],
        count: PartitionCount,
        keep: bool,
        into: &mut CountTally,
    ) {
        let rules = &self.plan.rules;
        let Scratch {
            hashes,
            placed,
            unequal,
        } = scratch;
        placed.resize_with(rules.len(), Vec::new);
        for (rule, out) in rules.iter().zip(placed.iter_mut()) {
            self.plan.place(*rule, keys, hashes, count, out);
        }
        let placed = &placed[..rules.len()];
        into.pairs.resize(rules.len() * (rules.len() - 1) / 2, 0);
        unequal.clear();
        unequal.resize(keys.len(), false);
        for a in 0..rules.len() {
            for b in a + 1..rules.len() {
                let mut different = 0u32;
                for ((x, y), unequal) in placed[a].iter().zip(&placed[b]).zip(unequal.iter_mut()) {
                    different += u32::from(x != y);
                    *unequal |= x != y;
                }
                into.pairs[pair(a, b, rules.len())] += u64::from(different);
            }
        }
        let disagree = unequal.iter().filter(|&&unequal| unequal).count();
        let apart = placed[0]
            .iter()
            .zip(&*unequal)
            .filter(|&(&p, &unequal)| !unequal && p >= REJECTED)
            .count();
        into.disagree += disagree as u64;
        into.apart += apart as u64;
        into.agree += (keys.len() - disagree - apart) as u64;
        if keep && disagree > 0 {
            let wanted = KEPT - into.first.len().min(KEPT);
            let unequal = unequal.iter().zip(keys.iter().zip(records));
            into.first
                .extend(unequal.filter(|(unequal, _)| **unequal).take(wanted).map(
                    |(_, (key, &record))| Kept {
                        record: u64::from(record) + 1,
                        key: key[..key.len().min(KEPT_BYTES)].to_vec(),
                        len: key.len(),
                    },
                ));
        }
    }
}

impl Tally {
    /// Adds what was counted over the keys after the first `keys_before`.
    pub(super) fn add(&mut self, other: Self, keys_before: u64) {
        self.keyed += other.keyed;
        self.empty += other.empty;
        self.null += other.null;
        self.probed_keys += other.probed_keys;
        let own = self.asked.iter_mut().chain(&mut self.probed);
        for (own, other) in own.zip(other.asked.into_iter().chain(other.probed)) {
            own.add(other, keys_before);
        }
    }
}

impl CountTally {
    fn add(&mut self, other: Self, keys_before: u64) {
        self.agree += other.agree;
        self.apart += other.apart;
        self.disagree += other.disagree;
        self.pairs
            .resize(self.pairs.len().max(other.pairs.len()), 0);
        for (own, other) in self.pairs.iter_mut().zip(other.pairs) {
            *own += other;
        }
        let wanted = KEPT - self.first.len();
        self.first
            .extend(other.first.into_iter().take(wanted).map(|mut kept| {
                kept.record += keys_before;
                kept
            }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_have_distinct_places() {
        for n in 1..20 {
            let mut places: Vec<_> = (0..n)
                .flat_map(|a| (a + 1..n).map(move |b| pair(a, b, n)))
                .collect();
            places.sort_unstable();
            assert!(places.iter().copied().eq(0..n * (n - 1) / 2));
        }
    }
}
