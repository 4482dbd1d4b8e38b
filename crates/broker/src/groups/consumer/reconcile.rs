//! The next step of a member towards its assignment.
//!
//! A member first gives back what it is to lose, and says so; then it moves to the assignment's epoch with whatever
//! nobody else has; and then it gets the rest, as others give it back. So no partition has two owners at any time.

use std::collections::BTreeSet;

use copart_protocol::Uuid;

use super::member::{Assignment, Current, Member, MemberState};

/// What the step depends on, beside the member.
pub(super) struct Step<'a, F> {
    pub(super) target_epoch: i32,
    pub(super) target: &'a Assignment,
    /// What the member says that it has, if it says.
    pub(super) owned: Option<&'a Assignment>,
    /// The topics that it wants now. The target may be older.
    pub(super) subscribed: &'a BTreeSet<Uuid>,
    pub(super) subscription_changed: bool,
    /// Does another member have this partition?
    pub(super) taken: F,
}

impl<F: Fn(Uuid, i32) -> bool> Step<'_, F> {
    /// The member after the step.
    pub(super) fn take(&self, member: &Member) -> Member {
        match member.state {
            MemberState::Stable if member.epoch != self.target_epoch => self.advance(member),
            MemberState::UnreleasedPartitions => self.advance(member),
            MemberState::UnrevokedPartitions if !self.owns(&member.revoking) => {
                self.advance(member)
            }
            // It waits, or there is nothing to do: unless it does not want some topic any more.
            MemberState::Stable | MemberState::UnrevokedPartitions if self.subscription_changed => {
                self.drop_unwanted(member)
            }
            MemberState::Stable | MemberState::UnrevokedPartitions => member.clone(),
        }
    }

    /// Does the member still have any of these? It does until it says otherwise.
    fn owns(&self, revoking: &Current) -> bool {
        let Some(owned) = self.owned else {
            return true;
        };
        owned.iter().any(|(topic, partitions)| {
            let revoking = revoking.get(topic);
            revoking.is_some_and(|it| {
                partitions
                    .iter()
                    .any(|partition| it.contains_key(partition))
            })
        })
    }

    fn advance(&self, member: &Member) -> Member {
        let mut keeps = Current::new();
        let mut revokes = Current::new();
        for (topic, partitions) in &member.assigned {
            for (partition, epoch) in partitions {
                let into = match self.wants(*topic, *partition) {
                    true => &mut keeps,
                    false => &mut revokes,
                };
                into.entry(*topic).or_default().insert(*partition, *epoch);
            }
        }
        let mut next = member.clone();
        if !revokes.is_empty() && self.owns(&revokes) {
            next.state = MemberState::UnrevokedPartitions;
            next.assigned = keeps;
            next.revoking = revokes;
            return next;
        }
        let mut unreleased = false;
        for (topic, partitions) in self.target {
            if !self.subscribed.contains(topic) {
                continue;
            }
            for partition in partitions {
                let has = keeps
                    .get(topic)
                    .is_some_and(|it| it.contains_key(partition));
                if !has && (self.taken)(*topic, *partition) {
                    unreleased = true;
                } else if !has {
                    let into = keeps.entry(*topic).or_default();
                    into.insert(*partition, self.target_epoch);
                }
            }
        }
        next.state = match unreleased {
            true => MemberState::UnreleasedPartitions,
            false => MemberState::Stable,
        };
        if next.epoch != self.target_epoch {
            next.previous_epoch = next.epoch;
            next.epoch = self.target_epoch;
        }
        next.assigned = keeps;
        next.revoking = Current::new();
        next
    }

    fn wants(&self, topic: Uuid, partition: i32) -> bool {
        let target = self.target.get(&topic);
        self.subscribed.contains(&topic) && target.is_some_and(|it| it.contains(&partition))
    }

    /// Takes away the topics that the member does not want any more, and leaves the rest as it is.
    fn drop_unwanted(&self, member: &Member) -> Member {
        let mut next = member.clone();
        let mut revokes = next.revoking.clone();
        next.assigned.retain(|topic, partitions| {
            let wanted = self.subscribed.contains(topic);
            if !wanted {
                let into = revokes.entry(*topic).or_default();
                into.extend(partitions.iter());
            }
            wanted
        });
        if next.assigned != member.assigned && self.owns(&revokes) {
            next.state = MemberState::UnrevokedPartitions;
            next.revoking = revokes;
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::super::member::{current, plain};
    use super::*;

    const TOPIC: Uuid = Uuid([1; 16]);

    fn partitions(partitions: &[i32]) -> Assignment {
        match partitions {
            [] => Assignment::new(),
            some => Assignment::from([(TOPIC, some.iter().copied().collect())]),
        }
    }

    fn member(epoch: i32, state: MemberState, assigned: &[i32], revoking: &[i32]) -> Member {
        Member {
            epoch,
            state,
            assigned: current(&partitions(assigned), epoch),
            revoking: current(&partitions(revoking), epoch),
            ..Member::new("m")
        }
    }

    /// State, epoch, what it has and what it gives back, after a step to epoch 11.
    fn step(
        member: &Member,
        target: &[i32],
        owned: Option<&[i32]>,
        taken: &[i32],
    ) -> (MemberState, i32, Assignment, Assignment) {
        let owned = owned.map(partitions);
        let step = Step {
            target_epoch: 11,
            target: &partitions(target),
            owned: owned.as_ref(),
            subscribed: &BTreeSet::from([TOPIC]),
            subscription_changed: false,
            taken: |_, partition| taken.contains(&partition),
        };
        let next = step.take(member);
        (
            next.state,
            next.epoch,
            plain(&next.assigned),
            plain(&next.revoking),
        )
    }

    #[test]
    fn each_state_with_each_input() {
        use MemberState::{
            Stable, UnreleasedPartitions as Unreleased, UnrevokedPartitions as Unrevoked,
        };
        let p = partitions;
        let stable = member(10, Stable, &[1, 2], &[]);
        // Nothing to lose, nobody in the way.
        assert_eq!(
            step(&stable, &[1, 2, 3], None, &[]),
            (Stable, 11, p(&[1, 2, 3]), p(&[]))
        );
        // Somebody in the way.
        assert_eq!(
            step(&stable, &[1, 2, 3], None, &[3]),
            (Unreleased, 11, p(&[1, 2]), p(&[]))
        );
        // Something to lose: the epoch stays.
        assert_eq!(
            step(&stable, &[2, 3], None, &[]),
            (Unrevoked, 10, p(&[2]), p(&[1]))
        );
        // It has given that up already.
        assert_eq!(
            step(&stable, &[2, 3], Some(&[2]), &[]),
            (Stable, 11, p(&[2, 3]), p(&[]))
        );
        let current = member(11, Stable, &[1], &[]);
        assert_eq!(
            step(&current, &[1, 2], None, &[]),
            (Stable, 11, p(&[1]), p(&[]))
        );

        let unrevoked = member(10, Unrevoked, &[2], &[1]);
        assert_eq!(
            step(&unrevoked, &[2, 3], None, &[]),
            (Unrevoked, 10, p(&[2]), p(&[1]))
        );
        assert_eq!(
            step(&unrevoked, &[2, 3], Some(&[1, 2]), &[]),
            (Unrevoked, 10, p(&[2]), p(&[1]))
        );
        assert_eq!(
            step(&unrevoked, &[2, 3], Some(&[2]), &[]),
            (Stable, 11, p(&[2, 3]), p(&[]))
        );
        // Meanwhile it is to lose the other one, too.
        assert_eq!(
            step(&unrevoked, &[3], Some(&[2]), &[]),
            (Unrevoked, 10, p(&[]), p(&[2]))
        );

        let unreleased = member(11, Unreleased, &[1], &[]);
        assert_eq!(
            step(&unreleased, &[1, 2], None, &[2]),
            (Unreleased, 11, p(&[1]), p(&[]))
        );
        assert_eq!(
            step(&unreleased, &[1, 2], None, &[]),
            (Stable, 11, p(&[1, 2]), p(&[]))
        );
        assert_eq!(
            step(&unreleased, &[2], None, &[]),
            (Unrevoked, 11, p(&[]), p(&[1]))
        );
    }

    #[test]
    fn what_is_not_subscribed_any_more_is_given_back_at_once() {
        let stable = member(11, MemberState::Stable, &[1, 2], &[]);
        let step = Step {
            target_epoch: 11,
            target: &partitions(&[1, 2]),
            owned: Some(&partitions(&[1, 2])),
            subscribed: &BTreeSet::new(),
            subscription_changed: true,
            taken: |_: Uuid, _: i32| false,
        };
        let next = step.take(&stable);
        assert_eq!(next.state, MemberState::UnrevokedPartitions);
        assert_eq!(plain(&next.revoking), partitions(&[1, 2]));
        assert!(next.assigned.is_empty());
    }
}
