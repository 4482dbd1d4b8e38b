//! Are a topic's records where a profile puts them?

use std::collections::HashMap;

use copart_partitioners::{KeyedRule, PartitionCount, Placement, Profile, catalogue};

use super::chance::is_no_chance;

/// A key on a partition. One vote, however many records it has there.
#[derive(Clone, Debug)]
pub(super) struct Sighting {
    pub(super) key: Box<[u8]>,
    pub(super) partition: i32,
    /// Of the newest record.
    pub(super) offset: i64,
}

/// What a sample says of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// The keys are where the profile puts them.
    Agrees(Votes),
    /// So are the newer ones; the older ones are where it put them when the topic had fewer partitions.
    OlderThanExpansion {
        votes: Votes,
        /// The counts, and how many keys fit each.
        counts: Vec<(u32, usize)>,
    },
    /// Too few keys, or keys that are where they are under any rule.
    Undecidable(Votes),
    /// Somebody puts keys elsewhere.
    Disagrees { votes: Votes, why: Disagreement },
}

impl Finding {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Agrees(_) => "agrees",
            Self::OlderThanExpansion { .. } => "older_than_expansion",
            Self::Undecidable(_) => "undecidable",
            Self::Disagrees { .. } => "disagrees",
        }
    }
}

/// How many keys the profile pins, and how many of them are where it puts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Votes {
    pub(super) keys: usize,
    pub(super) agreeing: usize,
}

/// What the records look like instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Disagreement {
    /// As these clients of the catalogue write, which are one rule to the sample; with so many keys agreeing. One
    /// partitioner of each client.
    Like {
        clients: Vec<&'static str>,
        votes: Votes,
    },
    /// Some producer still counts so many partitions.
    StillCounts(u32),
    /// Like nothing that the catalogue has.
    Unknown,
}

/// Keys of a hundred that may be elsewhere: placed by hand, or by a test.
const EXCEPTIONS: f64 = 0.02;
/// As many steps of growth are looked for.
const MAX_STEPS: usize = 6;
/// More keys do not make the search for an earlier count better.
const STEP_KEYS: usize = 1000;

/// Sightings, each with where a rule puts its key, and what that says.
struct Comparison<'a> {
    agreeing: Vec<&'a Sighting>,
    elsewhere: Vec<&'a Sighting>,
    /// How likely a key agrees by chance, on average.
    chance: f64,
}

impl<'a> Comparison<'a> {
    fn of(
        profile: &Profile,
        count: PartitionCount,
        sightings: impl IntoIterator<Item = &'a Sighting>,
    ) -> Self {
        let mut comparison = Self {
            agreeing: Vec::new(),
            elsewhere: Vec::new(),
            chance: 1.0,
        };
        let mut on: HashMap<i32, usize> = HashMap::new();
        let mut predicted: HashMap<i32, usize> = HashMap::new();
        for sighting in sightings {
            // What a profile does not pin says nothing about it.
            let Placement::Pinned(partition) = profile.place(Some(&sighting.key), count) else {
                continue;
            };
            *on.entry(sighting.partition).or_default() += 1;
            *predicted.entry(partition).or_default() += 1;
            if partition == sighting.partition {
                comparison.agreeing.push(sighting);
            } else {
                comparison.elsewhere.push(sighting);
            }
        }
        let keys = comparison.keys() as f64;
        if keys > 0.0 {
            // If keys had nothing to do with partitions, and partitions were as full as they are.
            let matches = predicted.iter().map(|(partition, &predicted)| {
                predicted as f64 * on.get(partition).copied().unwrap_or(0) as f64
            });
            comparison.chance = matches.sum::<f64>() / keys / keys;
        }
        comparison
    }

    fn keys(&self) -> usize {
        self.agreeing.len() + self.elsewhere.len()
    }

    fn votes(&self) -> Votes {
        Votes {
            keys: self.keys(),
            agreeing: self.agreeing.len(),
        }
    }

    /// More keys agree than by chance.
    fn is_meant(&self, tests: usize) -> bool {
        is_no_chance(self.keys(), self.chance, self.agreeing.len(), tests)
    }

    /// More keys are elsewhere than a few exceptions.
    fn is_broken(&self) -> bool {
        is_no_chance(self.keys(), EXCEPTIONS, self.elsewhere.len(), 1)
    }
}

