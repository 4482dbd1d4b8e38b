//! krafka.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use krafka::consumer::AutoOffsetReset;
use krafka::producer::Acks;
use krafka::{Compression, Kafka, Record};
use serde_json::Value;

use crate::Outcome;
use crate::rdkafka_client::check;
use crate::report::Timed;
use crate::workload::{BATCH, UNRESOLVED, Workload, key};

pub async fn produce(workload: Workload) -> Outcome<Value> {
    let kafka = Kafka::builder(&workload.bootstrap).connect().await?;
    let compression = match workload.codec.as_str() {
        "lz4" => Compression::Lz4,
        "zstd" => Compression::Zstd,
        _ => Compression::None,
    };
    let producer = kafka
        .producer()
        .acks(Acks::from_i16(-1).ok_or("no acks=all")?)
        .compression(compression)
        .idempotent(!workload.not_idempotent)
        .linger(Duration::from_millis(5))
        .batch_size(BATCH)
        .build()
        .await?;
    let values = workload.values();
    let task = tokio::spawn(async move {
        let (timed, mut pace) = (Timed::begin(), workload.pace());
        let mut pending = VecDeque::with_capacity(UNRESOLVED + 1);
        let mut paced = Vec::new();
        for number in 0..workload.records {
            if let Some(wait) = pace.next() {
                tokio::time::sleep(wait).await;
            }
            let value = values[number % values.len()].clone();
            let sent = Instant::now();
            let record = Record::new(&workload.topic, value).key(key(number).to_vec());
            let delivery = producer.enqueue(record).await?;
            if workload.rate.is_some() {
                paced.push(tokio::spawn(async move {
                    let _ = delivery.await?;
                    Outcome::Ok(sent.elapsed())
                }));
                continue;
            }
            pending.push_back(delivery);
            if pending.len() > UNRESOLVED
                && let Some(oldest) = pending.pop_front()
            {
                let _ = oldest.await?;
            }
        }
        for delivery in pending {
            let _ = delivery.await?;
        }
        let mut latencies = Vec::new();
        for latency in paced {
            latencies.push(latency.await??);
        }
        Outcome::Ok(timed.end(&workload, latencies))
    });
    task.await?
}

pub async fn consume(workload: Workload) -> Outcome<Value> {
    let kafka = Kafka::builder(&workload.bootstrap).connect().await?;
    // With its own settings it reads far fewer records a second.
    let consumer = kafka
        .consumer_without_group()
        .auto_offset_reset(AutoOffsetReset::Earliest)
        .max_poll_records(10_000)
        .max_buffered_records(500_000)
        .max_partition_fetch_bytes(4 << 20)
        .fetch_max_wait(Duration::from_millis(500))
        .build()
        .await?;
    let task = tokio::spawn(async move {
        let (mut timed, mut seen, mut bytes) = (Timed::begin(), 0, 0);
        let partitions = (0..workload.partitions).collect();
        consumer.assign(workload.topic.as_str(), partitions).await?;
        while seen < workload.records {
            for record in consumer.poll(Duration::from_secs(10)).await? {
                bytes += record.key.as_ref().map_or(0, |key| key.len());
                bytes += record.value.as_ref().map_or(0, |value| value.len());
                seen += 1;
            }
            timed.first();
        }
        check(&workload, bytes)?;
        Outcome::Ok(timed.end(&workload, Vec::new()))
    });
    task.await?
}
