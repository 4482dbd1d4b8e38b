//! Reads and continues what Apache Kafka wrote. The argument is the class path
//! of Kafka and of `Write`, the program that has Kafka's clients write.

mod compare;
mod kafka;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use bytes::BytesMut;
use copart_broker::files::DiskFiles;
use copart_broker::log::{
    Checkpoint, DataDirectory, LastStop, LogConfig, Opened, Origin, PartitionLog,
};
use copart_protocol::records::{BatchBuilder, Codec, Compressor, Seal};

use compare::{Expected, Line, compare};
use kafka::{Kafka, copy, dump};

type Fallible<T> = Result<T, Box<dyn Error>>;

const NOW: i64 = 1_750_000_200_000;
const TOPICS: [&str; 3] = ["codecs", "transactions", "compacted"];

fn main() -> Fallible<ExitCode> {
    let classpath = std::env::args().nth(1).ok_or("no class path given")?;
    let temporary = tempfile::tempdir()?;
    let data = temporary.path().join("data");
    let mut faults = Vec::new();
    let mut expected = Expected::default();

    let mut kafka = Kafka::format(&classpath, temporary.path(), &data)?;
    kafka.start()?;
    expected.take(&kafka.write(0)?)?;
    kafka.stop()?;
    let clean = temporary.path().join("clean");
    copy(&data, &clean)?;
    faults.extend(check(&clean, &expected, LastStop::Clean)?);

    kafka.start()?;
    expected.take(&kafka.write(1)?)?;
    kafka.kill()?;
    let killed = temporary.path().join("killed");
    copy(&data, &killed)?;
    faults.extend(check(&killed, &expected, LastStop::Unknown)?);

    for dir in [&clean, &killed] {
        let added = go_on(dir)?;
        faults.extend(dump(&classpath, dir)?);
        if dir == &killed {
            // Kafka gets the directory back under its old name.
            std::fs::rename(&data, temporary.path().join("before"))?;
            copy(dir, &data)?;
            kafka.start()?;
            let read = Expected::of(&kafka.write(-1)?)?;
            kafka.stop()?;
            for (topic, line) in added {
                if !read.read(topic).contains(&line) {
                    faults.push(format!("{topic}: Kafka does not read our {line:?}"));
                }
            }
            for topic in TOPICS {
                let kept = expected.read(topic).iter();
                let lost = kept.filter(|line| !read.read(topic).contains(line)).count();
                // Kafka's cleaner may have run again.
                if lost > 0 && topic != "compacted" {
                    faults.push(format!("{topic}: Kafka has lost {lost} of its records"));
                }
            }
        }
    }
    for fault in &faults {
        println!("{fault}");
    }
    println!("{} differences", faults.len());
    Ok(match faults.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn config(topic: &str) -> LogConfig {
    let compacts = topic == "compacted" || topic == "__transaction_state";
    LogConfig {
        compacts,
        deletes: !compacts,
        segment_bytes: 20_000,
        index_interval_bytes: 1000,
        ..LogConfig::default()
    }
}

fn open(directory: &DataDirectory, topic: &str, partition: i32) -> Fallible<PartitionLog> {
    match directory.open_log(topic, partition, config(topic), NOW)? {
        Opened::Ready(log, recovery) => {
            println!("{topic}-{partition}: {recovery:?}");
            Ok(*log)
        }
        Opened::Quarantined(log) => Err(format!("{topic}: {:?}", log.damages()).into()),
    }
}

/// Opens all partitions of a directory, and compares the records.
fn check(dir: &Path, expected: &Expected, last_stop: LastStop) -> Fallible<Vec<String>> {
    let mut faults = Vec::new();
    let directory = DataDirectory::open(Arc::new(DiskFiles), dir)?;
    if directory.last_stop() != last_stop {
        faults.push(format!(
            "{:?}, and it was {last_stop:?}",
            directory.last_stop()
        ));
    }
    let owner = directory.meta_properties()?.ok_or("no meta.properties")?;
    println!("{}: {owner:?}", dir.display());
    let found = directory.partitions()?;
    if !found.unreadable.is_empty() {
        faults.push(format!("{:?}", found.unreadable));
    }
    let mut topics = 0;
    for partition in found.partitions {
        let log = open(&directory, &partition.topic, partition.partition)?;
        if TOPICS.contains(&partition.topic.as_str()) {
            topics += 1;
            if partition.topic_id.is_none() {
                faults.push(format!("{} has no topic id", partition.topic));
            }
            faults.extend(compare(&partition.topic, &log, expected)?);
        }
    }
    if topics != TOPICS.len() {
        faults.push(format!("{topics} topics found"));
    }
    Ok(faults)
}

/// Appends to all topics, closes the directory as a broker does, and returns
/// what was appended.
fn go_on(dir: &Path) -> Fallible<Vec<(&'static str, Line)>> {
    let directory = DataDirectory::open(Arc::new(DiskFiles), dir)?;
    let mut added = Vec::new();
    let mut checkpoints = Vec::new();
    for topic in TOPICS {
        let mut log = open(&directory, topic, 0)?;
        let epoch = log.latest_epoch().ok_or("no leader epoch")?;
        for n in 0..100 {
            let offset = log.log_end_offset();
            let mut builder = BatchBuilder::new();
            let key = format!("ours-{n}");
            let value = vec![n as u8; 300];
            builder.append(NOW, Some(key.as_bytes()), Some(&value), &[])?;
            let seal = Seal {
                compression: Codec::ALL[n % 5].into(),
                ..Seal::default()
            };
            let batch = builder.seal(&seal, &mut Compressor::new())?;
            let bytes = BytesMut::from(&batch.bytes()[..]);
            log.append(bytes, Origin::Client, epoch, NOW)?;
            added.push((
                topic,
                Line::new(offset, NOW, Some(key.as_bytes()), Some(&value)),
            ));
        }
        log.sync()?;
        checkpoints.push(Checkpoint {
            topic: topic.to_owned(),
            partition: 0,
            recovery_point: log.synced_offset(),
            high_watermark: log.stored_offset(),
            log_start: log.log_start_offset(),
            cleaned: log.cleaned_offset(),
        });
        log.close()?;
    }
    for partition in directory.partitions()?.partitions {
        if !TOPICS.contains(&partition.topic.as_str()) {
            let log = open(&directory, &partition.topic, partition.partition)?;
            checkpoints.push(Checkpoint {
                topic: partition.topic,
                partition: partition.partition,
                recovery_point: log.synced_offset(),
                high_watermark: log.stored_offset(),
                log_start: log.log_start_offset(),
                cleaned: log.cleaned_offset(),
            });
            log.close()?;
        }
    }
    directory.store_checkpoints(&checkpoints)?;
    directory.close()?;
    Ok(added)
}
