//! Distinct keys: all of them up to a bound, and beyond it a uniform sample.
//!
//! A key is in the sample of level `l` when its 64-bit hash (XXH3) begins with `l` zero bits, so
//! one key in 2^l is, whatever its records. When the sample outgrows the bound, the level rises
//! and half of it is dropped. This is Wegman's adaptive sampling (Flajolet 1990, "On adaptive
//! sampling"). Which keys are left depends on the set of keys alone: not on their order, and not
//! on the number of threads.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Keys of one block that are in the sample, one after the other.
#[derive(Default)]
pub(super) struct Sampled {
    keys: Vec<(u64, u64)>,
    placed: Vec<u32>,
}

impl Sampled {
    pub(super) fn push(&mut self, hash: u64, records: u64, placed: &[u32]) {
        self.keys.push((hash, records));
        self.placed.extend_from_slice(placed);
    }
}

/// The distinct keys that were kept, each with its records and placements.
///
/// Keys are known by their hash. Among a million, that two have the same has a chance of less
/// than one in ten million.
pub(crate) struct Sample {
    index: HashMap<u64, u32, BuildHasherDefault<Mixed>>,
    records: Vec<u64>,
    placed: Vec<u32>,
    stride: usize,
    level: u32,
    bound: usize,
}

impl Sample {
    /// For keys placed in `stride` columns; `bound` of them are kept at most.
    pub(super) fn new(stride: usize, bound: usize) -> Self {
        Self {
            index: HashMap::default(),
            records: Vec::new(),
            placed: Vec::new(),
            stride,
            level: 0,
            bound: bound.max(1),
        }
    }

    pub(super) fn add(&mut self, sampled: &Sampled) {
        let rows = sampled.placed.chunks_exact(self.stride);
        for (&(hash, records), placed) in sampled.keys.iter().zip(rows) {
            if hash.leading_zeros() < self.level {
                continue;
            }
            let next = self.records.len() as u32;
            let at = *self.index.entry(hash).or_insert(next);
            if at == next {
                self.records.push(records);
                self.placed.extend_from_slice(placed);
                if self.records.len() > self.bound {
                    self.raise();
                }
            } else {
                let own = &mut self.records[at as usize];
                *own = own.saturating_add(records);
            }
        }
    }

    /// Raises the level until the sample is within its bound.
    fn raise(&mut self) {
        while self.records.len() > self.bound && self.level < 64 {
            self.level += 1;
            let Self {
                index,
                records,
                placed,
                stride,
                level,
                ..
            } = self;
            let mut kept: Vec<(u32, u64)> = index
                .iter()
                .filter(|(hash, _)| hash.leading_zeros() >= *level)
                .map(|(&hash, &at)| (at, hash))
                .collect();
            // In the order in which they came, so that they can be moved down in place.
            kept.sort_unstable();
            index.clear();
            for (to, &(from, hash)) in kept.iter().enumerate() {
                let from = from as usize;
                records[to] = records[from];
                placed.copy_within(from * *stride..(from + 1) * *stride, to * *stride);
                index.insert(hash, to as u32);
            }
            records.truncate(kept.len());
            placed.truncate(kept.len() * *stride);
        }
    }

    /// The sample has one key in two to the power of this.
    pub(super) const fn level(&self) -> u32 {
        self.level
    }

    /// Whether it has all keys.
    pub(crate) const fn is_exact(&self) -> bool {
        self.level == 0
    }

    /// How many keys it has.
    pub(crate) fn len(&self) -> u64 {
        self.records.len() as u64
    }

    /// How many distinct keys there are: exactly, or an unbiased estimate.
    pub(crate) fn distinct(&self) -> u64 {
        self.scaled(self.len())
    }

    /// What a number of keys of the sample stands for.
    pub(crate) fn scaled(&self, keys: u64) -> u64 {
        1u64.checked_shl(self.level)
            .and_then(|share| keys.checked_mul(share))
            .unwrap_or(u64::MAX)
    }

    /// The relative standard error of [`Sample::distinct`]; 0 when it is exact.
    pub(crate) fn standard_error(&self) -> f64 {
        let rate = (-f64::from(self.level)).exp2();
        ((1.0 - rate) / (self.len().max(1) as f64)).sqrt()
    }

    /// Each key's code in each column.
    pub(crate) fn placed(&self) -> impl Iterator<Item = &[u32]> {
        self.placed.chunks_exact(self.stride)
    }

    /// The records of a key, if it is in the sample.
    pub(super) fn records_of(&self, hash: u64) -> Option<u64> {
        let at = self.index.get(&hash)?;
        self.records.get(*at as usize).copied()
    }

    /// The records of the key that has most, when all keys are known.
    pub(crate) fn most_records(&self) -> Option<u64> {
        self.records
            .iter()
            .copied()
            .max()
            .filter(|_| self.is_exact())
    }
}

/// The keys of the map are hashes already. Those of a sample begin with zeros, where the map
/// looks first, so their halves are exchanged.
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0.rotate_left(32)
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
