//! Reading, finding by time, retention.

use super::*;
use crate::ErrorKind;

#[test]
fn reads_are_whole_batches_within_their_limits() {
    let mut log = open(&disk(), &small()).0;
    fill(&mut log, 40);
    let one = Draft::of(&["1", "2"]).bytes().len();
    for offset in 0..80 {
        // At least one batch, from the one that holds the offset on.
        for max_bytes in [0, 1, one - 1, one, one + 1] {
            let read = decode(log.read(offset, 80, max_bytes).expect("reads")).expect("whole");
            let begin = offset / 2 * 2;
            assert_eq!(
                read.iter().map(|r| r.0).collect::<Vec<_>>(),
                [begin, begin + 1]
            );
        }
        let read = decode(log.read(offset, 80, 10 * one).expect("reads")).expect("whole");
        assert!(read.iter().any(|record| record.0 == offset));
    }
    // Never from the limit on.
    assert!(log.read(10, 10, 1000).expect("reads").is_empty());
    let read = decode(log.read(4, 8, 100_000).expect("reads")).expect("whole");
    assert_eq!(read.last().expect("records").0, 7);
    assert!(log.read(80, 80, 1000).expect("reads").is_empty());
    for outside in [-1, 81] {
        let error = log.read(outside, 80, 1000).expect_err("out of range");
        assert_eq!(error.kind(), ErrorKind::OffsetOutOfRange);
    }
}

#[test]
fn records_are_found_by_time_inside_of_batches() {
    let mut log = open(&disk(), &small()).0;
    fill(&mut log, 40);
    // Record n has the time of n, plus 1 for the second of a batch at n - 1.
    for offset in 0..80 {
        let found = log.find_time(NOW + offset, 80).expect("reads");
        let found = found.expect("a record");
        assert_eq!((found.offset, found.timestamp), (offset, NOW + offset));
    }
    assert_eq!(
        log.find_time(0, 80).expect("reads").expect("first").offset,
        0
    );
    assert_eq!(log.find_time(NOW + 80, 80).expect("reads"), None);
    assert_eq!(
        log.find_time(NOW + 50, 50).expect("reads"),
        None,
        "not stored yet"
    );
    let max = log
        .find_max_timestamp(80)
        .expect("reads")
        .expect("a record");
    assert_eq!(max.offset, 79);
    let max = log
        .find_max_timestamp(40)
        .expect("reads")
        .expect("a record");
    assert_eq!(max.offset, 39);
}

#[test]
fn times_out_of_order_are_found() {
    let mut log = open(&disk(), &small()).0;
    let mut times = Vec::new();
    for n in 0..60i64 {
        let time = NOW + n * 7919 % 101;
        append(&mut log, &Draft::of(&["v"]).at(time)).expect("appended");
        times.push(time);
    }
    for target in NOW - 1..NOW + 102 {
        let expected = times.iter().position(|&time| time >= target);
        let found = log.find_time(target, 60).expect("reads");
        assert_eq!(found.map(|found| found.offset as usize), expected);
    }
}

#[test]
fn retention_by_time_and_size_and_deleted_records() {
    let files = disk();
    let config = LogConfig {
        retention_ms: 1000,
        ..small()
    };
    let mut log = open(&files, &config).0;
    fill(&mut log, 40);
    log.sync().expect("synced");
    let bases: Vec<i64> = log.segments.iter().map(|s| s.base_offset).collect();
    // The first segment's newest record has the time of its last offset.
    let removed = log
        .apply_retention(NOW + bases[1] - 1 + 1000)
        .expect("applied");
    assert_eq!(removed.segments, 0);
    let removed = log.apply_retention(NOW + bases[1] + 1000).expect("applied");
    assert_eq!(removed.segments, 1);
    assert_eq!(log.log_start_offset(), bases[1]);
    assert_filled(&log, 80);

    assert_eq!(
        log.delete_records(bases[2] + 3).expect("deleted"),
        bases[2] + 3
    );
    assert_eq!(log.delete_records(5).expect("no way back"), bases[2] + 3);
    assert_eq!(
        log.delete_records(81).expect_err("behind").kind(),
        ErrorKind::OffsetOutOfRange
    );
    assert_filled(&log, 80);
    assert_eq!(
        log.find_time(0, 80).expect("reads").expect("first").offset,
        bases[2] + 3
    );
    assert_eq!(log.apply_retention(NOW).expect("applied").segments, 1);
    let log_start = log.log_start_offset();

    let files = Arc::new(files.kill());
    let config = LogConfig {
        retention_bytes: 500,
        ..small()
    };
    let (mut log, recovery) = open(&files, &config);
    assert_eq!(recovery, Recovery::default());
    assert_eq!(log.log_start_offset(), log_start, "also after a crash");
    assert_filled(&log, 80);
    log.apply_retention(NOW).expect("applied");
    assert!(log.size() >= 500 && log.size() < 1500, "{}", log.size());

    // All of it: the end of the log stays where it is.
    let config = LogConfig {
        retention_ms: 1000,
        ..small()
    };
    log.set_config(config.clone());
    log.apply_retention(NOW + 1_000_000).expect("applied");
    assert_eq!((log.log_start_offset(), log.log_end_offset()), (80, 80));
    assert_eq!(log.size(), 0);
    let (log, _) = open(&Arc::new(files.crash(1)), &config);
    assert_eq!((log.log_start_offset(), log.log_end_offset()), (80, 80));
}

#[test]
fn what_is_not_stored_is_not_removed() {
    let config = LogConfig {
        retention_ms: 0,
        durability: Durability::Disk,
        ..LogConfig::default()
    };
    let mut log = open(&disk(), &config).0;
    fill(&mut log, 2);
    assert_eq!(log.stored_offset(), 0);
    // Rolling syncs, so it may go then.
    let removed = log.apply_retention(NOW + 1_000_000).expect("applied");
    assert_eq!((removed.segments, log.stored_offset()), (1, 4));
}

#[test]
fn clocks_that_jump_remove_nothing_that_is_new() {
    let config = LogConfig {
        retention_ms: 1000,
        segment_ms: 5000,
        ..small()
    };
    let mut log = open(&disk(), &config).0;
    fill(&mut log, 40);
    log.sync().expect("synced");
    // Back, by more than the log is old.
    for now in [NOW - 1_000_000, 0, -1, i64::MIN] {
        assert_eq!(log.apply_retention(now).expect("applied").segments, 0);
        log.expire_producers(now);
    }
    let before = log.segments.len();
    let values = ["80", "81"];
    log.append(
        Draft::of(&values).at(NOW + 80).bytes(),
        Origin::Client,
        0,
        NOW - 3_000_000,
    )
    .expect("appended");
    assert!(log.segments.len() <= before + 1);
    assert_filled(&log, 82);
    log.sync().expect("synced");
    // Ahead: all that was stored is too old then, as Kafka has it, and nothing
    // overflows.
    for now in [NOW + 1_000_000, i64::MAX] {
        log.apply_retention(now).expect("applied");
        assert_eq!((log.log_start_offset(), log.log_end_offset()), (82, 82));
    }
    fill(&mut log, 2);
    assert_eq!(log.log_end_offset(), 86);
    // A record of the future does not keep those behind it for ever by size.
    log.set_config(LogConfig {
        retention_ms: -1,
        retention_bytes: 300,
        ..small()
    });
    fill(&mut log, 40);
    log.sync().expect("synced");
    assert!(log.apply_retention(NOW).expect("applied").segments > 0);
}
