//! A data directory as a whole: its names, its files, its stops.

use copart_protocol::Uuid;

use super::super::tests::{Draft, NOW, append, assert_filled, fill, small};
use super::super::{DataDirectory, LastStop, LogConfig, Opened, PartitionLog};
use super::*;
use crate::files::{DiskFiles, Mode, SimulatedFiles};

const DATA: &str = "/data";

fn disk() -> Arc<SimulatedFiles> {
    Arc::new(SimulatedFiles::new())
}

fn open(files: &Arc<SimulatedFiles>) -> DataDirectory {
    DataDirectory::open(files.clone(), Path::new(DATA)).expect("opens")
}

fn ready(opened: Opened) -> PartitionLog {
    match opened {
        Opened::Ready(log, _) => *log,
        Opened::Quarantined(log) => panic!("quarantined: {:?}", log.damages()),
    }
}

fn log(directory: &DataDirectory, config: &LogConfig) -> PartitionLog {
    let opened = directory.open_log("t", 0, config.clone(), NOW);
    ready(opened.expect("opens"))
}

#[test]
fn is_locked_and_keeps_offsets() {
    let temporary = tempfile::tempdir().expect("a directory");
    let path = temporary.path().join("data");
    let directory = DataDirectory::open(Arc::new(DiskFiles), &path).expect("free");
    let error = DataDirectory::open(Arc::new(DiskFiles), &path).expect_err("locked");
    assert_eq!(error.kind(), ErrorKind::Locked);
    let name = DataDirectory::RECOVERY_POINTS;
    assert_eq!(directory.load_offsets(name).expect("read"), None);
    let checkpoint = |topic: &str, cleaned| Checkpoint {
        topic: topic.into(),
        partition: 3,
        recovery_point: 77,
        high_watermark: 78,
        log_start: 5,
        cleaned,
    };
    directory
        .store_checkpoints(&[checkpoint("t", 0), checkpoint("u", 9)])
        .expect("stored");
    for (name, expected) in [
        (DataDirectory::RECOVERY_POINTS, "0\n2\nt 3 77\nu 3 77\n"),
        (DataDirectory::HIGH_WATERMARKS, "0\n2\nt 3 78\nu 3 78\n"),
        (DataDirectory::LOG_STARTS, "0\n2\nt 3 5\nu 3 5\n"),
        (DataDirectory::CLEANED, "0\n1\nu 3 9\n"),
    ] {
        let text = std::fs::read_to_string(path.join(name)).expect("read");
        assert_eq!(text, expected);
        let loaded = directory.load_offsets(name).expect("read").expect("sound");
        assert_eq!(loaded.last().expect("entries").topic, "u");
    }
    // Hints that cannot be read are none.
    for bad in [
        "",
        "1\n0\n",
        "0\n2\nt 3 77\n",
        "0\n1\nt 3\n",
        "0\n1\nt 3 7 7\n",
        "0\n1\nt x 7\n",
    ] {
        std::fs::write(path.join(name), bad).expect("written");
        assert_eq!(directory.load_offsets(name).expect("read"), None, "{bad:?}");
    }
    drop(directory);
    DataDirectory::open(Arc::new(DiskFiles), &path).expect("free again");
}

