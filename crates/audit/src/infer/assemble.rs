//! From what was found to a report.

use copart_partitioners::catalogue::Entry;
use copart_partitioners::{KeylessRule, PartitionCount, Placement};
use data_encoding::HEXLOWER;

use super::Observed;
use super::framing::framing;
use super::hints::hints;
use super::mixture::{Because, Component, Found};
use super::report::*;
use super::rules::Rule;
use super::sample::{Keyless, Sample};
use super::score::{Hypothesis, NONE, Scored, Scorer, shares};
use super::spread::{SpreadKind, keys_keep_their_partition, repeated, spread};
use super::stats::FAMILY_ERROR;
use super::timeline::{only, timeline};
use super::view::View;

/// Bytes of a key that are reported.
const KEY_BYTES: usize = 1 << 10;

/// Partitions of one key that are reported.
const PLACES: usize = 20;

/// Counts at which twins are compared: even but no power of two, odd, and prime.
const TELLING: [u32; 3] = [12, 15, 31];

/// The share of places that may stay unexplained before something else is said to write, too.
const STRAYS: f64 = 0.01;

pub(super) struct Assembly<'a> {
    pub(super) observed: &'a Observed,
    pub(super) rules: &'a [Rule],
    pub(super) scorer: &'a Scorer<'a>,
    pub(super) found: &'a Found,
    pub(super) count: PartitionCount,
    pub(super) count_source: CountSource,
    pub(super) show: usize,
}

