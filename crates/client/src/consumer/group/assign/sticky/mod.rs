//! As even as can be, and as few partitions as possible move.
//!
//! - [`claims`]: whose each partition was, judged by what all members say.
//! - [`even`]: for groups in which all want the same topics.
//! - [`uneven`]: for all others.

mod claims;
mod even;
mod moves;
mod uneven;

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
    let all = roster.topics.len();
    if roster.wants.iter().all(|wants| wants.len() == all) {
        even::assign(roster, claims)
    } else {
        uneven::assign(roster, claims)
    }
}
