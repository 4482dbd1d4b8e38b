//! Compaction: what stays, what goes, and a crash in the middle of it.

use std::collections::BTreeMap;

use super::*;
use crate::files::{Files, Random};
use copart_protocol::records::{BatchEditor, TransactionMarker};

fn config() -> LogConfig {
    LogConfig {
        compacts: true,
        deletes: false,
        delete_retention_ms: 1000,
        ..small()
    }
}

/// A batch of keyed records; `None` is a tombstone.
fn keyed(records: &[(&str, Option<&str>)], producer: Producer, codec: Codec) -> BytesMut {
    let mut builder = BatchBuilder::new();
    for (key, value) in records {
        let value = value.map(str::as_bytes);
        builder
            .append(NOW, Some(key.as_bytes()), value, &[])
            .expect("fits");
    }
    let seal = Seal {
        producer,
        compression: codec.into(),
        ..Seal::default()
    };
    let batch = builder.seal(&seal, &mut Compressor::new()).expect("seals");
    BytesMut::from(&batch.bytes()[..])
}

fn put(log: &mut PartitionLog, records: &[(&str, Option<&str>)]) -> i64 {
    let bytes = keyed(records, Producer::NONE, Codec::None);
    let appended = log.append(bytes, Origin::Client, 0, NOW);
    appended.expect("appended").base_offset
}

/// All records: offset, key, value.
fn keyed_records(log: &PartitionLog) -> Vec<(i64, String, Option<String>)> {
    let mut all = Vec::new();
    let mut offset = log.log_start_offset();
    let mut decompressor = Decompressor::new(1 << 20);
    while offset < log.log_end_offset() {
        let bytes = log.read(offset, log.log_end_offset(), 300).expect("reads");
        let before = offset;
        for batch in Batches::new(bytes) {
            let batch = batch.expect("whole");
            offset = batch.next_offset();
            if batch.is_control() {
                continue;
            }
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            for record in &batch.records(&mut decompressor).expect("records") {
                let record = record.expect("a record");
                let key = text(record.key.expect("a key"));
                all.push((record.offset, key, record.value.map(text)));
            }
        }
        assert!(offset > before);
    }
    all
}

#[test]
fn the_last_record_of_each_key_stays_where_it_is() {
    for codec in [Codec::None, Codec::Zstd] {
        let files = disk();
        let mut log = open(&files, &config()).0;
        for n in 0..60 {
            let (a, b, value) = (format!("k{}", n % 7), format!("j{}", n % 3), n.to_string());
            let records = [(a.as_str(), Some(value.as_str())), (b.as_str(), Some("v"))];
            let bytes = keyed(&records, Producer::NONE, codec);
            log.append(bytes, Origin::Client, 0, NOW).expect("appended");
        }
        log.sync().expect("synced");
        let before = keyed_records(&log);
        let active = log.active().base_offset;
        let done = log.compact(NOW).expect("compacted");
        assert!(
            done.segments > 2 && done.records > 40 && done.bytes > 500,
            "{done:?}"
        );
        let mut last = BTreeMap::new();
        for (offset, key, _) in before.iter().filter(|record| record.0 < active) {
            last.insert(key.clone(), *offset);
        }
        let expected: Vec<_> = before
            .iter()
            .filter(|(offset, key, _)| *offset >= active || last[key] == *offset)
            .cloned()
            .collect();
        assert_eq!(keyed_records(&log), expected);
        // What has become small is merged, until nothing fits together.
        while log.compact(NOW).expect("again") != Compacted::default() {
            assert_eq!(keyed_records(&log), expected);
        }
        let end = log.log_end_offset();
        for offset in 0..end {
            log.read(offset, end, 1).expect("any offset can be read");
        }
        // After a crash, a stop, and a change to cleanup.policy=delete.
        for deletes in [false, true] {
            let config = LogConfig {
                compacts: !deletes,
                deletes,
                ..config()
            };
            let (log, recovery) = open(&Arc::new(files.crash(0)), &config);
            assert_eq!(recovery, Recovery::default());
            assert_eq!(keyed_records(&log), expected);
            assert_eq!(log.log_end_offset(), end);
        }
        let plan = RepairPlan::new(files, dir(), &config()).expect("planned");
        assert!(plan.damages.is_empty(), "{plan}");
    }
}

#[test]
fn tombstones_stay_for_a_while() {
    let mut log = open(&disk(), &config()).0;
    put(&mut log, &[("a", Some("1")), ("b", Some("1"))]);
    let tombstone = put(&mut log, &[("a", None), ("c", Some("1"))]);
    log.roll(NOW).expect("rolled");
    let keys = |log: &PartitionLog| -> Vec<(i64, String)> {
        let records = keyed_records(log).into_iter();
        records.map(|record| (record.0, record.1)).collect()
    };
    let with = [(1, "b".into()), (tombstone, "a".into()), (3, "c".into())];
    for now in [NOW, NOW + 999] {
        log.compact(now).expect("compacted");
        assert_eq!(keys(&log), with, "at {now}");
    }
    log.compact(NOW + 1000).expect("compacted");
    assert_eq!(keys(&log), [(1, "b".into()), (3, "c".into())]);
    // Times are what they were, though the batch counts from the horizon.
    let found = log.find_time(NOW, 4).expect("reads").expect("a record");
    assert_eq!((found.offset, found.timestamp), (1, NOW));
}

