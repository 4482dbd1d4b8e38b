//! A partitioner of one's own: orders of large customers go to the last partition, all others where Java's
//! producer puts them, and records without a key anywhere.
//!
//! `cargo run --example custom_partitioner -- localhost:9092 orders`

use copart::partitioners::{Profile, catalogue};
use copart::{Choice, Client, Partitioner, Partitioning, ProducerRecord, RecordView, TopicView};

struct LargeCustomersApart {
    others: Profile,
}

impl Partitioner for LargeCustomersApart {
    fn choose(&self, record: &RecordView<'_>, topic: &TopicView<'_>) -> Choice {
        match record.key {
            Some(key) if key.starts_with(b"large-") => {
                Choice::Partition(topic.partition_count() as i32 - 1)
            }
            // Not a hash: clients differ in how they make a partition of one.
            Some(_) => Choice::Like(self.others),
            None => Choice::Unkeyed,
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [bootstrap, topic] = arguments.as_slice() else {
        return Err("usage: custom_partitioner BOOTSTRAP TOPIC".into());
    };
    let client = Client::builder(bootstrap).connect().await?;
    let producer = client
        .producer()
        .partitioner(Partitioning::custom(LargeCustomersApart {
            others: catalogue::find("java")?.profile,
        }))
        .build()?;
    for key in [Some("large-acme"), Some("customer-1"), None] {
        let record = ProducerRecord::to(topic).key(key).value("{}");
        let receipt = producer.send(record).await?;
        println!("{key:?}: partition {}", receipt.partition);
    }
    Ok(())
}
