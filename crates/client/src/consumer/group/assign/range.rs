//! Topic by topic, neighbours together.

use super::roster::{Owners, Roster};

/// Each topic's partitions are cut into as many runs as there are members that want it; the first ones are one longer
/// if it does not come out even. Topics of one size that the same members want are cut alike.
pub(super) fn assign(roster: &Roster<'_>) -> Owners {
    let mut owners = roster.nobody();
    let order = roster.static_first();
    let mut place = vec![0; order.len()];
    for (at, &member) in order.iter().enumerate() {
        place[member] = at;
    }
    for topic in &roster.topics {
        let mut members = topic.wanted_by.clone();
        members.sort_by_key(|&member| place[member]);
        let (each, longer) = (topic.count / members.len(), topic.count % members.len());
        let mut next = topic.first;
        for (at, &member) in members.iter().enumerate() {
            let end = next + each + usize::from(at < longer);
            owners[next..end].fill(Some(member));
            next = end;
        }
    }
    owners
}
