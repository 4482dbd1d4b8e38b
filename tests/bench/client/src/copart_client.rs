//! copart.

use std::collections::VecDeque;
use std::time::Instant;

use copart::{Client, Codec, Delivery, Partitioning, ProducerRecord, Start};
use serde_json::Value;

use crate::Outcome;
use crate::rdkafka_client::check;
use crate::report::Timed;
use crate::workload::{BATCH, UNRESOLVED, Workload, key};

pub async fn produce(workload: Workload) -> Outcome<Value> {
    let codec: Codec = workload.codec.parse()?;
    let client = Client::builder(&workload.bootstrap).connect().await?;
    let producer = client
        .producer()
        .partitioner(Partitioning::like("java")?)
        .idempotence(!workload.not_idempotent)
        .compression(codec)
        .batch_size(BATCH)
        .build()?;
    producer.prepare(&workload.topic).await?;
    let values = workload.values();
    let task = tokio::spawn(async move {
        let (timed, mut pace) = (Timed::begin(), workload.pace());
        let mut pending: VecDeque<Delivery> = VecDeque::with_capacity(UNRESOLVED + 1);
        let mut paced = Vec::new();
        for number in 0..workload.records {
            if let Some(wait) = pace.next() {
                tokio::time::sleep(wait).await;
            }
            let sent = Instant::now();
            let record = ProducerRecord::to(workload.topic.as_str())
                .key(key(number))
                .value(&values[number % values.len()]);
            let delivery = producer.enqueue(record).await?;
            if workload.rate.is_some() {
                paced.push(tokio::spawn(async move {
                    delivery.await?;
                    Outcome::Ok(sent.elapsed())
                }));
                continue;
            }
            pending.push_back(delivery);
            if pending.len() > UNRESOLVED
                && let Some(oldest) = pending.pop_front()
            {
                oldest.await?;
            }
        }
        for delivery in pending {
            delivery.await?;
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
    let client = Client::builder(&workload.bootstrap).connect().await?;
    let task = tokio::spawn(async move {
        let (mut timed, mut seen, mut bytes) = (Timed::begin(), 0, 0);
        let mut reader = client
            .reader()
            .topic(workload.topic.as_str())
            .start(Start::Earliest)
            .partition_max_bytes(4 << 20)
            .build()
            .await?;
        while seen < workload.records {
            let batch = reader.recv().await.ok_or("the end, too early")??;
            for record in batch.records() {
                bytes += record.key().map_or(0, <[u8]>::len);
                bytes += record.value().map_or(0, <[u8]>::len);
                seen += 1;
            }
            timed.first();
        }
        check(&workload, bytes)?;
        Outcome::Ok(timed.end(&workload, Vec::new()))
    });
    task.await?
}
