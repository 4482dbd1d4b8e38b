//! Names each record's partition itself. With the manual partitioner a record that names none is refused.
//!
//! `cargo run --example explicit_partition -- localhost:9092 orders`

use std::time::Duration;

use copart::{Client, Partitioning, ProducerRecord};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [bootstrap, topic] = arguments.as_slice() else {
        return Err("usage: explicit_partition BOOTSTRAP TOPIC".into());
    };
    let client = Client::builder(bootstrap).connect().await?;
    let known = client.topic(topic, Duration::from_secs(10)).await?;
    let producer = client
        .producer()
        .partitioner(Partitioning::manual())
        .build()?;
    for partition in &known.partitions {
        let value = format!("for partition {}", partition.index);
        let record = ProducerRecord::to(topic)
            .value(&value)
            .partition(partition.index);
        let receipt = producer.send(record).await?;
        println!(
            "partition {}, offset {:?}",
            receipt.partition, receipt.offset
        );
    }
    let refused = producer
        .send(ProducerRecord::to(topic).value("anywhere"))
        .await;
    println!("without a partition: {}", refused.unwrap_err());
    Ok(())
}
