//! May these two topics be joined by key?
//!
//! A stream processor joins partition 3 with partition 3. It checks that the partition counts are
//! equal, and cannot check the rest: that one rule placed the keys of both topics, and that the
//! keys are the same bytes.

mod report;
mod shared;
#[cfg(test)]
mod tests;

use copart_partitioners::PartitionCount;

pub use report::*;

use crate::Error;
use crate::frame::RegistryId;
use crate::infer::sample::Sample;
use crate::infer::{InferOptions, InferReport, InferVerdict, Observed, TwinReason, conclude};
use crate::input::records::{Dump, RecordSource};
use crate::lint::{KeyKind, look};
use crate::pipeline::Run;
use crate::text::number;
use crate::verify::percent;
use shared::Shared;

/// What to compare.
#[derive(Clone, Debug, Default)]
pub struct CopartitionOptions {
    /// The partition count of each topic, where it is known.
    pub partitions: [Option<PartitionCount>; 2],
    /// How many keys to list where some are listed; at most 1,000 are.
    pub show: usize,
}

/// Reads two dumps, one after the other, and compares the topics they are of.
///
/// # Errors
///
/// When an input can't be read, or a record is on a partition that its topic does not have.
pub fn copartition(
    dumps: [&mut Dump; 2],
    options: &CopartitionOptions,
    run: &Run<'_>,
) -> Result<CopartitionReport, Error> {
    let [a, b] = dumps;
    let a = Observed::read_dump(a, options.partitions[0], run)?;
    let b = Observed::read_dump(b, options.partitions[1], run)?;
    Ok(compare([a, b], options, run.threads))
}

/// The same for any two sources of records.
///
/// # Errors
///
/// As [`copartition()`].
pub fn copartition_from(
    sources: [&mut dyn RecordSource; 2],
    options: &CopartitionOptions,
    run: &Run<'_>,
) -> Result<CopartitionReport, Error> {
    let [a, b] = sources;
    let a = Observed::read(a, options.partitions[0], run)?;
    let b = Observed::read(b, options.partitions[1], run)?;
    Ok(compare([a, b], options, run.threads))
}

fn compare(
    observed: [Observed; 2],
    options: &CopartitionOptions,
    threads: usize,
) -> CopartitionReport {
    let infer = InferOptions {
        partitions: None,
        expect: None,
        show: options.show,
    };
    let topics = [0, 1].map(|i: usize| conclude(&observed[i], &infer, threads));
    let kinds = [0, 1].map(|i: usize| kinds(&observed[i].sample));
    let show = options.show.min(1000);
    let shared = Shared::of(&observed[0].sample, &observed[1].sample);
    let checks = vec![
        count_check(&topics),
        partitioner_check(&topics),
        encoding_check(&topics, &kinds, &shared),
        shared_check(&topics, &shared),
    ];
    let outcome = |kind: CheckKind| {
        let check = checks.iter().find(|check| check.check == kind);
        check.map_or(CheckOutcome::Unknown, |check| check.outcome)
    };
    let proven = outcome(CheckKind::Partitioner) == CheckOutcome::Passed
        || outcome(CheckKind::SharedKeys) == CheckOutcome::Passed;
    let verdict = if checks
        .iter()
        .any(|check| check.outcome == CheckOutcome::Failed)
    {
        CopartitionVerdict::NotCopartitioned
    } else if proven && outcome(CheckKind::PartitionCount) == CheckOutcome::Passed {
        CopartitionVerdict::Copartitioned
    } else {
        CopartitionVerdict::Inconclusive
    };
    let mut warnings = Vec::new();
    for topic in &topics {
        let named = topic.warnings.iter();
        warnings.extend(named.map(|warning| format!("{}: {warning}", topic.input.name)));
    }
    CopartitionReport {
        schema: CopartitionReport::SCHEMA,
        verdict,
        partial: observed.iter().any(|observed| observed.partial),
        consequences: consequences(&topics, &checks, &shared),
        shared: shared.report(&observed[0].sample, &observed[1].sample, show),
        checks,
        topics,
        kinds,
        warnings,
    }
}

/// The kinds of a sample's keys that are more than a hundredth of them.
fn kinds(sample: &Sample) -> Vec<KindShare> {
    let mut counts = [0u64; KeyKind::ALL.len()];
    for key in &sample.keys {
        counts[look(key).0 as usize] += 1;
    }
    let all = sample.keys.len().max(1) as f64;
    let mut kinds: Vec<KindShare> = KeyKind::ALL
        .iter()
        .zip(counts)
        .map(|(&kind, keys)| KindShare {
            kind,
            share: keys as f64 / all,
        })
        .filter(|kind| kind.share > 0.01)
        .collect();
    kinds.sort_by(|a, b| b.share.total_cmp(&a.share));
    kinds
}

