//! rdkafka, which is librdkafka.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rdkafka::consumer::{BaseConsumer, Consumer, StreamConsumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::DeliveryResult;
use rdkafka::producer::{
    BaseProducer, BaseRecord, DeliveryFuture, FutureProducer, FutureRecord, Producer,
    ProducerContext,
};
use rdkafka::{ClientConfig, ClientContext, Message, Offset, TopicPartitionList};
use serde_json::Value;

use crate::Outcome;
use crate::report::Timed;
use crate::workload::{BATCH, UNRESOLVED, Workload, key};

const PATIENCE: Duration = Duration::from_secs(60);

fn config(workload: &Workload) -> ClientConfig {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", &workload.bootstrap);
    config
}

fn producing(workload: &Workload) -> ClientConfig {
    let mut config = config(workload);
    config
        .set("acks", "all")
        .set("enable.idempotence", (!workload.not_idempotent).to_string())
        .set("partitioner", "murmur2_random")
        .set("linger.ms", "5")
        .set("batch.size", BATCH.to_string())
        .set("batch.num.messages", "100000")
        .set("queue.buffering.max.messages", "500000")
        .set("queue.buffering.max.kbytes", "65536")
        .set("compression.codec", &workload.codec);
    config
}

/// Counts what was acknowledged; the opaque is when it was sent.
#[derive(Default)]
struct Deliveries {
    epoch: Option<Instant>,
    done: AtomicUsize,
    failed: AtomicUsize,
    latencies: Mutex<Vec<Duration>>,
}

impl ClientContext for Deliveries {}

impl ProducerContext for Deliveries {
    type DeliveryOpaque = usize;

    fn delivery(&self, result: &DeliveryResult<'_>, sent: usize) {
        self.done.fetch_add(1, Ordering::Relaxed);
        if result.is_err() {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(epoch) = self.epoch {
            let latency = epoch.elapsed() - Duration::from_nanos(sent as u64);
            self.latencies.lock().expect("not poisoned").push(latency);
        }
    }
}

pub fn produce(workload: &Workload) -> Outcome<Value> {
    let epoch = workload.rate.map(|_| Instant::now());
    let deliveries = Deliveries {
        epoch,
        ..Deliveries::default()
    };
    let producer: BaseProducer<Deliveries> = producing(workload).create_with_context(deliveries)?;
    producer
        .client()
        .fetch_metadata(Some(&workload.topic), PATIENCE)?;
    let values = workload.values();
    let (timed, mut pace) = (Timed::begin(), workload.pace());
    for number in 0..workload.records {
        if let Some(wait) = pace.next() {
            let until = Instant::now() + wait;
            while let Some(left) = until.checked_duration_since(Instant::now()) {
                producer.poll(left);
            }
        } else if number % 1000 == 0 {
            producer.poll(Duration::ZERO);
        }
        let (key, value) = (key(number), &values[number % values.len()]);
        let sent = epoch.map_or(0, |epoch| epoch.elapsed().as_nanos() as usize);
        let mut record = BaseRecord::with_opaque_to(&workload.topic, sent)
            .key(&key)
            .payload(value);
        while let Err((error, same)) = producer.send(record) {
            if !matches!(
                error,
                KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull)
            ) {
                return Err(error.into());
            }
            producer.poll(Duration::from_millis(10));
            record = same;
        }
    }
    // The crate's flush returns in steps of 100 ms.
    let deliveries = producer.context();
    while deliveries.done.load(Ordering::Relaxed) < workload.records {
        producer.poll(Duration::from_millis(10));
    }
    let latencies = std::mem::take(&mut *deliveries.latencies.lock().expect("not poisoned"));
    let report = timed.end(workload, latencies);
    match deliveries.failed.load(Ordering::Relaxed) {
        0 => Ok(report),
        failed => Err(format!("{failed} records failed").into()),
    }
}

