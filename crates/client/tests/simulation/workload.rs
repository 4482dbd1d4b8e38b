//! What is sent, and what must hold afterwards.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use copart::{Backoff, Client, Codec, Error, ErrorKind, Partitioning, ProducerRecord, Receipt};

use crate::cluster::{SimCluster, TOPIC};
use crate::faults::Faults;
use crate::network::Network;

#[derive(Clone, Debug)]
pub struct Scenario {
    pub per_mille: u32,
    pub doubtful: bool,
    pub move_leaders: Option<Duration>,
    pub delivery_timeout: Duration,
    pub idempotence: bool,
    /// Close after so long, ready or not.
    pub close_after: Option<Duration>,
    /// The largest batch in bytes that brokers take.
    pub max_message: Option<usize>,
    /// Faults end before the producer is closed, so that everything can be delivered.
    pub must_deliver: bool,
}

impl Scenario {
    pub fn healthy() -> Self {
        Self {
            per_mille: 0,
            doubtful: false,
            move_leaders: None,
            delivery_timeout: Duration::from_secs(120),
            idempotence: true,
            close_after: None,
            max_message: None,
            must_deliver: true,
        }
    }

    pub fn faulty(seed: u64) -> Self {
        Self {
            per_mille: [50, 150, 300][seed as usize % 3],
            doubtful: !seed.is_multiple_of(5),
            move_leaders: seed
                .is_multiple_of(2)
                .then(|| Duration::from_millis(40 + seed % 400)),
            ..Self::healthy()
        }
    }

    pub fn short_of_time(seed: u64) -> Self {
        Self {
            delivery_timeout: Duration::from_millis(200 + seed % 3000),
            must_deliver: false,
            ..Self::faulty(seed)
        }
    }

    pub fn closed_early(seed: u64) -> Self {
        Self {
            close_after: Some(Duration::from_millis(seed % 700)),
            must_deliver: false,
            ..Self::faulty(seed)
        }
    }

    /// Brokers take less than the producer's batches have, and no less than its largest record.
    pub fn small_brokers(seed: u64) -> Self {
        let calm = seed.is_multiple_of(3);
        Self {
            max_message: Some(300 + seed as usize % 900),
            idempotence: !seed.is_multiple_of(7),
            ..if calm {
                Self::healthy()
            } else {
                Self::faulty(seed)
            }
        }
    }

    pub fn not_idempotent(seed: u64) -> Self {
        Self {
            idempotence: false,
            ..Self::faulty(seed)
        }
    }
}

const KEYS: usize = 7;

pub fn client(cluster: &Arc<SimCluster>) -> Client {
    Client::builder("b0:9092,b1:9092,b2:9092")
        .transport(Network(Arc::clone(cluster)))
        .request_timeout(Duration::from_secs(2))
        .connect_timeout(Duration::from_secs(2))
        .connect_lazily()
        .expect("the configuration is good")
}

pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime")
}

pub fn run(seed: u64, scenario: Scenario) {
    fastrand::seed(seed);
    let outcome = std::panic::catch_unwind(|| runtime().block_on(produce(seed, &scenario)));
    if let Err(panic) = outcome {
        eprintln!("seed {seed}: {scenario:?}");
        std::panic::resume_unwind(panic);
    }
}

