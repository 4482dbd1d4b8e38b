//! Whose each partition was, judged by what all members say.

use std::collections::HashMap;

use super::super::roster::{Owners, Roster};

/// What members say that they had. It can be out of date: a member that missed a generation has heard nothing of what
/// was given to others since. The later generation counts; if two say the same of one generation, neither is believed.
#[derive(Debug)]
pub(super) struct Claims {
    owners: Owners,
    by: Vec<Vec<Claim>>,
}

/// A member had a partition in a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Claim {
    generation: i32,
    member: usize,
}

impl Claims {
    pub(super) fn new(roster: &Roster<'_>) -> Self {
        let topics: HashMap<&str, usize> = roster
            .topics
            .iter()
            .enumerate()
            .map(|(at, topic)| (&**topic.name, at))
            .collect();
        let mut by: Vec<Vec<Claim>> = vec![Vec::new(); roster.total];
        for (member, subscription) in roster.members.iter().enumerate() {
            let claim = Claim {
                generation: subscription.generation,
                member,
            };
            for owned in &subscription.owned {
                let topic = topics.get(&*owned.topic).map(|&at| &roster.topics[at]);
                let partition = topic.zip(usize::try_from(owned.partition).ok());
                let Some((topic, number)) = partition.filter(|(topic, it)| *it < topic.count)
                else {
                    continue;
                };
                let claims = &mut by[topic.first + number];
                if claims.last() != Some(&claim) {
                    claims.push(claim);
                }
            }
        }
        for claims in &mut by {
            claims.sort_unstable_by(|a, b| b.cmp(a));
        }
        let owners = by.iter().map(|claims| match claims[..] {
            [first, second, ..] if first.generation == second.generation => None,
            [first, ..] => Some(first.member),
            [] => None,
        });
        Self {
            owners: owners.collect(),
            by,
        }
    }

    /// Whose it was, if that is clear.
    pub(super) fn owner(&self, partition: usize) -> Option<usize> {
        self.owners[partition]
    }

    /// Whether anyone says that it was theirs.
    pub(super) fn is_claimed(&self, partition: usize) -> bool {
        !self.by[partition].is_empty()
    }

    /// Who had it before the last generation, by the latest that is heard of it.
    pub(super) fn earlier_owner(&self, partition: usize, last_generation: i32) -> Option<usize> {
        self.by[partition]
            .iter()
            .filter(|claim| claim.generation < last_generation)
            .max_by_key(|claim| (claim.generation, std::cmp::Reverse(claim.member)))
            .map(|claim| claim.member)
    }
}
