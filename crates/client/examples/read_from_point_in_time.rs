//! Prints what was written to a topic in the last hour, and ends.
//!
//!     cargo run --example read_from_point_in_time -- localhost:9092 orders

use std::time::Duration;

use copart::serializers::{Optional, Utf8};
use copart::{Client, End, Start};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let bootstrap = arguments.next().unwrap_or("localhost:9092".into());
    let topic = arguments.next().unwrap_or("orders".into());

    let client = Client::builder(bootstrap).connect().await?;
    let mut reader = client
        .reader()
        .topic(topic)
        .start(Start::Ago(Duration::from_secs(3600)))
        .until(End::Latest)
        .build()
        .await?;

    let mut count = 0;
    while let Some(batch) = reader.recv().await {
        let batch = batch?;
        for record in &batch {
            let key = record.key_as(&Optional(Utf8))?;
            println!(
                "partition {}, offset {}, time {}: {}",
                record.partition(),
                record.offset(),
                record.timestamp(),
                key.as_deref().unwrap_or("no key")
            );
        }
        count += batch.len();
    }
    println!("{count} records in the last hour");
    Ok(())
}
