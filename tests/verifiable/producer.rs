//! Sends numbered records at a steady rate and says of each what became of it: with the options and the lines of
//! `org.apache.kafka.tools.VerifiableProducer`, so that what drives and judges that one can drive and judge copart.

mod lines;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Parser;
use copart::{Acks, Client, Partitioning, Producer, ProducerRecord, Properties};
use lines::say;
use serde_json::json;
use tokio::task::JoinSet;

#[derive(Parser)]
struct Options {
    /// Where the cluster is: HOST:PORT, several with commas between
    #[arg(long)]
    bootstrap_server: String,
    #[arg(long)]
    topic: String,
    /// How many records to send; -1 is until asked to end
    #[arg(long, default_value_t = -1, allow_negative_numbers = true)]
    max_messages: i64,
    /// Records a second; -1 is as fast as it goes
    #[arg(long, default_value_t = -1, allow_negative_numbers = true)]
    throughput: i64,
    /// 0, 1 or -1
    #[arg(long, default_value_t = -1, allow_negative_numbers = true, value_parser = clap::value_parser!(i16).range(-1..=1))]
    acks: i16,
    /// Properties of a Java client
    #[arg(long, visible_alias = "producer.config")]
    command_config: Option<PathBuf>,
    /// The time that the first record bears, in milliseconds since 1970; later ones are as much later as they are sent later
    #[arg(long, default_value_t = -1, allow_negative_numbers = true)]
    message_create_time: i64,
    /// An integer before each value, with a dot between
    #[arg(long)]
    value_prefix: Option<i32>,
    /// Keys are the numbers below this one, in turns; without it there are no keys
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    repeating_keys: Option<u64>,
    /// How keys get their partitions: a client's name, as `copart clients` lists them
    #[arg(long, default_value = "java")]
    partitioner: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::parse();
    let mut properties = match &options.command_config {
        Some(file) => std::fs::read_to_string(file)?,
        None => String::new(),
    };
    properties += &format!("\nbootstrap.servers={}\n", options.bootstrap_server);
    let properties = Properties::parse(&properties)?;
    let client = properties.client().connect().await?;
    say("startup_complete", json!({}))?;
    let (sent, acknowledged, took) = run(&client, &properties, &options).await?;
    say("shutdown_complete", json!({}))?;
    let rate = acknowledged as f64 / took.as_secs_f64().max(f64::MIN_POSITIVE);
    let told = json!({
        "sent": sent, "acked": acknowledged, "target_throughput": options.throughput, "avg_throughput": rate,
    });
    say("tool_data", told)?;
    Ok(())
}

async fn run(
    client: &Client,
    properties: &Properties,
    options: &Options,
) -> Result<(u64, u64, Duration), Box<dyn std::error::Error>> {
    let acks = match options.acks {
        0 => Acks::None,
        1 => Acks::Leader,
        _ => Acks::All,
    };
    let builder = properties
        .configure(client.producer())
        .acks(acks)
        .idempotence(options.acks == -1);
    let partitioning = Partitioning::like(&options.partitioner)?;
    let producer: Producer = builder.partitioner(partitioning).build()?;

    let start = Instant::now();
    let mut outcomes = JoinSet::new();
    let (mut sent, mut acknowledged) = (0u64, 0u64);
    let end = lines::asked_to_end();
    tokio::pin!(end);
    while options.max_messages < 0 || sent < options.max_messages as u64 {
        let due = match options.throughput {
            ..=0 => Duration::ZERO,
            rate => Duration::from_secs_f64(sent as f64 / rate as f64),
        };
        tokio::select! {
            biased;
            asked = &mut end => { asked?; break }
            () = tokio::time::sleep_until((start + due).into()), if start.elapsed() < due => {}
            () = std::future::ready(()), if start.elapsed() >= due => {}
        }
        while let Some(told) = outcomes.try_join_next() {
            acknowledged += u64::from(told?);
        }
        let key = options.repeating_keys.map(|keys| (sent % keys).to_string());
        let value = match options.value_prefix {
            Some(prefix) => format!("{prefix}.{sent}"),
            None => sent.to_string(),
        };
        let mut record = ProducerRecord::to(&options.topic)
            .key(key.as_ref())
            .value(&value);
        if options.message_create_time >= 0 {
            let later = start.elapsed().as_millis() as i64;
            record = record.timestamp(options.message_create_time + later);
        }
        sent += 1;
        match producer.enqueue(record).await {
            Ok(delivery) => {
                let topic = options.topic.clone();
                outcomes.spawn(async move { settle(&topic, key, value, delivery.await) });
            }
            Err(error) => {
                settle(&options.topic, key, value, Err(error));
            }
        }
    }
    producer.close(Duration::from_secs(30)).await;
    while let Some(told) = outcomes.join_next().await {
        acknowledged += u64::from(told?);
    }
    Ok((sent, acknowledged, start.elapsed()))
}

/// Says what became of a record; true if it was written.
fn settle(
    topic: &str,
    key: Option<String>,
    value: String,
    outcome: copart::Result<copart::Receipt>,
) -> bool {
    let told = match &outcome {
        Ok(receipt) => say(
            "producer_send_success",
            json!({
                "key": key, "value": value, "topic": topic,
                "partition": receipt.partition, "offset": receipt.offset,
            }),
        ),
        Err(error) => say(
            "producer_send_error",
            json!({
                "topic": topic, "key": key, "value": value,
                "exception": format!("{:?}", error.kind()), "message": error.to_string(),
            }),
        ),
    };
    if let Err(error) = told {
        // Nobody can be told, so there is nobody to work for.
        eprintln!("standard output is gone: {error}");
        std::process::exit(1);
    }
    outcome.is_ok()
}
