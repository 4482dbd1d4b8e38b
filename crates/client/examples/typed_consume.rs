//! Reads what `typed_produce` writes, as a member of a group. What can't be read goes to a dead-letter topic, which
//! must exist.
//!
//! `cargo run --example typed_consume -- localhost:9092 billing orders orders.dead`

use std::time::Duration;

use copart::serializers::{Int64, Json, Optional};
use copart::{Client, Partitioning};

#[derive(serde::Deserialize)]
struct Order {
    item: u32,
    price: f64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [bootstrap, group, topic, dead] = arguments.as_slice() else {
        return Err("usage: typed_consume BOOTSTRAP GROUP TOPIC DEAD_LETTER_TOPIC".into());
    };
    let client = Client::builder(bootstrap).connect().await?;
    // Nobody looks a dead letter up by its key.
    let producer = client
        .producer()
        .partitioner(Partitioning::uniform())
        .build()?;
    let consumer = client
        .consumer(group.as_str())
        .topic(topic.as_str())
        .build()?;
    let mut orders = consumer
        .typed(Int64, Optional(Json::<Order>::new()))
        .dead_letters(dead, &producer);
    loop {
        let batch = tokio::select! {
            batch = orders.recv() => batch,
            _ = tokio::time::sleep(Duration::from_secs(10)) => None,
        };
        let Some(batch) = batch else { break };
        let batch = match batch {
            Ok(batch) => batch,
            // A dead letter that could not be written, for one: the next call tries again.
            Err(error) if error.is_retriable() => {
                eprintln!("{error}");
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        for order in &batch {
            match order.value() {
                Some(Order { item, price }) => {
                    println!("order {}: item {item} for {price}", order.key());
                }
                None => println!("order {} is gone", order.key()),
            }
        }
        batch.done();
    }
    orders.close(Duration::from_secs(10)).await?;
    Ok(())
}
