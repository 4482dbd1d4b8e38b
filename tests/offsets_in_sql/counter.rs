//! A member of a group that counts into a database, and begins where the database says.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use copart::{Client, Commit, GroupBatch, OffsetReset, Rebalance, Start, TopicPartition};
use tokio::task::spawn_blocking;

use crate::Failure;
use crate::store::{Store, View};

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

type Shared = Arc<Mutex<Store>>;

/// Counts until it fails or is ended.
pub(crate) async fn run(bootstrap: &str, topic: &str, database: &Path) -> Result<(), Failure> {
    let store = Arc::new(Mutex::new(Store::open(database)?));
    let client = Client::builder(bootstrap).connect().await?;
    let of_hook = Arc::clone(&store);
    let mut consumer = client
        .consumer("page-view-counts")
        .topic(topic)
        // The group deals partitions out. What it would remember of offsets, the database knows better.
        .commit(Commit::Manual)
        .offset_reset(OffsetReset::Earliest)
        .on_assigned(move |rebalance| begin(Arc::clone(&of_hook), rebalance))
        .build()?;
    while let Some(batch) = consumer.recv().await {
        count(&store, batch?).await?;
    }
    Ok(())
}

/// Begins with each partition where its counts end. If that cannot be found out it begins at the front: what is counted
/// already is passed over then, too.
async fn begin(store: Shared, rebalance: Rebalance) {
    for partition in rebalance.partitions().to_vec() {
        let of = partition.clone();
        let next = on(&store, move |store| store.next(&of.topic, of.partition)).await;
        let begun =
            next.and_then(|next| Ok(rebalance.start_of(partition.clone(), Start::Offset(next))?));
        if let Err(error) = begun {
            eprintln!("{partition}: from its front, as {error}");
        }
    }
}

/// Counts a batch and moves its partition's offset, both or neither.
async fn count(store: &Shared, batch: GroupBatch) -> Result<(), Failure> {
    let partition = TopicPartition::clone(batch.topic_partition());
    let views = batch.records().map(|record| View {
        offset: record.offset(),
        user: String::from_utf8_lossy(record.key().unwrap_or_default()).into_owned(),
        day: record.timestamp().div_euclid(DAY),
    });
    let (views, next) = (views.collect::<Vec<_>>(), batch.last_offset() + 1);
    on(store, move |store| {
        store.count(&partition.topic, partition.partition, &views, next)
    })
    .await?;
    batch.done();
    Ok(())
}

/// The database blocks, and so has a thread of its own.
async fn on<T: Send + 'static>(
    store: &Shared,
    work: impl FnOnce(&mut Store) -> rusqlite::Result<T> + Send + 'static,
) -> Result<T, Failure> {
    let store = Arc::clone(store);
    let done =
        spawn_blocking(move || work(&mut store.lock().unwrap_or_else(PoisonError::into_inner)));
    Ok(done.await??)
}