#[test]
fn the_owner_is_compared() {
    let files = disk();
    let directory = open(&files);
    assert_eq!(directory.meta_properties().expect("read"), None);
    let claimed = directory.claim(Some("one"), 1).expect("new");
    assert!(!claimed.directory_id.is_zero());
    for cluster in [Some("one"), None] {
        assert_eq!(directory.claim(cluster, 1).expect("the same"), claimed);
    }
    for (cluster, node, named) in [("two", 1, "cluster one"), ("one", 2, "node 1")] {
        let error = directory.claim(Some(cluster), node).expect_err("another's");
        assert_eq!(error.kind(), ErrorKind::WrongDirectory);
        assert!(error.to_string().contains(named), "{error}");
    }
    let path = Path::new(DATA).join("meta.properties");
    // As Kafka writes it.
    let kafka = "#\n#Sun Nov 29 20:58:02 UTC 2026\ncluster.id=c\ndirectory.id=ABEiM0RVZneImaq7zN3u_w\nnode.id=7\nversion=1\n";
    replace(&*files, &path, kafka.as_bytes()).expect("written");
    let read = directory.claim(None, 7).expect("read");
    assert_eq!(read.cluster_id, "c");
    assert_eq!(read.directory_id.to_string(), "ABEiM0RVZneImaq7zN3u_w");
    for (bad, named) in [
        ("", "version"),
        ("version=0\nbroker.id=1\n", "version 0"),
        (
            "version=1\ncluster.id=c\nnode.id=x\ndirectory.id=ABEiM0RVZneImaq7zN3u_w\n",
            "node.id",
        ),
        (
            "version=1\ncluster.id=c\nnode.id=1\ndirectory.id=y\n",
            "directory.id",
        ),
    ] {
        replace(&*files, &path, bad.as_bytes()).expect("written");
        let error = directory.claim(None, 7).expect_err("damaged");
        assert_eq!(error.kind(), ErrorKind::Damaged);
        assert!(error.to_string().contains(named), "{error}");
        assert!(error.to_string().contains("meta.properties"), "{error}");
    }
}

#[test]
fn partitions_are_listed_deleted_and_set_aside() {
    let files = disk();
    let directory = open(&files);
    let id = Uuid([7; 16]);
    let long = "x".repeat(249);
    for topic in ["a", "a-1", &long] {
        for partition in [0, 12] {
            directory
                .create_partition(topic, partition, id)
                .expect("created");
        }
    }
    for bad in ["", ".", "..", "a/b", "a b", &"x".repeat(250)] {
        let error = directory.partition(bad, 0).expect_err("no topic's name");
        assert_eq!(error.kind(), ErrorKind::InvalidTopic);
    }
    // Kafka's and other people's.
    for name in ["b-01", "b-+1", "b-x", "notes", "b-0.abc-future"] {
        files
            .create_dir(&Path::new(DATA).join(name))
            .expect("created");
    }
    let list = |directory: &DataDirectory| -> Vec<(String, i32, Option<Uuid>)> {
        let found = directory.partitions().expect("listed");
        assert!(found.unreadable.is_empty());
        let partitions = found.partitions.into_iter();
        partitions
            .map(|found| (found.topic, found.partition, found.topic_id))
            .collect()
    };
    let all: Vec<_> = ["a", "a-1", &long]
        .into_iter()
        .flat_map(|topic| [0, 12].map(|partition| (topic.to_owned(), partition, Some(id))))
        .collect();
    let mut sorted = list(&directory);
    sorted.sort();
    assert_eq!(sorted, all);

    let mut deleted = log(&directory, &small());
    fill(&mut deleted, 3);
    let reads = deleted
        .begin_read(0, 6, 1000)
        .expect("plans")
        .expect("some");
    drop(deleted);
    for topic in ["t", &long] {
        directory.delete_partition(topic, 0).expect("deleted");
        let error = directory.delete_partition(topic, 0).expect_err("gone");
        assert_eq!(error.kind(), ErrorKind::Io);
    }
    // Its name is free at once.
    assert_eq!(log(&directory, &small()).log_end_offset(), 0);
    let stray = directory.set_aside("a-1", 12).expect("set aside");
    assert!(stray.display().to_string().ends_with("-stray"));
    let names = files.list(Path::new(DATA)).expect("listed");
    assert!(names.iter().all(|name| name.len() <= 255));
    let deleted = |files: &SimulatedFiles| {
        let names = files.list(Path::new(DATA)).expect("listed");
        names
            .iter()
            .filter(|name| name.ends_with("-delete"))
            .count()
    };
    assert_eq!(deleted(&files), 2);
    // A process that was killed in between leaves it to the next one.
    let killed = Arc::new(files.kill());
    let again = open(&killed);
    assert_eq!(again.remove_deleted().expect("removed"), 2);
    assert_eq!(deleted(&killed), 0);
    assert_eq!(again.partitions().expect("listed").strays, [stray]);
    assert_eq!(list(&again).len(), all.len() - 2 + 1);
    assert!(!reads.run().expect("still readable").is_empty());

    let damaged = Path::new(DATA).join("a-0");
    let metadata = damaged.join("partition.metadata");
    let sound = read_small(&*files, &metadata, 1000)
        .expect("read")
        .expect("there");
    for at in 0..sound.len() {
        for bit in 0..8 {
            let mut bytes = sound.clone();
            bytes[at] ^= 1 << bit;
            replace(&*files, &metadata, &bytes).expect("written");
            let found = directory.partitions().expect("listed");
            // A flipped bit in the id gives another id, which no topic has.
            match found.unreadable.first() {
                Some((path, error)) => {
                    assert_eq!((path, error.kind()), (&damaged, ErrorKind::Damaged));
                }
                None => assert_ne!(found.partitions[0].topic_id, Some(id), "byte {at}"),
            }
        }
    }
}

