//! Sends many records without waiting for each: enqueue first, look at the deliveries after.
//!
//! `cargo run --example pipelined_produce -- localhost:9092 orders 100000`

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use copart::{Client, Codec, Delivery, Partitioning, ProducerRecord};

/// How many records may be without an outcome. What bounds memory is the producer's buffer.
const UNRESOLVED: usize = 10_000;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [bootstrap, topic, count] = arguments.as_slice() else {
        return Err("usage: pipelined_produce BOOTSTRAP TOPIC COUNT".into());
    };
    let count: u64 = count.parse()?;
    let client = Client::builder(bootstrap).connect().await?;
    let producer = client
        .producer()
        .partitioner(Partitioning::like("java")?)
        .compression(Codec::Lz4)
        .build()?;

    let start = Instant::now();
    let mut failures = 0;
    let mut pending: VecDeque<Delivery> = VecDeque::new();
    for number in 0..count {
        let key = format!("customer-{}", number % 1000);
        let value = format!("{{\"order\":{number}}}");
        // The order of a partition's records is fixed here.
        pending.push_back(
            producer
                .enqueue(ProducerRecord::to(topic).key(&key).value(&value))
                .await?,
        );
        if pending.len() > UNRESOLVED
            && let Some(oldest) = pending.pop_front()
        {
            failures += u64::from(!delivered(oldest).await);
        }
    }
    producer.flush().await?;
    for delivery in pending {
        failures += u64::from(!delivered(delivery).await);
    }
    println!(
        "{count} records in {:?}, {failures} failed",
        start.elapsed()
    );
    let report = producer.close(Duration::from_secs(10)).await;
    println!("everything told: {}", report.is_complete());
    Ok(())
}

async fn delivered(delivery: Delivery) -> bool {
    match delivery.await {
        Ok(_) => true,
        Err(error) if error.possibly_written() => {
            // It may be in the log. Sending it again could write it twice, so that is for you to decide.
            eprintln!("in doubt: {error}");
            false
        }
        Err(error) => {
            eprintln!("not written: {error}");
            false
        }
    }
}
