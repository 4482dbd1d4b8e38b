use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::census::EXACT_KEYS;
use crate::input::InputOptions;

fn moved(keys: &[String], from: &str, to: &str, unpinned: UnpinnedPolicy) -> MovementReport {
    tried(keys, from, to, unpinned).unwrap()
}

fn tried(
    keys: &[String],
    from: &str,
    to: &str,
    unpinned: UnpinnedPolicy,
) -> Result<MovementReport, Error> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(
        file.path(),
        keys.iter()
            .map(|key| format!("{key}\n"))
            .collect::<String>(),
    )
    .unwrap();
    let input = InputOptions {
        null_value: Some("NULL".into()),
        ..InputOptions::default()
    };
    let from = Endpoint::parse(from, None).unwrap();
    let options = MovementOptions {
        to: Endpoint::parse(to, Some(&from.client)).unwrap(),
        from,
        unpinned,
        max_moved: Some(60.0),
        show: 10,
        exact_keys: EXACT_KEYS,
    };
    let run = Run {
        threads: 2,
        interrupted: &AtomicBool::new(false),
    };
    movement(&Source::open(file.path(), &input).unwrap(), &options, &run)
}

fn users(n: usize) -> Vec<String> {
    (0..n)
        .map(|i| format!("user-{}", i % (n / 2).max(1)))
        .collect()
}

#[test]
fn flows_are_those_of_a_naive_count() {
    let keys = users(20_000);
    for (from, to) in [
        ("java:8", "12"),
        ("java:12", "librdkafka:12"),
        ("sarama:6", "kafka-go:9"),
        ("java:5", "ruby-kafka:7"),
    ] {
        let report = moved(&keys, from, to, UnpinnedPolicy::Report);
        let (a, b) = (
            Endpoint::parse(from, None).unwrap(),
            Endpoint::parse(
                to,
                Endpoint::parse(from, None).ok().map(|e| e.client).as_ref(),
            )
            .unwrap(),
        );
        let place = |end: &Endpoint, key: &str| {
            let placement = end.client.profile().place(Some(key.as_bytes()), end.count);
            placement
                .partition()
                .map_or(Place::Unpinned, |p| Place::Partition(p as u32))
        };
        let mut flows: BTreeMap<(Place, Place), (u64, u64)> = BTreeMap::new();
        let mut seen = std::collections::HashSet::new();
        for key in &keys {
            let flow = flows.entry((place(&a, key), place(&b, key))).or_default();
            flow.0 += u64::from(seen.insert(key));
            flow.1 += 1;
        }
        let got: BTreeMap<_, _> = report
            .flows
            .iter()
            .map(|f| ((f.from, f.to), (f.keys, f.records)))
            .collect();
        assert_eq!(got, flows, "{from} {to}");
        let stay: u64 = flows
            .iter()
            .filter(|((a, b), _)| a == b)
            .map(|(_, n)| n.0)
            .sum();
        assert_eq!(report.moved_keys.stay, stay);
        assert_eq!(report.moved_keys.stay + report.moved_keys.moved, 10_000);
        assert_eq!(report.moved_records.stay, 2 * stay);
        for (side, of) in [(&report.leaving, 0), (&report.arriving, 1)] {
            for through in side {
                let here =
                    |(a, b): &(Place, Place)| [a, b][of].partition() == Some(through.partition);
                let all: u64 = flows
                    .iter()
                    .filter(|(places, _)| here(places))
                    .map(|(_, n)| n.0)
                    .sum();
                assert_eq!(through.keys, all);
            }
        }
        for example in &report.examples {
            assert_ne!(example.from, example.to);
        }
    }
}

#[test]
fn shares_are_near_the_expected_ones() {
    let keys = users(80_000);
    for (from, to, basis) in [
        ("java:6", "12", Basis::SameRule),
        ("java:12", "13", Basis::SameRule),
        ("librdkafka:50", "64", Basis::SameRule),
        ("java:12", "librdkafka:12", Basis::OtherHash),
        ("java:6", "ruby-kafka:8", Basis::OtherHash),
        ("sarama:12", "sarama/reference-hash:12", Basis::SameHash),
        ("sarama:12", "sarama/reference-hash:18", Basis::SameHash),
        (
            "java:12",
            "hash=murmur2,reduce=unsigned:24",
            Basis::SameHash,
        ),
        (
            "java:16",
            "hash=murmur2,reduce=unsigned:16",
            Basis::SameHash,
        ),
    ] {
        let report = moved(&keys, from, to, UnpinnedPolicy::Report);
        assert_eq!(report.expected.basis, basis);
        let (share, expected) = (
            report.moved_keys.share.unwrap(),
            report.expected.share.unwrap(),
        );
        // Four standard deviations of 40,000 keys are one percent at most.
        assert!(
            (share - expected).abs() < 0.01,
            "{from} {to}: {share} {expected}"
        );
    }
}

