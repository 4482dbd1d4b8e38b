//! Which partitions were moved while a group is balanced, from whom to whom.

use std::collections::{BTreeSet, HashMap};

/// Moves that are undone rather than crossed: if a partition of a topic went from one member to another, none of that topic
/// goes the other way; the one that went comes back.
#[derive(Debug, Default)]
pub(super) struct Moves {
    /// From whom at first, to whom at last.
    of: HashMap<usize, (usize, usize)>,
    /// Those of a topic between two members.
    between: HashMap<(usize, usize, usize), BTreeSet<usize>>,
}

impl Moves {
    /// The partition of the topic that comes back to `to`, if it should rather than this one go there.
    pub(super) fn instead(
        &self,
        topic: usize,
        partition: usize,
        from: usize,
        to: usize,
    ) -> Option<usize> {
        let from = self.of.get(&partition).map_or(from, |&(first, _)| first);
        self.between.get(&(topic, to, from))?.first().copied()
    }

    /// It moves.
    pub(super) fn record(&mut self, topic: usize, partition: usize, from: usize, to: usize) {
        let mut first = from;
        if let Some((origin, last)) = self.of.remove(&partition) {
            first = origin;
            if let Some(partitions) = self.between.get_mut(&(topic, origin, last)) {
                partitions.remove(&partition);
            }
        }
        if first != to {
            self.of.insert(partition, (first, to));
            let partitions = self.between.entry((topic, first, to)).or_default();
            partitions.insert(partition);
        }
    }
}
