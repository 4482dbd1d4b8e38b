//! How well each hypothesis (rule × bytes × partition count) explains where keys are.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use copart_partitioners::{Hash, HashValue, KeyView, PartitionCount};

use super::rules::Rule;
use super::sample::Sample;
use super::stats::ln_chance;
use super::view::View;

/// What may have placed keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hypothesis {
    /// The rule's index.
    pub(crate) rule: usize,
    pub(crate) view: View,
    pub(crate) count: PartitionCount,
}

/// A hypothesis and how well it does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scored {
    pub(crate) hypothesis: Hypothesis,
    /// Keys that were looked at, those included of which the hypothesis says nothing.
    pub(crate) looked_at: u64,
    /// Keys that it was tested on.
    pub(crate) keys: u64,
    pub(crate) matches: u64,
    /// The probability that a key matches by chance, on average.
    pub(crate) q: f64,
    /// The natural logarithm of a bound on the probability of so many matches by chance.
    pub(crate) ln_chance: f64,
}

impl Scored {
    /// The share of the keys looked at that it explains.
    pub(crate) fn explained(&self) -> f64 {
        self.matches as f64 / self.looked_at.max(1) as f64
    }
}

/// A key with one partition it is on: what a test counts once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit {
    pub(crate) key: u32,
    pub(crate) partition: u32,
}

/// Partitions on which a unit can't be, since an earlier component would have explained it.
pub(crate) const EXCLUDED: usize = 4;
pub(crate) type Excluded = [u32; EXCLUDED];
pub(crate) const NONE: u32 = u32::MAX;

/// What is asked in one round.
pub(crate) struct Question<'q> {
    units: &'q [Unit],
    /// For each unit.
    excluded: &'q [Excluded],
    /// The share of each partition, of all places and of the units: chance is what the larger says.
    shares: [Vec<f64>; 2],
    /// For each unit, the shares of the partitions that are not excluded, together.
    possible: Vec<[f64; 2]>,
    /// The topic's own count: tested on all units.
    count: PartitionCount,
    /// Others, such as stale ones: tested on a subset, since they are many.
    others: &'q [PartitionCount],
}

impl<'q> Question<'q> {
    pub(crate) fn new(
        units: &'q [Unit],
        excluded: &'q [Excluded],
        overall: &[f64],
        count: PartitionCount,
        others: &'q [PartitionCount],
    ) -> Self {
        let shares = [
            overall.to_vec(),
            self::shares(units.iter().map(|unit| unit.partition)),
        ];
        let possible = excluded
            .iter()
            .map(|excluded| {
                [0, 1].map(|i: usize| {
                    let distinct = excluded.iter().enumerate().filter(|&(j, &partition)| {
                        partition != NONE && !excluded[..j].contains(&partition)
                    });
                    1.0 - distinct
                        .map(|(_, &partition)| share(&shares[i], partition))
                        .sum::<f64>()
                })
            })
            .collect();
        Self {
            units,
            excluded,
            shares,
            possible,
            count,
            others,
        }
    }

    pub(crate) fn units(&self) -> impl Iterator<Item = (&'q Unit, &'q Excluded)> {
        self.units.iter().zip(self.excluded)
    }
}

fn share(shares: &[f64], partition: u32) -> f64 {
    shares.get(partition as usize).copied().unwrap_or(0.0)
}

/// Units that other counts than the topic's own are tested on.
const SCREENED: usize = 1024;

/// Fewer keys than this tell nothing about a view.
const LEAST_KEYS: usize = 8;

pub(crate) struct Scorer<'s> {
    pub(crate) sample: &'s Sample,
    pub(crate) rules: &'s [Rule],
    /// Views that fit enough keys to be tried.
    pub(crate) views: Vec<View>,
    threads: usize,
}

impl<'s> Scorer<'s> {
    pub(crate) fn new(sample: &'s Sample, rules: &'s [Rule], threads: usize) -> Self {
        let mut out = Vec::new();
        let fits = |view: &&View| {
            let mut fit = sample.keys.iter().filter(|key| {
                out.clear();
                view.apply(key, &mut out)
            });
            let least = if **view == View::AsIs { 1 } else { LEAST_KEYS };
            fit.by_ref().take(least).count() == least
        };
        let views = View::ALL.iter().filter(fits).copied().collect();
        Self {
            sample,
            rules,
            views,
            threads: threads.max(1),
        }
    }

    /// Where the hypothesis puts each sampled key; [`NONE`] where it says nothing.
    pub(crate) fn predictions(&self, hypothesis: Hypothesis) -> Vec<u32> {
        let rule = &self.rules[hypothesis.rule];
        let mut bytes = Vec::new();
        self.sample
            .keys
            .iter()
            .map(|key| {
                self.hash(hypothesis.view, rule.view, rule.hash, key, &mut bytes)
                    .and_then(|hash| rule.place(hash, hypothesis.count))
                    .unwrap_or(NONE)
            })
            .collect()
    }