fn check(check: CheckKind, outcome: CheckOutcome, message: String) -> Check {
    Check {
        check,
        outcome,
        message,
    }
}

fn count_check(topics: &[InferReport; 2]) -> Check {
    let [a, b] = topics.each_ref().map(|topic| topic.partitions.count);
    let certain = topics.iter().all(|topic| {
        topic.partitions.source != crate::infer::CountSource::HighestPartition
            || !topic.components.is_empty()
    });
    let (outcome, message) = if a == b {
        (CheckOutcome::Passed, format!("both have {a} partitions"))
    } else if certain {
        (CheckOutcome::Failed, format!("{a} partitions and {b}"))
    } else {
        (
            CheckOutcome::Unknown,
            format!("{a} partitions and {b} by their records; -p says it for certain"),
        )
    };
    check(CheckKind::PartitionCount, outcome, message)
}

/// The names of the rules that may have placed a topic, the found one first.
fn rules(topic: &InferReport) -> Vec<&str> {
    let component = topic.components.first();
    component.map_or(Vec::new(), |component| {
        let twins = component.twins.iter();
        let twins = twins.filter(|twin| twin.because == TwinReason::PartitionCount);
        std::iter::once(component.profile.as_str())
            .chain(twins.map(|twin| twin.profile.as_str()))
            .collect()
    })
}

fn partitioner_check(topics: &[InferReport; 2]) -> Check {
    let [a, b] = topics;
    let named = |topic: &InferReport| topic.input.name.clone();
    let (outcome, message) = if let Some(topic) = topics.iter().find(|topic| {
        matches!(
            topic.verdict,
            InferVerdict::Mixed | InferVerdict::NotKeyed | InferVerdict::StaleCount
        )
    }) {
        let what = match topic.verdict {
            InferVerdict::Mixed => "several rules wrote it",
            InferVerdict::NotKeyed => "its records are not placed by key",
            _ => "it was written with another partition count than it has",
        };
        (CheckOutcome::Failed, format!("{}: {what}", named(topic)))
    } else if let Some(topic) = topics.iter().find(|topic| topic.components.is_empty()) {
        (
            CheckOutcome::Unknown,
            format!(
                "{}: no known rule is found ({})",
                named(topic),
                topic.verdict.name()
            ),
        )
    } else {
        let (of_a, of_b) = (rules(a), rules(b));
        let views = topics
            .each_ref()
            .map(|topic| topic.components.first().map(|c| c.key_bytes));
        match of_a.iter().find(|name| of_b.contains(name)) {
            Some(name) if views[0] == views[1] => (
                CheckOutcome::Passed,
                format!("both are placed as {name} places keys"),
            ),
            Some(name) => (
                CheckOutcome::Failed,
                format!(
                    "both are placed as {name} places keys, but of other bytes ({}, {})",
                    views[0].unwrap_or_default(),
                    views[1].unwrap_or_default()
                ),
            ),
            None => (
                CheckOutcome::Failed,
                format!(
                    "{} is placed by {}, {} by {}",
                    named(a),
                    of_a[0],
                    named(b),
                    of_b[0]
                ),
            ),
        }
    };
    check(CheckKind::Partitioner, outcome, message)
}

fn encoding_check(
    topics: &[InferReport; 2],
    kinds: &[Vec<KindShare>; 2],
    shared: &Shared,
) -> Check {
    let described = |kinds: &[KindShare]| {
        let named: Vec<_> = kinds
            .iter()
            .take(3)
            .map(|kind| format!("{} ({:.0} %)", kind.kind.describe(), 100.0 * kind.share))
            .collect();
        named.join(", ")
    };
    let first = |i: usize| kinds[i].first().map(|kind| kind.kind);
    let ids = |i: usize| {
        topics[i]
            .framing
            .as_ref()
            .map(|framing| &framing.schema_ids)
    };
    let in_other_bytes = shared.in_other_bytes();
    let (outcome, message) = if in_other_bytes > 0 && in_other_bytes * 10 > shared.keys() {
        (
            CheckOutcome::Failed,
            format!(
                "{} keys are there in other bytes: {} in {}, {} in {}",
                number(in_other_bytes),
                described(&kinds[0]),
                topics[0].input.name,
                described(&kinds[1]),
                topics[1].input.name
            ),
        )
    } else if let (Some(a), Some(b)) = (ids(0), ids(1))
        && !a.iter().any(|a| b.iter().any(|b| a.id == b.id))
    {
        (
            CheckOutcome::Failed,
            format!(
                "keys carry the schema ids {} in {} and {} in {}, which are hashed too",
                listed(a.iter().map(|schema| schema.id)),
                topics[0].input.name,
                listed(b.iter().map(|schema| schema.id)),
                topics[1].input.name
            ),
        )
    } else if first(0).is_none() || first(1).is_none() {
        (CheckOutcome::Unknown, "a topic has no keys".into())
    } else if first(0) == first(1) || shared.keys() > 0 {
        (
            CheckOutcome::Passed,
            format!("{} in both", described(&kinds[0])),
        )
    } else {
        (
            CheckOutcome::Unknown,
            format!(
                "{} in {}, {} in {}; no key is in both",
                described(&kinds[0]),
                topics[0].input.name,
                described(&kinds[1]),
                topics[1].input.name
            ),
        )
    };
    check(CheckKind::KeyEncoding, outcome, message)
}

