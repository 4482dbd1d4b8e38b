//! Spreading records that no key pins, in the ways that Kafka's clients have.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use copart_partitioners::Spread;

use super::{Placed, TopicView};

/// How uniform spreading behaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpreadTuning {
    pub(crate) adaptive: bool,
    pub(crate) availability_timeout: Option<Duration>,
    pub(crate) rack_aware: bool,
}

impl Default for SpreadTuning {
    fn default() -> Self {
        Self {
            adaptive: true,
            availability_timeout: None,
            rack_aware: false,
        }
    }
}

/// What one topic of one producer remembers between records.
#[derive(Debug)]
pub(crate) struct Spreader {
    tuning: SpreadTuning,
    /// Bytes that a partition gets in a row.
    sticky_bytes: usize,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Where records go until it is another one's turn.
    current: Option<usize>,
    /// What went there since.
    bytes: usize,
    round: usize,
    /// For [`Spread::PerProcess`].
    fixed: usize,
}

impl Spreader {
    pub(crate) fn new(tuning: SpreadTuning, sticky_bytes: usize) -> Self {
        Self {
            tuning,
            sticky_bytes: sticky_bytes.max(1),
            state: Mutex::new(State {
                current: None,
                bytes: 0,
                // Many producers that start at once should not all start with partition 0.
                round: fastrand::usize(..usize::MAX / 2),
                fixed: fastrand::usize(..),
            }),
        }
    }

    /// The next record's partition. The topic has partitions.
    pub(crate) fn next(&self, by: Spread, topic: &TopicView<'_>) -> Placed {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let count = topic.partition_count();
        match by {
            Spread::RoundRobin => {
                // Past those without a leader; if none has one, it is the next one's turn all the same.
                for _ in 0..count {
                    state.round = state.round.wrapping_add(1);
                    if topic.leader(state.round % count).is_some() {
                        break;
                    }
                }
                Placed::fixed(state.round % count)
            }
            Spread::Random => Placed::fixed(random(topic)),
            Spread::PerProcess => Placed::fixed(state.fixed % count),
            Spread::Sticky | Spread::UniformSticky => {
                let current = match state.current.filter(|&current| current < count) {
                    Some(current) => current,
                    None => {
                        let next = match by {
                            Spread::UniformSticky => self.weighted(topic),
                            _ => random(topic),
                        };
                        state.current = Some(next);
                        state.bytes = 0;
                        next
                    }
                };
                Placed {
                    partition: current,
                    sticky: Some(by),
                }
            }
            // A way that this crate does not know yet: without a key, any will do.
            _ => Placed::fixed(random(topic)),
        }
    }

