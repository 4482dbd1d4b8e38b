//! Sends one record, and waits until it is written.
//!
//! `cargo run --example produce -- localhost:9092 orders customer-1 '{"item":7}'`

use copart::{Client, Partitioning, ProducerRecord};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [bootstrap, topic, key, value] = arguments.as_slice() else {
        return Err("usage: produce BOOTSTRAP TOPIC KEY VALUE".into());
    };
    let client = Client::builder(bootstrap).connect().await?;
    // The keys of this topic are where Java's producer puts them. Say here which client's keys must match.
    let producer = client
        .producer()
        .partitioner(Partitioning::like("java")?)
        .build()?;
    let receipt = producer
        .send(ProducerRecord::to(topic).key(key).value(value))
        .await?;
    println!(
        "partition {}, offset {:?}",
        receipt.partition, receipt.offset
    );
    Ok(())
}