impl Assembly<'_> {
    pub(super) fn report(&self) -> InferReport {
        let sample = &self.observed.sample;
        let components = &self.found.components;
        let partitions = self.partitions();
        let explained = Explained::new(sample, components);
        let unexplained = self.unexplained(&explained);
        let verdict = self.verdict(partitions.count, unexplained.share);
        let several = components.len() > 1;
        InferReport {
            schema: InferReport::SCHEMA,
            verdict,
            partial: self.observed.partial,
            input: InferInput {
                name: self.observed.name.clone(),
                path: self.observed.path.clone(),
                records_are_lines: self.observed.records_are_lines,
                records: sample.records,
                keyed: sample.keyed,
                distinct_keys: sample.keys.len() as u64,
                all_keys: sample.is_whole(),
                estimated_distinct_keys: sample.estimated_keys(),
                empty_may_be_null: self.observed.empty_may_be_null,
            },
            evidence: EvidenceReport {
                keys: self.found.keys,
                tests: self.found.tests,
                family_error: FAMILY_ERROR,
                log10_threshold: log10(self.found.ln_threshold),
                keys_needed: self.found.keys_needed,
            },
            components: components
                .iter()
                .enumerate()
                .map(|(i, component)| self.component(i, component, &explained, partitions.count))
                .collect(),
            runner_up: self.runner_up(),
            ranking: self
                .found
                .ranking
                .iter()
                .map(|s| self.candidate(s))
                .collect(),
            unexplained,
            moved: self.moved(),
            timeline: several.then(|| timeline(sample, components)),
            hints: if several {
                hints(sample, components)
            } else {
                Vec::new()
            },
            spread: (components.is_empty() && sample.keyed > 0)
                .then(|| spread(sample, partitions.count)),
            empty: keyless(&sample.empty),
            null: keyless(&sample.null),
            framing: framing(sample),
            expected: None,
            warnings: Vec::new(),
            partitions,
        }
    }

    /// The topic's count: if it was not given, a rule that divides by a larger one knows better.
    fn partitions(&self) -> Partitions {
        let counts = self
            .found
            .components
            .iter()
            .map(|c| c.hypothesis.count.get());
        let largest = counts.max().unwrap_or(0);
        let (count, source) =
            if self.count_source == CountSource::HighestPartition && largest > self.count.get() {
                (largest, CountSource::Inferred)
            } else {
                (self.count.get(), self.count_source)
            };
        Partitions {
            count,
            source,
            with_records: self.observed.sample.by_partition.len() as u32,
        }
    }

    fn verdict(&self, partitions: u32, unexplained: f64) -> InferVerdict {
        let sample = &self.observed.sample;
        if sample.keyed == 0 {
            return InferVerdict::NoKeys;
        }
        match self.found.components.as_slice() {
            [] => self.verdict_without_rule(partitions),
            [_] if unexplained > STRAYS => InferVerdict::Mixed,
            [only] => {
                let twin = |because| only.twins.iter().any(|twin| twin.because == because);
                if twin(Because::FewKeys) {
                    InferVerdict::TooFewKeys
                } else if only.hypothesis.count.get() != partitions {
                    InferVerdict::StaleCount
                } else if twin(Because::Count) {
                    InferVerdict::Twins
                } else {
                    InferVerdict::OneProfile
                }
            }
            _ => InferVerdict::Mixed,
        }
    }

    fn verdict_without_rule(&self, partitions: u32) -> InferVerdict {
        let sample = &self.observed.sample;
        let spread = spread(sample, partitions);
        let overall = shares(sample.places.iter().map(|place| place.partition));
        let (repeated, together) = repeated(sample);
        // Under any hash, so many keys would not be on one partition.
        let constant = spread.kind == SpreadKind::Constant
            && (sample.keys.len() as f64 - 1.0) * f64::from(partitions).ln() >= -FAMILY_ERROR.ln();
        // Of so many keys, some that keep to a partition would do so by rule.
        let apart = repeated >= 5 && together * 2 <= repeated;
        if constant || apart || matches!(spread.kind, SpreadKind::RoundRobin | SpreadKind::Sticky) {
            return InferVerdict::NotKeyed;
        }
        let enough = self
            .found
            .keys_needed
            .is_some_and(|needed| self.found.keys >= needed);
        if !enough {
            InferVerdict::TooFewKeys
        } else if repeated > 0 && keys_keep_their_partition(sample, &overall) {
            InferVerdict::UnknownRule
        } else {
            InferVerdict::NoRuleFits
        }
    }

    fn component(
        &self,
        index: usize,
        component: &Component,
        explained: &Explained,
        partitions: u32,
    ) -> ComponentReport {
        let sample = &self.observed.sample;
        let rule = &self.rules[component.hypothesis.rule];
        let counted = explained.of[index];
        let decided: u64 = explained.of.iter().map(|of| of.alone).sum::<u64>() + explained.none;
        let alone = sample.places.iter().filter(|place| {
            only(&self.found.components, place.key, place.partition) == Some(index)
        });
        ComponentReport {
            profile: rule.name.clone(),
            rule: rule.profile.keyed.to_string(),
            key_bytes: component.hypothesis.view.name(),
            key_bytes_text: component.hypothesis.view.describe(),
            partitions: component.hypothesis.count.get(),
            stale_count: component.hypothesis.count.get() != partitions,
            places: counted.places,
            places_alone: counted.alone,
            records_alone: counted.records_alone,
            share: counted.alone as f64 / decided.max(1) as f64,
            tested: self.candidate(&component.scored),
            clients: rule
                .entries
                .iter()
                .map(|entry| ClientReport {
                    id: entry.id,
                    default: entry.is_default(),
                    ruled_out: ruled_out(entry, component.hypothesis.count, self.observed),
                })
                .collect(),
            twins: component
                .twins
                .iter()
                .map(|twin| self.twin(component, twin.rule, twin.because))
                .collect(),
            first: alone
                .clone()
                .map(|p| p.first)
                .min_by_key(|m| m.record)
                .map(Into::into),
            last: alone
                .map(|p| p.last)
                .max_by_key(|m| m.record)
                .map(Into::into),
        }
    }

    fn twin(&self, component: &Component, rule: usize, because: Because) -> TwinReport {
        let sample = &self.observed.sample;
        let tell_at = TELLING
            .iter()
            .filter(|&&n| n != component.hypothesis.count.get())
            .filter_map(|&n| PartitionCount::new(n))
            .map(|count| {
                let at = |rule| {
                    let view = component.hypothesis.view;
                    self.scorer.predictions(Hypothesis { rule, view, count })
                };
                let pairs = at(component.hypothesis.rule).into_iter().zip(at(rule));
                let different = pairs.filter(|(a, b)| a != b).count();
                TellAt {
                    partitions: count.get(),
                    share: different as f64 / sample.keys.len().max(1) as f64,
                }
            })
            .collect();
        TwinReport {
            profile: self.rules[rule].name.clone(),
            rule: self.rules[rule].profile.keyed.to_string(),
            because: match because {
                Because::Count => TwinReason::PartitionCount,
                Because::Keys => TwinReason::Keys,
                Because::FewKeys => TwinReason::FewKeys,
            },
            tell_at,
        }
    }

    fn candidate(&self, scored: &Scored) -> Candidate {
        let rule = &self.rules[scored.hypothesis.rule];
        Candidate {
            profile: rule.name.clone(),
            rule: rule.profile.keyed.to_string(),
            key_bytes: scored.hypothesis.view.name(),
            partitions: scored.hypothesis.count.get(),
            keys: scored.keys,
            matches: scored.matches,
            by_chance: scored.q,
            log10_chance: log10(scored.ln_chance),
        }
    }

    /// The best hypothesis of the first round that is neither the first component nor its twin.
    fn runner_up(&self) -> Option<Candidate> {
        let mut ranking = self.found.ranking.iter();
        let Some(first) = self.found.components.first() else {
            return ranking.next().map(|scored| self.candidate(scored));
        };
        let same = |scored: &&Scored| {
            let own = scored.hypothesis.rule == first.hypothesis.rule
                || first
                    .twins
                    .iter()
                    .any(|twin| twin.rule == scored.hypothesis.rule);
            let h = scored.hypothesis;
            own && (h.view, h.count) == (first.hypothesis.view, first.hypothesis.count)
        };
        ranking
            .find(|scored| !same(scored))
            .map(|scored| self.candidate(scored))
    }

    fn unexplained(&self, explained: &Explained) -> Unexplained {
        let sample = &self.observed.sample;
        if self.found.components.is_empty() {
            return Unexplained::default();
        }
        let keys = sample
            .places
            .iter()
            .filter(|place| !self.explained(place.key, place.partition))
            .map(|place| place.key);
        Unexplained {
            places: explained.none,
            share: explained.none as f64 / sample.places.len().max(1) as f64,
            records: explained.records_of_none,
            examples: self.examples(keys),
        }
    }

    fn explained(&self, key: u32, partition: u32) -> bool {
        let mut components = self.found.components.iter();
        components.any(|component| component.predictions[key as usize] == partition)
    }

    fn moved(&self) -> Moved {
        let sample = &self.observed.sample;
        let mut places = vec![0u32; sample.keys.len()];
        for place in &sample.places {
            places[place.key as usize] += 1;
        }
        let moved = (0u32..)
            .zip(&places)
            .filter(|(_, places)| **places > 1)
            .map(|(key, _)| key);
        Moved {
            keys: moved.clone().count() as u64,
            examples: self.examples(moved),
        }
    }

    fn examples(&self, keys: impl Iterator<Item = u32>) -> Vec<KeyPlaces> {
        let mut listed: Vec<u32> = Vec::new();
        for key in keys {
            if listed.len() == self.show {
                break;
            }
            if listed.last() != Some(&key) && !listed.contains(&key) {
                listed.push(key);
            }
        }
        examples(&self.observed.sample, &listed, |key, partition| {
            self.found
                .components
                .iter()
                .filter(|component| component.predictions[key as usize] == partition)
                .map(|component| self.rules[component.hypothesis.rule].name.clone())
                .collect()
        })
    }
}

