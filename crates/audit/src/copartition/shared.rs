//! Keys that both topics have. Two samples keep the same keys, so that what is in both samples is
//! a uniform sample of what is in both topics.

use std::borrow::Cow;
use std::collections::HashMap;

use data_encoding::HEXLOWER;

use super::report::{SharedExample, SharedKeys, SpellingExample};
use crate::infer::sample::Sample;
use crate::lint::look;
use crate::lint::spelling::plainest;

const KEY_BYTES: usize = 1 << 10;
const PARTITIONS: usize = 20;

pub(super) struct Shared {
    /// Indexes of the key in both samples, and whether it is on one partition, the same in both.
    same_bytes: Vec<(u32, u32, bool)>,
    /// Indexes of keys that differ in bytes and not in their plainest spelling.
    other_bytes: Vec<(u32, u32)>,
    pub(super) all_keys: bool,
    partitions: [Vec<Vec<u32>>; 2],
}

impl Shared {
    pub(super) fn of(a: &Sample, b: &Sample) -> Self {
        let partitions = [partitions(a), partitions(b)];
        let mut same_bytes = Vec::new();
        let mut unmatched = Vec::new();
        for (i, key) in (0u32..).zip(&a.keys) {
            match b.find(key) {
                Some(j) => {
                    let (of_a, of_b) = (&partitions[0][i as usize], &partitions[1][j as usize]);
                    same_bytes.push((i, j, of_a.len() == 1 && of_a == of_b));
                }
                None => unmatched.push((i, key)),
            }
        }
        // Only of whole samples it is known that a key is not in the other topic.
        let mut spellings: HashMap<Cow<'_, [u8]>, u32> = HashMap::new();
        for (j, key) in (0u32..).zip(&b.keys) {
            if a.find(key).is_none() {
                spellings.insert(plainest(key, look(key).0), j);
            }
        }
        let other_bytes = unmatched
            .into_iter()
            .filter_map(|(i, key)| Some((i, *spellings.get(&plainest(key, look(key).0))?)))
            .collect();
        Self {
            same_bytes,
            other_bytes,
            all_keys: a.is_whole() && b.is_whole(),
            partitions,
        }
    }

    pub(super) fn keys(&self) -> u64 {
        self.same_bytes.len() as u64
    }

    pub(super) fn together(&self) -> u64 {
        self.same_bytes
            .iter()
            .filter(|(_, _, together)| *together)
            .count() as u64
    }

    pub(super) fn apart(&self) -> u64 {
        self.keys() - self.together()
    }

    pub(super) fn in_other_bytes(&self) -> u64 {
        self.other_bytes.len() as u64
    }

    pub(super) fn report(&self, a: &Sample, b: &Sample, show: usize) -> SharedKeys {
        let hex = |key: &[u8]| HEXLOWER.encode(&key[..key.len().min(KEY_BYTES)]);
        let places = |i: u32, j: u32| {
            let shown = |topic: usize, key: u32| {
                let all = &self.partitions[topic][key as usize];
                all[..all.len().min(PARTITIONS)].to_vec()
            };
            [shown(0, i), shown(1, j)]
        };
        SharedKeys {
            keys: self.keys(),
            all_keys: self.all_keys,
            together: self.together(),
            apart: self.apart(),
            in_other_bytes: self.in_other_bytes(),
            examples: self
                .same_bytes
                .iter()
                .filter(|(_, _, together)| !together)
                .take(show)
                .map(|&(i, j, _)| {
                    let key = &a.keys[i as usize];
                    SharedExample {
                        key_hex: hex(key),
                        truncated: key.len() > KEY_BYTES,
                        partitions: places(i, j),
                    }
                })
                .collect(),
            spelling_examples: self
                .other_bytes
                .iter()
                .take(show)
                .map(|&(i, j)| SpellingExample {
                    key_hex: [hex(&a.keys[i as usize]), hex(&b.keys[j as usize])],
                    partitions: places(i, j),
                })
                .collect(),
        }
    }
}

/// The partitions of each key, sorted.
fn partitions(sample: &Sample) -> Vec<Vec<u32>> {
    let mut partitions = vec![Vec::new(); sample.keys.len()];
    for place in &sample.places {
        partitions[place.key as usize].push(place.partition);
    }
    for of_key in &mut partitions {
        of_key.sort_unstable();
    }
    partitions
}