#[test]
fn a_deletion_is_done_or_not_after_power_loss() {
    let mut outcomes = [0; 2];
    for seed in 0..200 {
        let files = disk();
        let directory = open(&files);
        directory
            .create_partition("t", 0, Uuid([1; 16]))
            .expect("created");
        let mut log = log(&directory, &small());
        fill(&mut log, 3);
        log.sync().expect("synced");
        drop(log);
        files.stop_after(seed % 20);
        let deleted = directory.delete_partition("t", 0);
        if deleted.is_ok() {
            // It may fail, and what it did may be lost: the next start does it again.
            let _ = directory.remove_deleted();
        }
        let files = Arc::new(files.crash(seed));
        let directory = open(&files);
        let found = directory.partitions().expect("listed").partitions;
        outcomes[found.len()] += 1;
        if deleted.is_ok() {
            assert!(found.is_empty(), "seed {seed}: deleted, and back");
        }
        if !found.is_empty() {
            let opened = directory.open_log("t", 0, small(), NOW).expect("opens");
            assert_filled(&ready(opened), 6);
        }
        let left = directory.remove_deleted().expect("removed");
        assert!(left <= 1);
        assert_eq!(directory.remove_deleted().expect("removed"), 0);
    }
    assert!(outcomes.iter().all(|&count| count > 5), "{outcomes:?}");
}

#[test]
fn after_a_clean_stop_nothing_is_scanned() {
    let files = disk();
    let directory = open(&files);
    assert_eq!(directory.last_stop(), LastStop::Unknown);
    let mut first = log(&directory, &small());
    fill(&mut first, 40);
    for n in 0..4 {
        append(&mut first, &Draft::of(&["p"]).by(7, 0, n)).expect("appended");
    }
    assert_eq!(first.delete_records(3).expect("deleted"), 3);
    let active = first.active().path.clone();
    first.close().expect("closed");
    directory.close().expect("closed");

    let directory = open(&files);
    assert_eq!(directory.last_stop(), LastStop::Clean);
    // Bytes that a scan would not get past, in every segment.
    let mut log = log(&directory, &small());
    assert_eq!((log.log_start_offset(), log.log_end_offset()), (3, 84));
    assert_eq!((log.synced_offset(), log.latest_epoch()), (84, Some(0)));
    for n in 0..4 {
        let again = append(&mut log, &Draft::of(&["p"]).by(7, 0, n)).expect("known");
        assert!(again.duplicate, "batch {n}");
    }
    append(&mut log, &Draft::of(&["p"]).by(7, 0, 4)).expect("goes on");
    for offset in 3..80 {
        let found = log.find_time(NOW + offset, 85).expect("reads");
        assert_eq!(found.map(|found| found.offset), Some(offset));
    }
    assert_eq!(
        log.segments
            .iter()
            .filter(|s| !s.offsets.is_stored())
            .count(),
        0
    );
    for _ in 0..20 {
        append(&mut log, &Draft::of(&["more"])).expect("appended");
    }
    log.close().expect("closed");
    directory.close().expect("closed");

    // Damage that a scan would find at once is found when it is read.
    let file = files.open(&active, Mode::Write).expect("there");
    file.write_at(&[0xff; 30], 20).expect("written");
    let directory = open(&files);
    let log = self::log(&directory, &small());
    assert_eq!(log.log_end_offset(), 105);
    let offset = log
        .segments
        .iter()
        .find(|s| s.path == active)
        .expect("there")
        .base_offset;
    let error = log.read(offset, 105, 100).expect_err("damaged");
    assert_eq!(error.kind(), ErrorKind::Damaged);
}

