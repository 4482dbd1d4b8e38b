//! All partitions of all topics, in turn.

use super::roster::{Owners, Roster};

/// The members take one partition after the other; who does not want it is passed over, and the turn goes on from
/// there.
pub(super) fn assign(roster: &Roster<'_>) -> Owners {
    let mut owners = roster.nobody();
    let order = roster.static_first();
    let mut turn = order.iter().copied().cycle();
    for topic in &roster.topics {
        for owner in &mut owners[topic.partitions()] {
            // There is one: a topic that nobody wants is not in the roster.
            *owner = turn.find(|member| topic.wanted_by.binary_search(member).is_ok());
        }
    }
    owners
}
