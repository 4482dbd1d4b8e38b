//! For groups whose members want different topics: partitions are dealt to whoever has the fewest, and then moved as
//! long as that makes it more even.

use super::super::roster::{Owners, Roster};
use super::Claims;
use super::moves::Moves;

/// What members had and still want stays with them; what is left goes, scarcest topics first, to who has the fewest.
/// Then partitions move from members to others that have at least two fewer: first only those that had no owner, unless
/// somebody gave up a topic anyway.
pub(super) fn assign(roster: &Roster<'_>, claims: &Claims) -> Owners {
    let mut table = Table::new(roster, claims);
    let gave_up = table.keep_owned();
    let all = scarcest_first(roster);
    let mut unowned = all.clone();
    unowned.retain(|&partition| table.owners[partition].is_none());
    for &partition in &unowned {
        if let Some(member) = table.poorest(table.topic_of[partition]) {
            table.give(partition, member);
        }
    }
    if !gave_up {
        table.even_out(&unowned);
    }
    table.even_out(&all);
    table.owners
}

/// All partitions, those of the topics that the fewest want first.
fn scarcest_first(roster: &Roster<'_>) -> Vec<usize> {
    let mut topics: Vec<usize> = (0..roster.topics.len()).collect();
    topics.sort_by_key(|&topic| (roster.topics[topic].wanted_by.len(), topic));
    let partitions = topics.into_iter();
    partitions
        .flat_map(|topic| roster.topics[topic].partitions())
        .collect()
}

/// Who has what, while it changes.
struct Table<'a> {
    roster: &'a Roster<'a>,
    claims: &'a Claims,
    topic_of: Vec<usize>,
    owners: Owners,
    /// How many partitions each member has.
    has: Vec<usize>,
    last_generation: i32,
    moves: Moves,
}

impl<'a> Table<'a> {
    fn new(roster: &'a Roster<'a>, claims: &'a Claims) -> Self {
        let mut topic_of = vec![0; roster.total];
        for (at, topic) in roster.topics.iter().enumerate() {
            topic_of[topic.partitions()].fill(at);
        }
        let generations = roster.members.iter().map(|member| member.generation);
        Self {
            roster,
            claims,
            topic_of,
            owners: roster.nobody(),
            has: vec![0; roster.members.len()],
            last_generation: generations.max().unwrap_or(-1),
            moves: Moves::default(),
        }
    }

    /// Members keep what they had and still want. Says whether there was anything that its member does not want any more.
    fn keep_owned(&mut self) -> bool {
        let mut gave_up = false;
        for partition in 0..self.roster.total {
            if let Some(member) = self.claims.owner(partition) {
                if self.wants(member, self.topic_of[partition]) {
                    self.give(partition, member);
                } else {
                    gave_up = true;
                }
            }
        }
        gave_up
    }

    fn wants(&self, member: usize, topic: usize) -> bool {
        self.roster.wants[member].binary_search(&topic).is_ok()
    }

    /// Who of those that want the topic has the fewest.
    fn poorest(&self, topic: usize) -> Option<usize> {
        let wanted_by = self.roster.topics[topic].wanted_by.iter().copied();
        wanted_by.min_by_key(|&member| (self.has[member], member))
    }

    /// From whoever has it, if anyone does, to this member.
    fn give(&mut self, partition: usize, member: usize) {
        if let Some(before) = self.owners[partition].replace(member) {
            self.has[before] -= 1;
        }
        self.has[member] += 1;
    }

    /// Moves some of these until none of them can make it more even. Each move is from a member to one that has at least
    /// two fewer, so it ends.
    fn even_out(&mut self, partitions: &[usize]) {
        let mut moved = true;
        while moved {
            moved = false;
            for &partition in partitions {
                moved |= self.improve(partition);
            }
        }
    }

    /// Moves the partition, or another one of its topic in its stead, if that makes it more even.
    fn improve(&mut self, partition: usize) -> bool {
        let topic = self.topic_of[partition];
        let Some(owner) = self.owners[partition] else {
            return false;
        };
        // Better back to who had it before than to just anyone.
        let earlier = self
            .claims
            .earlier_owner(partition, self.last_generation)
            .filter(|&member| self.wants(member, topic))
            .filter(|&member| self.has[owner] > self.has[member] + 1);
        let Some(to) = earlier.or_else(|| self.poorest(topic)) else {
            return false;
        };
        if self.has[owner] <= self.has[to] + 1 {
            return false;
        }
        let instead = self.moves.instead(topic, partition, owner, to);
        let (partition, from) = instead
            .and_then(|other| Some((other, self.owners[other]?)))
            .filter(|&(_, from)| self.has[from] > self.has[to] + 1)
            .unwrap_or((partition, owner));
        self.moves.record(topic, partition, from, to);
        self.give(partition, to);
        true
    }
}
