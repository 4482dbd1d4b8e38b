//! Reads a topic as a member of a group, commits after each batch, and says what happens: with the options and the lines
//! of `org.apache.kafka.tools.VerifiableConsumer`, so that what drives and judges that one can drive and judge copart.
//!
//! A line `records_consumed` is about one batch of one partition, where Java's is about one poll.

mod lines;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use copart::{Client, Consumer, GroupBatch, Properties, TopicPartition};
use lines::say;
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

#[derive(Parser)]
struct Options {
    /// Where the cluster is: HOST:PORT, several with commas between
    #[arg(long)]
    bootstrap_server: String,
    #[arg(long)]
    topic: String,
    #[arg(long, value_enum, ignore_case = true, default_value = "classic")]
    group_protocol: Protocol,
    /// How the broker deals partitions out, with the consumer protocol
    #[arg(long)]
    group_remote_assignor: Option<String>,
    #[arg(long)]
    group_id: String,
    /// Makes it a static member
    #[arg(long)]
    group_instance_id: Option<String>,
    /// How many records to consume; -1 is until asked to end
    #[arg(long, default_value_t = -1, allow_negative_numbers = true)]
    max_messages: i64,
    /// Milliseconds, with the classic protocol
    #[arg(long, default_value_t = 30_000)]
    session_timeout: u32,
    /// Say each record
    #[arg(long)]
    verbose: bool,
    /// Commit now and then, instead of after each batch
    #[arg(long)]
    enable_autocommit: bool,
    /// earliest, latest or none
    #[arg(long, default_value = "earliest")]
    reset_policy: String,
    /// The assignor of the classic protocol, by its name or its class
    #[arg(
        long,
        default_value = "org.apache.kafka.clients.consumer.RangeAssignor"
    )]
    assignment_strategy: String,
    /// Properties of a Java client
    #[arg(long, visible_alias = "consumer.config")]
    command_config: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Protocol {
    Classic,
    Consumer,
}

impl Options {
    /// Those of the file, and then what the options say.
    fn properties(&self) -> Result<Properties, Failure> {
        let mut text = match &self.command_config {
            Some(file) => std::fs::read_to_string(file)?,
            None => String::new(),
        };
        let mut set = |key: &str, value: &str| text += &format!("\n{key}={value}\n");
        set("bootstrap.servers", &self.bootstrap_server);
        set("group.id", &self.group_id);
        set("auto.offset.reset", &self.reset_policy);
        set("enable.auto.commit", &self.enable_autocommit.to_string());
        if let Some(id) = &self.group_instance_id {
            set("group.instance.id", id);
        }
        match self.group_protocol {
            Protocol::Classic => {
                set("group.protocol", "classic");
                set("session.timeout.ms", &self.session_timeout.to_string());
                set("partition.assignment.strategy", &self.assignment_strategy);
            }
            Protocol::Consumer => {
                set("group.protocol", "consumer");
                if let Some(assignor) = &self.group_remote_assignor {
                    set("group.remote.assignor", assignor);
                }
            }
        }
        Ok(Properties::parse(&text)?)
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let options = Options::parse();
    let properties = options.properties()?;
    let client = properties.client().connect().await?;
    say("startup_complete", json!({}))?;
    let mut consumer = join(&client, &properties, &options)?;
    let consumed = consume(&mut consumer, &options).await;
    let closed = consumer.close(Duration::from_secs(30)).await;
    say("shutdown_complete", json!({}))?;
    consumed?;
    Ok(closed?)
}

fn join(client: &Client, properties: &Properties, options: &Options) -> copart::Result<Consumer> {
    let told = |name: &'static str| {
        move |rebalance: copart::Rebalance| async move {
            let partitions: Vec<_> = rebalance.partitions().iter().map(place).collect();
            tell(name, json!({ "partitions": partitions }));
        }
    };
    let builder = client.consumer(options.group_id.as_str());
    properties
        .configure_consumer(builder)
        .topic(options.topic.as_str())
        .on_assigned(told("partitions_assigned"))
        .on_revoked(told("partitions_revoked"))
        // Java's tool has one word for both.
        .on_lost(told("partitions_revoked"))
        .build()
}

async fn consume(consumer: &mut Consumer, options: &Options) -> Result<(), Failure> {
    let mut left = u64::try_from(options.max_messages).unwrap_or(u64::MAX);
    let end = lines::asked_to_end();
    tokio::pin!(end);
    while left > 0 {
        let batch = tokio::select! {
            asked = &mut end => {
                asked?;
                return Ok(say("shutdown_requested", json!({}))?);
            }
            batch = consumer.recv() => batch,
        };
        let Some(batch) = batch else { break };
        left -= take(consumer, batch?, left, options).await?;
    }
    Ok(())
}

/// Takes a batch, or its first records if there are more than are left to consume, and commits.
async fn take(
    consumer: &Consumer,
    batch: GroupBatch,
    left: u64,
    options: &Options,
) -> Result<u64, Failure> {
    let count = batch.len().min(usize::try_from(left).unwrap_or(usize::MAX));
    let partition = batch.topic_partition().clone();
    let mut ends = None;
    for record in batch.records().take(count) {
        let offset = record.offset();
        let (first, _) = ends.unwrap_or((offset, offset));
        ends = Some((first, offset));
        if options.verbose {
            let text =
                |bytes: Option<&[u8]>| bytes.map(|b| String::from_utf8_lossy(b).into_owned());
            let mut data = place(&partition);
            data["key"] = json!(text(record.key()));
            data["value"] = json!(text(record.value()));
            data["offset"] = json!(offset);
            say("record_data", data)?;
        }
    }
    let Some((first, last)) = ends else {
        return Ok(0);
    };
    let mut summary = place(&partition);
    summary["count"] = json!(count);
    summary["minOffset"] = json!(first);
    summary["maxOffset"] = json!(last);
    say(
        "records_consumed",
        json!({ "count": count, "partitions": [summary] }),
    )?;
    // What is done to there is done, also if the rest of the batch is not wanted any more.
    batch.done_to(last + 1);
    if !options.enable_autocommit {
        let outcome = consumer
            .commit_offsets([(partition.clone(), last + 1)])
            .await;
        let mut offset = place(&partition);
        offset["offset"] = json!(last + 1);
        let mut told = json!({ "offsets": [offset], "success": outcome.is_ok() });
        if let Err(error) = outcome {
            told["error"] = json!(error.to_string());
        }
        say("offsets_committed", told)?;
    }
    Ok(count as u64)
}

fn place(partition: &TopicPartition) -> Value {
    json!({ "topic": &*partition.topic, "partition": partition.partition })
}

/// In a hook, which has nobody to return an error to.
fn tell(name: &str, facts: Value) {
    if let Err(error) = say(name, facts) {
        eprintln!("standard output is gone: {error}");
        std::process::exit(1);
    }
}
