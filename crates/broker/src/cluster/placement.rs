//! Where a new partition's replicas go, by the rules of Kafka's striped
//! placement: spread over racks, then over the brokers of a rack, each
//! partition one further than the last; a broker that does not run is never
//! the first replica.

use std::collections::BTreeMap;

use super::random::Chance;
use super::{Node, NodeSpec};

/// Brokers of one rack that are in the same state, taken in turn.
#[derive(Debug, Default)]
struct Ring {
    brokers: Vec<i32>,
    /// Which one the current round begins with.
    start: usize,
    /// How many were taken in this round.
    taken: usize,
    round: usize,
}

impl Ring {
    fn next(&mut self, round: usize) -> Option<i32> {
        if self.brokers.is_empty() {
            return None;
        }
        if self.round != round {
            self.round = round;
            self.taken = 0;
            self.start = (self.start + 1) % self.brokers.len();
        }
        if self.taken == self.brokers.len() {
            return None;
        }
        let broker = self.brokers[(self.start + self.taken) % self.brokers.len()];
        self.taken += 1;
        Some(broker)
    }
}

#[derive(Debug, Default)]
struct Rack {
    running: Ring,
    stopped: Ring,
}

impl Rack {
    fn next(&mut self, round: usize) -> Option<i32> {
        self.running
            .next(round)
            .or_else(|| self.stopped.next(round))
    }
}

/// Places partition after partition. The replicas differ, and the first runs.
#[derive(Debug)]
pub(super) struct Placer<'a> {
    racks: Vec<Rack>,
    /// The rack that the next partition begins with.
    first_rack: usize,
    round: usize,
    running: usize,
    total: usize,
    chance: &'a mut Chance,
}

impl<'a> Placer<'a> {
    pub(super) fn new(nodes: &[Node], chance: &'a mut Chance) -> Self {
        // In the order of their names; nodes without a rack are one, the first.
        let mut racks: BTreeMap<Option<&str>, Rack> = BTreeMap::new();
        for node in nodes {
            let rack = racks.entry(node.rack.as_deref()).or_default();
            let ring = match node.running {
                true => &mut rack.running,
                false => &mut rack.stopped,
            };
            ring.brokers.push(node.id);
        }
        let mut racks: Vec<Rack> = racks.into_values().collect();
        for rack in &mut racks {
            for ring in [&mut rack.stopped, &mut rack.running] {
                if !ring.brokers.is_empty() {
                    ring.brokers.sort_unstable();
                    ring.start = chance.below(ring.brokers.len());
                }
            }
        }
        Self {
            first_rack: chance.below(racks.len().max(1)),
            racks,
            round: 0,
            running: nodes.iter().filter(|node| node.running).count(),
            total: nodes.len(),
            chance,
        }
    }

    /// The replicas of the next partition, or why there can be none.
    pub(super) fn place(&mut self, replicas: usize) -> Result<Vec<i32>, String> {
        if self.running == 0 {
            return Err("no node runs".to_owned());
        }
        if replicas == 0 || replicas > self.total {
            return Err(format!(
                "{replicas} replicas are wanted, and there are {} nodes",
                self.total
            ));
        }
        if self.round == self.running && self.running > 1 {
            // All first replicas were used: another order, so that the same
            // placements do not come again.
            self.shuffle();
            self.round = 0;
        }
        let count = self.racks.len();
        let begin = self.first_rack % count;
        let (leader_rack, leader) = (0..count)
            .map(|step| (begin + step) % count)
            .find_map(|rack| Some((rack, self.racks[rack].running.next(self.round)?)))
            .ok_or("no node runs")?;
        let mut placed = vec![leader];
        let mut rack = begin;
        // The leader's rack had its turn in the first pass.
        let mut had_turn = Some(leader_rack);
        while placed.len() < replicas {
            if had_turn == Some(rack) {
                had_turn = None;
            } else if let Some(broker) = self.racks[rack].next(self.round) {
                placed.push(broker);
            }
            rack = (rack + 1) % count;
        }
        self.round += 1;
        self.first_rack = begin + 1;
        Ok(placed)
    }

    fn shuffle(&mut self) {
        self.chance.shuffle(&mut self.racks);
        for rack in &mut self.racks {
            self.chance.shuffle(&mut rack.running.brokers);
            self.chance.shuffle(&mut rack.stopped.brokers);
        }
    }
}

impl From<NodeSpec> for Node {
    fn from(spec: NodeSpec) -> Self {
        Self {
            id: spec.id,
            rack: spec.rack,
            running: true,
        }
    }
}
