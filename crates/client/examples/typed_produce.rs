//! Sends typed records: a key that is a number as Java's LongSerializer writes it, and a value as JSON, or a
//! tombstone.
//!
//! `cargo run --example typed_produce -- localhost:9092 orders`

use copart::serializers::{Int64, Json, Optional};
use copart::{Client, Partitioning, ProducerRecord};

#[derive(serde::Serialize)]
struct Order {
    item: u32,
    price: f64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [bootstrap, topic] = arguments.as_slice() else {
        return Err("usage: typed_produce BOOTSTRAP TOPIC".into());
    };
    let client = Client::builder(bootstrap).connect().await?;
    let producer = client
        .producer()
        .partitioner(Partitioning::like("java")?)
        .build()?;
    let orders = producer.typed(Int64, Optional(Json::<Order>::new()));

    let order = Order {
        item: 7,
        price: 1.25,
    };
    let record = ProducerRecord::to(topic).key(42).value(Some(order));
    let receipt = orders.send(record).await?;
    println!("order 42: partition {}", receipt.partition);

    // Null has to be said. A text as the key, or no key at all, would not compile.
    let tombstone = ProducerRecord::to(topic).key(42).value(None::<Order>);
    let receipt = orders.send(tombstone).await?;
    println!("order 42 is gone: partition {}", receipt.partition);
    Ok(())
}
