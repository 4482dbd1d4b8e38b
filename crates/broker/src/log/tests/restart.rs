//! Opening again: what a crash or a stop leaves, missing and damaged files.

use super::*;
use crate::files::{Files, Mode, read_small, replace};

#[test]
fn a_log_comes_back_after_a_stop_and_after_a_kill() {
    for stop in [true, false] {
        let files = disk();
        let mut log = open(&files, &small()).0;
        fill(&mut log, 40);
        for n in 0..3 {
            append(&mut log, &Draft::of(&["p"]).by(7, 0, n)).expect("appended");
        }
        let segments = log.segments.len();
        if stop {
            log.close().expect("closed");
        }
        let files = Arc::new(files.kill());
        let (mut log, recovery) = open(&files, &small());
        assert_eq!(recovery, Recovery::default());
        assert_eq!((log.log_end_offset(), log.synced_offset()), (83, 83));
        assert_eq!(log.segments.len(), segments);
        assert_eq!(records(&log).expect("reads").len(), 83);
        assert_eq!(log.latest_epoch(), Some(0));
        // All batches that a producer may send again are known.
        for n in 0..3 {
            let again = append(&mut log, &Draft::of(&["p"]).by(7, 0, n)).expect("known");
            assert!(again.duplicate, "{n} after stop: {stop}");
        }
        append(&mut log, &Draft::of(&["p"]).by(7, 0, 3)).expect("goes on");
    }
}

#[test]
fn reserved_space_is_cut() {
    let config = LogConfig {
        preallocate_bytes: 300,
        ..small()
    };
    let files = disk();
    let mut log = open(&files, &config).0;
    fill(&mut log, 40);
    let active = log.active().path.clone();
    let size = |files: &SimulatedFiles, path: &Path| {
        let file = files.open(path, Mode::Read).expect("there");
        file.size().expect("size")
    };
    assert!(size(&files, &active) > log.active().size);
    for segment in &log.segments[..log.segments.len() - 1] {
        assert_eq!(size(&files, &segment.path), segment.size);
    }
    // Zeros are no damage.
    let killed = Arc::new(files.kill());
    let (again, recovery) = open(&killed, &config);
    assert_eq!(recovery, Recovery::default());
    assert_filled(&again, 80);
    log.close().expect("closed");
    let (again, _) = open(&files, &config);
    assert_eq!(size(&files, &active), again.active().size);
}

#[test]
fn a_torn_tail_is_cut_at_every_byte() {
    let files = disk();
    let mut log = open(&files, &LogConfig::default()).0;
    fill(&mut log, 3);
    log.sync().expect("synced");
    let before = log.size();
    fill(&mut log, 1);
    let after = log.size();
    let path = log.active().path.clone();
    for size in before..=after {
        let torn = Arc::new(files.kill());
        let file = torn.open(&path, Mode::Write).expect("there");
        file.set_size(size).expect("cut");
        let (mut log, recovery) = open(&torn, &LogConfig::default());
        let expected = if size == after { 8 } else { 6 };
        assert_filled(&log, expected);
        let cut = recovery
            .cut
            .map(|damage| (damage.from_offset, damage.bytes));
        let torn_bytes = size - before;
        // The batch begins with seven zeros, which reserved space is too.
        let is_torn = torn_bytes > 7 && size < after;
        assert_eq!(cut, is_torn.then_some((6, torn_bytes)), "at {size}");
        fill(&mut log, 2);
        assert_filled(&log, expected + 4);
    }
}

