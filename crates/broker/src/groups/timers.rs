//! What is due when.

use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

/// What happens when time has passed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Timer {
    /// A member was silent for too long, or was given an id and did not come back with it.
    Session { group: String, member: String },
    /// The members of a classic group had enough time to join its next generation.
    Join { group: String },
    /// The members of a classic group had enough time to ask for their assignment.
    Sync { group: String },
    /// A member of a consumer group had enough time to give partitions back.
    Rebalance { group: String, member: String },
    /// A member of a consumer group that speaks the classic protocol was told to join again.
    MemberJoin { group: String, member: String },
    /// A member of a consumer group that speaks the classic protocol has to ask for its assignment.
    MemberSync { group: String, member: String },
    /// Offsets may have expired.
    Expiry,
}

/// Timers, each of which runs once at most.
#[derive(Debug, Default)]
pub(super) struct Timers {
    due: BTreeMap<(Instant, u64), Timer>,
    /// Where each is in `due`.
    places: HashMap<Timer, (Instant, u64)>,
    /// So that timers of one instant keep their order.
    next: u64,
}

impl Timers {
    /// Sets a timer, or sets it anew.
    pub(super) fn set(&mut self, timer: Timer, at: Instant) {
        let place = (at, self.next);
        self.next += 1;
        if let Some(before) = self.places.insert(timer.clone(), place) {
            self.due.remove(&before);
        }
        self.due.insert(place, timer);
    }

    pub(super) fn is_set(&self, timer: &Timer) -> bool {
        self.places.contains_key(timer)
    }

    pub(super) fn cancel(&mut self, timer: &Timer) {
        if let Some(place) = self.places.remove(timer) {
            self.due.remove(&place);
        }
    }

    /// When the next one is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.due.first_key_value().map(|((at, _), _)| *at)
    }

    /// Takes out one that is due.
    pub(super) fn pop(&mut self, now: Instant) -> Option<Timer> {
        let first = self.due.first_entry()?;
        if first.key().0 > now {
            return None;
        }
        let timer = first.remove();
        self.places.remove(&timer);
        Some(timer)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn each_runs_once_and_the_last_word_counts() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let join = |group: &str| Timer::Join {
            group: group.to_owned(),
        };
        let mut timers = Timers::default();
        timers.set(join("a"), at(1));
        timers.set(join("b"), at(2));
        timers.set(join("c"), at(2));
        timers.set(join("a"), at(3));
        timers.cancel(&join("c"));
        assert!(timers.is_set(&join("a")) && !timers.is_set(&join("c")));
        assert_eq!(timers.next_due(), Some(at(2)));
        assert_eq!(timers.pop(at(1)), None);
        assert_eq!(timers.pop(at(9)), Some(join("b")));
        assert_eq!(timers.pop(at(9)), Some(join("a")));
        assert_eq!(timers.pop(at(9)), None);
        assert_eq!(timers.next_due(), None);
        assert!(!timers.is_set(&join("a")));
    }
}
