//! How the leader of a classic group deals partitions out, and what members tell it for that.
//!
//! - [`assign`]: the assignors, which give what those of Java's client of the same name give.
//! - [`encode_subscription`] to [`decode_assignment`]: what is in the bytes that a group only hands on.
//!
//! Members' racks are passed on, as Java's leader can use them (KIP-881); a leader of ours deals out as if there were
//! none.

mod metadata;
mod range;
mod roster;
mod round_robin;
mod sticky;

#[cfg(test)]
mod java_rows;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use self::roster::Roster;
use super::Assignor;
use crate::TopicPartition;

pub(crate) use metadata::{
    decode_assignment, decode_subscription, encode_assignment, encode_subscription,
};

/// What a member told the group's leader.
#[derive(Clone, Debug)]
pub(crate) struct MemberSubscription {
    pub(crate) member_id: Arc<str>,
    pub(crate) instance_id: Option<Arc<str>>,
    #[allow(dead_code, reason = "no assignor here looks at racks")]
    pub(crate) rack: Option<Arc<str>>,
    pub(crate) topics: Vec<Arc<str>>,
    pub(crate) owned: Vec<TopicPartition>,
    /// In which generation it had them; -1 if it does not say.
    pub(crate) generation: i32,
    #[allow(dead_code, reason = "what ours mean is in `owned` and `generation`")]
    pub(crate) user_data: Option<Bytes>,
}

/// Deals the partitions of all topics that members want out to those who want them. `counts` has the partition counts
/// by topic; topics that don't exist are missing. Every member has an entry in the result.
///
/// What members say need not be true: a partition that does not exist is given to no one, whoever says that it is
/// theirs.
pub(crate) fn assign(
    assignor: Assignor,
    members: &[MemberSubscription],
    counts: &BTreeMap<Arc<str>, i32>,
) -> BTreeMap<Arc<str>, Vec<TopicPartition>> {
    let roster = Roster::new(members, counts);
    let owners = match assignor {
        Assignor::Range => range::assign(&roster),
        Assignor::RoundRobin => round_robin::assign(&roster),
        Assignor::Sticky => sticky::assign(&roster),
        Assignor::CooperativeSticky => sticky::assign_cooperative(&roster),
    };
    roster.by_member(&owners)
}
