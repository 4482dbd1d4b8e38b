//! The assignors of consumer groups.
//!
//! - `uniform`: as many partitions for everybody as can be, and as few moves as that takes.
//! - `range`: the same neighbours of each topic for everybody, so that topics of one partition count can be joined.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use copart_protocol::Uuid;

use super::member::Assignment;

/// A member, as assignors see it.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) id: String,
    pub(super) instance: Option<String>,
    /// The topics that it wants and that are there.
    pub(super) topics: BTreeSet<Uuid>,
    /// What it is to have so far.
    pub(super) target: Assignment,
}

/// An assignor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Assignor {
    #[default]
    Uniform,
    Range,
}

impl Assignor {
    /// The first is the one that is taken if no member says otherwise.
    const ALL: [Self; 2] = [Self::Uniform, Self::Range];

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Range => "range",
        }
    }

    /// What each member is to have, by its id. `partitions` has the topics' partition counts.
    pub(super) fn assign(
        self,
        members: &[Candidate],
        partitions: &BTreeMap<Uuid, i32>,
    ) -> HashMap<String, Assignment> {
        match self {
            Self::Uniform => uniform(members, partitions),
            Self::Range => range(members, partitions),
        }
    }
}

fn range(members: &[Candidate], partitions: &BTreeMap<Uuid, i32>) -> HashMap<String, Assignment> {
    let mut assigned: HashMap<String, Assignment> = members
        .iter()
        .map(|member| (member.id.clone(), Assignment::new()))
        .collect();
    // Static members by the name that they keep.
    let mut ordered: Vec<&Candidate> = members.iter().collect();
    ordered.sort_by_key(|member| {
        (
            member.instance.is_none(),
            member.instance.as_ref(),
            &member.id,
        )
    });
    for (topic, count) in partitions {
        let wanting: Vec<_> = ordered
            .iter()
            .filter(|it| it.topics.contains(topic))
            .collect();
        let members = i32::try_from(wanting.len()).unwrap_or(i32::MAX);
        if members == 0 {
            continue;
        }
        let (each, extra) = (count / members, count % members);
        let mut next = 0;
        for (index, member) in (0..).zip(wanting) {
            let end = next + each + i32::from(index < extra);
            if let Some(assigned) = assigned.get_mut(&member.id)
                && next < end
            {
                assigned.insert(*topic, (next..end).collect());
            }
            next = end;
        }
    }
    assigned
}

/// Keeps what members have, gives the rest to whoever has least, and then moves single partitions as long as that
/// brings two members nearer to each other.
fn uniform(members: &[Candidate], partitions: &BTreeMap<Uuid, i32>) -> HashMap<String, Assignment> {
    let mut work = Uniform::new(members, partitions);
    work.keep();
    work.give();
    work.even_out();
    let assigned = work.assigned.into_iter();
    members
        .iter()
        .map(|it| it.id.clone())
        .zip(assigned)
        .collect()
}

struct Uniform<'a> {
    members: &'a [Candidate],
    partitions: &'a BTreeMap<Uuid, i32>,
    /// The members that want each topic, by their index.
    wanting: BTreeMap<Uuid, Vec<usize>>,
    assigned: Vec<Assignment>,
    /// How many partitions each has.
    loads: Vec<usize>,
    owners: HashMap<(Uuid, i32), usize>,
}

impl<'a> Uniform<'a> {
    fn new(members: &'a [Candidate], partitions: &'a BTreeMap<Uuid, i32>) -> Self {
        let wanting = partitions.keys().map(|topic| {
            let indexes = members.iter().enumerate();
            let indexes = indexes.filter(|(_, it)| it.topics.contains(topic));
            (*topic, indexes.map(|(index, _)| index).collect())
        });
        Self {
            members,
            partitions,
            wanting: wanting.collect(),
            assigned: vec![Assignment::new(); members.len()],
            loads: vec![0; members.len()],
            owners: HashMap::new(),
        }
    }