pub async fn produce_async(workload: Workload) -> Outcome<Value> {
    let producer: FutureProducer = producing(&workload).create()?;
    producer
        .client()
        .fetch_metadata(Some(&workload.topic), PATIENCE)?;
    let values = workload.values();
    let (timed, mut pace) = (Timed::begin(), workload.pace());
    let mut pending: VecDeque<DeliveryFuture> = VecDeque::with_capacity(UNRESOLVED + 1);
    let mut paced = Vec::new();
    for number in 0..workload.records {
        if let Some(wait) = pace.next() {
            tokio::time::sleep(wait).await;
        }
        let (key, value) = (key(number), &values[number % values.len()]);
        let sent = Instant::now();
        let mut record = FutureRecord::to(&workload.topic).key(&key).payload(value);
        let delivery = loop {
            match producer.send_result(record) {
                Ok(delivery) => break delivery,
                Err((KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull), same)) => {
                    record = same
                }
                Err((error, _)) => return Err(error.into()),
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        };
        if workload.rate.is_some() {
            paced.push(tokio::spawn(async move {
                delivery.await?.map_err(|(error, _)| error)?;
                Outcome::Ok(sent.elapsed())
            }));
            continue;
        }
        pending.push_back(delivery);
        if pending.len() > UNRESOLVED
            && let Some(oldest) = pending.pop_front()
        {
            oldest.await?.map_err(|(error, _)| error)?;
        }
    }
    for delivery in pending {
        delivery.await?.map_err(|(error, _)| error)?;
    }
    let mut latencies = Vec::new();
    for latency in paced {
        latencies.push(latency.await??);
    }
    Ok(timed.end(&workload, latencies))
}

fn consuming(workload: &Workload) -> ClientConfig {
    let mut config = config(workload);
    config
        .set("group.id", "bench")
        .set("enable.auto.commit", "false")
        .set("fetch.message.max.bytes", (4 << 20).to_string())
        .set("queued.min.messages", "500000")
        .set("fetch.queue.backoff.ms", "1");
    config
}

fn all_partitions(workload: &Workload) -> Outcome<TopicPartitionList> {
    let mut list = TopicPartitionList::new();
    for partition in 0..workload.partitions {
        list.add_partition_offset(&workload.topic, partition, Offset::Offset(0))?;
    }
    Ok(list)
}

fn look(message: &impl Message) -> usize {
    message.key().map_or(0, <[u8]>::len) + message.payload().map_or(0, <[u8]>::len)
}

pub fn consume(workload: &Workload) -> Outcome<Value> {
    let consumer: BaseConsumer = consuming(workload).create()?;
    consumer.fetch_metadata(Some(&workload.topic), PATIENCE)?;
    let (mut timed, mut seen, mut bytes) = (Timed::begin(), 0, 0);
    consumer.assign(&all_partitions(workload)?)?;
    while seen < workload.records {
        let Some(message) = consumer.poll(Duration::from_secs(10)) else {
            return Err("no record for ten seconds".into());
        };
        bytes += look(&message?);
        timed.first();
        seen += 1;
    }
    check(workload, bytes)?;
    Ok(timed.end(workload, Vec::new()))
}

pub async fn consume_async(workload: Workload) -> Outcome<Value> {
    let consumer: StreamConsumer = consuming(&workload).create()?;
    consumer.fetch_metadata(Some(&workload.topic), PATIENCE)?;
    let (mut timed, mut seen, mut bytes) = (Timed::begin(), 0, 0);
    consumer.assign(&all_partitions(&workload)?)?;
    while seen < workload.records {
        bytes += look(&consumer.recv().await?);
        timed.first();
        seen += 1;
    }
    check(&workload, bytes)?;
    Ok(timed.end(&workload, Vec::new()))
}

/// Every record was looked at.
pub fn check(workload: &Workload, bytes: usize) -> Outcome<()> {
    let expected = workload.records * (workload.size + 16);
    if bytes < expected {
        return Err(format!("{bytes} bytes of keys and values, {expected} expected").into());
    }
    Ok(())
}
