use std::sync::atomic::AtomicBool;

use super::*;
use crate::infer::testing::{Topic, keys};

fn compared(mut a: Topic, mut b: Topic) -> CopartitionReport {
    let run = Run {
        threads: 2,
        interrupted: &AtomicBool::new(false),
    };
    let options = CopartitionOptions {
        show: 5,
        ..CopartitionOptions::default()
    };
    copartition_from([&mut a, &mut b], &options, &run).unwrap()
}

fn outcomes(report: &CopartitionReport) -> Vec<(&'static str, &'static str)> {
    let checks = report.checks.iter();
    checks
        .map(|check| (check.check.id(), check.outcome.name()))
        .collect()
}

fn effect(report: &CopartitionReport) -> &str {
    &report.consequences[0].effect
}

#[test]
fn topics_that_may_be_joined() {
    let report = compared(
        Topic::new(12).by("java", 12, &keys(0, 300)),
        Topic::new(12).by("kafkajs", 12, &keys(100, 400)),
    );
    assert_eq!(
        (report.verdict, report.exit_code()),
        (CopartitionVerdict::Copartitioned, 0)
    );
    assert!(
        report
            .checks
            .iter()
            .all(|check| check.outcome == CheckOutcome::Passed)
    );
    assert_eq!((report.shared.keys, report.shared.together), (200, 200));
    assert!(effect(&report).contains("finds the keys"));
}

#[test]
fn other_counts_do_not_start() {
    let report = compared(
        Topic::new(12).by("java", 12, &keys(0, 300)),
        Topic::new(8).by("java", 8, &keys(0, 300)),
    );
    assert_eq!(report.exit_code(), 1);
    assert_eq!(outcomes(&report)[0], ("partition-count", "failed"));
    assert!(effect(&report).contains("TopologyException"));
}

#[test]
fn other_partitioners_start_and_lose_matches() {
    let report = compared(
        Topic::new(12).by("java", 12, &keys(0, 300)),
        Topic::new(12).by("ruby-kafka", 12, &keys(0, 300)),
    );
    assert_eq!(report.verdict, CopartitionVerdict::NotCopartitioned);
    assert_eq!(
        outcomes(&report),
        [
            ("partition-count", "passed"),
            ("partitioner", "failed"),
            ("key-encoding", "passed"),
            ("shared-keys", "failed"),
        ]
    );
    assert!(report.shared.apart > 250 && report.shared.examples.len() == 5);
    assert!(
        effect(&report).contains("silently loses matches"),
        "{}",
        effect(&report)
    );
    let [a, b] = &report.shared.examples[0].partitions;
    assert_ne!(a, b);
}

#[test]
fn the_same_numbers_as_text_and_in_binary() {
    let texts: Vec<_> = (1000..1300i64)
        .map(|i| i.to_string().into_bytes())
        .collect();
    let longs: Vec<_> = (1000..1300i64).map(|i| i.to_be_bytes().to_vec()).collect();
    let report = compared(
        Topic::new(12).by("java", 12, &texts),
        Topic::new(12).by("java", 12, &longs),
    );
    assert_eq!(report.verdict, CopartitionVerdict::NotCopartitioned);
    assert_eq!(
        outcomes(&report)[1..3],
        [("partitioner", "passed"), ("key-encoding", "failed")]
    );
    assert_eq!((report.shared.keys, report.shared.in_other_bytes), (0, 300));
}

#[test]
fn avro_keys_with_another_schema_id_on_each_side() {
    let framed = |id: u8| -> Vec<Vec<u8>> {
        keys(0, 200)
            .into_iter()
            .map(|key| [&[0, 0, 0, 0, id][..], &key].concat())
            .collect()
    };
    let report = compared(
        Topic::new(12).by("java", 12, &framed(1)),
        Topic::new(12).by("java", 12, &framed(2)),
    );
    assert_eq!(report.verdict, CopartitionVerdict::NotCopartitioned);
    assert_eq!(outcomes(&report)[2], ("key-encoding", "failed"));
    assert_eq!(report.shared.in_other_bytes, 200);
}

#[test]
fn a_partitioner_of_ones_own_is_proven_by_the_keys_that_both_have() {
    let own = |shift: usize| {
        let mut topic = Topic::new(12);
        for (i, key) in keys(0, 300).iter().enumerate() {
            topic = topic.at((i * i % 11 + shift) as u32, Some(key));
        }
        topic
    };
    let report = compared(own(0), own(0));
    assert_eq!(report.verdict, CopartitionVerdict::Copartitioned);
    assert_eq!(outcomes(&report)[1], ("partitioner", "unknown"));
    assert_eq!(
        compared(own(0), own(1)).verdict,
        CopartitionVerdict::NotCopartitioned
    );
}

#[test]
fn too_little_to_tell() {
    let java = |from, to| Topic::new(12).by("java", 12, &keys(from, to));
    let report = compared(java(0, 4), java(2, 6));
    assert_eq!(
        (report.verdict, report.exit_code()),
        (CopartitionVerdict::Inconclusive, 4)
    );
    // Without a key in common, the rules decide.
    assert_eq!(
        compared(java(0, 200), java(500, 700)).verdict,
        CopartitionVerdict::Copartitioned
    );
    // At a power of two, Java's rule and platformatic's are one.
    let report = compared(
        Topic::new(16).by("java", 16, &keys(0, 200)),
        Topic::new(16).by("platformatic", 16, &keys(0, 200)),
    );
    assert_eq!(report.verdict, CopartitionVerdict::Copartitioned);
    // A topic that two clients wrote can't be joined, whatever the other is.
    let mixed = java(0, 200).by("librdkafka", 12, &keys(200, 400));
    assert_eq!(
        compared(java(0, 200), mixed).verdict,
        CopartitionVerdict::NotCopartitioned
    );
}
