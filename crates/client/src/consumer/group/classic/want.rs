//! Which topics a member reads, and which it has to know of.

use std::collections::BTreeSet;
use std::sync::Arc;

use regex::Regex;
use tokio::time::Instant;

use super::{ClassicMember, State};
use crate::consumer::group::{Action, Subscription, Topics, Wanted};
use crate::{Error, ErrorKind, Result};

impl ClassicMember {
    /// # Errors
    /// When the pattern cannot be one.
    pub(in crate::consumer::group) fn subscribe(
        &mut self,
        subscription: Subscription,
        now: Instant,
    ) -> Result<()> {
        self.pattern = match &subscription {
            Subscription::Topics(_) => None,
            Subscription::Pattern(pattern) => Some(compile(pattern)?),
        };
        if self.pattern.is_some() && self.wanted != Wanted::All {
            self.is_listed = false;
            self.listed_by = Some(now + self.config.request_timeout);
        }
        self.subscription = Some(subscription);
        self.must_rejoin = true;
        self.want();
        Ok(())
    }

    /// Says which topics have to be known, if that is news.
    pub(super) fn want(&mut self) {
        let wanted = match &self.subscription {
            None => Wanted::Nothing,
            Some(Subscription::Pattern(_)) => Wanted::All,
            Some(Subscription::Topics(topics)) => {
                let mut all: BTreeSet<Arc<str>> = topics.iter().cloned().collect();
                all.extend(self.led.iter().flat_map(|led| led.keys().cloned()));
                Wanted::Topics(all)
            }
        };
        if wanted != self.wanted {
            self.wanted = wanted.clone();
            self.actions.push_back(Action::Want(wanted));
        }
    }

    pub(in crate::consumer::group) fn set_topics(&mut self, topics: Topics) {
        self.known = topics;
        self.is_listed |= self.wanted == Wanted::All;
        match self.state {
            State::Leading(_) if self.knows_enough() => self.assign(),
            State::Stable => self.watch(),
            _ => {}
        }
    }

    /// A pattern cannot be told from before all topics were listed.
    pub(super) fn waits_for_list(&self) -> bool {
        self.pattern.is_some() && !self.is_listed
    }

    /// What is subscribed to, by name.
    pub(super) fn reads(&self) -> Vec<Arc<str>> {
        match (&self.subscription, &self.pattern) {
            (Some(Subscription::Topics(topics)), _) => {
                let topics: BTreeSet<_> = topics.iter().cloned().collect();
                topics.into_iter().collect()
            }
            (_, Some(pattern)) => {
                let known = self.known.iter();
                let matching = known.filter(|(name, info)| {
                    info.as_ref().is_some_and(|info| !info.is_internal) && pattern.is_match(name)
                });
                matching.map(|(name, _)| Arc::clone(name)).collect()
            }
            (_, None) => Vec::new(),
        }
    }

    /// Whether it reads that topic.
    pub(super) fn is_read(&self, topic: &str) -> bool {
        match (&self.subscription, &self.pattern) {
            (Some(Subscription::Topics(topics)), _) => topics.iter().any(|it| &**it == topic),
            (_, Some(pattern)) => pattern.is_match(topic),
            (_, None) => false,
        }
    }

    /// Whether the leader knows all that it is to assign.
    pub(super) fn knows_enough(&self) -> bool {
        // A list of all topics has no more to it.
        self.wanted == Wanted::All
            || self
                .led
                .iter()
                .flat_map(|led| led.keys())
                .all(|topic| self.known.contains_key(topic))
    }

    /// How many partitions a topic has. Outer `None`: it is not known yet whether it is there.
    pub(super) fn count(&self, topic: &str) -> Option<Option<i32>> {
        match self.known.get(topic) {
            Some(info) => Some(info.as_ref().map(|info| info.count())),
            None if self.wanted == Wanted::All && self.is_listed => Some(None),
            None => None,
        }
    }

    /// Joins again if what is assigned is not what it would be now: a pattern matches other topics, or, which the leader
    /// sees to, a topic has other partitions.
    pub(super) fn watch(&mut self) {
        let is_changed = self.pattern.is_some() && self.is_listed && self.reads() != self.joined;
        let mut led = self.led.iter().flatten();
        let has_moved = led.any(|(topic, had)| self.count(topic).is_some_and(|has| has != *had));
        if is_changed || has_moved {
            tracing::debug!(group = %self.config.group, "the topics have changed: the group is joined again");
            self.must_rejoin = true;
        }
    }
}

/// For whole names.
fn compile(pattern: &str) -> Result<Regex> {
    Regex::new(&format!("^(?:{pattern})$")).map_err(|error| {
        let reason = format!("pattern: {pattern:?} cannot be read: {error}");
        Error::new(ErrorKind::Config, reason).caused_by(error)
    })
}
