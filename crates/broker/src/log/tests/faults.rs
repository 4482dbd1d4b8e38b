//! A full disk, and syncs that fail.

use super::*;
use crate::ErrorKind;

#[test]
fn a_full_disk_refuses_writes_until_there_is_space() {
    let mut refused = 0;
    // Every place where space can end: batches, indexes, snapshots, segments.
    for space in (0..3000).step_by(7) {
        let files = disk();
        let mut log = open(&files, &small()).0;
        fill(&mut log, 2);
        log.sync().expect("synced");
        files.set_free_space(Some(space));
        let mut end = 4;
        let error = loop {
            let values = [end.to_string(), (end + 1).to_string()];
            let draft = Draft::of(&[&values[0], &values[1]]).at(NOW + end);
            match append(&mut log, &draft) {
                Ok(_) => end += 2,
                Err(error) => break error,
            }
            assert!(end < 200, "space for {space} bytes never ends");
        };
        refused += 1;
        assert_eq!(error.kind(), ErrorKind::StorageFull, "{error}");
        assert_eq!(
            error.error_code(),
            copart_protocol::ErrorCode::KAFKA_STORAGE_ERROR
        );
        assert!(error.is_retriable() && !error.possibly_written());
        // Reads go on, and so does a restart on the full disk.
        assert_filled(&log, end);
        let full = files.kill();
        full.set_free_space(Some(0));
        match PartitionLog::open(Arc::new(full), dir(), small(), NOW) {
            Ok(Opened::Ready(log, _)) => assert_filled(&log, end),
            Ok(Opened::Quarantined(quarantine)) => panic!("{:?}", quarantine.damages()),
            Err(error) => assert_eq!(error.kind(), ErrorKind::StorageFull, "{error}"),
        }
        files.set_free_space(None);
        let more = (end as usize + 20) / 2 - end as usize / 2;
        fill(&mut log, more);
        assert_filled(&log, end + 20);
        log.sync().expect("synced");
        for seed in 0..5 {
            let (log, _) = open(&Arc::new(files.crash(seed)), &small());
            assert_filled(&log, end + 20);
        }
    }
    assert!(refused > 400);
}

#[test]
fn a_failed_sync_stops_acknowledging() {
    let files = disk();
    let mut log = open(&files, &small()).0;
    fill(&mut log, 2);
    log.sync().expect("synced");
    fill(&mut log, 1);
    files.fail_syncs(1);
    let error = log.sync().expect_err("fails");
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.is_fatal() && error.possibly_written());
    // The disk works again, and would report success.
    assert_eq!(log.stored_offset(), 4);
    assert_eq!(
        log.sync().expect_err("never again").kind(),
        ErrorKind::ReadOnly
    );
    assert!(log.begin_sync().is_none());
    let error = append(&mut log, &Draft::of(&["v"])).expect_err("read only");
    assert_eq!(error.kind(), ErrorKind::ReadOnly);
    assert!(log.failure().is_some());
    assert_eq!(
        log.roll(NOW).expect_err("read only").kind(),
        ErrorKind::ReadOnly
    );
    assert_filled(&log, 6);
    // What was acknowledged is there after a crash; what was not may be gone.
    for seed in 0..50 {
        let (log, _) = open(&Arc::new(files.crash(seed)), &small());
        assert!(log.log_end_offset() >= 4, "seed {seed}");
        assert_filled(&log, log.log_end_offset());
    }
}

#[test]
fn a_sync_covers_what_was_there_when_it_began() {
    let files = disk();
    let config = LogConfig {
        durability: Durability::Process,
        ..small()
    };
    let mut log = open(&files, &config).0;
    fill(&mut log, 2);
    let pending = log.begin_sync().expect("something to do");
    // More segments meanwhile, whose syncs are still owed.
    fill(&mut log, 30);
    assert!(log.unsynced.len() > 1);
    assert_eq!(log.finish_sync(pending.run()).expect("synced"), 4);
    assert_eq!(log.stored_offset(), 64, "as process durability has it");
    let owed = log.unsynced.len();
    assert!(owed > 1);
    assert_eq!(log.sync().expect("synced"), 64);
    assert!(log.unsynced.is_empty());
    for seed in 0..50 {
        let (log, _) = open(&Arc::new(files.crash(seed)), &config);
        assert_filled(&log, 64);
    }
}

#[test]
fn a_failed_write_stops_writes_and_not_reads() {
    let mut failed = 0;
    for changes in 0..60 {
        let files = disk();
        let mut log = open(&files, &small()).0;
        fill(&mut log, 2);
        log.sync().expect("synced");
        files.stop_after(changes);
        let mut end = 4;
        let error = loop {
            let values = [end.to_string(), (end + 1).to_string()];
            let draft = Draft::of(&[&values[0], &values[1]]).at(NOW + end);
            match append(&mut log, &draft) {
                Ok(_) => end += 2,
                Err(error) => break error,
            }
            assert!(end < 400, "{changes} changes never end");
        };
        failed += 1;
        assert_eq!(error.kind(), ErrorKind::Io, "{error}");
        assert!(error.possibly_written());
        let error = append(&mut log, &Draft::of(&["v"])).expect_err("read only");
        assert_eq!(error.kind(), ErrorKind::ReadOnly);
        assert!(log.sync().is_err() && log.begin_sync().is_none());
        assert_filled(&log, end);
        let (log, _) = open(&Arc::new(files.kill()), &small());
        assert!(log.log_end_offset() >= end);
        assert_filled(&log, end);
    }
    assert_eq!(failed, 60);
}
