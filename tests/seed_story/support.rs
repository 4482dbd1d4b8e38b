//! A broker, page views in a topic, and services that read them.

use std::collections::BTreeSet;
use std::future::Future;
use std::time::Duration;

use copart::{
    Client, Consumer, GroupBatch, GroupProtocol, OffsetReset, Partitioning, ProducerRecord, Record,
};
use copart_broker::{Broker, Builder};
use tokio::runtime::Runtime;

/// Longer than anything here should take, on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(60);
const TOPIC: &str = "page-views";

pub(crate) const PROTOCOLS: [GroupProtocol; 2] = [GroupProtocol::Classic, GroupProtocol::Consumer];

/// The numbers of page views.
pub(crate) type Views = BTreeSet<u64>;

/// A broker whose groups notice soon that a member is gone.
pub(crate) fn broker() -> Builder {
    Broker::builder()
        .config("group.consumer.heartbeat.interval.ms", "100")
        .config("group.consumer.min.session.timeout.ms", "1000")
        .config("group.consumer.session.timeout.ms", "1500")
        .config("group.min.session.timeout.ms", "1000")
}

pub(crate) async fn client(broker: &Broker) -> Client {
    let client = Client::builder(broker.bootstrap()).connect().await;
    client.expect("a broker")
}

/// A service: a group that reads the page views.
pub(crate) struct Service<'c> {
    client: &'c Client,
    name: &'static str,
    protocol: GroupProtocol,
}

impl<'c> Service<'c> {
    pub(crate) fn new(client: &'c Client, name: &'static str, protocol: GroupProtocol) -> Self {
        Self {
            client,
            name,
            protocol,
        }
    }

    /// A member that reads from the beginning what nobody of its group has read.
    pub(crate) fn member(&self) -> Consumer {
        member(self.client, self.name, self.protocol)
    }

    /// A member in a runtime of its own, with which it dies.
    pub(crate) fn doomed(&self, broker: &Broker) -> (Runtime, Consumer) {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let (bootstrap, name, protocol) = (broker.bootstrap(), self.name, self.protocol);
        let (built, waited) = std::sync::mpsc::channel();
        runtime.spawn(async move {
            let client = Client::builder(bootstrap).connect().await.expect("there");
            built
                .send(member(&client, name, protocol))
                .expect("waited for");
        });
        let consumer = tokio::task::block_in_place(|| waited.recv_timeout(PATIENCE));
        (runtime, consumer.expect("built"))
    }
}

fn member(client: &Client, group: &str, protocol: GroupProtocol) -> Consumer {
    let consumer = client
        .consumer(group)
        .topic(TOPIC)
        .protocol(protocol)
        .offset_reset(OffsetReset::Earliest)
        .session_timeout(Duration::from_millis(1500))
        .heartbeat_interval(Duration::from_millis(100))
        .rebalance_timeout(Duration::from_secs(10));
    consumer.build().expect("a consumer")
}

/// Sends numbered page views of ten users, several to a batch.
pub(crate) async fn write(client: &Client, numbers: std::ops::Range<u64>) {
    let producer = client
        .producer()
        .partitioner(Partitioning::like("java").expect("known"))
        .linger(Duration::from_millis(50))
        .build()
        .expect("a producer");
    for number in numbers {
        let record = ProducerRecord::to(TOPIC)
            .key(format!("user-{}", number % 10))
            .value(number.to_string());
        drop(producer.enqueue(record).await.expect("taken"));
    }
    soon("written", producer.flush()).await.expect("written");
}

pub(crate) fn views(numbers: std::ops::Range<u64>) -> Views {
    numbers.collect()
}

/// The number of a page view.
pub(crate) fn view(record: &Record<'_>) -> u64 {
    let text = std::str::from_utf8(record.value().expect("a value")).expect("text");
    text.parse().expect("a number")
}

pub(crate) async fn soon<F: Future>(what: &str, future: F) -> F::Output {
    let done = tokio::time::timeout(PATIENCE, future).await;
    done.unwrap_or_else(|_| panic!("not in time: {what}"))
}

/// The next batch, which has to come.
pub(crate) async fn next(consumer: &mut Consumer) -> GroupBatch {
    let batch = soon("a batch", consumer.recv()).await;
    batch.expect("more").expect("no error")
}

/// At least so many views, each once, and all of their batches done.
pub(crate) async fn take(consumer: &mut Consumer, count: usize) -> Views {
    let mut taken = Views::new();
    while taken.len() < count {
        let batch = next(consumer).await;
        for record in batch.records() {
            assert!(taken.insert(view(&record)), "a view came twice");
        }
        batch.done();
    }
    taken
}

/// What comes within a moment, which may be nothing.
pub(crate) async fn drain(consumer: &mut Consumer) -> Vec<u64> {
    let mut came = Vec::new();
    while let Ok(batch) = tokio::time::timeout(Duration::from_millis(100), consumer.recv()).await {
        let batch = batch.expect("more").expect("no error");
        came.extend(batch.records().map(|record| view(&record)));
        batch.done();
    }
    came
}

/// Waits until the members have all partitions, each at one of them, and as many members as can have some.
pub(crate) async fn settled(members: &mut [Consumer], partitions: usize) {
    soon("the group settles", async {
        loop {
            for member in &mut *members {
                let early = drain(member).await;
                assert!(early.is_empty(), "nothing was written yet");
            }
            let assigned: Vec<_> = members.iter().map(Consumer::assignment).collect();
            let all: BTreeSet<_> = assigned.iter().flatten().collect();
            let total: usize = assigned.iter().map(Vec::len).sum();
            let busy = assigned.iter().filter(|a| !a.is_empty()).count();
            if (all.len(), total) == (partitions, partitions)
                && busy == partitions.min(members.len())
            {
                return;
            }
        }
    })
    .await;
}

/// The sum of what a group has committed.
pub(crate) async fn committed(client: &Client, group: &str) -> i64 {
    let offsets = soon("offsets", client.admin().list_group_offsets([group])).await;
    let offsets = offsets.all().expect("told");
    let of_group = offsets.into_iter().flat_map(|(_, offsets)| offsets);
    of_group
        .map(|(_, committed)| committed.expect("no error").offset)
        .sum()
}

pub(crate) async fn close(consumer: Consumer) {
    let closed = soon("closed", consumer.close(Duration::from_secs(30))).await;
    closed.expect("closed in order");
}
