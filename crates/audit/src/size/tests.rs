use super::platforms::{LIMITS, of_platform};
use super::*;

fn options(throughput: &str) -> SizeOptions {
    SizeOptions {
        throughput: throughput.parse().unwrap(),
        growth: 1.0,
        headroom: 0.0,
        record_bytes: None,
        produce: None,
        consume: None,
        latency: None,
        consumers: None,
        hot_key: None,
        replication: 3,
        brokers: None,
        current: None,
        limits: LIMITS.to_vec(),
    }
}

fn floors(report: &SizeReport) -> Vec<(Reason, Option<u32>)> {
    report
        .floors
        .iter()
        .map(|floor| (floor.reason, floor.partitions))
        .collect()
}

/// The example that is passed on from one guide to the next: T = 20, P = 5, C = 3.
#[test]
fn the_published_example() {
    let report = size(&SizeOptions {
        produce: "5MB".parse().ok(),
        consume: "3MB".parse().ok(),
        ..options("20MB/s")
    })
    .unwrap();
    assert_eq!(
        floors(&report),
        [(Reason::Produce, Some(4)), (Reason::Consume, Some(7))]
    );
    assert_eq!(report.minimum, Some(7));
}

#[test]
fn growth_and_headroom_multiply() {
    let report = size(&SizeOptions {
        growth: 2.0,
        headroom: 0.2,
        produce: "10MB".parse().ok(),
        consumers: Some(9),
        ..options("100MB/s")
    })
    .unwrap();
    assert_eq!(
        floors(&report),
        [(Reason::Produce, Some(25)), (Reason::Parallelism, Some(9))]
    );
    let least = &report.candidates[0];
    assert_eq!((least.partitions, least.replicas), (25, 75));
    assert!((least.load.unwrap() - 0.8).abs() < 1e-9, "{least:?}");
}

#[test]
fn records_and_bytes_meet_by_the_size_of_a_record() {
    let base = SizeOptions {
        latency: Some(0.002),
        ..options("10MB/s")
    };
    let error = size(&base).unwrap_err().to_string();
    assert!(error.contains("--record-size"), "{error}");
    let report = size(&SizeOptions {
        record_bytes: Some(1000.0),
        ..base
    })
    .unwrap();
    // 10,000 records a second, 500 by each consumer.
    assert_eq!(floors(&report), [(Reason::Latency, Some(20))]);
}

#[test]
fn a_hot_key_needs_room_beside_it_or_has_no_answer() {
    let hot = |share| {
        size(&SizeOptions {
            consume: "10MB".parse().ok(),
            hot_key: Some(share),
            ..options("100MB/s")
        })
        .unwrap()
    };
    // Its partition has 5 MB/s of the key and 1/19 of 95 MB/s: 10 MB/s.
    let report = hot(0.05);
    assert_eq!(report.minimum, Some(19));
    assert!((report.candidates[0].hot_load.unwrap() - 1.0).abs() < 1e-9);
    let report = hot(0.1);
    assert_eq!(report.minimum, None);
    assert_eq!(report.exit_code(), 1);
    assert!(
        report.floors[1].how.contains("no count helps"),
        "{:?}",
        report.floors
    );
}

#[test]
fn candidates_say_what_they_cost() {
    let report = size(&SizeOptions {
        produce: "10MB".parse().ok(),
        brokers: Some(6),
        current: Some(8),
        ..options("100MB/s")
    })
    .unwrap();
    let counts: Vec<_> = report.candidates.iter().map(|c| c.partitions).collect();
    assert_eq!(counts, [10, 12, 16, 24]);
    assert_eq!(report.candidates[1].why, [Why::Brokers, Why::Divisors]);
    assert_eq!(
        report.candidates[2].why,
        [Why::PowerOfTwo, Why::MultipleOfCurrent]
    );
    let twelve = &report.candidates[1];
    assert_eq!(twelve.replicas_per_broker, Some(6.0));
    assert!((twelve.moves_from_current.unwrap() - 2.0 / 3.0).abs() < 1e-12);
    assert!((twelve.moves_from_minimum - 5.0 / 6.0).abs() < 1e-12);
    let later: Vec<_> = twelve
        .later
        .iter()
        .map(|l| (l.partitions, (l.share * 1000.0).round()))
        .collect();
    assert_eq!(later, [(13, 923.0), (18, 667.0), (24, 500.0), (36, 667.0)]);
}

#[test]
fn limits_are_compared_where_they_can_be() {
    let report = size(&SizeOptions {
        consumers: Some(600),
        brokers: Some(3),
        ..options("1MB/s")
    })
    .unwrap();
    let exceeded = |platform: &str| {
        let mut limits = report
            .limits
            .iter()
            .filter(|l| l.limit.platform.starts_with(platform));
        limits.any(|limit| limit.exceeded == Some(true))
    };
    assert!(exceeded("msk kafka.t3.small") && exceeded("event-hubs premium"));
    assert!(!exceeded("event-hubs dedicated") && !exceeded("msk m5/m7g 2xlarge"));
    assert_eq!(of_platform("msk").unwrap().len(), 4);
    let error = of_platform("pulsar").unwrap_err().to_string();
    assert!(error.contains("msk, event-hubs"), "{error}");
    assert!(
        LIMITS
            .iter()
            .all(|limit| limit.source.starts_with("https://"))
    );
}

#[test]
fn nonsense_is_an_error() {
    for options in [
        options("1MB/s"),
        SizeOptions {
            produce: "1B".parse().ok(),
            ..options("1TB/s")
        },
        SizeOptions {
            consumers: Some(3),
            brokers: Some(2),
            ..options("1MB/s")
        },
    ] {
        assert_eq!(size(&options).unwrap_err().kind(), crate::ErrorKind::Usage);
    }
}
