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
}

impl Default for SpreadTuning {
    fn default() -> Self {
        Self {
            adaptive: true,
            availability_timeout: None,
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
        let available = self.available(topic);
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