#[test]
fn aborted_records_go_and_hide_nothing() {
    let mut log = open(&disk(), &config()).0;
    put(&mut log, &[("a", Some("committed"))]);
    for (id, commit) in [(1, false), (2, true)] {
        let producer = Producer {
            id,
            epoch: 0,
            base_sequence: 0,
        };
        let key = if commit { "b" } else { "a" };
        let mut bytes = keyed(&[(key, Some("transaction"))], producer, Codec::None);
        let mut editor = BatchEditor::new(&mut bytes).expect("a batch");
        let attributes = editor.header().attributes.with_transactional(true);
        editor.set_attributes(attributes).expect("edited");
        log.append(bytes, Origin::Client, 0, NOW).expect("appended");
        log.roll(NOW).expect("rolled");
        // Nothing of an open transaction is touched.
        log.compact(NOW).expect("compacted");
        let marker = TransactionMarker {
            commit,
            coordinator_epoch: 0,
        };
        let batch = marker.to_batch(id, 0, NOW).expect("encoded");
        log.append(
            BytesMut::from(&batch.bytes()[..]),
            Origin::Coordinator,
            0,
            NOW,
        )
        .expect("appended");
    }
    log.roll(NOW).expect("rolled");
    log.compact(NOW).expect("compacted");
    let left: Vec<(i64, String)> = keyed_records(&log)
        .into_iter()
        .map(|record| (record.0, record.1))
        .collect();
    assert_eq!(left, [(0, "a".into()), (3, "b".into())]);
}

#[test]
fn sequences_stay_known_when_the_records_are_gone() {
    let files = disk();
    let mut log = open(&files, &config()).0;
    let producer = |base_sequence| Producer {
        id: 7,
        epoch: 0,
        base_sequence,
    };
    for n in 0..3 {
        let bytes = keyed(&[("a", Some("1"))], producer(n), Codec::None);
        log.append(bytes, Origin::Client, 0, NOW).expect("appended");
    }
    put(&mut log, &[("a", Some("2"))]);
    log.roll(NOW).expect("rolled");
    log.compact(NOW).expect("compacted");
    log.close().expect("closed");
    for name in files.list(dir()).expect("listed") {
        if name.ends_with(names::SNAPSHOT) {
            files.remove(&dir().join(name)).expect("removed");
        }
    }
    let mut log = open(&files, &config()).0;
    let bytes = keyed(&[("a", Some("1"))], producer(2), Codec::None);
    let again = log.append(bytes, Origin::Client, 0, NOW).expect("known");
    assert!(again.duplicate);
    let bytes = keyed(&[("a", Some("1"))], producer(3), Codec::None);
    log.append(bytes, Origin::Client, 0, NOW).expect("goes on");
}

#[test]
fn a_crash_at_any_point_of_a_compaction_loses_nothing() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let files = disk();
        let mut log = open(&files, &config()).0;
        let mut latest = BTreeMap::new();
        for n in 0..40 {
            let (key, value) = (format!("k{}", random.below(9)), n.to_string());
            let offset = put(&mut log, &[(key.as_str(), Some(value.as_str()))]);
            latest.insert(key, (offset, value));
        }
        log.sync().expect("synced");
        files.stop_after(random.below(60));
        let _ = log.compact(NOW);
        let files = Arc::new(files.crash(seed));
        let (mut log, recovery) = open(&files, &config());
        assert_eq!(recovery.cut, None, "seed {seed}");
        for finish in [false, true] {
            if finish {
                log.compact(NOW).expect("compacted");
            }
            let records = keyed_records(&log);
            assert_eq!(log.log_end_offset(), 40, "seed {seed}");
            for (key, (offset, value)) in &latest {
                let wanted = (*offset, key.clone(), Some(value.clone()));
                assert!(records.contains(&wanted), "seed {seed}: {wanted:?}");
            }
        }
    }
}

