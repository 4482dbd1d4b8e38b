//! Are a topic's records where the partitioner puts them?

use std::fmt::Write;
use std::sync::Arc;

use copart_partitioners::PartitionCount;
use tokio::sync::OnceCell;
use tokio::time::Instant;

use super::judge::{Disagreement, Finding, Votes, judge};
use super::{Guard, sample};
use crate::cluster::{Cluster, Topic};
use crate::producer::config::ProducerConfig;
use crate::producer::partitioner::Partitioning;
use crate::telemetry::names;
use crate::{Error, ErrorKind, Result};

/// A topic's verification: one for all who wait for it, and what it led to.
#[derive(Default)]
pub(crate) struct Verification(OnceCell<Option<Error>>);

/// Compares a topic's newest records with its partitioner, once, if that was asked for.
///
/// Cancel-safe: whoever waits next goes on with it.
pub(crate) async fn verify(
    verification: &Verification,
    cluster: &Cluster,
    config: &ProducerConfig,
    topic: &Topic,
    deadline: Instant,
) -> Result<()> {
    let guard = config.guards.verify_of(&topic.name);
    if guard == Guard::Off {
        return Ok(());
    }
    let partitioning = config.partitioning_for(&topic.name);
    let refusal = verification.0.get_or_try_init(async || {
        let reason = match look(cluster, partitioning, topic, deadline).await {
            Ok(reason) => reason,
            Err(error) => could_not_look(error, guard, topic)?,
        };
        let Some(reason) = reason else {
            return Ok(None);
        };
        Ok::<_, Error>(super::decide(guard, topic, reason).err())
    });
    match refusal.await? {
        None => Ok(()),
        Some(error) => Err(error.clone()),
    }
}

/// What speaks against writing, if anything does.
async fn look(
    cluster: &Cluster,
    partitioning: &Partitioning,
    topic: &Topic,
    deadline: Instant,
) -> Result<Option<String>> {
    let Some(profile) = partitioning.pinning_profile() else {
        tracing::debug!(topic = %topic.name, "the partitioner pins no keys: there is nothing to verify");
        return Ok(None);
    };
    let Some(count) = u32::try_from(topic.partitions.len())
        .ok()
        .and_then(PartitionCount::new)
    else {
        return Ok(None);
    };
    let sample = sample::newest(cluster, topic, deadline).await?;
    let records = sample.records;
    let finding = judge(profile, count, &sample.sightings());
    metrics::counter!(names::GUARD_FINDINGS, "finding" => finding.name()).increment(1);
    let declared = partitioning.name();
    match finding {
        Finding::Agrees(Votes { keys, agreeing }) => {
            tracing::info!(
                topic = %topic.name, records, keys, agreeing,
                "the topic's newest records are where {declared} puts them"
            );
            Ok(None)
        }
        Finding::OlderThanExpansion { votes, counts } => {
            let counts: Vec<_> = counts
                .iter()
                .map(|(count, keys)| format!("{keys} at {count} partitions"))
                .collect();
            tracing::info!(
                topic = %topic.name, records, keys = votes.keys, agreeing = votes.agreeing,
                "keys that are not where {declared} puts them are older than an expansion of the topic: {}",
                counts.join(", ")
            );
            Ok(None)
        }
        Finding::Undecidable(Votes { keys, agreeing }) => {
            tracing::info!(
                topic = %topic.name, records, keys, agreeing,
                "whether the topic's records are where {declared} puts them cannot be told from {keys} keys"
            );
            Ok(None)
        }
        Finding::Disagrees { votes, why } => Ok(Some(describe(declared, votes, &why, count))),
    }
}

/// What was declared, what was found, and what to do.
fn describe(declared: &str, votes: Votes, why: &Disagreement, count: PartitionCount) -> String {
    let share = |votes: Votes| format!("{} of {} distinct keys", votes.agreeing, votes.keys);
    let mut text = format!(
        "the partitioner is declared as {declared}, and of the topic's newest records {} are where it puts them",
        share(votes)
    );
    // Writing to a String does not fail.
    let _ = match why {
        Disagreement::Like { clients, votes } => write!(
            text,
            "; {} are where {} would put them. Name that partitioner, so that a key's records stay together, or \
             move the topic to {declared} first",
            share(*votes),
            clients.join(" or ")
        ),
        Disagreement::StillCounts(partitions) => write!(
            text,
            "; the others are where it puts them on {partitions} partitions, and some are newer than those on \
             {}. Another producer still counts {partitions}: restart it",
            count.get()
        ),
        Disagreement::Unknown => write!(
            text,
            "; no other partitioner of the catalogue fits better. Find out who writes to the topic, for \
             example with `copart infer`"
        ),
    };
    text.push_str(". If keys may be on several partitions, turn the guard off");
    text
}

/// Nothing is known of the records. Warns and goes on, or refuses.
fn could_not_look(error: Error, guard: Guard, topic: &Topic) -> Result<Option<String>> {
    let reason = if error.kind() == ErrorKind::Authorization {
        "whether its records are where the partitioner puts them cannot be told without the permission READ on \
         the topic: grant it, or turn the guard off"
            .to_owned()
    } else {
        format!(
            "whether its records are where the partitioner puts them could not be told: {error}"
        )
    };
    if guard != Guard::Refuse {
        tracing::warn!(topic = %topic.name, "{reason}");
        return Ok(None);
    }
    // Not remembered: the next record asks again.
    let kind = match error.kind() {
        ErrorKind::Authorization => ErrorKind::Guard,
        kind => kind,
    };
    Err(Error::new(kind, reason)
        .in_topic(Arc::clone(&topic.name))
        .like_code_of(&error)
        .caused_by(error))
}