    fn put(&mut self, topic: Uuid, partition: i32, member: usize) {
        if let Some(before) = self.owners.insert((topic, partition), member) {
            self.loads[before] -= 1;
            if let Some(partitions) = self.assigned[before].get_mut(&topic) {
                partitions.remove(&partition);
                if partitions.is_empty() {
                    self.assigned[before].remove(&topic);
                }
            }
        }
        self.loads[member] += 1;
        self.assigned[member]
            .entry(topic)
            .or_default()
            .insert(partition);
    }

    fn keep(&mut self) {
        for (index, member) in self.members.iter().enumerate() {
            for (topic, partitions) in &member.target {
                let count = match member.topics.contains(topic) {
                    true => self.partitions.get(topic).copied().unwrap_or(0),
                    false => 0,
                };
                for partition in partitions {
                    let free = !self.owners.contains_key(&(*topic, *partition));
                    if free && *partition < count {
                        self.put(*topic, *partition, index);
                    }
                }
            }
        }
    }

    /// Topics that fewest want come first: the others have more choice.
    fn give(&mut self) {
        let mut topics: Vec<(usize, Uuid)> = self
            .wanting
            .iter()
            .filter(|(_, wanting)| !wanting.is_empty())
            .map(|(topic, wanting)| (wanting.len(), *topic))
            .collect();
        topics.sort_unstable();
        for (_, topic) in topics {
            let mut least: BTreeSet<(usize, usize)> = self.wanting[&topic]
                .iter()
                .map(|&member| (self.loads[member], member))
                .collect();
            for partition in 0..self.partitions[&topic] {
                if self.owners.contains_key(&(topic, partition)) {
                    continue;
                }
                if let Some((load, member)) = least.pop_first() {
                    self.put(topic, partition, member);
                    least.insert((load + 1, member));
                }
            }
        }
    }

    /// Each move makes the sum of the loads' squares smaller, so it ends.
    fn even_out(&mut self) {
        loop {
            let mut moved = false;
            for topic in self.wanting.keys().copied().collect::<Vec<_>>() {
                moved |= self.even_out_topic(topic);
            }
            if !moved {
                return;
            }
        }
    }

