//! The member, in whichever protocol.

use std::collections::{BTreeSet, VecDeque};

use copart_protocol::ErrorCode;
use tokio::time::Instant;

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

/// A member of a group.
#[derive(Debug)]
pub(crate) struct GroupCore {
    config: GroupConfig,
    actions: VecDeque<Action>,
    held: BTreeSet<TopicPartition>,
}

impl GroupCore {
    /// One that is in no group yet.
    pub(crate) fn new(config: GroupConfig) -> Self {
        Self {
            config,
            actions: VecDeque::new(),
            held: BTreeSet::new(),
        }
    }

    /// Joins, or changes what the member wants.
    ///
    /// # Errors
    /// If a pattern is none. In the consumer protocol the broker has the last word.
    pub(crate) fn subscribe(&mut self, subscription: Subscription, now: Instant) -> Result<()> {
        let _ = (subscription, now);
        Ok(())
    }

    /// Lets go of everything and leaves, until there is another subscription.
    pub(crate) fn unsubscribe(&mut self, now: Instant) {
        let _ = now;
    }

    /// What is known of topics: those of the last [`Action::Want`], as far as the cluster has described them.
    pub(crate) fn set_topics(&mut self, topics: Topics, now: Instant) {
        let _ = (topics, now);
    }

    /// What to do next.
    pub(crate) fn poll(&mut self, now: Instant) -> Option<Action> {
        let _ = now;
        self.actions.pop_front()
    }

    /// When to poll again at the latest.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        None
    }

    /// What became of a request: the coordinator's answer, or why there is none (no coordinator, no connection, no
    /// such version, no answer in time).
    pub(crate) fn answered(&mut self, token: Token, outcome: Result<Answer>, now: Instant) {
        let _ = (token, outcome, now);
    }

    /// The application has let go of these. Those that it was not asked for are passed over.
    pub(crate) fn released(&mut self, partitions: &[TopicPartition], now: Instant) {
        let _ = (partitions, now);
    }

    /// An offset commit was answered with this code. Some say that the member is out of its group, or has to join
    /// again.
    pub(crate) fn committed(&mut self, by: &Identity, code: ErrorCode, now: Instant) {
        let _ = (by, code, now);
    }

    /// The application is stuck with a record (`max.poll.interval.ms`): the member gives up what it has and leaves.
    pub(crate) fn processing_stalled(&mut self, now: Instant) {
        let _ = now;
    }

    /// The application goes on: the member joins again.
    pub(crate) fn processing_resumed(&mut self, now: Instant) {
        let _ = now;
    }

    /// Has everything let go of, and leaves for good.
    pub(crate) fn leave(&mut self, now: Instant) {
        let _ = now;
    }

    /// As whom to commit. `None` while the member is not in the group.
    pub(crate) fn identity(&self) -> Option<Identity> {
        let _ = &self.config;
        None
    }

    /// What the application has, including what it was asked to let go of.
    pub(crate) fn assignment(&self) -> &BTreeSet<TopicPartition> {
        &self.held
    }

    /// How the member is doing.
    pub(crate) fn state(&self) -> GroupState {
        GroupState::Idle
    }
}