    /// A record went to the partition that [`Spreader::next`] gave. Only such records count: one with a key
    /// must not turn the sticky partition.
    pub(crate) fn appended(&self, by: Spread, partition: usize, bytes: usize, closed: bool) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.current != Some(partition) {
            return;
        }
        state.bytes += bytes;
        let over = match by {
            // Not in the middle of a batch, which would leave small ones behind; but not for ever either
            // (as in Java's BuiltInPartitioner).
            Spread::UniformSticky => {
                state.bytes >= self.sticky_bytes && (closed || state.bytes >= 2 * self.sticky_bytes)
            }
            _ => closed,
        };
        if over {
            state.current = None;
        }
    }

    /// One of those with the fewest batches waiting.
    pub(crate) fn least_backlog(&self, topic: &TopicView<'_>) -> usize {
        let available = self.available(topic);
        let least = available.iter().map(|&at| topic.backlog(at)).min();
        let best: Vec<_> = available
            .into_iter()
            .filter(|&at| Some(topic.backlog(at)) == least)
            .collect();
        best[fastrand::usize(..best.len())]
    }

    /// Partitions whose leaders take records; all of them, if none does.
    fn available(&self, topic: &TopicView<'_>) -> Vec<usize> {
        let takes = |&at: &usize| {
            topic.leader(at).is_some()
                && self
                    .tuning
                    .availability_timeout
                    .is_none_or(|timeout| topic.blocked(at).is_none_or(|blocked| blocked < timeout))
        };
        let all = 0..topic.partition_count();
        let available: Vec<_> = all.clone().filter(takes).collect();
        if available.is_empty() {
            all.collect()
        } else {
            available
        }
    }

    /// A partition by chance, a longer queue making it less likely (KIP-794).
    fn weighted(&self, topic: &TopicView<'_>) -> usize {
        let mut available = self.available(topic);
        if self.tuning.rack_aware && available.iter().any(|&at| topic.is_in_client_rack(at)) {
            available.retain(|&at| topic.is_in_client_rack(at));
        }
        let backlogs: Vec<_> = available.iter().map(|&at| topic.backlog(at)).collect();
        let longest = backlogs.iter().copied().max().unwrap_or(0);
        if !self.tuning.adaptive || backlogs.iter().all(|&backlog| backlog == longest) {
            return available[fastrand::usize(..available.len())];
        }
        // As in Java: the weight is how much shorter a queue is than the longest, plus one.
        let weight = |backlog: usize| longest + 1 - backlog;
        let total: usize = backlogs.iter().map(|&backlog| weight(backlog)).sum();
        let mut ticket = fastrand::usize(..total);
        for (&at, &backlog) in available.iter().zip(&backlogs) {
            if ticket < weight(backlog) {
                return at;
            }
            ticket -= weight(backlog);
        }
        available[0]
    }
}

