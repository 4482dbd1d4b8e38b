//! What is sent: page views of some users on two days, by a seed.

use std::collections::{BTreeMap, BTreeSet};

/// How many users there are.
const USERS: usize = 500;
/// Milliseconds of a day.
const DAY: i64 = 86_400_000;
/// The first of the two days, counted from 1970. Long ago, so that no clock takes it for the future.
const FIRST_DAY: i64 = 19_844;
const DAYS: [&str; 2] = ["2024-05-01", "2024-05-02"];
const PAGES: [&str; 4] = ["/", "/search", "/cart", "/help"];

/// A day, as an index of [`DAYS`].
pub(super) type Day = usize;
/// Page views by user and day.
pub(super) type Counts = BTreeMap<(String, Day), u64>;

/// Who sends a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sender {
    Web,
    Mobile,
}

/// When it is sent: before the topic grows or after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Round {
    First,
    Second,
}

/// A page view of a user.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub(super) user: String,
    pub(super) sender: Sender,
    pub(super) round: Round,
    pub(super) timestamp: i64,
    pub(super) page: &'static str,
}

impl View {
    pub(super) fn value(&self) -> String {
        format!(r#"{{"page":"{}"}}"#, self.page)
    }
}

/// All that is sent.
#[derive(Debug)]
pub(super) struct Views {
    pub(super) users: Vec<String>,
    views: Vec<View>,
}

impl Views {
    /// The same seed gives the same users and views.
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let mut users = BTreeSet::new();
        while users.len() < USERS {
            users.insert(1_000 + random.below(1_000_000));
        }
        let users: Vec<String> = users.into_iter().map(|id| format!("user-{id}")).collect();
        // The second day has a morning, before the topic grows, and an evening after.
        let parts = [
            (Round::First, 0, DAY),
            (Round::First, DAY, DAY / 2),
            (Round::Second, DAY + DAY / 2, DAY / 2),
        ];
        let mut views = Vec::new();
        for (round, start, length) in parts {
            for user in &users {
                for sender in [Sender::Web, Sender::Mobile] {
                    for _ in 0..=random.below(3) {
                        let at = start + random.below(length.unsigned_abs()) as i64;
                        views.push(View {
                            user: user.clone(),
                            sender,
                            round,
                            timestamp: FIRST_DAY * DAY + at,
                            page: PAGES[random.below(PAGES.len() as u64) as usize],
                        });
                    }
                }
            }
        }
        views.sort_by_key(|view| view.timestamp);
        Self { users, views }
    }

    /// What a service sends in a round, in the order of time.
    pub(super) fn of(&self, sender: Sender, round: Round) -> impl Iterator<Item = &View> {
        let of = move |view: &&View| view.sender == sender && view.round == round;
        self.views.iter().filter(of)
    }

    /// The right counts after these rounds.
    pub(super) fn counts(&self, rounds: &[Round]) -> Counts {
        let mut counts = Counts::new();
        for view in &self.views {
            if rounds.contains(&view.round)
                && let Some(day) = day(view.timestamp)
            {
                *counts.entry((view.user.clone(), day)).or_default() += 1;
            }
        }
        counts
    }
}

/// The day of a timestamp, if it is one of the two.
pub(super) fn day(timestamp: i64) -> Option<Day> {
    let day = usize::try_from(timestamp.div_euclid(DAY) - FIRST_DAY).ok();
    day.filter(|&day| day < DAYS.len())
}

pub(super) fn day_name(day: Day) -> &'static str {
    DAYS.get(day).copied().unwrap_or("another day")
}

/// SplitMix64: as good as this needs, and the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_views_of_all_users_on_both_days() {
        let (one, same, other) = (Views::new(7), Views::new(7), Views::new(8));
        assert_eq!(one.users, same.users);
        assert_ne!(one.users, other.users);
        assert_eq!(one.users.len(), USERS);
        let counts = one.counts(&[Round::First]);
        assert_eq!(counts, same.counts(&[Round::First]));
        // Each user has views on both days, of both services.
        assert_eq!(counts.len(), USERS * DAYS.len());
        assert!(counts.values().all(|count| (2..=6).contains(count)));
        let all: u64 = one.counts(&[Round::First, Round::Second]).values().sum();
        assert_eq!(all, one.views.len() as u64);
        assert!(
            one.of(Sender::Web, Round::Second)
                .all(|v| day(v.timestamp) == Some(1))
        );
        assert_eq!(day(0), None);
    }

    #[test]
    fn days_have_their_dates() {
        // 2024-05-01T00:00:00Z
        assert_eq!(FIRST_DAY * DAY, 1_714_521_600_000);
    }
}