#[test]
fn on_doubling_a_key_goes_to_one_other_partition_only() {
    let report = moved(&users(5_000), "java:8", "16", UnpinnedPolicy::Report);
    for flow in &report.flows {
        let (Place::Partition(from), Place::Partition(to)) = (flow.from, flow.to) else {
            panic!("{flow:?}");
        };
        assert!(to == from || to == from + 8, "{flow:?}");
    }
    assert_eq!(report.verdict, Verdict::WithinLimit);
    assert_eq!(report.alone, None);
}

#[test]
fn each_change_alone_is_told_apart() {
    let report = moved(
        &users(10_000),
        "java:6",
        "librdkafka:12",
        UnpinnedPolicy::Report,
    );
    let algorithm = moved(
        &users(10_000),
        "java:6",
        "librdkafka:6",
        UnpinnedPolicy::Report,
    );
    let count = moved(&users(10_000), "java:6", "java:12", UnpinnedPolicy::Report);
    let alone = report.alone.unwrap();
    assert_eq!(alone.algorithm_keys, algorithm.moved_keys.moved);
    assert_eq!(alone.algorithm_records, algorithm.moved_records.moved);
    assert_eq!(alone.count_keys, count.moved_keys.moved);
    assert_eq!(alone.count_records, count.moved_records.moved);
    assert_eq!(report.verdict, Verdict::OverLimit, "more than 60 % move");
    assert_eq!(report.exit_code(), 1);
}

#[test]
fn keyless_and_unpinned_keys_count_as_in_verify() {
    let keys = ["a", "", "", "NULL", "NULL", "NULL"].map(str::to_owned);
    let report = moved(
        &keys,
        "java:1",
        "librdkafka/murmur2:1",
        UnpinnedPolicy::Report,
    );
    // a and the empty key stay; null is unpinned before and pinned after.
    assert_eq!((report.moved_keys.stay, report.moved_keys.moved), (2, 0));
    assert_eq!(
        (report.moved_records.stay, report.moved_records.moved),
        (3, 3)
    );
    assert_eq!(report.keyless.len(), 2);
    assert_eq!(
        (report.keyless[1].from, report.keyless[1].to),
        (Place::Unpinned, Place::Partition(0))
    );
    for (policy, unpinned, moved_records) in [
        (UnpinnedPolicy::Report, 3, 0),
        (UnpinnedPolicy::Fail, 0, 3),
        (UnpinnedPolicy::Skip, 0, 0),
    ] {
        let report = moved(&keys, "java:1", "kafkajs:1", policy);
        let got = (report.moved_records.unpinned, report.moved_records.moved);
        assert_eq!(got, (unpinned, moved_records), "{policy:?}");
    }
    // An empty key that loses its partition moves.
    let report = moved(
        &keys[1..2],
        "java:12",
        "librdkafka:12",
        UnpinnedPolicy::Report,
    );
    assert_eq!(report.moved_keys.moved, 1);
    assert_eq!(report.flows.len(), 1);
    assert_eq!(
        (report.flows[0].from, report.flows[0].to),
        (Place::Partition(9), Place::Unpinned)
    );
}

#[test]
fn nothing_pinned_is_no_answer() {
    for (keys, from, to) in [
        (&[][..], "java:8", "12"),
        (&["NULL".to_owned()][..], "java:8", "12"),
        (&["a".to_owned()][..], "kafka-go:8", "pykafka:12"),
    ] {
        let report = moved(keys, from, to, UnpinnedPolicy::Report);
        assert_eq!(report.verdict, Verdict::Inconclusive, "{from}");
        assert_eq!(report.exit_code(), 4);
    }
    // A client that refuses every key, and one that pins it.
    let report = moved(
        &["a".to_owned()],
        "pykafka/hashing:8",
        "java:8",
        UnpinnedPolicy::Report,
    );
    assert_eq!(report.distinct.keys, 1);
}

#[test]
fn endpoints() {
    let java = Client::parse("java").unwrap();
    for (text, client, count) in [
        ("java:8", "java", 8),
        ("12", "java", 12),
        (":12", "java", 12),
        ("hash=crc32,reduce=mask:3", "hash=crc32,reduce=mask", 3),
        ("kafkajs@1.16: 7", "kafkajs@1.16", 7),
    ] {
        let end = Endpoint::parse(text, Some(&java)).unwrap();
        assert_eq!((end.client.name(), end.count.get()), (client, count));
    }
    for (text, hint) in [
        ("java", "write it as java:12"),
        ("java:0", "1 to 2147483647"),
        ("java:x", "`x` in `java:x`"),
        ("jva:8", "did you mean `java`?"),
        (":8", "no client"),
    ] {
        let error = Endpoint::parse(text, None).unwrap_err().to_string();
        assert!(error.contains(hint), "{text}: {error}");
    }
    let error = tried(&[], "java:2000", "2000", UnpinnedPolicy::Report).unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::Usage);
    assert!(error.to_string().contains("4000000 pairs"), "{error}");
}
