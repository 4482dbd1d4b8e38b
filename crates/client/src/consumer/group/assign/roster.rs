//! A group's members, topics and partitions by numbers.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::MemberSubscription;
use crate::TopicPartition;

/// Who gets each partition. `None`: nobody, for now.
pub(super) type Owners = Vec<Option<usize>>;

/// The members in the order of their ids, the topics that any of them wants and that exist in the order of their
/// names, and their partitions, topic by topic.
#[derive(Debug)]
pub(super) struct Roster<'a> {
    pub(super) members: Vec<&'a MemberSubscription>,
    pub(super) topics: Vec<Topic<'a>>,
    /// What each member wants, in order.
    pub(super) wants: Vec<Vec<usize>>,
    /// How many partitions there are.
    pub(super) total: usize,
}

/// A topic that someone wants.
#[derive(Debug)]
pub(super) struct Topic<'a> {
    pub(super) name: &'a Arc<str>,
    /// The number of its partition 0 among all.
    pub(super) first: usize,
    pub(super) count: usize,
    /// Who wants it, in order.
    pub(super) wanted_by: Vec<usize>,
}

impl Topic<'_> {
    /// Its partitions' numbers among all.
    pub(super) fn partitions(&self) -> Range<usize> {
        self.first..self.first + self.count
    }
}

impl<'a> Roster<'a> {
    pub(super) fn new(
        members: &'a [MemberSubscription],
        counts: &'a BTreeMap<Arc<str>, i32>,
    ) -> Self {
        let mut members: Vec<&MemberSubscription> = members.iter().collect();
        members.sort_by(|a, b| a.member_id.cmp(&b.member_id));
        members.dedup_by(|a, b| a.member_id == b.member_id);

        let mut wanted: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (member, subscription) in members.iter().enumerate() {
            for topic in &subscription.topics {
                let wanted_by = wanted.entry(topic).or_default();
                if wanted_by.last() != Some(&member) {
                    wanted_by.push(member);
                }
            }
        }
        let mut topics = Vec::new();
        let mut wants = vec![Vec::new(); members.len()];
        let mut total = 0;
        for (name, count) in counts {
            let count = usize::try_from(*count).unwrap_or(0);
            let Some(wanted_by) = wanted.remove(&**name).filter(|_| count > 0) else {
                continue;
            };
            for &member in &wanted_by {
                wants[member].push(topics.len());
            }
            topics.push(Topic {
                name,
                first: total,
                count,
                wanted_by,
            });
            total += count;
        }
        Self {
            members,
            topics,
            wants,
            total,
        }
    }

    /// Nobody has anything.
    pub(super) fn nobody(&self) -> Owners {
        vec![None; self.total]
    }

    /// The members in Java's order for assignors that are not sticky: static ones first, by their instance ids, as
    /// those stay when a member is started again (KIP-345).
    pub(super) fn static_first(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.members.len()).collect();
        order.sort_by(|&a, &b| {
            let (a, b) = (self.members[a], self.members[b]);
            match (&a.instance_id, &b.instance_id) {
                (Some(first), Some(second)) => first.cmp(second),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => a.member_id.cmp(&b.member_id),
            }
        });
        order
    }

    /// What each member gets, topic by topic.
    pub(super) fn by_member(&self, owners: &Owners) -> BTreeMap<Arc<str>, Vec<TopicPartition>> {
        let mut dealt: Vec<Vec<TopicPartition>> = vec![Vec::new(); self.members.len()];
        for topic in &self.topics {
            let owners = &owners[topic.partitions()];
            for (partition, owner) in (0..).zip(owners) {
                if let Some(owner) = owner {
                    dealt[*owner].push(TopicPartition::new(topic.name.clone(), partition));
                }
            }
        }
        let ids = self.members.iter().map(|member| member.member_id.clone());
        ids.zip(dealt).collect()
    }
}
