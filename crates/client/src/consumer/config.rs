//! What a consumer is told when it is built.

use std::sync::Arc;
use std::time::Duration;

use super::group::{Assignor, Protocol, Subscription};
use super::hooks::Hooks;
use crate::cluster::Cluster;
use crate::reader;

/// When offsets are committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commit {
    /// What was processed is committed: now and then, before a partition is given up, and when the consumer is closed.
    /// Processed is what was said to be [done](super::GroupBatch::done), without a gap.
    Processed {
        /// How often.
        every: Duration,
    },
    /// What was handed out counts as processed as soon as the batch or the record is dropped, whether or not it was said
    /// to be done. A record whose handler failed is not read again.
    Delivered {
        /// How often.
        every: Duration,
    },
    /// Only when the program [says so](super::Consumer::commit).
    Manual,
}

impl Commit {
    /// How often it is committed by itself.
    pub(crate) fn every(self) -> Option<Duration> {
        match self {
            Self::Processed { every } | Self::Delivered { every } => Some(every),
            Self::Manual => None,
        }
    }
}

impl Default for Commit {
    fn default() -> Self {
        Self::Processed {
            every: Duration::from_secs(5),
        }
    }
}

/// What the builder collects, with defaults.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) group: Arc<str>,
    pub(crate) topics: Vec<Arc<str>>,
    pub(crate) pattern: Option<String>,
    pub(crate) protocol: Protocol,
    pub(crate) assignors: Vec<Assignor>,
    pub(crate) server_assignor: Option<String>,
    pub(crate) instance_id: Option<Arc<str>>,
    pub(crate) session_timeout: Duration,
    pub(crate) heartbeat_interval: Duration,
    pub(crate) rebalance_timeout: Option<Duration>,
    pub(crate) max_processing_time: Duration,
    pub(crate) commit: Commit,
    pub(crate) reader: reader::Settings,
    pub(crate) hooks: Hooks,
}

/// The longest that timeouts of groups can be, as requests have 32 bits for their milliseconds.
const LONGEST: Duration = Duration::from_millis(i32::MAX as u64);

impl Settings {
    pub(crate) fn new(group: Arc<str>, cluster: &Cluster) -> Self {
        let rack = cluster.rack().map(|rack| rack.to_string());
        Self {
            group,
            topics: Vec::new(),
            pattern: None,
            protocol: Protocol::Auto,
            assignors: vec![Assignor::CooperativeSticky, Assignor::Range],
            server_assignor: None,
            instance_id: None,
            session_timeout: Duration::from_secs(45),
            heartbeat_interval: Duration::from_secs(3),
            rebalance_timeout: None,
            max_processing_time: Duration::from_secs(300),
            commit: Commit::default(),
            reader: reader::Settings {
                rack: rack.unwrap_or_default(),
                reset: reader::OffsetReset::Earliest,
                in_group: true,
                ..reader::Settings::default()
            },
            hooks: Hooks::default(),
        }
    }

    pub(crate) fn rebalance_timeout(&self) -> Duration {
        self.rebalance_timeout.unwrap_or(self.max_processing_time)
    }

    pub(crate) fn subscription(&self) -> Subscription {
        match &self.pattern {
            Some(pattern) => Subscription::Pattern(pattern.clone()),
            None => Subscription::Topics(self.topics.clone()),
        }
    }

    /// Everything that is wrong with them.
    pub(crate) fn violations(&self) -> Vec<String> {
        let mut violations = self.reader.violations();
        let mut check = |holds: bool, text: &str| {
            if !holds {
                violations.push(text.to_owned());
            }
        };
        check(
            !self.group.is_empty() && self.group.len() <= i16::MAX as usize,
            "group: has a name, which is shorter than 32768 bytes",
        );
        check(
            self.topics.is_empty() != self.pattern.is_none(),
            "consumer: name topics or give a pattern, and not both",
        );
        check(
            self.topics.iter().all(|topic| !topic.is_empty()),
            "topics: a name must not be empty",
        );
        check(
            self.pattern.as_deref() != Some(""),
            "pattern: must not be empty",
        );
        check(
            self.protocol == Protocol::Consumer || !self.assignors.is_empty(),
            "assignors: a member of the classic protocol has at least one",
        );
        check(
            self.instance_id.as_deref() != Some(""),
            "instance id: must not be empty",
        );
        for (name, value) in [
            ("session timeout", self.session_timeout),
            ("heartbeat interval", self.heartbeat_interval),
            ("rebalance timeout", self.rebalance_timeout()),
            ("max processing time", self.max_processing_time),
        ] {
            check(
                value >= Duration::from_millis(1) && value <= LONGEST,
                &format!("{name}: must be a millisecond or more, and less than 25 days"),
            );
        }
        check(
            self.heartbeat_interval < self.session_timeout,
            "heartbeat interval: must be shorter than the session timeout; a third of it is usual",
        );
        if let Some(every) = self.commit.every() {
            check(!every.is_zero(), "commit interval: must not be zero");
        }
        violations
    }
}
