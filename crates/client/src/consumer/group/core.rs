//! The member, in whichever protocol.

use std::collections::BTreeSet;

use copart_protocol::ErrorCode;
use tokio::time::Instant;

use super::classic::ClassicMember;
use super::epochs::EpochMember;
use super::{Action, Answer, GroupConfig, Identity, Protocol, Subscription, Token, Topics};
use crate::{Result, TopicPartition};

/// How a member is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupState {
    /// Not in the group, and does not want to be: nothing is subscribed to.
    Idle,
    /// On its way into the group, or into its next generation. It may have partitions all the same.
    Joining,
    /// In the group, and has everything that it was assigned.
    Stable,
    /// In the group. The application has to let go of partitions.
    Releasing,
    /// Out of the group because the application was stuck, until `processing_resumed`.
    Stalled,
    /// On its way out.
    Leaving,
    /// Out of the group for good.
    Ended,
}

/// A member of a group.
#[derive(Debug)]
pub(crate) struct GroupCore {
    member: Member,
    /// For a member of the classic protocol, if that is still to be chosen.
    otherwise: Option<GroupConfig>,
}

#[derive(Debug)]
enum Member {
    Epochs(Box<EpochMember>),
    Classic(Box<ClassicMember>),
}

/// The same call to whichever there is.
macro_rules! each {
    ($core:expr, $member:ident => $call:expr) => {
        match $core.member {
            Member::Epochs(ref mut $member) => $call,
            Member::Classic(ref mut $member) => $call,
        }
    };
    (ref $core:expr, $member:ident => $call:expr) => {
        match $core.member {
            Member::Epochs(ref $member) => $call,
            Member::Classic(ref $member) => $call,
        }
    };
}

impl GroupCore {
    /// One that is in no group yet.
    pub(crate) fn new(config: GroupConfig) -> Self {
        let otherwise = (config.protocol == Protocol::Auto).then(|| config.clone());
        let member = match config.protocol {
            Protocol::Classic => Member::Classic(Box::new(ClassicMember::new(config, 0))),
            Protocol::Auto | Protocol::Consumer => {
                Member::Epochs(Box::new(EpochMember::new(config)))
            }
        };
        Self { member, otherwise }
    }

    /// Joins, or changes what the member wants.
    ///
    /// # Errors
    /// When a pattern cannot be one. In the consumer protocol the broker judges that.
    pub(crate) fn subscribe(&mut self, subscription: Subscription, now: Instant) -> Result<()> {
        match &mut self.member {
            Member::Epochs(member) => member.subscribe(subscription, now),
            Member::Classic(member) => member.subscribe(subscription, now)?,
        }
        Ok(())
    }

    /// What is known of topics: those of the last [`Action::Want`], as far as the cluster has described them.
    pub(crate) fn set_topics(&mut self, topics: Topics, now: Instant) {
        match &mut self.member {
            Member::Epochs(member) => member.set_topics(topics, now),
            Member::Classic(member) => member.set_topics(topics),
        }
    }

    /// What to do next.
    pub(crate) fn poll(&mut self, now: Instant) -> Option<Action> {
        each!(self, member => member.poll(now))
    }

    /// When to poll again at the latest.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        each!(ref self, member => member.next_deadline())
    }

    /// What became of a request: the coordinator's answer, or why there is none (no coordinator, no connection, no
    /// such version, no answer in time).
    pub(crate) fn answered(&mut self, token: Token, outcome: Result<Answer>, now: Instant) {
        match &mut self.member {
            Member::Epochs(member) => {
                if member.is_refused(token, &outcome)
                    && let Some(config) = self.otherwise.take()
                {
                    return self.change_protocol(config, now);
                }
                member.answered(token, outcome, now);
            }
            Member::Classic(member) => member.answered(token, outcome, now),
        }
    }

    /// Goes on in the classic protocol. The member was not in the group yet, and has nothing.
    fn change_protocol(&mut self, config: GroupConfig, now: Instant) {
        let Member::Epochs(before) = &self.member else {
            return;
        };
        tracing::info!(
            group = %config.group,
            "the group is joined by the classic protocol, as it cannot be by the consumer protocol"
        );
        let is_leaving = before.state() == GroupState::Leaving;
        let subscription = before.subscription().cloned();
        let mut member = ClassicMember::new(config, before.counter());
        if let Some(subscription) = subscription
            && let Err(error) = member.subscribe(subscription, now)
        {
            member.fail(error);
        }
        if is_leaving {
            member.leave(now);
        }
        self.member = Member::Classic(Box::new(member));
    }

    /// The application has let go of these. Those that it was not asked for are passed over.
    pub(crate) fn released(&mut self, partitions: &[TopicPartition], now: Instant) {
        match &mut self.member {
            Member::Epochs(member) => member.released(partitions, now),
            Member::Classic(member) => member.released(partitions),
        }
    }

    /// An offset commit was answered with this code. Some say that the member is out of its group, or has to join
    /// again.
    pub(crate) fn committed(&mut self, by: &Identity, code: ErrorCode, now: Instant) {
        each!(self, member => member.committed(by, code, now));
    }

    /// The application is stuck with a record (`max.poll.interval.ms`): the member gives up what it has and leaves.
    pub(crate) fn processing_stalled(&mut self, now: Instant) {
        each!(self, member => member.processing_stalled(now));
    }

    /// The application goes on: the member joins again.
    pub(crate) fn processing_resumed(&mut self, now: Instant) {
        each!(self, member => member.processing_resumed(now));
    }

    /// Has everything let go of, and leaves for good.
    pub(crate) fn leave(&mut self, now: Instant) {
        each!(self, member => member.leave(now));
    }

    /// As whom to commit. `None` while the member is not in the group.
    pub(crate) fn identity(&self) -> Option<Identity> {
        each!(ref self, member => member.identity())
    }

    /// What the application has, including what it was asked to let go of.
    pub(crate) fn assignment(&self) -> &BTreeSet<TopicPartition> {
        each!(ref self, member => member.assignment())
    }

    /// How the member is doing.
    #[cfg(test)]
    pub(crate) fn state(&self) -> super::GroupState {
        each!(ref self, member => member.state())
    }
}