    fn hash(
        &self,
        view: View,
        key_view: KeyView,
        hash: Hash,
        key: &[u8],
        bytes: &mut Vec<u8>,
    ) -> Option<HashValue> {
        bytes.clear();
        // The empty string has rules of its own.
        (view.apply(key, bytes) && !bytes.is_empty()).then(|| hash.of(key_view.of(bytes)))
    }

    /// Scores every hypothesis, on all cores; in a fixed order.
    pub(crate) fn score(&self, question: &Question<'_>) -> Vec<Scored> {
        let mut lanes: Vec<(View, KeyView, Hash)> = Vec::new();
        for &view in &self.views {
            for rule in self.rules {
                let lane = (view, rule.view, rule.hash);
                if !lanes.contains(&lane) {
                    lanes.push(lane);
                }
            }
        }
        let next = AtomicUsize::new(0);
        let done = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..self.threads.min(lanes.len()) {
                scope.spawn(|| {
                    loop {
                        let i = next.fetch_add(1, Ordering::Relaxed);
                        let Some(&lane) = lanes.get(i) else {
                            return;
                        };
                        let scored = self.score_lane(lane, question);
                        let mut done = done.lock().unwrap_or_else(|e| e.into_inner());
                        done.push((i, scored));
                    }
                });
            }
        });
        let mut done = done.into_inner().unwrap_or_else(|e| e.into_inner());
        done.sort_by_key(|(i, _)| *i);
        done.into_iter().flat_map(|(_, scored)| scored).collect()
    }

    /// Scores the hypotheses that share a hash of the same bytes.
    fn score_lane(
        &self,
        (view, key_view, hash): (View, KeyView, Hash),
        question: &Question<'_>,
    ) -> Vec<Scored> {
        let mut bytes = Vec::new();
        let mut hashed = |step: usize| -> Vec<(usize, HashValue)> {
            question
                .units
                .iter()
                .enumerate()
                .step_by(step)
                .filter_map(|(i, unit)| {
                    let key = &self.sample.keys[unit.key as usize];
                    let hash = self.hash(view, key_view, hash, key, &mut bytes)?;
                    Some((i, hash))
                })
                .collect()
        };
        let all = hashed(1);
        let step = question.units.len().div_ceil(SCREENED).max(1);
        let few = if step == 1 { None } else { Some(hashed(step)) };
        let few = few.as_ref().unwrap_or(&all);
        let looked_at = question.units.len();
        let mut scored = Vec::new();
        for (i, rule) in self.rules.iter().enumerate() {
            if (rule.view, rule.hash) != (key_view, hash) {
                continue;
            }
            let mut score = |count, units: &[(usize, HashValue)], looked_at: usize| {
                let hypothesis = Hypothesis {
                    rule: i,
                    view,
                    count,
                };
                scored.push(test(rule, hypothesis, units, looked_at, question));
            };
            score(question.count, &all, looked_at);
            for &count in question.others {
                score(count, few, looked_at.div_ceil(step));
            }
        }
        scored
    }
}

/// The share of each partition.
pub(crate) fn shares(partitions: impl Iterator<Item = u32>) -> Vec<f64> {
    let mut counts: Vec<u64> = Vec::new();
    let mut all = 0u64;
    for partition in partitions {
        let partition = partition as usize;
        if counts.len() <= partition {
            counts.resize(partition + 1, 0);
        }
        counts[partition] += 1;
        all += 1;
    }
    counts
        .into_iter()
        .map(|count| count as f64 / all.max(1) as f64)
        .collect()
}

fn test(
    rule: &Rule,
    hypothesis: Hypothesis,
    units: &[(usize, HashValue)],
    looked_at: usize,
    question: &Question<'_>,
) -> Scored {
    let (mut keys, mut matches) = (0u64, 0u64);
    let mut chance = [0.0; 2];
    for &(i, hash) in units {
        let Some(predicted) = rule.place(hash, hypothesis.count) else {
            keys += 1; // It refuses a key that the topic has.
            continue;
        };
        if question.excluded[i].contains(&predicted) {
            continue; // It could not be there, so it tells nothing.
        }
        keys += 1;
        matches += u64::from(predicted == question.units[i].partition);
        for (sum, (shares, possible)) in chance
            .iter_mut()
            .zip(question.shares.iter().zip(question.possible[i]))
        {
            let here = share(shares, predicted);
            *sum += if possible <= here {
                1.0
            } else {
                here / possible
            };
        }
    }
    let least = 1.0 / f64::from(question.count.get());
    let q = (f64::max(chance[0], chance[1]) / keys.max(1) as f64).max(least);
    Scored {
        hypothesis,
        looked_at: looked_at as u64,
        keys,
        matches,
        q,
        ln_chance: ln_chance(keys, q, matches),
    }
}