#[test]
fn missing_and_damaged_helpers_are_made_anew() {
    let files = disk();
    let mut log = open(&files, &small()).0;
    for n in 0..30 {
        append(
            &mut log,
            &Draft::of(&["p", "q"])
                .by(7, 0, 2 * n)
                .at(NOW + 2 * i64::from(n)),
        )
        .expect("appended");
    }
    log.close().expect("closed");
    let names = files.list(dir()).expect("listed");
    let helpers = names.iter().filter(|name| !name.ends_with(".log"));
    let mut tried = 0;
    for name in helpers {
        let path = dir().join(name);
        let content = read_small(&*files, &path, 1 << 20)
            .expect("read")
            .expect("there");
        let mut variants: Vec<Option<Vec<u8>>> = vec![None, Some(Vec::new())];
        for at in 0..content.len() {
            let mut flipped = content.clone();
            flipped[at] ^= 1 << (at % 8);
            variants.push(Some(flipped));
        }
        for variant in variants {
            let files = Arc::new(files.kill());
            match &variant {
                None => files.remove(&path).expect("removed"),
                Some(bytes) => replace(&*files, &path, bytes).expect("written"),
            }
            if name == names::LEADER_EPOCHS && variant.is_some() {
                // A file that contradicts the batches: no telling who is
                // right. It is never taken silently.
                let opened = PartitionLog::open(files.clone(), dir(), small(), NOW);
                if let Opened::Quarantined(quarantine) = opened.expect("opens") {
                    let kinds = quarantine.damages().iter().map(|damage| damage.kind);
                    assert!(
                        kinds
                            .into_iter()
                            .all(|kind| kind == DamageKind::LeaderEpoch)
                    );
                    continue;
                }
            }
            let (mut log, _) = open(&files, &small());
            assert_eq!(log.log_end_offset(), 60);
            assert_eq!(records(&log).expect("reads").len(), 60, "{name}");
            for offset in 0..60 {
                let read = decode(log.read(offset, 60, 1).expect("reads")).expect("whole");
                assert!(read.iter().any(|record| record.0 == offset), "{name}");
                let found = log.find_time(NOW + offset, 60).expect("reads");
                assert_eq!(found.map(|found| found.offset), Some(offset), "{name}");
            }
            log.rebuild_suspect_indexes().expect("rebuilt");
            assert_eq!(log.rebuild_suspect_indexes().expect("nothing left"), 0);
            for n in 25..30 {
                let again = append(&mut log, &Draft::of(&["p", "q"]).by(7, 0, 2 * n));
                assert!(again.expect("known").duplicate, "{name}: batch {n}");
            }
            tried += 1;
        }
    }
    assert!(tried > 100, "{tried}");
}

#[test]
fn leftovers_are_removed() {
    let files = disk();
    let mut log = open(&files, &small()).0;
    fill(&mut log, 5);
    for name in [
        "x.tmp",
        "00000000000000000000.log.cleaned",
        // As Kafka leaves them.
        "00000000000000000000.log.deleted",
        "00000000000000000000.index.deleted",
        "00000000000000000000.timeindex.swap",
    ] {
        replace(&*files, &dir().join(name), b"half").expect("written");
    }
    // An empty segment from an attempt on a full disk.
    let stale = names::numbered(dir(), 4, names::LOG);
    files.open(&stale, Mode::CreateNew).expect("created");
    fill(&mut log, 20);
    let files = Arc::new(files.kill());
    let (log, _) = open(&files, &small());
    assert_filled(&log, 50);
    let names = files.list(dir()).expect("listed");
    assert!(
        !names
            .iter()
            .any(|name| names::is_leftover(name) || name.ends_with(names::SWAP_SUFFIX))
    );
    assert!(files.open(&stale, Mode::Read).is_err());
}

#[test]
fn a_directory_that_kafka_wrote_is_read() {
    // The files that Kafka knows, without ours.
    let files = disk();
    let mut log = open(&files, &small()).0;
    fill(&mut log, 20);
    log.close().expect("closed");
    for name in [names::OFFSETS, names::SYNCED] {
        files.remove(&dir().join(name)).expect("removed");
    }
    let (log, recovery) = open(&files, &small());
    assert_filled(&log, 40);
    assert_eq!(recovery, Recovery::default());
}

/// Kafka has the new segment's indexes as `.swap` too, and removes the old
/// segments before it renames them.
#[test]
fn a_swap_that_was_interrupted_is_finished() {
    let files = disk();
    let mut log = open(&files, &small()).0;
    fill(&mut log, 40);
    log.sync().expect("synced");
    let bases: Vec<i64> = log.segments.iter().map(|s| s.base_offset).collect();
    let mut merged = Vec::new();
    for base in &bases[..3] {
        let path = names::numbered(dir(), *base, names::LOG);
        let bytes = read_small(&*files, &path, 1 << 20).expect("read");
        merged.extend(bytes.expect("there"));
    }
    // How many of the old segments are gone already, the last ones first.
    for gone in 0..=3 {
        for whole in [true, false] {
            let files = Arc::new(files.kill());
            let mut content = merged.clone();
            if !whole {
                content.truncate(merged.len() - 10);
            }
            let swap = dir().join("00000000000000000000.log.swap");
            replace(&*files, &swap, &content).expect("written");
            for base in bases[..3].iter().rev().take(gone) {
                let path = names::numbered(dir(), *base, names::LOG);
                files.remove(&path).expect("removed");
            }
            let opened = PartitionLog::open(files.clone(), dir(), small(), NOW).expect("opens");
            match opened {
                Opened::Ready(log, _) => {
                    assert!(whole || gone == 0, "{gone} gone, whole: {whole}");
                    let merged = log.segments.len() + 2 == bases.len();
                    assert_eq!(merged, whole);
                    assert_filled(&log, 80);
                }
                // Never in silence.
                Opened::Quarantined(_) => assert!(!whole && gone > 0, "{gone} gone"),
            }
            let names = files.list(dir()).expect("listed");
            assert!(!names.iter().any(|name| name.ends_with(names::SWAP_SUFFIX)));
        }
    }
}