/// Keys with all their places.
pub(super) fn examples(
    sample: &Sample,
    keys: &[u32],
    explained_by: impl Fn(u32, u32) -> Vec<String>,
) -> Vec<KeyPlaces> {
    let mut of_key: Vec<Vec<PlaceReport>> = vec![Vec::new(); keys.len()];
    for place in &sample.places {
        if let Some(i) = keys.iter().position(|&key| key == place.key)
            && of_key[i].len() < PLACES
        {
            of_key[i].push(PlaceReport {
                partition: place.partition,
                records: place.records,
                first: place.first.into(),
                last: place.last.into(),
                explained_by: explained_by(place.key, place.partition),
            });
        }
    }
    keys.iter()
        .zip(of_key)
        .map(|(&key, places)| {
            let bytes = &sample.keys[key as usize];
            KeyPlaces {
                key_hex: HEXLOWER.encode(&bytes[..bytes.len().min(KEY_BYTES)]),
                truncated: bytes.len() > KEY_BYTES,
                places,
            }
        })
        .collect()
}

/// What the components explain, counted.
struct Explained {
    of: Vec<OfComponent>,
    none: u64,
    records_of_none: u64,
}

#[derive(Clone, Copy, Default)]
struct OfComponent {
    places: u64,
    alone: u64,
    records_alone: u64,
}

