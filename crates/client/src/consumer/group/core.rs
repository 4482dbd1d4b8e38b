//! The member, in whichever protocol.

use std::collections::BTreeSet;

use copart_protocol::ErrorCode;
use tokio::time::Instant;

use super::epochs::EpochMember;
use super::{Action, Answer, GroupConfig, Identity, Subscription, Token, Topics};
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

/// A member of a group. The consumer protocol (KIP-848) is the one that it speaks.
#[derive(Debug)]
pub(crate) struct GroupCore(EpochMember);

impl GroupCore {
    /// One that is in no group yet.
    pub(crate) fn new(config: GroupConfig) -> Self {
        Self(EpochMember::new(config))
    }

    /// Joins, or changes what the member wants.
    ///
    /// # Errors
    /// None: in the consumer protocol the broker judges patterns.
    pub(crate) fn subscribe(&mut self, subscription: Subscription, now: Instant) -> Result<()> {
        self.0.subscribe(subscription, now);
        Ok(())
    }

    /// What is known of topics: those of the last [`Action::Want`], as far as the cluster has described them.
    pub(crate) fn set_topics(&mut self, topics: Topics, now: Instant) {
        self.0.set_topics(topics, now);
    }

    /// What to do next.
    pub(crate) fn poll(&mut self, now: Instant) -> Option<Action> {
        self.0.poll(now)
    }

    /// When to poll again at the latest.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.0.next_deadline()
    }

    /// What became of a request: the coordinator's answer, or why there is none (no coordinator, no connection, no
    /// such version, no answer in time).
    pub(crate) fn answered(&mut self, token: Token, outcome: Result<Answer>, now: Instant) {
        self.0.answered(token, outcome, now);
    }

    /// The application has let go of these. Those that it was not asked for are passed over.
    pub(crate) fn released(&mut self, partitions: &[TopicPartition], now: Instant) {
        self.0.released(partitions, now);
    }

    /// An offset commit was answered with this code. Some say that the member is out of its group, or has to join
    /// again.
    pub(crate) fn committed(&mut self, by: &Identity, code: ErrorCode, now: Instant) {
        self.0.committed(by, code, now);
    }

    /// The application is stuck with a record (`max.poll.interval.ms`): the member gives up what it has and leaves.
    pub(crate) fn processing_stalled(&mut self, now: Instant) {
        self.0.processing_stalled(now);
    }

    /// The application goes on: the member joins again.
    pub(crate) fn processing_resumed(&mut self, now: Instant) {
        self.0.processing_resumed(now);
    }

    /// Has everything let go of, and leaves for good.
    pub(crate) fn leave(&mut self, now: Instant) {
        self.0.leave(now);
    }

    /// As whom to commit. `None` while the member is not in the group.
    pub(crate) fn identity(&self) -> Option<Identity> {
        self.0.identity()
    }

    /// What the application has, including what it was asked to let go of.
    pub(crate) fn assignment(&self) -> &BTreeSet<TopicPartition> {
        self.0.assignment()
    }

    /// How the member is doing.
    #[cfg(test)]
    pub(crate) fn state(&self) -> super::GroupState {
        self.0.state()
    }
}
