//! Reads topics as a member of a group: `group_consumer localhost:9092 billing orders`.

use std::time::Duration;

use copart::{Client, ErrorKind};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let bootstrap = arguments.next().unwrap_or("localhost:9092".into());
    let group = arguments.next().unwrap_or("billing".into());
    let topics: Vec<String> = arguments.collect();
    let client = Client::builder(bootstrap).connect().await?;
    let mut consumer = client.consumer(group).topics(topics).build()?;
    while let Some(batch) = consumer.recv().await {
        let batch = match batch {
            Ok(batch) => batch,
            // It took too long, and joins again with the next call.
            Err(error) if error.kind() == ErrorKind::Stalled => {
                eprintln!("{error}");
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        for record in batch.records() {
            let value = String::from_utf8_lossy(record.value().unwrap_or_default());
            println!("{}-{}: {value}", record.topic(), record.partition());
        }
        // A batch that is dropped before comes again.
        batch.done();
    }
    consumer.close(Duration::from_secs(10)).await?;
    Ok(())
}
