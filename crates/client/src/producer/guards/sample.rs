//! The newest records of a topic, as far as time and memory go.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::judge::Sighting;
use crate::cluster::{Cluster, Topic};
use crate::reader::{End, OffsetReset, ReaderBuilder, Start};
use crate::{Error, ErrorKind, Result, TopicPartition};

/// So many records of all partitions together are read first.
const FIRST_RECORDS: i64 = 1000;
/// And no more than this in the end.
const MAX_RECORDS: usize = 20_000;
const MAX_BYTES: usize = 16 << 20;
const MAX_TIME: Duration = Duration::from_secs(5);
/// So many keys are enough.
const ENOUGH_KEYS: usize = 500;
/// Each step back in a log is so many times as wide as the one before.
const WIDER: i64 = 4;

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Sample {
    seen: HashMap<(Box<[u8]>, i32), i64>,
    pub(super) records: usize,
    bytes: usize,
}

impl Sample {
    pub(super) fn sightings(self) -> Vec<Sighting> {
        let seen = self.seen.into_iter();
        seen.map(|((key, partition), offset)| Sighting {
            key,
            partition,
            offset,
        })
        .collect()
    }

    fn add(&mut self, key: Option<&[u8]>, partition: i32, offset: i64, bytes: usize) {
        self.records += 1;
        self.bytes += bytes;
        // A record without a key was not placed by one.
        let Some(key) = key else { return };
        let newest = self.seen.entry((key.into(), partition)).or_insert(offset);
        *newest = offset.max(*newest);
    }

    fn is_enough(&self) -> bool {
        self.seen.len() >= ENOUGH_KEYS || self.records >= MAX_RECORDS || self.bytes >= MAX_BYTES
    }
}

/// A part of a partition's log that was not read yet: from its beginning up to the part that was.
struct Unread {
    partition: TopicPartition,
    beginning: i64,
    end: i64,
}

/// Reads the newest records first, and older ones as long as there are few keys. What could not be read in time
/// is left out.
///
/// # Errors
/// When records cannot be read, or none came in time.
///
/// Cancel-safe.
pub(super) async fn newest(cluster: &Cluster, topic: &Topic, deadline: Instant) -> Result<Sample> {
    let deadline = deadline.min(Instant::now() + MAX_TIME);
    let mut sample = Sample::default();
    match timeout_at(deadline, read(cluster, topic, &mut sample)).await {
        Ok(result) => result?,
        Err(_) if sample.records == 0 => {
            let reason = format!("none of its records could be read within {MAX_TIME:?}");
            return Err(Error::new(ErrorKind::Timeout, reason).in_topic(topic.name.clone()));
        }
        // What came until then counts.
        Err(_) => {
            tracing::debug!(topic = %topic.name, "the sample of the topic is cut short by time")
        }
    }
    Ok(sample)
}

async fn read(cluster: &Cluster, topic: &Topic, sample: &mut Sample) -> Result<()> {
    let mut unread = logs(cluster, topic).await?;
    let mut width = (FIRST_RECORDS / unread.len().max(1) as i64).max(1);
    loop {
        unread.retain(|log| log.end > log.beginning);
        if unread.is_empty() || sample.is_enough() {
            return Ok(());
        }
        read_ends(cluster, &mut unread, width, sample).await?;
        width = width.saturating_mul(WIDER);
    }
}

/// Where each partition's log begins and ends.
async fn logs(cluster: &Cluster, topic: &Topic) -> Result<Vec<Unread>> {
    // It reads nothing; it knows where to ask.
    let reader = ReaderBuilder::new(cluster.clone())
        .topic(topic.name.clone())
        .start(Start::Latest)
        .until(End::Latest)
        .build()
        .await?;
    let beginnings = reader.beginning_offsets().await?;
    let ends: HashMap<TopicPartition, i64> = reader.end_offsets().await?.into_iter().collect();
    let logs = beginnings.into_iter().filter_map(|(partition, beginning)| {
        let end = *ends.get(&partition)?;
        Some(Unread {
            partition,
            beginning,
            end,
        })
    });
    Ok(logs.collect())
}

/// Reads up to `width` offsets from the end of what is unread of each partition.
async fn read_ends(
    cluster: &Cluster,
    unread: &mut [Unread],
    width: i64,
    sample: &mut Sample,
) -> Result<()> {
    let mut builder = ReaderBuilder::new(cluster.clone())
        .fetch_max_bytes(1 << 20)
        .partition_max_bytes(256 << 10)
        .memory(4 << 20)
        // Deleted meanwhile.
        .on_out_of_range(OffsetReset::Earliest);
    for log in unread {
        let start = log.end.saturating_sub(width).max(log.beginning);
        builder = builder
            .partition(log.partition.clone())
            .start_of(log.partition.clone(), Start::Offset(start))
            .until_of(log.partition.clone(), End::Offset(log.end));
        log.end = start;
    }
    let mut reader = builder.build().await?;
    while let Some(batch) = reader.recv().await {
        let batch = batch?;
        for record in batch.records() {
            let value = record.value().map_or(0, <[u8]>::len);
            let bytes = value + record.key().map_or(0, <[u8]>::len);
            sample.add(record.key(), batch.partition(), record.offset(), bytes);
        }
        if sample.records >= MAX_RECORDS || sample.bytes >= MAX_BYTES {
            return Ok(());
        }
    }
    Ok(())
}
