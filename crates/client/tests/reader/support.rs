//! A broker, a client, and records in a topic.

use std::time::Duration;

use copart::{Batch, Client, Partitioning, ProducerRecord, Reader, ReaderBuilder};
use copart_broker::{Broker, Builder};

/// Longer than anything here should take, on a machine that is busy with other things.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub const TOPIC: &str = "events";

pub fn broker() -> Builder {
    Broker::builder().seed(7)
}

pub async fn client(broker: &Broker) -> Client {
    Client::builder(broker.bootstrap())
        .connect()
        .await
        .expect("a broker")
}

/// Writes `values` to a partition, each record in a batch of its own, and gives back the first one's offset.
pub async fn write(client: &Client, partition: i32, values: impl IntoIterator<Item = u64>) -> i64 {
    let producer = client
        .producer()
        .partitioner(Partitioning::manual())
        .build()
        .expect("good");
    let mut first = None;
    for value in values {
        let record = ProducerRecord::to(TOPIC)
            .partition(partition)
            .timestamp(value as i64 * 1000)
            .key(format!("key-{value}"))
            .value(value.to_string())
            .header("number", b"x");
        let receipt = producer.send(record).await.expect("written");
        first = first.or(receipt.offset);
    }
    first.expect("something was written")
}

/// Writes many, in batches as the producer makes them.
pub async fn write_fast(
    client: &Client,
    partition: i32,
    values: std::ops::Range<u64>,
    size: usize,
) {
    let producer = client
        .producer()
        .partitioner(Partitioning::manual())
        .batch_size(16 << 10)
        .build()
        .expect("good");
    for value in values {
        let mut body = value.to_string();
        body.push(' ');
        body.extend(std::iter::repeat_n('x', size.saturating_sub(body.len())));
        let record = ProducerRecord::to(TOPIC).partition(partition).value(body);
        drop(producer.enqueue(record).await.expect("taken"));
    }
    producer.flush().await.expect("written");
}

pub async fn build(builder: ReaderBuilder) -> Reader {
    builder.build().await.expect("a reader")
}

/// The next batch, which has to come.
pub async fn next(reader: &mut Reader) -> Batch {
    let batch = tokio::time::timeout(PATIENCE, reader.recv()).await;
    match batch {
        Ok(batch) => batch.expect("more").expect("a batch"),
        Err(_) => panic!("nothing comes: {:?}", reader.trouble()),
    }
}

pub fn number(value: Option<&[u8]>) -> u64 {
    let text = std::str::from_utf8(value.expect("a value")).expect("text");
    let number = text.split(' ').next().expect("one part");
    number.parse().expect("a number")
}

/// All values until the reader's end, by partition and in the order in which they came.
pub async fn read_to_end(reader: &mut Reader) -> Vec<(i32, i64, u64)> {
    let mut all = Vec::new();
    loop {
        let batch = tokio::time::timeout(PATIENCE, reader.recv()).await;
        let batch = batch.unwrap_or_else(|_| panic!("nothing comes: {:?}", reader.trouble()));
        let Some(batch) = batch else { return all };
        let batch = batch.expect("a batch");
        for record in batch.records() {
            all.push((record.partition(), record.offset(), number(record.value())));
        }
    }
}

/// The values of the next `count` records.
pub async fn take(reader: &mut Reader, count: usize) -> Vec<u64> {
    let mut values = Vec::new();
    let mut records = reader.records();
    while values.len() < count {
        let record = tokio::time::timeout(PATIENCE, records.next()).await;
        let record = record.expect("in time").expect("more").expect("a record");
        values.push(number(record.value()));
    }
    values
}
