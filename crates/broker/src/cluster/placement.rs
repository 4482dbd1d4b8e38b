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

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(racks: &[(i32, Option<&str>, bool)]) -> Vec<Node> {
        let nodes = racks.iter().map(|(id, rack, running)| Node {
            id: *id,
            rack: rack.map(str::to_owned),
            running: *running,
        });
        nodes.collect()
    }

    fn place(nodes: &[Node], seed: u64, count: usize, replicas: usize) -> Vec<Vec<i32>> {
        let mut chance = Chance::new(Some(seed));
        let mut placer = Placer::new(nodes, &mut chance);
        let placed = (0..count).map(|_| placer.place(replicas));
        placed.collect::<Result<_, _>>().expect("placed")
    }

    #[test]
    fn without_racks_each_partition_begins_one_further() {
        let nodes = nodes(&[1, 2, 3, 4, 5].map(|id| (id, None, true)));
        for seed in 0..50 {
            let placed = place(&nodes, seed, 5, 3);
            let first = placed[0][0];
            for (step, replicas) in (0..).zip(&placed) {
                let expected: Vec<i32> = (0..3).map(|it| (first - 1 + step + it) % 5 + 1).collect();
                assert_eq!(*replicas, expected, "seed {seed}, partition {step}");
            }
        }
        let starts: std::collections::BTreeSet<i32> = (0..50)
            .map(|seed| place(&nodes, seed, 1, 1)[0][0])
            .collect();
        assert_eq!(starts.len(), 5, "it begins anywhere");
    }

    #[test]
    fn a_second_round_has_another_order() {
        let nodes = nodes(&[1, 2, 3, 4, 5].map(|id| (id, None, true)));
        let differs = (0..20).filter(|&seed| {
            let placed = place(&nodes, seed, 10, 3);
            placed[..5] != placed[5..]
        });
        assert!(differs.count() > 15);
    }

    #[test]
    fn replicas_are_spread_over_racks() {
        let racks = [1, 2, 3, 4, 5, 6].map(|id| {
            let rack = ["a", "b", "c"][(id as usize - 1) / 2];
            (id, Some(rack), true)
        });
        let nodes = nodes(&racks);
        let rack_of = |id: i32| (id - 1) / 2;
        for seed in 0..50 {
            let placed = place(&nodes, seed, 6, 3);
            let mut led = [0; 7];
            for replicas in &placed {
                let racks: std::collections::BTreeSet<i32> =
                    replicas.iter().map(|&id| rack_of(id)).collect();
                assert_eq!(racks.len(), 3, "seed {seed}: {replicas:?}");
                led[replicas[0] as usize] += 1;
            }
            assert!(
                led[1..].iter().all(|&count| count <= 2),
                "seed {seed}: {led:?}"
            );
        }
        // More replicas than racks: two racks have two.
        for replicas in place(&nodes, 3, 6, 5) {
            let mut sorted = replicas.clone();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), 5, "{replicas:?}");
        }
    }

    #[test]
    fn a_stopped_node_is_never_the_first() {
        let nodes = nodes(&[
            (1, None, true),
            (2, None, false),
            (3, None, true),
            (4, None, false),
        ]);
        for seed in 0..50 {
            for replicas in place(&nodes, seed, 20, 3) {
                assert!([1, 3].contains(&replicas[0]), "{replicas:?}");
                assert!([1, 3].contains(&replicas[1]), "those that run come first");
            }
        }
    }

    #[test]
    fn a_single_node_takes_all() {
        let nodes = nodes(&[(7, None, true)]);
        assert_eq!(place(&nodes, 1, 100, 1), vec![vec![7]; 100]);
        let mut chance = Chance::new(Some(1));
        Placer::new(&nodes, &mut chance)
            .place(2)
            .expect_err("too many");
        Placer::new(&[], &mut chance)
            .place(1)
            .expect_err("nobody runs");
    }
}
