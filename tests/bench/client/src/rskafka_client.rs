//! rskafka. It has no partitioner and no idempotence: records are dealt to the partitions in turn, in batches made by
//! hand, which is the cheapest that it offers.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::Utc;
use rskafka::client::ClientBuilder;
use rskafka::client::partition::{Compression, UnknownTopicHandling};
use rskafka::record::Record;
use serde_json::Value;
use tokio::task::JoinSet;

use crate::Outcome;
use crate::rdkafka_client::check;
use crate::report::Timed;
use crate::workload::{BATCH, Workload, key};

pub async fn produce(workload: Workload) -> Outcome<Value> {
    if workload.rate.is_some() {
        return Err("it has no producer that could be paced".into());
    }
    let compression = match workload.codec.as_str() {
        "lz4" => Compression::Lz4,
        "zstd" => Compression::Zstd,
        _ => Compression::NoCompression,
    };
    let client = ClientBuilder::new(vec![workload.bootstrap.clone()])
        .build()
        .await?;
    let mut partitions = Vec::new();
    for partition in 0..workload.partitions {
        let client = client
            .partition_client(
                workload.topic.as_str(),
                partition,
                UnknownTopicHandling::Retry,
            )
            .await?;
        partitions.push(client);
    }
    let values = Arc::new(workload.values());
    let in_batch = BATCH / (workload.size + 16 + 10);
    let timed = Timed::begin();
    let mut tasks = JoinSet::new();
    let count = partitions.len();
    for (index, partition) in partitions.into_iter().enumerate() {
        let (values, records) = (values.clone(), workload.records);
        tasks.spawn(async move {
            let mut batch = Vec::with_capacity(in_batch);
            for number in (index..records).step_by(count) {
                batch.push(Record {
                    key: Some(key(number).to_vec()),
                    value: Some(values[number % values.len()].clone()),
                    headers: BTreeMap::new(),
                    timestamp: Utc::now(),
                });
                if batch.len() == in_batch {
                    let full = std::mem::replace(&mut batch, Vec::with_capacity(in_batch));
                    partition.produce(full, compression).await?;
                }
            }
            if !batch.is_empty() {
                partition.produce(batch, compression).await?;
            }
            Outcome::Ok(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(timed.end(&workload, Vec::new()))
}

pub async fn consume(workload: Workload) -> Outcome<Value> {
    let client = ClientBuilder::new(vec![workload.bootstrap.clone()])
        .build()
        .await?;
    let mut tasks = JoinSet::new();
    let mut partitions = Vec::new();
    for partition in 0..workload.partitions {
        let client = client
            .partition_client(
                workload.topic.as_str(),
                partition,
                UnknownTopicHandling::Retry,
            )
            .await?;
        partitions.push(client);
    }
    let timed = Timed::begin();
    let share = workload.records / workload.partitions as usize;
    for partition in partitions {
        tasks.spawn(async move {
            let (mut at, mut bytes, mut seen) = (0, 0, 0);
            while seen < share {
                let (records, end) = partition.fetch_records(at, 1..4 << 20, 500).await?;
                if records.is_empty() && at >= end {
                    break;
                }
                for found in records {
                    at = found.offset + 1;
                    seen += 1;
                    bytes += found.record.key.as_ref().map_or(0, Vec::len);
                    bytes += found.record.value.as_ref().map_or(0, Vec::len);
                }
            }
            Outcome::Ok((seen, bytes))
        });
    }
    let (mut seen, mut bytes) = (0, 0);
    while let Some(done) = tasks.join_next().await {
        let (more, of) = done??;
        seen += more;
        bytes += of;
    }
    let workload = Workload {
        records: seen,
        ..workload
    };
    check(&workload, bytes)?;
    Ok(timed.end(&workload, Vec::new()))
}