/// Compares what was seen of a topic of `count` partitions with a profile.
pub(super) fn judge(profile: &Profile, count: PartitionCount, seen: &[Sighting]) -> Finding {
    let now = Comparison::of(profile, count, seen);
    let votes = now.votes();
    if !now.is_broken() {
        return if now.is_meant(1) {
            Finding::Agrees(votes)
        } else {
            Finding::Undecidable(votes)
        };
    }
    match earlier_counts(profile, count, &now) {
        Earlier::All(counts) => return Finding::OlderThanExpansion { votes, counts },
        Earlier::Still(count) => {
            let why = Disagreement::StillCounts(count);
            return Finding::Disagrees { votes, why };
        }
        Earlier::None => {}
    }
    Finding::Disagrees {
        votes,
        why: better(count, seen, votes),
    }
}

enum Earlier {
    /// All keys that are elsewhere fit one of these, and are older than those that are not.
    All(Vec<(u32, usize)>),
    /// They fit this count, and some are newer than those that fit the present one.
    Still(u32),
    None,
}

/// Whether the keys that are elsewhere are where the profile put them when there were fewer partitions.
fn earlier_counts(profile: &Profile, count: PartitionCount, now: &Comparison<'_>) -> Earlier {
    let mut left: Vec<&Sighting> = now.elsewhere.iter().copied().take(STEP_KEYS).collect();
    let all = left.len();
    let mut found = Vec::new();
    while found.len() < MAX_STEPS {
        let counts = (1..count.get()).filter_map(PartitionCount::new);
        let best = counts
            .map(|count| (count, Comparison::of(profile, count, left.iter().copied())))
            .max_by_key(|(_, then)| then.agreeing.len());
        let Some((then_count, then)) = best else {
            return Earlier::None;
        };
        if !then.is_meant(count.get() as usize) {
            return Earlier::None;
        }
        // Of those that the earlier count does not explain as well.
        let only_now = Comparison::of(profile, then_count, now.agreeing.iter().copied()).elsewhere;
        let newest = newest_half(&only_now);
        let late = then.agreeing.iter().filter(|sighting| {
            let newest = newest.get(&sighting.partition);
            newest.is_some_and(|&newest| sighting.offset > newest)
        });
        let late = late.count();
        if is_no_chance(then.agreeing.len(), EXCEPTIONS, late, 1) {
            return Earlier::Still(then_count.get());
        }
        // In proportion, if not all were looked at.
        let fitting = then.agreeing.len() * now.elsewhere.len() / all.max(1);
        found.push((then_count.get(), fitting));
        left = then.elsewhere;
        if !is_no_chance(now.keys().min(STEP_KEYS), EXCEPTIONS, left.len(), 1) {
            found.sort_unstable();
            return Earlier::All(found);
        }
    }
    Earlier::None
}

/// For each partition, the offset behind which the newer half of these are.
fn newest_half(sightings: &[&Sighting]) -> HashMap<i32, i64> {
    let mut offsets: HashMap<i32, Vec<i64>> = HashMap::new();
    for sighting in sightings {
        offsets
            .entry(sighting.partition)
            .or_default()
            .push(sighting.offset);
    }
    let middle = offsets.into_iter().map(|(partition, mut offsets)| {
        let at = offsets.len() / 2;
        let (_, middle, _) = offsets.select_nth_unstable(at);
        (partition, *middle)
    });
    middle.collect()
}

