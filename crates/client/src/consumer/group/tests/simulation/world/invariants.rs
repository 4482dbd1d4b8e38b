//! What has to hold, whatever goes wrong.

use std::collections::BTreeMap;

use copart_protocol::ErrorCode;

use super::{Call, World};
use crate::Result;
use crate::consumer::group::{Answer, GroupState};

impl World {
    /// A member of the consumer protocol may be fenced for its epoch only if it did not learn of two in a row, and does
    /// not keep itself out for long.
    pub(super) fn judge(&mut self, asked: &Call, outcome: &Result<Answer>) {
        let member = &mut self.members[asked.member];
        let code = match outcome {
            Ok(Answer::ConsumerHeartbeat(response)) => Some(response.error_code),
            _ => None,
        };
        let is_itself = asked
            .joins_as
            .as_ref()
            .is_some_and(|id| self.coordinator.has(id));
        member.in_own_way = match code {
            Some(ErrorCode::UNRELEASED_INSTANCE_ID | ErrorCode::FENCED_MEMBER_EPOCH)
                if is_itself =>
            {
                member.in_own_way + 1
            }
            // It may have left first.
            Some(ErrorCode::NONE) if asked.joins_as.is_none() => member.in_own_way,
            _ => 0,
        };
        let may_be = || {
            let identity = member.core.identity();
            identity.is_none_or(|it| self.coordinator.may_fence(&it))
        };
        let is_fair = member.in_own_way < 2
            && (code != Some(ErrorCode::FENCED_MEMBER_EPOCH)
                || asked.joins_as.is_some()
                || member.missed >= 2
                || (member.missed == 1 && may_be()));
        assert!(
            is_fair,
            "seed {}, {}: put out without need: {:#?}",
            self.seed, self.about, member.core
        );
        match code {
            Some(ErrorCode::NONE) => member.missed = 0,
            _ => member.missed += 1,
        }
    }

    pub(super) fn check(&self) {
        let mut owners = BTreeMap::new();
        for (number, member) in self.members.iter().enumerate() {
            if !member.is_there {
                continue;
            }
            let waits = member.core.next_deadline().is_some() || !member.sent.is_empty();
            let state = member.core.state();
            let is_out = matches!(state, GroupState::Stalled | GroupState::Ended);
            assert!(
                waits || is_out,
                "seed {}: stalled: {:?}",
                self.seed,
                member.core
            );
            let Some(identity) = member.core.identity() else {
                assert!(
                    member.core.assignment().is_empty() || state == GroupState::Leaving,
                    "seed {}: it is out, and keeps what it has: {:#?}",
                    self.seed,
                    member.core
                );
                continue;
            };
            if !self.coordinator.counts_on(&identity) {
                continue;
            }
            for partition in member.core.assignment() {
                assert!(
                    self.coordinator.grants(&identity, partition.partition),
                    "seed {}, {}: {partition} is not granted to {number}: {:#?}",
                    self.seed,
                    self.about,
                    member.core
                );
                let other = owners.insert(partition.clone(), number);
                assert_eq!(
                    other, None,
                    "seed {}: {partition} is owned twice, also by {number}",
                    self.seed
                );
            }
        }
    }

    /// Does everybody have what it is to have?
    pub(super) fn is_settled(&self) -> bool {
        let mut all = Vec::new();
        for member in &self.members {
            let generation = member.core.identity().map(|it| it.generation);
            if !member.is_there
                || member.core.state() != GroupState::Stable
                || generation != Some(self.coordinator.generation())
            {
                return false;
            }
            all.extend(member.core.assignment().iter().map(|it| it.partition));
        }
        all.sort_unstable();
        self.coordinator.is_stable() && all.iter().copied().eq(0..self.count as i32)
    }
}
