//! `kill -9` on real files: a child process appends and says what it was
//! acknowledged, and is killed; then the log is opened and compared.
//!
//! `COPART_KILLS` says how often.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use copart_broker::files::DiskFiles;
use copart_broker::log::{DataDirectory, Durability, LogConfig, Opened, Origin, PartitionLog};
use copart_protocol::records::{BatchBuilder, Batches, Compressor, Decompressor, Producer, Seal};

const DIR: &str = "COPART_KILL_DIR";
const NOW: i64 = 1_750_000_000_000;

fn open(dir: &Path, durability: Durability) -> (DataDirectory, PartitionLog) {
    let files = Arc::new(DiskFiles);
    // The lock of a process that was killed is free.
    let directory = DataDirectory::open(files.clone(), dir).expect("not locked");
    let partition = directory.partition("t", 0).expect("created");
    let config = LogConfig {
        durability,
        segment_bytes: 20_000,
        preallocate_bytes: 5_000,
        ..LogConfig::default()
    };
    match PartitionLog::open(files, &partition, config, NOW).expect("opens") {
        Opened::Ready(log, _) => (directory, *log),
        Opened::Quarantined(quarantine) => panic!("quarantined: {:?}", quarantine.damages()),
    }
}

/// Appends until it is killed. Each batch has two records, whose values are
/// their offsets.
fn append_forever(dir: &Path, durability: Durability) {
    let (_directory, mut log) = open(dir, durability);
    let mut out = std::io::stdout();
    loop {
        let offset = log.log_end_offset();
        let mut builder = BatchBuilder::new();
        for offset in [offset, offset + 1] {
            let value = offset.to_string();
            builder
                .append(NOW, None, Some(value.as_bytes()), &[])
                .expect("fits");
        }
        let seal = Seal {
            producer: Producer {
                id: 1,
                epoch: 0,
                base_sequence: offset as i32,
            },
            ..Seal::default()
        };
        let batch = builder.seal(&seal, &mut Compressor::new()).expect("seals");
        let bytes = BytesMut::from(&batch.bytes()[..]);
        // Sequences follow the offsets: were one lost or doubled, this fails.
        log.append(bytes, Origin::Client, 0, NOW).expect("appended");
        if durability == Durability::Disk {
            log.sync().expect("synced");
        }
        if writeln!(out, "stored {}", log.stored_offset()).is_err() {
            return;
        }
    }
}

fn check(log: &PartitionLog, acknowledged: i64) {
    let end = log.log_end_offset();
    assert!(
        end >= acknowledged,
        "ends at {end}, {acknowledged} was acknowledged"
    );
    let mut decompressor = Decompressor::new(1 << 20);
    let mut offset = 0;
    while offset < end {
        let bytes: Bytes = log.read(offset, end, 1 << 20).expect("reads");
        for batch in Batches::new(bytes) {
            let records = batch
                .expect("whole")
                .records(&mut decompressor)
                .expect("records");
            for record in &records {
                let record = record.expect("a record");
                assert_eq!(record.offset, offset);
                assert_eq!(record.value, Some(offset.to_string().as_bytes()));
                offset += 1;
            }
        }
    }
}

/// Not a test of its own: the process that is killed.
#[test]
#[ignore = "runs until it is killed"]
fn child() {
    let dir = std::env::var_os(DIR).expect("started by the test below");
    let durability = match std::env::var("COPART_KILL_MODE").as_deref() {
        Ok("disk") => Durability::Disk,
        _ => Durability::Process,
    };
    append_forever(Path::new(&dir), durability);
}

#[test]
fn what_was_acknowledged_survives_kill_9() {
    let kills: u32 = match std::env::var("COPART_KILLS") {
        Ok(kills) => kills.parse().expect("COPART_KILLS is a number"),
        Err(_) => 6,
    };
    for (mode, durability) in [("process", Durability::Process), ("disk", Durability::Disk)] {
        let temporary = tempfile::tempdir().expect("a directory");
        let dir = temporary.path().join("data");
        let mut acknowledged = 0;
        for kill in 0..kills {
            let mut child = Command::new(std::env::current_exe().expect("a path"))
                .args(["--exact", "child", "--ignored", "--nocapture"])
                .env(DIR, &dir)
                .env("COPART_KILL_MODE", mode)
                .stdout(Stdio::piped())
                .spawn()
                .expect("started");
            let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
            let mut heard = 0;
            // A different moment each time.
            while heard < 20 + kill * 37 {
                let line = lines.next().expect("the child goes on").expect("read");
                if let Some(offset) = line.strip_prefix("stored ") {
                    acknowledged = offset.parse().expect("a number");
                    heard += 1;
                }
            }
            child.kill().expect("killed");
            // What was still in the pipe had been acknowledged as well.
            for line in lines.map_while(Result::ok) {
                if let Some(offset) = line.strip_prefix("stored ") {
                    // The last line may be cut off; a part of a number is
                    // smaller than the number.
                    let offset = offset.parse().unwrap_or(0);
                    acknowledged = acknowledged.max(offset);
                }
            }
            child.wait().expect("ended");
            let (_directory, log) = open(&dir, durability);
            check(&log, acknowledged);
        }
    }
}