impl Explained {
    fn new(sample: &Sample, components: &[Component]) -> Self {
        let mut explained = Self {
            of: vec![OfComponent::default(); components.len()],
            none: 0,
            records_of_none: 0,
        };
        for place in &sample.places {
            let mut by = components
                .iter()
                .enumerate()
                .filter(|(_, component)| {
                    component.predictions[place.key as usize] == place.partition
                })
                .map(|(i, _)| i);
            let Some(first) = by.next() else {
                explained.none += 1;
                explained.records_of_none += place.records;
                continue;
            };
            explained.of[first].places += 1;
            let mut alone = true;
            for other in by {
                explained.of[other].places += 1;
                alone = false;
            }
            if alone {
                explained.of[first].alone += 1;
                explained.of[first].records_alone += place.records;
            }
        }
        explained
    }
}

fn keyless(records: &Keyless) -> KeylessRecords {
    let mut partitions = records.by_partition.keys();
    let first = partitions.next().copied();
    KeylessRecords {
        records: records.records,
        partitions: records.by_partition.len() as u32,
        only_partition: first.filter(|_| partitions.next().is_none()),
    }
}

/// What speaks against a client that has the right rule for keys with bytes.
pub(super) fn ruled_out(
    entry: &Entry,
    count: PartitionCount,
    observed: &Observed,
) -> Option<String> {
    against(&entry.profile, count, observed)
}

/// What records with empty and null keys say against a profile.
pub(super) fn against(
    profile: &copart_partitioners::Profile,
    count: PartitionCount,
    observed: &Observed,
) -> Option<String> {
    if observed.empty_may_be_null {
        return None;
    }
    let sample = &observed.sample;
    let kinds = [
        ("empty", profile.empty, Some(&[][..]), &sample.empty),
        ("null", profile.null, None, &sample.null),
    ];
    kinds.into_iter().find_map(|(kind, rule, key, records)| {
        if records.records == 0 {
            return None;
        }
        match (profile.place(key, count), rule) {
            (Placement::Pinned(partition), _) => {
                let there = |(other, _): (&u32, &u64)| i64::from(*other) == i64::from(partition);
                let elsewhere: u64 = records
                    .by_partition
                    .iter()
                    .filter(|&entry| !there(entry))
                    .map(|(_, records)| records)
                    .sum();
                (elsewhere > 0).then(|| {
                    format!("it puts {kind} keys on partition {partition}; {elsewhere} records with one are elsewhere")
                })
            }
            (Placement::Rejected, KeylessRule::Rejected) => Some(format!(
                "it refuses {kind} keys; {} records have one",
                records.records
            )),
            _ => None,
        }
    })
}

fn log10(ln: f64) -> f64 {
    // JSON has no infinity.
    (ln / std::f64::consts::LN_10).max(-1e6)
}

/// How many places a prediction explains, and the first keys that it does not.
pub(super) fn compare(sample: &Sample, predictions: &[u32]) -> (u64, Vec<u32>) {
    let mut explained = 0;
    let mut elsewhere = Vec::new();
    for place in &sample.places {
        let predicted = predictions[place.key as usize];
        if predicted != NONE && predicted == place.partition {
            explained += 1;
        } else {
            elsewhere.push(place.key);
        }
    }
    (explained, elsewhere)
}

/// The view under which the expected rule was found, or the plain one.
pub(super) fn view_of(found: &Found, rule: usize) -> View {
    let component = found.components.iter().find(|component| {
        component.hypothesis.rule == rule || component.twins.iter().any(|twin| twin.rule == rule)
    });
    component.map_or(View::AsIs, |component| component.hypothesis.view)
}