async fn produce(seed: u64, scenario: &Scenario) {
    let mut random = fastrand::Rng::with_seed(seed);
    let faults = Faults::new(seed, scenario.per_mille, scenario.doubtful);
    let cluster = SimCluster::new(seed, 3, random.usize(1..6), faults);
    if let Some(largest) = scenario.max_message {
        cluster.max_message.store(largest, Ordering::Relaxed);
    }
    if let Some(every) = scenario.move_leaders {
        tokio::spawn(Arc::clone(&cluster).move_leaders(every));
    }
    let producer = client(&cluster)
        .producer()
        .partitioner(Partitioning::like("java").expect("java is known"))
        .idempotence(scenario.idempotence)
        .batch_size(random.usize(512..2048))
        .linger(Duration::from_millis(random.u64(..20)))
        .compression([Codec::None, Codec::Lz4, Codec::Zstd][random.usize(..3)])
        .delivery_timeout(scenario.delivery_timeout)
        .max_in_flight(random.usize(1..=5))
        .retry_backoff(Backoff::new(
            Duration::from_millis(10),
            Duration::from_millis(100),
        ))
        .max_block(Duration::from_secs(600))
        .build()
        .expect("the configuration is good");

    let records = random.usize(20..200);
    let mut deliveries = Vec::new();
    let mut alone = Vec::new();
    let sending = async {
        for number in 0..records {
            let key = format!("key-{}", random.usize(..KEYS));
            let value = value(number, &key, random.usize(..200));
            let record = ProducerRecord::to(TOPIC).key(&key).value(&value);
            if random.u32(..20) == 0 {
                alone.push((number, key.clone(), producer.send(record).await));
            } else {
                match producer.enqueue(record).await {
                    Ok(delivery) => deliveries.push((number, key, delivery)),
                    Err(error) => alone.push((number, key, Err(error))),
                }
            }
            match random.u32(..40) {
                0 => tokio::time::sleep(Duration::from_millis(random.u64(..50))).await,
                1 => drop(producer.flush().await),
                _ => {}
            }
        }
    };
    let report = match scenario.close_after {
        Some(after) => {
            // The sender is in the middle of it.
            let _ = tokio::time::timeout(after, sending).await;
            producer.close(Duration::from_millis(100)).await
        }
        None => {
            sending.await;
            cluster.faults.end();
            producer.close(Duration::from_secs(600)).await
        }
    };
    if scenario.must_deliver {
        assert!(report.is_complete(), "{report:?}");
    }
    let late = producer
        .enqueue(ProducerRecord::to(TOPIC).value("late"))
        .await;
    assert_eq!(late.expect_err("closed").kind(), ErrorKind::Closed);

    let mut outcomes: Vec<(usize, String, Result<Receipt, Error>)> = alone;
    for (number, key, delivery) in deliveries {
        // Closed, so each has an outcome: a delivery that never resolves is the worst of all bugs.
        let outcome = tokio::time::timeout(Duration::from_secs(1), delivery).await;
        outcomes.push((
            number,
            key,
            outcome.expect("a delivery is resolved by close"),
        ));
    }
    // What was on its way may still arrive.
    tokio::time::sleep(Duration::from_secs(30)).await;
    judge(&cluster, &outcomes, scenario);
}

fn value(number: usize, key: &str, filling: usize) -> Vec<u8> {
    format!("{number} {key} {}", "x".repeat(filling)).into_bytes()
}

fn parse(value: &Bytes) -> (usize, String) {
    let text = std::str::from_utf8(value).expect("text");
    let mut parts = text.split(' ');
    let number = parts
        .next()
        .and_then(|part| part.parse().ok())
        .expect("a number");
    (number, parts.next().expect("a key").to_owned())
}

fn judge(
    cluster: &SimCluster,
    outcomes: &[(usize, String, Result<Receipt, Error>)],
    scenario: &Scenario,
) {
    let mut places: HashMap<usize, Vec<(i32, i64)>> = HashMap::new();
    let mut last_of_key: HashMap<String, usize> = HashMap::new();
    for partition in 0..cluster.partition_count() as i32 {
        for (offset, value) in (0..).zip(cluster.log(partition)) {
            let (number, key) = parse(&value);
            places.entry(number).or_default().push((partition, offset));
            if scenario.idempotence {
                let before = last_of_key.insert(key.clone(), number);
                assert!(
                    before.is_none_or(|before| before < number),
                    "{key}: {number} is behind {before:?}"
                );
            }
        }
    }
    for (number, key, outcome) in outcomes {
        let found = places.remove(number).unwrap_or_default();
        match outcome {
            Ok(receipt) => {
                assert!(!found.is_empty(), "{number} was acknowledged and lost");
                if let Some(offset) = receipt.offset {
                    let place = (receipt.partition, offset);
                    assert!(
                        found.contains(&place),
                        "{number} {key}: {place:?}, {found:?}"
                    );
                }
            }
            Err(error) => {
                assert!(!scenario.must_deliver, "{number} {key}: {error}");
                assert!(
                    found.is_empty() || error.possibly_written(),
                    "{number} {key} is at {found:?}, but: {error}"
                );
            }
        }
        if scenario.idempotence {
            assert!(found.len() <= 1, "{number} {key} is there twice: {found:?}");
        }
    }
}