#[test]
fn small_segments_become_one() {
    let files = disk();
    let mut log = open(&files, &config()).0;
    for n in 0..300 {
        let (key, value) = (format!("k{}", n % 5), n.to_string());
        put(&mut log, &[(key.as_str(), Some(value.as_str()))]);
    }
    log.sync().expect("synced");
    let many = log.segments.len();
    log.compact(NOW).expect("compacted");
    assert_eq!(log.segments.len(), many, "all were full");
    let records = keyed_records(&log);
    let done = log.compact(NOW).expect("merged");
    assert!(done.segments > 10 && done.records == 0, "{done:?}");
    let few = log.segments.len();
    assert!(few * 4 < many, "{many} to {few}");
    for segment in &log.segments[..few - 1] {
        assert!(segment.size <= 1000 && segment.offsets.is_stored());
    }
    assert_eq!(keyed_records(&log), records);
    for offset in 0..300 {
        log.read(offset, 300, 1).expect("any offset can be read");
    }
    log.close().expect("closed");
    let (log, recovery) = open(&files, &config());
    assert_eq!((recovery, log.segments.len()), (Recovery::default(), few));
    assert_eq!(keyed_records(&log), records);
    let names = files.list(dir()).expect("listed");
    let count = |extension: &str| {
        names
            .iter()
            .filter(|name| name.ends_with(extension))
            .count()
    };
    assert_eq!(
        (count(".log"), count(".index"), count(".timeindex")),
        (few, few, few)
    );
    assert_eq!(count(".swap") + count(".cleaned"), 0);
}

#[test]
fn a_crash_at_every_point_of_a_merge_loses_nothing() {
    let prepared = || {
        let files = disk();
        let mut log = open(&files, &config()).0;
        for n in 0..120 {
            let (key, value) = (format!("k{}", n % 5), n.to_string());
            put(&mut log, &[(key.as_str(), Some(value.as_str()))]);
        }
        log.sync().expect("synced");
        log.compact(NOW).expect("compacted");
        (files, log)
    };
    let (_, log) = prepared();
    let records = keyed_records(&log);
    let mut points = 0;
    for changes in 0.. {
        let (files, mut log) = prepared();
        files.stop_after(changes);
        let merged = log.compact(NOW);
        for seed in 0..3 {
            let files = Arc::new(match seed {
                0 => files.kill(),
                _ => files.crash(seed),
            });
            // A start that is interrupted itself, and one that is not.
            for interrupted in [Some(seed), Some(2 * seed + 3), None] {
                let files = Arc::new(files.kill());
                if let Some(changes) = interrupted {
                    files.stop_after(changes);
                    let _ = PartitionLog::open(files.clone(), dir(), config(), NOW);
                }
                let (mut log, recovery) = open(&Arc::new(files.crash(seed)), &config());
                assert_eq!(recovery.cut, None, "{changes} changes, seed {seed}");
                assert_eq!(
                    keyed_records(&log),
                    records,
                    "{changes} changes, seed {seed}"
                );
                log.compact(NOW).expect("compacted");
                assert_eq!(
                    keyed_records(&log),
                    records,
                    "{changes} changes, seed {seed}"
                );
            }
        }
        points += 1;
        if merged.is_ok() {
            break;
        }
    }
    assert!(points > 30, "{points}");
}

#[test]
fn the_dirtiest_log_comes_first() {
    let lag = LogConfig {
        max_compaction_lag_ms: 1000,
        ..config()
    };
    let mut log = open(&disk(), &config()).0;
    let fill = |log: &mut PartitionLog, count: usize| {
        for n in 0..count {
            put(log, &[(format!("k{n}").as_str(), Some("v"))]);
        }
        log.roll(NOW).expect("rolled");
    };
    assert_eq!(log.dirtiness(NOW).expect("asked"), None, "nothing to do");
    fill(&mut log, 60);
    let all = log.dirtiness(NOW).expect("asked").expect("dirty");
    assert_eq!((all.ratio, all.overdue_ms), (1.0, 0));
    log.compact(NOW).expect("compacted");
    assert_eq!(log.dirtiness(NOW).expect("asked"), None);
    fill(&mut log, 20);
    assert_eq!(log.dirtiness(NOW).expect("asked"), None, "less than half");
    log.set_config(lag);
    assert_eq!(log.dirtiness(NOW + 1000).expect("asked"), None, "not yet");
    let overdue = log.dirtiness(NOW + 1500).expect("asked").expect("overdue");
    assert_eq!(overdue.overdue_ms, 500);
    assert!((0.2..0.3).contains(&overdue.ratio), "{overdue:?}");
    assert!(overdue > all, "what is overdue comes first");
    fill(&mut log, 200);
    log.set_config(config());
    let more = log.dirtiness(NOW).expect("asked").expect("more than half");
    assert!(more.ratio > 0.5 && more < all, "{more:?}");
    // Nothing that is too new, and no log that is not compacted.
    log.set_config(LogConfig {
        min_compaction_lag_ms: 1000,
        ..config()
    });
    assert_eq!(log.dirtiness(NOW + 1000).expect("asked"), None);
    assert!(log.dirtiness(NOW + 1001).expect("asked").is_some());
    log.set_config(small());
    assert_eq!(log.dirtiness(NOW).expect("asked"), None);
}