    fn even_out_topic(&mut self, topic: Uuid) -> bool {
        let mut order: BTreeSet<(usize, usize)> = self.wanting[&topic]
            .iter()
            .map(|&member| (self.loads[member], member))
            .collect();
        let mut moved = false;
        // From whoever has most, of those that have any of this topic, to whoever has least.
        while let Some(&(least, to)) = order.first() {
            let from = order.iter().rev().take_while(|(load, _)| *load > least + 1);
            let from = from.copied().find_map(|(load, member)| {
                let last = self.assigned[member].get(&topic)?.last().copied()?;
                Some((load, member, last))
            });
            let Some((load, from, partition)) = from else {
                return moved;
            };
            order.remove(&(least, to));
            order.remove(&(load, from));
            self.put(topic, partition, to);
            order.insert((least + 1, to));
            order.insert((load - 1, from));
            moved = true;
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Random;

    fn topic(number: u8) -> Uuid {
        Uuid([number; 16])
    }

    fn candidate(id: &str, topics: &[u8], target: &[(u8, &[i32])]) -> Candidate {
        Candidate {
            id: id.to_owned(),
            instance: None,
            topics: topics.iter().copied().map(topic).collect(),
            target: target
                .iter()
                .map(|(number, partitions)| (topic(*number), partitions.iter().copied().collect()))
                .collect(),
        }
    }

    fn counts(counts: &[(u8, i32)]) -> BTreeMap<Uuid, i32> {
        counts
            .iter()
            .map(|(number, count)| (topic(*number), *count))
            .collect()
    }

    fn size(assignment: &Assignment) -> usize {
        assignment.values().map(BTreeSet::len).sum()
    }

    #[test]
    fn range_gives_neighbours_of_each_topic() {
        let members = [
            candidate("b", &[1, 2], &[]),
            candidate("a", &[1, 2], &[]),
            candidate("c", &[2], &[]),
        ];
        let assigned = Assignor::Range.assign(&members, &counts(&[(1, 3), (2, 3)]));
        assert_eq!(
            assigned["a"],
            candidate("", &[], &[(1, &[0, 1]), (2, &[0])]).target
        );
        assert_eq!(
            assigned["b"],
            candidate("", &[], &[(1, &[2]), (2, &[1])]).target
        );
        assert_eq!(assigned["c"], candidate("", &[], &[(2, &[2])]).target);
        let statics = [
            Candidate {
                instance: Some("2".to_owned()),
                ..candidate("a", &[1], &[])
            },
            Candidate {
                instance: Some("1".to_owned()),
                ..candidate("z", &[1], &[])
            },
        ];
        let assigned = Assignor::Range.assign(&statics, &counts(&[(1, 2)]));
        assert_eq!(assigned["z"], candidate("", &[], &[(1, &[0])]).target);
    }

    #[test]
    fn uniform_moves_no_more_than_it_must() {
        let members = [
            candidate("a", &[1], &[(1, &[0, 1, 2, 3])]),
            candidate("b", &[1], &[]),
        ];
        let assigned = Assignor::Uniform.assign(&members, &counts(&[(1, 4)]));
        assert_eq!(assigned["a"], candidate("", &[], &[(1, &[0, 1])]).target);
        // One leaves: the others keep what they have.
        let members = [
            candidate("a", &[1], &[(1, &[0, 1])]),
            candidate("b", &[1], &[(1, &[2])]),
        ];
        let assigned = Assignor::Uniform.assign(&members, &counts(&[(1, 4)]));
        assert_eq!(assigned["a"], candidate("", &[], &[(1, &[0, 1])]).target);
        assert_eq!(assigned["b"], candidate("", &[], &[(1, &[2, 3])]).target);
        // More members than partitions.
        let members = [
            candidate("a", &[1], &[(1, &[0])]),
            candidate("b", &[1], &[]),
        ];
        let assigned = Assignor::Uniform.assign(&members, &counts(&[(1, 1)]));
        assert_eq!((size(&assigned["a"]), size(&assigned["b"])), (1, 0));
    }

    /// Everything is assigned, to somebody who wants it; nobody has two fewer than a member that has something which
    /// it could have; and doing it again changes nothing.
    #[test]
    fn uniform_is_even_whatever_members_want() {
        for seed in 0..300 {
            let mut random = Random::new(seed);
            let topics: Vec<(u8, i32)> = (0..1 + random.below(5) as u8)
                .map(|number| (number, 1 + random.below(9) as i32))
                .collect();
            let mut members: Vec<Candidate> = (0..1 + random.below(6))
                .map(|index| {
                    let wanted: Vec<u8> = topics
                        .iter()
                        .map(|(number, _)| *number)
                        .filter(|_| random.below(3) > 0)
                        .collect();
                    candidate(&format!("m{index}"), &wanted, &[(0, &[0, 1, 2])])
                })
                .collect();
            let partitions = counts(&topics);
            let assigned = Assignor::Uniform.assign(&members, &partitions);
            let mut owners = BTreeMap::new();
            for (id, assignment) in &assigned {
                for (topic, partitions) in assignment {
                    for partition in partitions {
                        assert_eq!(owners.insert((*topic, *partition), id), None, "seed {seed}");
                    }
                }
            }
            for (topic, count) in &partitions {
                let wanting: Vec<&Candidate> = members
                    .iter()
                    .filter(|it| it.topics.contains(topic))
                    .collect();
                for partition in 0..*count {
                    let owner = owners.get(&(*topic, partition));
                    assert_eq!(owner.is_some(), !wanting.is_empty(), "seed {seed}");
                    let Some(owner) = owner else { continue };
                    assert!(wanting.iter().any(|it| it.id == **owner), "seed {seed}");
                    for other in &wanting {
                        let (has, could) = (size(&assigned[*owner]), size(&assigned[&other.id]));
                        assert!(has <= could + 1, "seed {seed}: {has} and {could}");
                    }
                }
            }
            for member in &mut members {
                member.target.clone_from(&assigned[&member.id]);
            }
            assert_eq!(
                Assignor::Uniform.assign(&members, &partitions),
                assigned,
                "seed {seed}"
            );
        }
    }
}
