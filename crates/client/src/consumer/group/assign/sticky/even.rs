//! For groups in which all members want the same topics: how many each gets is known from the start.

use std::collections::VecDeque;

use super::super::roster::{Owners, Roster};
use super::Claims;

/// Each member gets the total divided by the members, and as many members as remain one more. First all keep what they
/// had up to that; then what is left goes round, topic by topic, to those who don't have enough, and at last to those
/// who may have one more.
pub(super) fn assign(roster: &Roster<'_>, claims: &Claims) -> Owners {
    let members = roster.members.len();
    let (min, with_one_more) = (roster.total / members, roster.total % members);
    let max = min + usize::from(with_one_more > 0);

    let mut owners = roster.nobody();
    let mut has = vec![0; members];
    // Members below `min`; members that may get one more than it; how many do.
    let mut below = Vec::new();
    let mut at_min = VecDeque::new();
    let mut above = 0;
    for (member, mut had) in had_by_member(roster, claims).into_iter().enumerate() {
        if had.len() < min {
            below.push(member);
        } else if had.len() >= max && above < with_one_more {
            had.truncate(max);
            above += 1;
        } else {
            had.truncate(min);
            at_min.push_back(member);
        }
        has[member] = had.len();
        for partition in had {
            owners[partition] = Some(member);
        }
    }
    if above == with_one_more {
        at_min.clear();
    }

    let mut turn = 0;
    for owner in owners.iter_mut().filter(|owner| owner.is_none()) {
        if turn >= below.len() {
            turn = 0;
        }
        let Some(&member) = below.get(turn) else {
            // The shares add up to the total: as long as a partition is left, somebody may have one more.
            *owner = at_min.pop_front();
            continue;
        };
        *owner = Some(member);
        has[member] += 1;
        if has[member] == min {
            below.remove(turn);
            at_min.push_back(member);
        } else {
            turn += 1;
        }
    }
    owners
}

/// What each member had, partition 0 of all topics first: what it keeps is spread over the topics.
fn had_by_member(roster: &Roster<'_>, claims: &Claims) -> Vec<Vec<usize>> {
    let mut had: Vec<Vec<(usize, usize)>> = vec![Vec::new(); roster.members.len()];
    for topic in &roster.topics {
        for number in 0..topic.count {
            if let Some(member) = claims.owner(topic.first + number) {
                had[member].push((number, topic.first + number));
            }
        }
    }
    let ordered = had.into_iter().map(|mut had| {
        had.sort_unstable();
        had.into_iter().map(|(_, partition)| partition).collect()
    });
    ordered.collect()
}
