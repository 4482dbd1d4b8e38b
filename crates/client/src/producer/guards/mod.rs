//! Guards against a silent change of where keys go.
//!
//! - here: how many partitions a topic has.
//! - [`verify`]: whether its records are where the partitioner puts them, by a [`sample`] that [`judge`] compares;
//!   [`chance`] is what tells a finding from an accident.

mod chance;
mod judge;
mod sample;
mod verify;

use std::collections::HashMap;

pub(crate) use verify::{Verification, verify};

use crate::cluster::Topic;
use crate::telemetry::names;
use crate::{Error, ErrorKind, Result};

/// What a guard does about what it sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Guard {
    /// Nothing.
    Off,
    /// Says so, once, as a `tracing` event.
    #[default]
    Warn,
    /// Refuses to write to the topic.
    Refuse,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Guards {
    /// Declared partition counts.
    pub(crate) expected: HashMap<String, (usize, Guard)>,
    /// What to do when a count changes while the producer runs.
    pub(crate) on_change: Guard,
    /// What to do when records are not where the partitioner puts them.
    pub(crate) verify: HashMap<String, Guard>,
    /// The same for topics that are not named.
    pub(crate) verify_others: Option<Guard>,
}

impl Guards {
    fn verify_of(&self, topic: &str) -> Guard {
        let named = self.verify.get(topic).copied();
        named.or(self.verify_others).unwrap_or(Guard::Off)
    }
}

/// Looks at a topic before anything is written to it.
pub(crate) fn check(guards: &Guards, topic: &Topic) -> Result<()> {
    let Some(&(expected, guard)) = guards.expected.get(&*topic.name) else {
        return Ok(());
    };
    let count = topic.partitions.len();
    if count == expected {
        return Ok(());
    }
    decide(
        guard,
        topic,
        format!(
            "the topic has {count} partitions, {expected} were declared: keys would not go where they \
             went before"
        ),
    )
}

/// A topic has another number of partitions than before.
pub(crate) fn changed(guards: &Guards, topic: &Topic, before: usize) -> Result<()> {
    let count = topic.partitions.len();
    metrics::counter!(names::COUNT_CHANGES).increment(1);
    decide(
        guards.on_change,
        topic,
        format!(
            "the topic went from {before} to {count} partitions: most keys go to another partition from \
             now on than before"
        ),
    )
}

fn decide(guard: Guard, topic: &Topic, reason: String) -> Result<()> {
    match guard {
        Guard::Off => Ok(()),
        Guard::Warn => {
            tracing::warn!(topic = %topic.name, "{reason}");
            Ok(())
        }
        Guard::Refuse => {
            Err(Error::new(ErrorKind::Guard, reason).in_topic(std::sync::Arc::clone(&topic.name)))
        }
    }
}