fn listed(ids: impl Iterator<Item = RegistryId>) -> String {
    let ids: Vec<_> = ids.take(5).map(|id| id.to_string()).collect();
    ids.join(", ")
}

/// Keys that both have: fewer than this, all together, may be so by chance.
fn shared_check(topics: &[InferReport; 2], shared: &Shared) -> Check {
    let keys = shared.keys();
    let needed = topics
        .iter()
        .filter_map(|topic| topic.evidence.keys_needed)
        .max();
    let sampled = if shared.all_keys {
        ""
    } else {
        ", of those looked at"
    };
    let (outcome, message) = if keys == 0 {
        (CheckOutcome::Unknown, "no key is in both".into())
    } else if shared.apart() > 0 {
        (
            CheckOutcome::Failed,
            format!(
                "{} of {} keys that both have ({}) are on different partitions{sampled}",
                number(shared.apart()),
                number(keys),
                percent(shared.apart(), keys)
            ),
        )
    } else if needed.is_some_and(|needed| keys >= needed) {
        (
            CheckOutcome::Passed,
            format!(
                "all {} keys that both have are on the same partitions{sampled}",
                number(keys)
            ),
        )
    } else {
        (
            CheckOutcome::Unknown,
            format!(
                "all {} keys that both have are on the same partitions, which is too few to be no accident",
                number(keys)
            ),
        )
    };
    check(CheckKind::SharedKeys, outcome, message)
}

/// What Kafka Streams and ksqlDB do with such topics.
fn consequences(topics: &[InferReport; 2], checks: &[Check], shared: &Shared) -> Vec<Consequence> {
    let failed = |kind| {
        let mut checks = checks.iter();
        checks.any(|check| check.check == kind && check.outcome == CheckOutcome::Failed)
    };
    let effects = if failed(CheckKind::PartitionCount) {
        // CopartitionedTopicsEnforcer of Kafka Streams; JoinNode of ksqlDB.
        [
            (
                "Kafka Streams",
                "a join by key does not start: TopologyException, \"Following topics do not have the same number of partitions\". Repartition one side with repartition(), or join it as a GlobalKTable".to_owned(),
            ),
            (
                "ksqlDB",
                "the statement is refused: \"Can't join … since the number of partitions don't match\". Re-create one side with PARTITION BY and the other's count".to_owned(),
            ),
        ]
    } else if checks
        .iter()
        .any(|check| check.outcome == CheckOutcome::Failed)
    {
        let keys = shared.keys() + shared.in_other_bytes();
        let lost = if keys > 0 {
            format!(
                "of {} keys that both have, {} ({}) would not find each other",
                number(keys),
                number(keys - shared.together()),
                percent(keys - shared.together(), keys)
            )
        } else {
            "keys would find each other by chance only".to_owned()
        };
        let count = topics[0].partitions.count;
        [
            (
                "Kafka Streams",
                format!(
                    "a join by key starts, since both have {count} partitions, and silently loses matches: {lost}. repartition() on the side that Java's partitioner did not write mends it"
                ),
            ),
            (
                "ksqlDB",
                format!(
                    "a join starts, since ksqlDB checks the counts only, and silently loses matches: {lost}. Re-create the side that Java's partitioner did not write with PARTITION BY"
                ),
            ),
        ]
    } else {
        let sure = "a join by key starts";
        let text = if checks
            .iter()
            .all(|check| check.outcome == CheckOutcome::Passed)
        {
            format!("{sure} and finds the keys that both topics have")
        } else {
            format!(
                "{sure} if the counts are equal; what could not be told above decides what it finds"
            )
        };
        [("Kafka Streams", text.clone()), ("ksqlDB", text)]
    };
    effects
        .into_iter()
        .map(|(system, effect)| Consequence { system, effect })
        .collect()
}