/// The clients of the catalogue whose rule fits best, if one fits more keys than the profile does, and more than
/// by chance.
fn better(count: PartitionCount, seen: &[Sighting], than: Votes) -> Disagreement {
    let entries = || {
        catalogue::entries().filter(|entry| matches!(entry.profile.keyed, KeyedRule::Hashed { .. }))
    };
    let tests = entries().count();
    let mut best = Votes {
        keys: than.keys,
        agreeing: than.agreeing,
    };
    let mut clients = Vec::new();
    for entry in entries() {
        let comparison = Comparison::of(&entry.profile, count, seen);
        let votes = comparison.votes();
        if votes.agreeing < best.agreeing || !comparison.is_meant(tests) {
            continue;
        }
        if votes.agreeing > best.agreeing {
            clients.clear();
        }
        // The profile itself is not better than itself. One of each client will do.
        if votes.agreeing > than.agreeing {
            best = votes;
            let is_of = |id: &&str| id.split('/').next() == Some(entry.client());
            if !clients.iter().any(is_of) {
                clients.push(entry.id);
            }
        }
    }
    if clients.is_empty() {
        Disagreement::Unknown
    } else {
        Disagreement::Like {
            clients,
            votes: best,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(name: &str) -> Profile {
        catalogue::find(name).expect("known").profile
    }

    fn count(partitions: u32) -> PartitionCount {
        PartitionCount::new(partitions).expect("not zero")
    }

    fn key(number: usize) -> Box<[u8]> {
        format!("user-{number}").into_bytes().into()
    }

    /// These keys as a client writes them to so many partitions, one record after the other from an offset on.
    fn written(
        by: &str,
        partitions: u32,
        keys: std::ops::Range<usize>,
        from: i64,
    ) -> Vec<Sighting> {
        let profile = profile(by);
        (from..)
            .zip(keys)
            .map(|(offset, number)| Sighting {
                key: key(number),
                partition: profile
                    .place(Some(&key(number)), count(partitions))
                    .partition()
                    .expect("pinned"),
                offset,
            })
            .collect()
    }

    #[test]
    fn the_same_rule_agrees_and_another_does_not() {
        let seen = written("ruby-kafka", 12, 0..100, 0);
        let votes = Votes {
            keys: 100,
            agreeing: 100,
        };
        assert_eq!(
            judge(&profile("ruby-kafka"), count(12), &seen),
            Finding::Agrees(votes)
        );
        let Finding::Disagrees {
            votes: ours,
            why:
                Disagreement::Like {
                    clients,
                    votes: best,
                },
        } = judge(&profile("java"), count(12), &seen)
        else {
            panic!("java is not ruby-kafka");
        };
        assert!(ours.agreeing < 30, "{ours:?}");
        assert_eq!(best, votes);
        assert!(clients.contains(&"ruby-kafka/crc32"), "{clients:?}");
        assert!(!clients.iter().any(|client| client.starts_with("java/")));
    }

    #[test]
    fn a_few_keys_decide_only_when_they_are_all_elsewhere() {
        for keys in [0, 1, 3, 5] {
            let seen = written("java", 12, 0..keys, 0);
            let finding = judge(&profile("java"), count(12), &seen);
            assert!(
                matches!(finding, Finding::Undecidable(_)),
                "{keys}: {finding:?}"
            );
        }
        let wrong = |keys| {
            let mut seen = written("java", 12, 0..keys, 0);
            seen.iter_mut()
                .for_each(|one| one.partition = (one.partition + 1) % 12);
            judge(&profile("java"), count(12), &seen)
        };
        assert!(matches!(wrong(3), Finding::Undecidable(_)));
        assert!(matches!(wrong(4), Finding::Disagrees { .. }));
        // One partition proves nothing.
        let seen = written("java", 1, 0..1000, 0);
        let finding = judge(&profile("ruby-kafka"), count(1), &seen);
        assert!(matches!(finding, Finding::Undecidable(_)));
    }

    #[test]
    fn some_placed_by_hand_are_no_disagreement_and_many_are() {
        let by_hand = |hundredths: usize| {
            let mut seen = written("java", 12, 0..500, 0);
            for one in seen.iter_mut().take(5 * hundredths) {
                one.partition = (one.partition + 5) % 12;
            }
            judge(&profile("java"), count(12), &seen)
        };
        assert!(matches!(by_hand(2), Finding::Agrees(_)));
        assert_eq!(
            by_hand(10),
            Finding::Disagrees {
                votes: Votes {
                    keys: 500,
                    agreeing: 450
                },
                why: Disagreement::Unknown
            }
        );
    }

    #[test]
    fn keys_from_before_the_topic_grew_are_told_apart() {
        let mut seen = written("java", 8, 0..200, 0);
        seen.extend(written("java", 10, 100..250, 200));
        seen.extend(written("java", 12, 200..400, 400));
        let Finding::OlderThanExpansion { counts, .. } = judge(&profile("java"), count(12), &seen)
        else {
            panic!("they are older");
        };
        let counts: Vec<_> = counts.iter().map(|(count, _)| *count).collect();
        assert_eq!(counts, [8, 10]);
        // Grown, and not written to since.
        let seen = written("java", 8, 0..200, 0);
        let finding = judge(&profile("java"), count(12), &seen);
        assert!(matches!(finding, Finding::OlderThanExpansion { .. }));
        // The other rule does not fit at eight partitions either.
        let finding = judge(&profile("ruby-kafka"), count(12), &seen);
        assert!(matches!(finding, Finding::Disagrees { .. }));
    }

    #[test]
    fn a_producer_that_still_counts_fewer_is_a_disagreement() {
        // In turns, so that neither is older.
        let mut seen = written("java", 8, 0..200, 0);
        seen.extend(written("java", 12, 200..400, 0));
        let finding = judge(&profile("java"), count(12), &seen);
        let Finding::Disagrees { why, .. } = finding else {
            panic!("{finding:?}");
        };
        assert_eq!(why, Disagreement::StillCounts(8));
    }

    #[test]
    fn a_rule_that_pins_nothing_is_not_judged() {
        let seen = written("java", 12, 0..100, 0);
        let finding = judge(&profile("kafka-go"), count(12), &seen);
        assert_eq!(finding, Finding::Undecidable(Votes::default()));
    }
}
