use std::sync::atomic::AtomicBool;

use super::*;
use crate::census::EXACT_KEYS;
use crate::input::InputOptions;

fn measured(keys: &[String], client: &str, counts: &[u32]) -> SkewReport {
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
    let options = SkewOptions {
        client: Client::parse(client).unwrap(),
        counts: counts
            .iter()
            .filter_map(|&n| PartitionCount::new(n))
            .collect(),
        max_skew: Some(1.5),
        show: 10,
        exact_keys: EXACT_KEYS,
    };
    let run = Run {
        threads: 2,
        interrupted: &AtomicBool::new(false),
    };
    skew(&Source::open(file.path(), &input).unwrap(), &options, &run).unwrap()
}

#[test]
fn a_good_hash_is_as_even_as_chance() {
    let keys: Vec<_> = (0..50_000).map(|i| format!("user-{i}")).collect();
    for client in ["java", "librdkafka", "sarama"] {
        let report = measured(&keys, client, &[12, 50]);
        for count in &report.counts {
            assert_eq!(count.verdict, Verdict::WithinLimit);
            assert_eq!(
                count.keys_are_uneven(),
                Some(false),
                "{client} {:?}",
                count.keys_test
            );
            // Each key has one record, so both tests are the same.
            assert_eq!(count.keys_test, count.records_test);
            assert_eq!(count.records.total, 50_000);
            assert!(count.parallelism > f64::from(count.partitions) * 0.9);
        }
        assert!(report.heavy.keys.is_empty() || report.heavy.keys[0].records_at_least == 1);
    }
}

/// Java's `31 * h + c` is, modulo 31, the last character alone: ten digits fill ten partitions.
#[test]
fn an_uneven_hash_is_seen_where_a_hot_key_is_not_blamed() {
    let numbers: Vec<_> = (0..10_000).map(|i| format!("{i:04}")).collect();
    let report = measured(&numbers, "hash=java-string,reduce=mask", &[31]);
    assert_eq!(report.counts[0].keys_are_uneven(), Some(true));
    assert_eq!(report.verdict, Verdict::OverLimit);
    assert_eq!(report.counts[0].keys.empty, 21);
}

#[test]
fn a_hot_key_bounds_parallelism() {
    let mut keys: Vec<_> = (0..10_000).map(|i| format!("user-{i}")).collect();
    keys.extend(std::iter::repeat_n("bot".to_owned(), 10_000));
    let report = measured(&keys, "java", &[12, 48]);
    assert_eq!(report.verdict, Verdict::OverLimit);
    let heaviest = &report.heavy.keys[0];
    assert_eq!(heaviest.key_hex, "626f74");
    assert_eq!(
        (heaviest.records_at_least, heaviest.records_at_most),
        (10_000, 10_000)
    );
    assert_eq!(report.heavy.others_at_most, 1);
    assert!((heaviest.share - 0.5).abs() < 1e-9);
    assert_eq!(report.hot_key_parallelism, Some(2.0));
    for (at, count) in report.counts.iter().enumerate() {
        assert!(count.parallelism < 2.0);
        assert_eq!(count.keys_are_uneven(), Some(false));
        assert!(count.records_test.is_some_and(|test| test.p_value == 0.0));
        let place = heaviest.places[at].partition();
        assert_eq!(place, Some(count.records.max_partition));
    }
}

#[test]
fn what_is_not_pinned_is_apart_and_alone_is_no_answer() {
    let keys: Vec<_> = ["a", "b", "", "NULL", "NULL"].map(str::to_owned).to_vec();
    let report = measured(&keys, "java", &[12]);
    assert_eq!(report.counts[0].unpinned_records, 2);
    assert_eq!(report.counts[0].records.total, 3);
    assert_eq!(report.distinct.keys, 3);
    assert_eq!(report.counts[0].keys_test, None, "too few to tell");
    for (keys, client) in [(&[][..], "java"), (&keys[3..], "java"), (&keys, "kafka-go")] {
        let report = measured(keys, client, &[12]);
        assert_eq!(report.verdict, Verdict::Inconclusive, "{client}");
        assert_eq!(report.exit_code(), 4);
    }
}

#[test]
fn bounds_are_said() {
    for counts in [&[][..], &[1, 2, 3, 4, 5, 6, 7, 8, 9], &[200_001]] {
        let options = SkewOptions {
            client: Client::parse("java").unwrap(),
            counts: counts
                .iter()
                .filter_map(|&n| PartitionCount::new(n))
                .collect(),
            max_skew: None,
            show: 1,
            exact_keys: 1,
        };
        let file = tempfile::NamedTempFile::new().unwrap();
        let source = Source::open(file.path(), &InputOptions::default()).unwrap();
        let run = Run {
            threads: 1,
            interrupted: &AtomicBool::new(false),
        };
        let error = skew(&source, &options, &run).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Usage, "{error}");
    }
}
