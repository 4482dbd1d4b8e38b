//! A reader beside a producer, under the same faults: what is in the log comes once and in order.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use copart::{Backoff, Partitioning, ProducerRecord, Reader, Start};

use crate::cluster::{SimCluster, TOPIC};
use crate::faults::Faults;
use crate::workload::{client, runtime};

pub fn run(seed: u64) {
    fastrand::seed(seed);
    let outcome = std::panic::catch_unwind(|| runtime().block_on(read(seed)));
    if let Err(panic) = outcome {
        eprintln!("seed {seed}");
        std::panic::resume_unwind(panic);
    }
}

/// What was seen of each partition: the next offset, and the values by offset.
type Seen = BTreeMap<i32, (i64, BTreeMap<i64, Bytes>)>;

fn see(seen: &mut Seen, partition: i32, offset: i64, value: &[u8]) {
    let (next, values) = seen.entry(partition).or_default();
    assert_eq!(
        offset, *next,
        "partition {partition}: none left out, none twice"
    );
    *next = offset + 1;
    // After a seek it is seen again, and is the same.
    let before = values.insert(offset, Bytes::copy_from_slice(value));
    assert!(before.is_none_or(|before| before == value));
}

async fn read(seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let per_mille = [0, 50, 150, 300][seed as usize % 4];
    let faults = Faults::new(seed, per_mille, true);
    let cluster = SimCluster::new(seed, 3, random.usize(1..6), faults);
    if seed.is_multiple_of(2) {
        let every = Duration::from_millis(40 + seed % 400);
        tokio::spawn(Arc::clone(&cluster).move_leaders(every));
    }
    let records = random.usize(50..300);
    let producing = tokio::spawn(produce(seed, Arc::clone(&cluster), records));

    let memory = random.usize(2048..16_384);
    let mut reader = client(&cluster)
        .reader()
        .topic(TOPIC)
        .partition_max_bytes(random.usize(1024..2048))
        .fetch_max_bytes(random.usize(2048..8192))
        .memory(memory)
        .fetch_max_wait(Duration::from_millis(random.u64(20..300)))
        .retry_backoff(Backoff::new(
            Duration::from_millis(10),
            Duration::from_millis(100),
        ))
        .metadata_timeout(Duration::from_secs(600))
        .build()
        .await
        .expect("a reader");
    let mut seen = Seen::new();
    let mut written = None;
    let mut producing = Some(producing);
    let deadline = tokio::time::Instant::now() + Duration::from_secs(3000);
    loop {
        if let Some(task) = producing.take_if(|task| task.is_finished()) {
            task.await.expect("the producer does not panic");
            cluster.faults.end();
            written = Some(
                (0..cluster.partition_count() as i32)
                    .map(|p| cluster.log(p).len())
                    .sum(),
            );
            for partition in 0..cluster.partition_count() as i32 {
                reader.resume((TOPIC, partition)).expect("read");
            }
        }
        let total: usize = seen.values().map(|(next, _)| *next as usize).sum();
        if written == Some(total) {
            break;
        }
        let now = tokio::time::Instant::now();
        assert!(
            now < deadline,
            "{total} of {written:?}: {:?}",
            reader.trouble()
        );
        step(&mut random, &mut reader, &mut seen, written.is_none()).await;
    }
    for partition in 0..cluster.partition_count() as i32 {
        let log = cluster.log(partition);
        let values = seen.remove(&partition).unwrap_or_default().1;
        assert_eq!(values.into_values().collect::<Vec<_>>(), log);
        assert_eq!(reader.position((TOPIC, partition)), Some(log.len() as i64));
    }
}

/// Does one of the things that a program does with a reader.
async fn step(random: &mut fastrand::Rng, reader: &mut Reader, seen: &mut Seen, playful: bool) {
    let partitions = reader.partitions();
    let any = partitions[random.usize(..partitions.len())].clone();
    match random.u32(..if playful { 20 } else { 14 }) {
        // Most of these time out in the middle of something.
        0..=7 => {
            let patience = Duration::from_millis(random.u64(1..100));
            let batch = tokio::time::timeout(patience, reader.recv()).await;
            if let Ok(batch) = batch {
                let batch = batch.expect("there is no end").expect("no error");
                for record in &batch {
                    let value = record.value().expect("all have values");
                    see(seen, record.partition(), record.offset(), value);
                }
            }
        }
        8..=12 => {
            let patience = Duration::from_millis(random.u64(1..100));
            let count = random.usize(1..20);
            let mut records = reader.records();
            let _ = tokio::time::timeout(patience, async {
                for _ in 0..count {
                    let record = records.next().await;
                    let record = record.expect("there is no end").expect("no error");
                    let value = record.value().expect("all have values");
                    see(seen, record.partition(), record.offset(), value);
                }
            })
            .await;
        }
        13 => tokio::time::sleep(Duration::from_millis(random.u64(..50))).await,
        14 | 15 => reader.pause(any).expect("read"),
        16..=18 => reader.resume(any).expect("read"),
        _ => {
            let (next, _) = seen.entry(any.partition).or_default();
            *next = random.i64(0..=*next);
            reader.seek(any, Start::Offset(*next)).expect("read");
        }
    }
}

async fn produce(seed: u64, cluster: Arc<SimCluster>, records: usize) {
    let mut random = fastrand::Rng::with_seed(seed ^ 1);
    let producer = client(&cluster)
        .producer()
        .partitioner(Partitioning::random())
        .batch_size(random.usize(512..2048))
        .linger(Duration::from_millis(random.u64(..20)))
        .max_block(Duration::from_secs(600))
        .build()
        .expect("the configuration is good");
    for number in 0..records {
        let value = format!("{number} {}", "x".repeat(random.usize(..200)));
        // What becomes of it is in the log.
        let _ = producer
            .enqueue(ProducerRecord::to(TOPIC).value(&value))
            .await;
        if random.u32(..20) == 0 {
            tokio::time::sleep(Duration::from_millis(random.u64(..80))).await;
        }
    }
    producer.close(Duration::from_secs(600)).await;
    // What was on its way may still arrive.
    tokio::time::sleep(Duration::from_secs(4)).await;
}
