//! A broker, clients, records in a topic, and consumers that come and go.

use std::collections::BTreeSet;
use std::future::Future;
use std::time::Duration;

use copart::{
    Client, Committed, Consumer, ConsumerBuilder, Error, GroupBatch, GroupProtocol, Partitioning,
    ProducerRecord, TopicPartition,
};
use copart_broker::{Broker, Builder};

/// Longer than anything here should take, on a machine that is busy with other things.
pub const PATIENCE: Duration = Duration::from_secs(60);
pub const TOPIC: &str = "orders";
pub const GROUP: &str = "billing";

/// Each test runs with all protocols that there are.
pub const PROTOCOLS: [GroupProtocol; 2] = [GroupProtocol::Classic, GroupProtocol::Consumer];

pub fn broker() -> Builder {
    // Members of the consumer protocol are told by the broker how often to show that they are there.
    Broker::builder()
        .seed(7)
        .config("group.consumer.min.heartbeat.interval.ms", "100")
        .config("group.consumer.heartbeat.interval.ms", "100")
        .config("group.consumer.min.session.timeout.ms", "1000")
        .config("group.consumer.session.timeout.ms", "1500")
        .config("group.min.session.timeout.ms", "1000")
}

pub async fn client(broker: &Broker) -> Client {
    Client::builder(broker.bootstrap())
        .metadata_max_age(Duration::from_millis(500))
        .connect()
        .await
        .expect("a broker")
}

/// With timeouts that tests can wait for.
pub fn quick(client: &Client, protocol: GroupProtocol) -> ConsumerBuilder {
    client
        .consumer(GROUP)
        .topic(TOPIC)
        .protocol(protocol)
        .session_timeout(Duration::from_millis(1500))
        .heartbeat_interval(Duration::from_millis(100))
        .rebalance_timeout(Duration::from_secs(10))
}

pub fn consumer(client: &Client, protocol: GroupProtocol) -> Consumer {
    quick(client, protocol).build().expect("a consumer")
}

/// Writes numbers to a partition, each in a batch of its own.
pub async fn write(client: &Client, topic: &str, partition: i32, numbers: std::ops::Range<u64>) {
    let producer = client.producer().partitioner(Partitioning::manual());
    let producer = producer.build().expect("good");
    for number in numbers {
        let record = ProducerRecord::to(topic)
            .partition(partition)
            .key(format!("key-{}", number % 5))
            .value(number.to_string());
        producer.send(record).await.expect("written");
    }
}

pub fn number(value: Option<&[u8]>) -> u64 {
    let text = std::str::from_utf8(value.expect("a value")).expect("text");
    text.parse().expect("a number")
}

pub async fn soon<F: Future>(what: &str, future: F) -> F::Output {
    let done = tokio::time::timeout(PATIENCE, future).await;
    done.unwrap_or_else(|_| panic!("not in time: {what}"))
}

/// The next batch, which has to come.
pub async fn next(consumer: &mut Consumer) -> GroupBatch {
    let batch = tokio::time::timeout(PATIENCE, consumer.recv()).await;
    match batch {
        Ok(batch) => batch.expect("more").expect("a batch"),
        Err(_) => panic!("nothing comes: {consumer:?}, {:?}", consumer.trouble()),
    }
}

/// The next error, which has to come.
pub async fn next_error(consumer: &mut Consumer) -> Error {
    loop {
        let batch = soon("an error", consumer.recv()).await;
        match batch.expect("more") {
            Ok(batch) => batch.done(),
            Err(error) => return error,
        }
    }
}

/// Partition and number of the next `count` records, all done.
pub async fn take(consumer: &mut Consumer, count: usize) -> BTreeSet<(i32, u64)> {
    let mut taken = BTreeSet::new();
    while taken.len() < count {
        let batch = next(consumer).await;
        taken.extend(batch.records().map(|r| (r.partition(), number(r.value()))));
        batch.done();
    }
    taken
}

pub fn all(partitions: i32, numbers: std::ops::Range<u64>) -> BTreeSet<(i32, u64)> {
    let partitions = 0..partitions;
    partitions
        .flat_map(|p| numbers.clone().map(move |number| (p, number)))
        .collect()
}

/// Waits until all of these together have `count` partitions, each at one of them, and each has at least one if there
/// are enough. Batches that come meanwhile are done.
pub async fn settled(consumers: &mut [&mut Consumer], count: usize) {
    let least = usize::from(count >= consumers.len());
    soon("the group settles", async {
        loop {
            for consumer in &mut *consumers {
                let batch = consumer.recv();
                if let Ok(batch) = tokio::time::timeout(Duration::from_millis(20), batch).await {
                    batch.expect("more").expect("no error").done();
                }
            }
            let assignments: Vec<_> = consumers.iter().map(|c| c.assignment()).collect();
            let all: BTreeSet<_> = assignments.iter().flatten().collect();
            let total: usize = assignments.iter().map(Vec::len).sum();
            if total == count && all.len() == count && assignments.iter().all(|a| a.len() >= least)
            {
                return;
            }
        }
    })
    .await;
}

pub async fn committed(consumer: &Consumer, partition: i32) -> Option<Committed> {
    let partition = TopicPartition::new(TOPIC, partition);
    let committed = soon("committed", consumer.committed([partition.clone()])).await;
    committed.expect("told")[&partition].clone()
}

pub async fn close(consumer: Consumer) {
    let closed = soon("closed", consumer.close(Duration::from_secs(30))).await;
    closed.expect("closed in order");
}