#[test]
fn a_clean_stop_is_not_believed_of_other_files() {
    let change = |what: usize, files: &Arc<SimulatedFiles>, dir: &Path, last: &Path| match what {
        0 => {
            let file = files.open(last, Mode::Write).expect("there");
            file.write_at(&[0; 100], file.size().expect("size"))
                .expect("longer");
        }
        1 => files
            .rename(last, &dir.join("00000000000000000999.log"))
            .expect("renamed"),
        2 => files
            .remove(&last.with_extension("index"))
            .expect("removed"),
        3 => files
            .remove(&last.with_extension("timeindex"))
            .expect("removed"),
        4 => files
            .remove(&dir.join("leader-epoch-checkpoint"))
            .expect("removed"),
        5 => {
            for name in files.list(dir).expect("listed") {
                if name.ends_with(".snapshot") {
                    replace(&**files, &dir.join(name), b"damaged").expect("written");
                }
            }
        }
        6 => replace(&**files, &dir.join("x.tmp"), b"left").expect("written"),
        7 => files.remove(&dir.join("copart-offsets")).expect("removed"),
        _ => {}
    };
    for what in 0..=8 {
        let files = disk();
        let directory = open(&files);
        let mut first = log(&directory, &small());
        fill(&mut first, 40);
        let last = first.active().path.clone();
        let dir = first.dir().to_owned();
        first.close().expect("closed");
        directory.close().expect("closed");
        change(what, &files, &dir, &last);
        let directory = open(&files);
        assert_eq!(directory.last_stop(), LastStop::Clean);
        let opened = directory.open_log("t", 0, small(), NOW).expect("opens");
        match (what, opened) {
            (1, Opened::Quarantined(_)) => {}
            (1, Opened::Ready(..)) => panic!("a missing segment is not noticed"),
            (_, opened) => {
                let log = ready(opened);
                assert_eq!(log.clean_stop.is_some(), what == 8, "change {what}");
                assert_filled(&log, 80);
            }
        }
    }
}

/// Stops, kills and power losses in turn. The mark must never be there when a
/// log is not as it was closed.
#[test]
fn no_crash_is_taken_for_a_clean_stop() {
    let mut clean = 0;
    for seed in 0..300 {
        let mut random = crate::files::Random::new(seed);
        let mut files = disk();
        let mut end = 0;
        for _ in 0..4 {
            let directory = open(&files);
            let mut log = log(&directory, &small());
            if directory.last_stop() == LastStop::Clean {
                clean += 1;
                assert!(log.clean_stop.is_some(), "seed {seed}");
            }
            assert!(log.log_end_offset() >= end, "seed {seed}");
            assert_filled(&log, log.log_end_offset());
            fill(&mut log, random.below(12) as usize);
            end = log.sync().expect("synced");
            fill(&mut log, random.below(3) as usize);
            if random.below(3) == 0 {
                files.stop_after(random.below(40));
            }
            let written = log.log_end_offset();
            if random.below(4) > 0 && log.close().is_ok() && directory.close().is_ok() {
                end = written;
            }
            files = Arc::new(files.crash(random.next()));
        }
    }
    assert!(clean > 200, "{clean}");
}

/// On real files. How long it takes is for the bench `open` to say.
#[test]
fn many_partitions_are_stopped_and_opened() {
    let temporary = tempfile::tempdir().expect("a directory");
    let path = temporary.path().join("data");
    for round in 0..3 {
        let directory = DataDirectory::open(Arc::new(DiskFiles), &path).expect("opens");
        let logs: Vec<PartitionLog> = (0..10)
            .map(|partition| {
                let opened = directory.open_log("t", partition, LogConfig::default(), NOW);
                ready(opened.expect("opens"))
            })
            .collect();
        assert_eq!(directory.last_stop() == LastStop::Clean, round > 0);
        for mut log in logs {
            assert_eq!(log.log_end_offset(), 40 * round);
            assert_eq!(log.clean_stop.is_some(), round > 0);
            fill(&mut log, 20);
            log.close().expect("closed");
        }
        directory.close().expect("closed");
    }
}
