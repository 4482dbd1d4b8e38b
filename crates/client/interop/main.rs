//! The client against a real broker. `run` beside this starts one, and says where it listens.

#![allow(unreachable_pub, reason = "modules of one program")]

mod admin;
mod groups;
mod produce;
mod properties;
mod read;
mod security;

use std::time::{Duration, Instant};

use copart::admin::NewTopic;
use copart::{Client, Error};

type Failure = Box<dyn std::error::Error>;

fn variable(name: &str) -> Result<String, Failure> {
    std::env::var(name).map_err(|_| format!("{name} is not set: start this by `run`").into())
}

/// Whether the broker has this: `run` names what the reference broker does not have yet.
fn has(feature: &str) -> bool {
    let lacks = std::env::var("COPART_LACKS").unwrap_or_default();
    lacks.split(' ').all(|one| one != feature)
}

/// Waits for the broker, which takes seconds to start.
async fn started(bootstrap: &str) -> Result<Client, Error> {
    let deadline = Instant::now() + Duration::from_secs(180);
    loop {
        match Client::builder(bootstrap).connect().await {
            Ok(client) => return Ok(client),
            Err(error) if Instant::now() > deadline => return Err(error),
            Err(_) => tokio::time::sleep(Duration::from_millis(300)).await,
        }
    }
}

async fn create_topic(client: &Client, name: &str, partitions: i32) -> Result<(), Failure> {
    let topic = NewTopic::new(name).partitions(partitions);
    client.admin().create_topics([topic]).await.all()?;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let client = started(&variable("COPART_PLAIN")?).await?;
    produce::all(&client).await?;
    admin::all(&client).await?;
    read::all(&client).await?;
    groups::all(&client).await?;
    if has("listeners") {
        security::all().await?;
        properties::all().await?;
    }
    Ok(())
}
