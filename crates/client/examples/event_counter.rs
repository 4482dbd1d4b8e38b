//! Counts events per user, with one counter for each partition: right as long as all events of a user are on one
//! partition. A second producer that places keys in another way would split users between counters, without any
//! error. The guard refuses it.
//!
//! Runs by itself, on a reference broker in this process: `cargo run --example event_counter`

use std::collections::HashMap;
use std::time::Duration;

use copart::{Client, End, ErrorKind, Guard, Partitioning, Producer, ProducerRecord, Start};

type Failure = Box<dyn std::error::Error>;

const USERS: usize = 50;
const PARTITIONS: i32 = 12;

/// One counter for each partition, as a fleet of workers would have.
pub type Counters = HashMap<i32, HashMap<String, u64>>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let broker = copart_broker::Broker::builder()
        .topic("events", PARTITIONS)
        .topic("unguarded", PARTITIONS)
        .start()
        .await?;
    let client = Client::builder(broker.bootstrap()).connect().await?;

    // The web site has always been in Ruby.
    let site = producer(&client, "ruby-kafka", Guard::Off)?;
    write_events(&site, "events", 3).await?;
    write_events(&site, "unguarded", 3).await?;

    // A new service takes over, and its author leaves the partitioner as in Java.
    let careless = producer(&client, "java", Guard::Off)?;
    write_events(&careless, "unguarded", 2).await?;
    let counters = count(&client, "unguarded").await?;
    println!(
        "unguarded: {} of {USERS} users are in two counters, and no error was seen",
        split_users(&counters)
    );

    let guarded = producer(&client, "java", Guard::Refuse)?;
    match write_events(&guarded, "events", 2).await {
        Err(error) if error.kind() == ErrorKind::Guard => println!("refused: {error}"),
        other => return Err(format!("the guard let it through: {other:?}").into()),
    }

    let mended = producer(&client, "ruby-kafka", Guard::Refuse)?;
    write_events(&mended, "events", 2).await?;
    let counters = count(&client, "events").await?;
    println!(
        "guarded: {} users are in two counters",
        split_users(&counters)
    );
    broker.stop().await?;
    Ok(())
}

/// A producer that places keys as this client does, and looks first whether that is how the topic was written.
pub fn producer(client: &Client, like: &str, guard: Guard) -> copart::Result<Producer> {
    client
        .producer()
        .partitioner(Partitioning::like(like)?)
        .verify_topics(guard)
        .build()
}

/// Some events of each user.
pub async fn write_events(producer: &Producer, topic: &str, each: usize) -> copart::Result<()> {
    for event in 0..each {
        for user in 0..USERS {
            let (user, event) = (format!("user-{user}"), format!("event {event}"));
            let record = ProducerRecord::to(topic).key(&user).value(&event);
            // The outcome is told by `flush`.
            drop(producer.enqueue(record).await?);
        }
    }
    producer.flush().await
}

/// Reads a topic to its end, and counts the events of each partition on their own.
pub async fn count(client: &Client, topic: &str) -> copart::Result<Counters> {
    let mut reader = client
        .reader()
        .topic(topic)
        .start(Start::Earliest)
        .until(End::Latest)
        .metadata_timeout(Duration::from_secs(10))
        .build()
        .await?;
    let mut counters = Counters::new();
    while let Some(batch) = reader.recv().await {
        let batch = batch?;
        for record in batch.records() {
            let user = String::from_utf8_lossy(record.key().unwrap_or_default()).into_owned();
            let counter = counters.entry(record.partition()).or_default();
            *counter.entry(user).or_default() += 1;
        }
    }
    Ok(counters)
}

/// Users whose events are in more than one counter, so that none of them is right.
pub fn split_users(counters: &Counters) -> usize {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for user in counters.values().flat_map(HashMap::keys) {
        *seen.entry(user).or_default() += 1;
    }
    seen.values().filter(|&&counters| counters > 1).count()
}
