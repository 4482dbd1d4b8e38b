//! Reads a topic along, and judges what is in it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use copart::Client;

use super::Failure;
use super::plan::Plan;

/// How much has come through in all, for whoever waits for it.
#[derive(Debug, Default)]
pub struct Progress(AtomicU64);

impl Progress {
    pub fn total(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What was in a topic.
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    pub records: u64,
    /// Records that came again.
    pub again: u64,
}

/// Where a key is, and the number that comes next.
struct Line {
    partition: i32,
    next: u64,
}

/// Reads until everything is there. Numbers of a key count up from 0. Some may come again, as after a member's death; but
/// none comes before those that are before it, and all of a key are in one partition.
pub async fn read(
    plan: Arc<Plan>,
    number: usize,
    progress: Arc<Progress>,
) -> Result<Verdict, Failure> {
    let client = Client::builder(&plan.bootstrap).connect().await?;
    let topic = plan.topic(number);
    let mut reader = client.reader().topic(topic.as_str()).build().await?;
    let mut lines: HashMap<Vec<u8>, Line> = HashMap::new();
    let mut verdict = Verdict {
        records: 0,
        again: 0,
    };
    while verdict.records - verdict.again < plan.records {
        let batch = reader.recv().await.ok_or("the reader has ended")??;
        for record in &batch {
            let at = || format!("{topic}-{}, offset {}", record.partition(), record.offset());
            let key = record.key().ok_or_else(|| format!("{}: no key", at()))?;
            let value = record
                .value()
                .and_then(|value| std::str::from_utf8(value).ok());
            let value: u64 = value
                .and_then(|value| value.parse().ok())
                .ok_or_else(|| format!("{}: no number", at()))?;
            if !lines.contains_key(key) {
                let line = Line {
                    partition: record.partition(),
                    next: 0,
                };
                lines.insert(key.to_vec(), line);
            }
            let Some(line) = lines.get_mut(key) else {
                continue;
            };
            let shown = String::from_utf8_lossy(key);
            if record.partition() != line.partition {
                let before = line.partition;
                return Err(format!("{}: {shown} was in partition {before}", at()).into());
            }
            if value > line.next {
                let next = line.next;
                return Err(
                    format!("{}: {shown} is at {value}, before {next} has come", at()).into(),
                );
            }
            verdict.records += 1;
            if value == line.next {
                line.next += 1;
                progress.0.fetch_add(1, Ordering::Relaxed);
            } else {
                verdict.again += 1;
            }
        }
    }
    let each = |key: u64| plan.records / plan.keys + u64::from(key < plan.records % plan.keys);
    for key in 0..plan.keys {
        let name = super::key(key);
        let has = lines.get(name.as_bytes()).map_or(0, |line| line.next);
        if has != each(key) {
            return Err(format!("{topic}: {name} has {has} records of {}", each(key)).into());
        }
    }
    Ok(verdict)
}
