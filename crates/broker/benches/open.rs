//! How long a start takes, on the disk of the temporary directory:
//! `cargo bench -p copart-broker --bench open`.
//!
//! 100 partitions, each with 1 or 10 segments, opened one after the other:
//! after a clean stop, and after a kill. The files are in the page cache.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use copart_broker::files::DiskFiles;
use copart_broker::log::{DataDirectory, Durability, LogConfig, Opened, Origin, PartitionLog};
use copart_protocol::records::{BatchBuilder, Compressor, Seal};

const NOW: i64 = 1_750_000_000_000;
const PARTITIONS: i32 = 100;

fn config() -> LogConfig {
    LogConfig {
        durability: Durability::Process,
        segment_bytes: 256 << 10,
        ..LogConfig::default()
    }
}

fn open(path: &Path) -> (DataDirectory, Vec<PartitionLog>, Duration) {
    let start = Instant::now();
    let directory = DataDirectory::open(Arc::new(DiskFiles), path).expect("opens");
    let logs = (0..PARTITIONS)
        .map(
            |partition| match directory.open_log("t", partition, config(), NOW) {
                Ok(Opened::Ready(log, _)) => *log,
                other => panic!("{other:?}"),
            },
        )
        .collect();
    (directory, logs, start.elapsed())
}

fn main() {
    let mut builder = BatchBuilder::new();
    while builder.size() < 16 << 10 {
        builder
            .append(NOW, None, Some(&[7; 100]), &[])
            .expect("fits");
    }
    let batch = builder
        .seal(&Seal::default(), &mut Compressor::new())
        .expect("seals");
    for segments in [1, 10] {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("data");
        let (directory, mut logs, created) = open(&path);
        for log in &mut logs {
            for _ in 0..segments * 15 {
                let bytes = BytesMut::from(&batch.bytes()[..]);
                log.append(bytes, Origin::Client, 0, NOW).expect("appended");
            }
        }
        let start = Instant::now();
        for log in logs {
            log.close().expect("closed");
        }
        directory.close().expect("closed");
        let closed = start.elapsed();
        let mut clean = Duration::MAX;
        for _ in 0..5 {
            let (directory, logs, opened) = open(&path);
            clean = clean.min(opened);
            for log in logs {
                log.close().expect("closed");
            }
            directory.close().expect("closed");
        }
        // Dropped: as after a kill.
        let (_, _, _) = open(&path);
        let (_, _, killed) = open(&path);
        println!(
            "{PARTITIONS} partitions of {segments:2} segments: created in {created:.1?}, \
             closed in {closed:.1?}, opened after a clean stop in {clean:.1?}, \
             after a kill in {killed:.1?}"
        );
    }
}
