//! What appending costs, on the disk of the temporary directory:
//! `cargo bench -p copart-broker --bench append`.
//!
//! One writer, batches of 16 KiB (100-byte records, not compressed), and in
//! `disk` a sync after every 1, 16 or 64 batches, as group commit has it.

use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use copart_broker::files::DiskFiles;
use copart_broker::log::{Durability, LogConfig, Opened, Origin, PartitionLog};
use copart_protocol::records::{BatchBuilder, Compressor, Seal};

const NOW: i64 = 1_750_000_000_000;

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
    let rows = [
        ("process", Durability::Process, 0, 0, 20_000),
        ("disk, sync each, growing file", Durability::Disk, 1, 0, 500),
        (
            "disk, sync each, 16 MiB reserved",
            Durability::Disk,
            1,
            16 << 20,
            2000,
        ),
        (
            "disk, sync per 16, 16 MiB reserved",
            Durability::Disk,
            16,
            16 << 20,
            10_000,
        ),
        (
            "disk, sync per 64, 16 MiB reserved",
            Durability::Disk,
            64,
            16 << 20,
            20_000,
        ),
    ];
    for (name, durability, group, preallocate_bytes, count) in rows {
        let dir = tempfile::tempdir().expect("a directory");
        let config = LogConfig {
            durability,
            preallocate_bytes,
            ..LogConfig::default()
        };
        let opened = PartitionLog::open(Arc::new(DiskFiles), dir.path(), config, NOW);
        let Opened::Ready(mut log, _) = opened.expect("opens") else {
            unreachable!("a new log is whole");
        };
        let start = Instant::now();
        for n in 1..=count {
            let bytes = BytesMut::from(&batch.bytes()[..]);
            log.append(bytes, Origin::Client, 0, NOW).expect("appended");
            if group > 0 && n % group == 0 {
                log.sync().expect("synced");
            }
        }
        let seconds = start.elapsed().as_secs_f64();
        let size = log.size() as f64;
        println!(
            "{name:36} {:7.0} MB/s {:8.1} us per batch",
            size / 1e6 / seconds,
            seconds * 1e6 / f64::from(count),
        );
        let start = Instant::now();
        let (mut offset, end) = (0, log.log_end_offset());
        while offset < end {
            let bytes = log.read(offset, end, 1 << 20).expect("reads");
            let batches = bytes.len() / batch.bytes().len();
            offset += batches as i64 * i64::from(batch.header().record_count);
        }
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{:36} {:7.0} MB/s",
            "  read in 1 MiB, verified",
            size / 1e6 / seconds
        );
    }
}
