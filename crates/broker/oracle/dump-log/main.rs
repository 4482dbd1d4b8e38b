//! Writes a log, and compares what Kafka's `DumpLogSegments` reads with what
//! was written. The arguments are the command that runs the tool.

mod metadata;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use bytes::BytesMut;
use copart_broker::files::{DiskFiles, File, Files, Mode};
use copart_broker::log::{
    DataDirectory, LogConfig, Opened, Origin, PartitionLog, PartitionMetadata, RepairPlan,
};
use copart_protocol::Uuid;
use copart_protocol::records::{
    BatchBuilder, Codec, Compressor, Producer, Seal, TransactionMarker,
};

const NOW: i64 = 1_750_000_000_000;

/// What a record should come out as.
#[derive(Debug, PartialEq, Eq)]
struct Written {
    timestamp: i64,
    epoch: i32,
    producer: i64,
    value: Option<String>,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let tool: Vec<String> = std::env::args().skip(1).collect();
    let temporary = tempfile::tempdir()?;
    let files = Arc::new(DiskFiles);
    let directory = DataDirectory::open(files.clone(), &temporary.path().join("data"))?;

    let dir = directory.partition("orders", 0)?;
    let topic_id = Uuid([7; 16]);
    PartitionMetadata { topic_id }.store(&*files, &dir)?;
    let written = write(&files, &dir)?;
    let mut faults = compare(&tool, &dir, &written)?;

    let repaired = directory.partition("repaired", 0)?;
    let mut written = write(&files, &repaired)?;
    damage_and_repair(&files, &repaired, &mut written)?;
    faults.extend(compare(&tool, &repaired, &written)?);

    let compacted = directory.partition("compacted", 0)?;
    let mut written = write(&files, &compacted)?;
    compact(&files, &compacted, &mut written)?;
    faults.extend(compare(&tool, &compacted, &written)?);

    faults.extend(metadata::compare(&tool, &temporary.path().join("broker"))?);

    for fault in &faults {
        println!("{fault}");
    }
    println!("{} differences", faults.len());
    Ok(match faults.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn config() -> LogConfig {
    LogConfig {
        segment_bytes: 6000,
        index_interval_bytes: 300,
        preallocate_bytes: 2000,
        ..LogConfig::default()
    }
}

fn open(files: &Arc<DiskFiles>, dir: &Path) -> Result<PartitionLog, Box<dyn Error>> {
    match PartitionLog::open(files.clone(), dir, config(), NOW)? {
        Opened::Ready(log, _) => Ok(*log),
        Opened::Quarantined(quarantine) => Err(format!("{:?}", quarantine.damages()).into()),
    }
}

fn write(files: &Arc<DiskFiles>, dir: &Path) -> Result<BTreeMap<i64, Written>, Box<dyn Error>> {
    let mut log = open(files, dir)?;
    let mut written = BTreeMap::new();
    let codecs = [
        Codec::None,
        Codec::Gzip,
        Codec::Snappy,
        Codec::Lz4,
        Codec::Zstd,
    ];
    for n in 0..200 {
        let epoch = [0, 0, 1, 5][n / 50];
        let idempotent = n % 3 == 0;
        let transactional = n == 190;
        let producer = match (idempotent, transactional) {
            (_, true) => Producer {
                id: 2000,
                epoch: 4,
                base_sequence: 0,
            },
            (true, false) => Producer {
                id: 1000,
                epoch: 1,
                base_sequence: (n / 3 * 3) as i32,
            },
            (false, false) => Producer::NONE,
        };
        let mut builder = BatchBuilder::new();
        let base = log.log_end_offset();
        for index in 0..3 {
            let offset = base + index;
            // Not in order: time indexes must cope.
            let timestamp = NOW + offset * 7919 % 1000 * 10;
            let key = format!("k{offset}");
            let value = (offset % 11 != 0).then(|| format!("value-{offset}"));
            builder.append(
                timestamp,
                Some(key.as_bytes()),
                value.as_deref().map(str::as_bytes),
                &[],
            )?;
            written.insert(
                offset,
                Written {
                    timestamp,
                    epoch,
                    producer: producer.id,
                    value,
                },
            );
        }
        let seal = Seal {
            compression: codecs[n % 5].into(),
            producer,
            transactional,
            ..Seal::default()
        };
        let batch = builder.seal(&seal, &mut Compressor::new())?;
        log.append(
            BytesMut::from(&batch.bytes()[..]),
            Origin::Client,
            epoch,
            NOW,
        )?;
        if n == 120 {
            // In the middle, as after `kill -9`.
            log = {
                log.sync()?;
                drop(log);
                open(files, dir)?
            };
        }
    }
    let marker = TransactionMarker {
        commit: true,
        coordinator_epoch: 9,
    };
    let batch = marker.to_batch(2000, 4, NOW)?;
    log.append(
        BytesMut::from(&batch.bytes()[..]),
        Origin::Coordinator,
        5,
        NOW,
    )?;
    log.close()?;
    Ok(written)
}

/// Flips a bit in the second batch of the second segment, and repairs that.
fn damage_and_repair(
    files: &Arc<DiskFiles>,
    dir: &Path,
    written: &mut BTreeMap<i64, Written>,
) -> Result<(), Box<dyn Error>> {
    let segment = with_extension(dir, "log")?.swap_remove(1);
    let file: Arc<dyn File> = files.open(&segment, Mode::Write)?;
    let mut byte = [0];
    file.read_at(&mut byte, 320)?;
    file.write_at(&[byte[0] ^ 4], 320)?;
    let plan = RepairPlan::new(files.clone(), dir, &config())?;
    let [damage] = &plan.damages[..] else {
        return Err(format!("one damage expected: {plan}").into());
    };
    let to = damage.to_offset.ok_or("in the middle")?;
    written.retain(|offset, _| !(damage.from_offset..to).contains(offset));
    plan.carry_out()?;
    // Makes the indexes anew.
    open(files, dir)?.close()?;
    Ok(())
}

/// Compacts twice: the first time the tombstones get a delete horizon, the
/// second time they are gone. No key is there twice.
fn compact(
    files: &Arc<DiskFiles>,
    dir: &Path,
    written: &mut BTreeMap<i64, Written>,
) -> Result<(), Box<dyn Error>> {
    let config = LogConfig {
        compacts: true,
        delete_retention_ms: 1000,
        ..config()
    };
    let Opened::Ready(mut log, _) = PartitionLog::open(files.clone(), dir, config, NOW)? else {
        return Err("quarantined".into());
    };
    log.compact(NOW)?;
    log.compact(NOW + 1000)?;
    log.close()?;
    let active = with_extension(dir, "log")?.pop().ok_or("no segment")?;
    let active: i64 = active
        .file_stem()
        .and_then(|stem| stem.to_str())
        .ok_or("no name")?
        .parse()?;
    written.retain(|&offset, record| offset >= active || record.value.is_some());
    Ok(())
}

fn with_extension(dir: &Path, extension: &str) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|found| found == extension) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn dump(tool: &[String], options: &[&str], files: &[PathBuf]) -> Result<String, Box<dyn Error>> {
    let (program, arguments) = tool.split_first().ok_or("no command given")?;
    let names: Vec<String> = files
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    let output = Command::new(program)
        .args(arguments)
        .args(options)
        .args(["--files", &names.join(",")])
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("the tool failed: {text}{error}").into());
    }
    Ok(text)
}

