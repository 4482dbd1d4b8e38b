//! Creates a topic unless it is there, changes a setting, and tells what is in it.
//!
//!     cargo run --example admin -- localhost:9092 orders 12

use copart::Client;
use copart::admin::{AlterConfigs, ConfigResource, NewTopic, OffsetSpec};
use copart::protocol::ErrorCode;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let bootstrap = args.next().unwrap_or_else(|| "localhost:9092".to_owned());
    let name = args.next().unwrap_or_else(|| "orders".to_owned());
    let partitions = args.next().map_or(Ok(12), |count| count.parse())?;

    let client = Client::builder(bootstrap).connect().await?;
    let admin = client.admin();

    // One outcome for each topic. That it exists is an answer here, not a failure.
    let topic = NewTopic::new(&name).partitions(partitions);
    for (name, outcome) in admin.create_topics([topic]).await {
        match outcome {
            Ok(topic) => println!("{name}: created, id {}", topic.id),
            Err(error) if error.code() == Some(ErrorCode::TOPIC_ALREADY_EXISTS) => {
                println!("{name}: exists");
            }
            Err(error) => return Err(error.into()),
        }
    }

    // `all` is for when the first failure ends it.
    let change = AlterConfigs::of(ConfigResource::topic(&name)).set("retention.ms", "86400000");
    admin.alter_configs([change]).await.all()?;

    // Each partition's leader is asked, those of one broker in one request.
    let described = admin.describe_topics([name.as_str()]).await.all()?;
    let partitions = described.iter().flat_map(|(_, topic)| &topic.partitions);
    let ends = partitions.map(|p| ((name.as_str(), p.index), OffsetSpec::Latest));
    for (partition, end) in admin.list_offsets(ends).await {
        println!("{partition}: ends at {}", end?.offset.unwrap_or(0));
    }
    Ok(())
}