/// A partition by chance, if it can be one that has a leader.
fn random(topic: &TopicView<'_>) -> usize {
    let count = topic.partition_count();
    let at = fastrand::usize(..count);
    if topic.leader(at).is_some() {
        return at;
    }
    let led: Vec<_> = (0..count)
        .filter(|&at| topic.leader(at).is_some())
        .collect();
    if led.is_empty() {
        at
    } else {
        led[fastrand::usize(..led.len())]
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use copart_protocol::Uuid;

    use super::*;
    use crate::Backoff;
    use crate::cluster::{Partition, Topic};
    use crate::producer::core::CoreConfig;
    use crate::producer::partitioner::Partitioning;
    use crate::producer::topic::TopicState;

    /// A topic whose partitions have these leaders.
    fn topic(leaders: &[Option<i32>]) -> TopicState {
        let topic = Topic {
            name: "t".into(),
            id: Uuid::ZERO,
            is_internal: false,
            partitions: (0..)
                .zip(leaders)
                .map(|(index, &leader)| Partition {
                    index,
                    leader,
                    leader_epoch: 0,
                    replicas: Vec::new(),
                    in_sync: Vec::new(),
                })
                .collect(),
        };
        let config = CoreConfig {
            batch_size: 1000,
            max_request_size: 1 << 20,
            linger: Duration::ZERO,
            delivery_timeout: Duration::from_secs(1),
            max_in_flight: 5,
            idempotent: true,
            compression: copart_protocol::records::Compression::NONE,
            backoff: Backoff::new(Duration::from_millis(1), Duration::from_millis(1)),
        };
        let interest = crate::cluster::Interest::for_tests();
        TopicState::new(&topic, Partitioning::uniform(), &Arc::new(config), interest)
    }

    fn choose(state: &TopicState, spreader: &Spreader, by: Spread) -> usize {
        let partitions = state.partitions();
        spreader.next(by, &state.view(&partitions)).partition
    }

    fn spreader() -> Spreader {
        Spreader::new(SpreadTuning::default(), 1000)
    }

    #[test]
    fn round_robin_takes_each_in_turn_and_leaves_out_those_without_leader() {
        let topic = topic(&[Some(1), None, Some(1), Some(2)]);
        let spreader = spreader();
        let mut counts = [0; 4];
        for _ in 0..300 {
            counts[choose(&topic, &spreader, Spread::RoundRobin)] += 1;
        }
        assert_eq!(counts, [100, 0, 100, 100]);
    }

    #[test]
    fn sticky_stays_until_the_batch_is_full() {
        let topic = topic(&[Some(1); 50]);
        let spreader = spreader();
        let first = choose(&topic, &spreader, Spread::Sticky);
        for _ in 0..20 {
            assert_eq!(choose(&topic, &spreader, Spread::Sticky), first);
            spreader.appended(Spread::Sticky, first, 500, false);
        }
        // What is appended elsewhere, by a key, turns nothing.
        spreader.appended(Spread::Sticky, (first + 1) % 50, 500, true);
        assert_eq!(choose(&topic, &spreader, Spread::Sticky), first);
        spreader.appended(Spread::Sticky, first, 500, true);
        let next: Vec<_> = (0..8)
            .map(|_| {
                let at = choose(&topic, &spreader, Spread::Sticky);
                spreader.appended(Spread::Sticky, at, 1, true);
                at
            })
            .collect();
        assert!(next.iter().any(|&at| at != first));
    }

    #[test]
    fn uniform_turns_after_enough_bytes_at_a_batch_end_or_twice_as_many() {
        let topic = topic(&[Some(1); 50]);
        let spreader = spreader();
        let turned = || spreader.state.lock().unwrap().current.is_none();
        let by = Spread::UniformSticky;
        let at = choose(&topic, &spreader, by);
        spreader.appended(by, at, 900, true);
        assert!(!turned(), "too few bytes");
        spreader.appended(by, at, 200, false);
        assert!(!turned(), "in the middle of a batch");
        spreader.appended(by, at, 200, true);
        assert!(turned());
        let at = choose(&topic, &spreader, by);
        spreader.appended(by, at, 2000, false);
        assert!(turned());
    }

    #[test]
    fn long_queues_get_less() {
        let topic = topic(&[Some(1), Some(1), None]);
        topic.partitions()[0].set_backlog(3);
        let spreader = spreader();
        let mut counts = [0; 3];
        for _ in 0..5000 {
            let at = choose(&topic, &spreader, Spread::UniformSticky);
            spreader.appended(Spread::UniformSticky, at, 5000, true);
            counts[at] += 1;
        }
        // Weights of one and four.
        assert!((800..1200).contains(&counts[0]), "{counts:?}");
        assert_eq!(counts[2], 0);
        let partitions = topic.partitions();
        assert_eq!(spreader.least_backlog(&topic.view(&partitions)), 1);
    }

    #[test]
    fn rack_awareness_stays_near_and_goes_far_when_nobody_near_leads() {
        let topic = topic(&[Some(1), Some(2), None, Some(3)]);
        let partitions = topic.partitions();
        partitions[1].set_near(true);
        partitions[2].set_near(true);
        let tuning = SpreadTuning {
            rack_aware: true,
            ..SpreadTuning::default()
        };
        let spreader = Spreader::new(tuning, 1000);
        let mut counts = [0; 4];
        let round = |counts: &mut [i32; 4]| {
            for _ in 0..200 {
                let at = choose(&topic, &spreader, Spread::UniformSticky);
                spreader.appended(Spread::UniformSticky, at, 5000, true);
                counts[at] += 1;
            }
        };
        round(&mut counts);
        assert_eq!(counts, [0, 200, 0, 0]);
        partitions[1].set_leader(crate::producer::topic::NO_LEADER);
        round(&mut counts);
        assert_eq!((counts[1], counts[2]), (200, 0));
        assert!(counts[0] > 50 && counts[3] > 50, "{counts:?}");
    }

    #[test]
    fn without_any_leader_records_still_have_a_place() {
        let topic = topic(&[None, None]);
        let spreader = spreader();
        for by in [
            Spread::Random,
            Spread::RoundRobin,
            Spread::Sticky,
            Spread::UniformSticky,
            Spread::PerProcess,
        ] {
            assert!(choose(&topic, &spreader, by) < 2);
        }
    }
}