/// The value behind `name: ` in a line of the tool's.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let start = line.find(&format!("{name}: "))? + name.len() + 2;
    line[start..].split(' ').next()
}

fn compare(
    tool: &[String],
    dir: &Path,
    written: &BTreeMap<i64, Written>,
) -> Result<Vec<String>, Box<dyn Error>> {
    let mut faults = Vec::new();
    let logs = with_extension(dir, "log")?;
    let text = dump(tool, &["--deep-iteration", "--print-data-log"], &logs)?;
    let mut seen = BTreeMap::new();
    let (mut batches, mut markers) = (0, 0);
    let (mut epoch, mut producer) = (-1, -1);
    for line in text.lines() {
        if line.starts_with("baseOffset: ") {
            batches += 1;
            epoch = field(line, "partitionLeaderEpoch")
                .ok_or("no epoch")?
                .parse()?;
            producer = field(line, "producerId").ok_or("no producer")?.parse()?;
            if field(line, "isvalid") != Some("true") {
                faults.push(format!("not valid: {line}"));
            }
        } else if line.starts_with("| offset: ") {
            if line.contains("endTxnMarker: COMMIT") {
                markers += 1;
                continue;
            }
            let offset: i64 = field(line, "offset").ok_or("no offset")?.parse()?;
            if field(line, "key") != Some(&format!("k{offset}")) {
                faults.push(format!("key: {line}"));
            }
            seen.insert(
                offset,
                Written {
                    timestamp: field(line, "CreateTime").ok_or("no time")?.parse()?,
                    epoch,
                    producer,
                    value: field(line, "payload").map(str::to_owned),
                },
            );
        } else if !line.starts_with("Dumping ") && !line.starts_with("Log starting offset") {
            faults.push(format!("unexpected: {line}"));
        }
    }
    for (offset, expected) in written {
        if seen.get(offset) != Some(expected) {
            faults.push(format!(
                "{offset}: {:?}, written {expected:?}",
                seen.get(offset)
            ));
        }
    }
    if seen.len() != written.len() || markers != 1 {
        faults.push(format!("{} records and {markers} markers", seen.len()));
    }

    let mut indexes = with_extension(dir, "index")?;
    indexes.extend(with_extension(dir, "timeindex")?);
    // The tool compares entries with the segments and prints what differs.
    let text = dump(tool, &["--verify-index-only"], &indexes)?;
    faults.extend(
        text.lines()
            .filter(|line| !line.starts_with("Dumping "))
            .map(|line| format!("index: {line}")),
    );
    let entries = dump(tool, &[], &indexes)?;
    let offsets = entries
        .lines()
        .filter(|line| line.starts_with("offset: "))
        .count();
    let times = entries
        .lines()
        .filter(|line| line.starts_with("timestamp: "))
        .count();
    if offsets < 20 || times < 5 {
        faults.push(format!(
            "{offsets} index entries and {times} of time indexes"
        ));
    }

    let snapshots = with_extension(dir, "snapshot")?;
    let text = dump(tool, &[], &snapshots[snapshots.len() - 1..])?;
    for expected in [
        "producerId: 1000 producerEpoch: 1 ",
        "producerId: 2000 producerEpoch: 4 coordinatorEpoch: 9 currentTxnFirstOffset: OptionalLong.empty ",
    ] {
        if !text.contains(expected) {
            faults.push(format!("no {expected:?} in: {text}"));
        }
    }
    println!(
        "{}: {} segments, {batches} batches, {} records, {offsets} index entries, {times} time index entries",
        dir.file_name().unwrap_or_default().display(),
        logs.len(),
        seen.len(),
    );
    Ok(faults)
}
