//! As even as can be, and as few partitions as possible move.
//!
//! - [`claims`]: whose each partition was, judged by what all members say.
//! - [`even`]: for groups in which all want the same topics.
//! - [`uneven`]: for all others.

mod claims;
mod even;
mod moves;
mod uneven;

use std::collections::BTreeSet;

use self::claims::Claims;
use super::roster::{Owners, Roster};

/// What is fair, with what members had as far as that goes.
pub(super) fn assign(roster: &Roster<'_>) -> Owners {
    settle(roster, &Claims::new(roster))
}

/// As [`assign`], but nobody is given what another one may still read: it is let go of first, and is given out in the
/// generation after (KIP-429).
pub(super) fn assign_cooperative(roster: &Roster<'_>) -> Owners {
    let claims = Claims::new(roster);
    let mut owners = settle(roster, &claims);
    for (partition, owner) in owners.iter_mut().enumerate() {
        if *owner != claims.owner(partition) && claims.is_claimed(partition) {
            *owner = None;
        }
    }
    owners
}

fn settle(roster: &Roster<'_>, claims: &Claims) -> Owners {
    if roster.members.is_empty() {
        return roster.nobody();
    }
    if all_want_the_same(roster) {
        even::assign(roster, claims)
    } else {
        uneven::assign(roster, claims)
    }
}

/// Topics that don't exist count too, as in Java's: it makes no difference to what is fair.
fn all_want_the_same(roster: &Roster<'_>) -> bool {
    let mut topics = roster.members.iter().map(|member| {
        let topics = member.topics.iter();
        topics.collect::<BTreeSet<_>>()
    });
    let first = topics.next();
    topics.all(|topics| Some(topics) == first)
}
