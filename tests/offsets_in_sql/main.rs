//! The example that keeps offsets in a database, killed again and again: every record is counted exactly once.
//!
//! It has a `main` of its own, since it is also the program that it kills: with arguments it counts.

mod counter;
mod store;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use copart::admin::OffsetSpec;
use copart::{Client, Partitioning, ProducerRecord, TopicPartition};
use copart_broker::Broker;
use rusqlite::{Connection, OpenFlags};

type Failure = Box<dyn std::error::Error + Send + Sync>;
/// Views of a user on a day.
type Counts = BTreeMap<(String, i64), i64>;

const TOPIC: &str = "page-views";
const PARTITIONS: i32 = 4;
const VIEWS: i64 = 4000;
const KILLS: i64 = 6;
const DAY: i64 = 86_400_000;
/// Longer than all of it takes, on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(120);
/// What the program that is killed is called with, so that it is not taken for the test.
const COUNTER: &str = "count-into";

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    match arguments.as_slice() {
        [what, bootstrap, database] if what == COUNTER => {
            runtime.block_on(counter::run(bootstrap, TOPIC, database.as_ref()))
        }
        // Options of cargo's test harness, which mean nothing to a single test.
        _ => {
            let kills = runtime.block_on(killed_again_and_again())?;
            println!(
                "{VIEWS} views counted exactly once, by programs that were killed {kills} times"
            );
            Ok(())
        }
    }
}

/// A program that counts; it does not outlive the test.
struct Counter(Child);

impl Counter {
    fn start(broker: &Broker, database: &Path) -> Result<Self, Failure> {
        let child = Command::new(std::env::current_exe()?)
            .arg(COUNTER)
            .arg(broker.bootstrap())
            .arg(database)
            .spawn()?;
        Ok(Self(child))
    }

    /// As `kill -9` does.
    fn kill(mut self) -> Result<(), Failure> {
        if let Some(status) = self.0.try_wait()? {
            return Err(format!("the program has ended by itself: {status}").into());
        }
        self.0.kill()?;
        self.0.wait()?;
        Ok(())
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn killed_again_and_again() -> Result<i64, Failure> {
    let broker = Broker::builder()
        .topic(TOPIC, PARTITIONS)
        // The days are long ago.
        .config("log.retention.ms", "-1")
        .config("group.consumer.heartbeat.interval.ms", "100")
        .config("group.consumer.min.session.timeout.ms", "500")
        .config("group.consumer.session.timeout.ms", "700")
        .start()
        .await?;
    let client = Client::builder(broker.bootstrap()).connect().await?;
    let right = write(&client).await?;

    let folder = tempfile::tempdir()?;
    let database = folder.path().join("counts.db");
    // The tables are there before anybody looks.
    drop(store::Store::open(&database)?);
    let look = Connection::open_with_flags(&database, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    look.busy_timeout(PATIENCE)?;
    // Two at a time, so that partitions go from one that is killed to one that lives.
    let mut old = Counter::start(&broker, &database)?;
    for kill in 0..KILLS {
        let new = Counter::start(&broker, &database)?;
        // Somewhere in the middle, which is never the same place.
        until(&look, (kill + 1) * VIEWS / (KILLS + 2)).await?;
        old.kill()?;
        let counted = sum(&look)?;
        if counted >= VIEWS {
            return Err(format!("kill {kill} came too late to be in the middle").into());
        }
        old = new;
    }
    until(&look, VIEWS).await?;
    // What would be counted twice comes now, if it does.
    tokio::time::sleep(Duration::from_millis(500)).await;
    old.kill()?;

    let counted = counts(&look)?;
    if counted != right {
        let wrong = right
            .iter()
            .find(|(what, count)| counted.get(what) != Some(count));
        let total = sum(&look)?;
        return Err(
            format!("{total} counted of {VIEWS}; the first that is wrong: {wrong:?}").into(),
        );
    }
    let ends = (0..PARTITIONS).map(|p| (TopicPartition::new(TOPIC, p), OffsetSpec::Latest));
    for (partition, end) in client.admin().list_offsets(ends).await.all()? {
        let next = store::Store::open(&database)?.next(TOPIC, partition.partition)?;
        if Some(next) != end.offset {
            return Err(format!(
                "{partition} is counted up to {next}, and ends at {:?}",
                end.offset
            )
            .into());
        }
    }
    broker.stop().await?;
    Ok(KILLS + 1)
}

/// Writes views in many small batches, and returns the right counts.
async fn write(client: &Client) -> Result<Counts, Failure> {
    let producer = client
        .producer()
        .partitioner(Partitioning::like("java")?)
        .batch_size(512)
        .build()?;
    let mut right = Counts::new();
    for number in 0..VIEWS {
        let (user, day) = (format!("user-{}", number % 97), 19_844 + number % 2);
        let record = ProducerRecord::to(TOPIC)
            .key(&user)
            .value("/")
            .timestamp(day * DAY + number);
        drop(producer.enqueue(record).await?);
        *right.entry((user, day)).or_default() += 1;
    }
    producer.flush().await?;
    Ok(right)
}

/// Waits until so many views are counted.
async fn until(look: &Connection, views: i64) -> Result<(), Failure> {
    let start = Instant::now();
    while sum(look)? < views {
        if start.elapsed() > PATIENCE {
            return Err(format!("{} of {views} views counted, and no more", sum(look)?).into());
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    Ok(())
}

fn sum(look: &Connection) -> rusqlite::Result<i64> {
    look.query_row("SELECT coalesce(sum(views), 0) FROM counts", [], |row| {
        row.get(0)
    })
}

fn counts(look: &Connection) -> rusqlite::Result<Counts> {
    let mut statement = look.prepare("SELECT user, day, views FROM counts")?;
    let rows = statement.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?;
    rows.collect()
}
