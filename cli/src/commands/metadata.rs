use std::fmt::Write;

use copart::admin::{ClusterDescription, PartitionDescription, TopicDescription};
use copart::protocol::ErrorCode;
use copart_audit::Error;

use crate::cluster::ClusterArgs;
use crate::exit::Exit;
use crate::listing::{Metadata, Topic};
use crate::plain::{self, Form};

/// Brokers, topics and partitions, as `kcat -L` lists them
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only this topic
    #[arg(short, long, value_name = "TOPIC")]
    topic: Option<String>,

    /// Form of the answer: kcat's listing, or a document
    #[arg(short, long, value_enum, value_name = "FORM", default_value = "table")]
    output: Form,

    #[command(flatten)]
    cluster: ClusterArgs,
}

pub(super) type Found = Vec<(String, copart::Result<TopicDescription>)>;

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let (cluster, topics) = args.cluster.run(async |client| {
        let admin = client.admin().timeout(args.cluster.timeout());
        let cluster = admin.describe_cluster().await?;
        let topics: Found = match &args.topic {
            Some(topic) => admin
                .describe_topics([topic.as_str()])
                .await
                .into_iter()
                .collect(),
            None => admin.list_topics().await?.into_iter().collect(),
        };
        Ok((cluster, topics))
    })?;
    // A topic that was asked for by name, and is not there, is no success.
    let missing = args.topic.is_some() && topics.iter().any(|(_, outcome)| outcome.is_err());
    match args.output {
        Form::Table => plain::line(listing(&cluster, &topics, args.topic.as_deref()).trim_end())?,
        Form::Json => {
            let topics = topics.into_iter().map(|(name, outcome)| match outcome {
                Ok(topic) => Topic::from(topic),
                Err(error) => Topic::failed(name, &error),
            });
            plain::json(&Metadata::new(cluster, topics.collect()))?;
        }
    }
    Ok(if missing { Exit::USAGE } else { Exit::AGREE })
}

/// kcat's words and spaces, for scripts that read them.
pub(super) fn listing(cluster: &ClusterDescription, topics: &Found, only: Option<&str>) -> String {
    let mut out = String::new();
    let brokers = cluster.brokers.iter().filter(|broker| !broker.is_fenced);
    let brokers: Vec<_> = brokers.collect();
    let from = brokers.first().map_or_else(
        || "-1: none".to_owned(),
        |broker| {
            format!(
                "{}: {}:{}/{}",
                broker.id, broker.host, broker.port, broker.id
            )
        },
    );
    let _ = writeln!(
        out,
        "Metadata for {} (from broker {from}):",
        only.unwrap_or("all topics")
    );
    let _ = writeln!(out, " {} brokers:", brokers.len());
    for broker in brokers {
        let controller = if cluster.controller == Some(broker.id) {
            " (controller)"
        } else {
            ""
        };
        let _ = writeln!(
            out,
            "  broker {} at {}:{}{controller}",
            broker.id, broker.host, broker.port
        );
    }
    let _ = writeln!(out, " {} topics:", topics.len());
    for (name, outcome) in topics {
        match outcome {
            Ok(topic) => {
                let _ = writeln!(
                    out,
                    "  topic \"{name}\" with {} partitions:",
                    topic.partitions.len()
                );
                for partition in &topic.partitions {
                    let _ = writeln!(out, "    {}", described(partition));
                }
            }
            Err(error) => {
                let code = error.code().unwrap_or(ErrorCode::UNKNOWN_SERVER_ERROR);
                let _ = writeln!(
                    out,
                    "  topic \"{name}\" with 0 partitions: {}",
                    in_words(code)
                );
            }
        }
    }
    out
}

fn described(partition: &PartitionDescription) -> String {
    let leader = partition.leader.unwrap_or(-1);
    let mut text = format!(
        "partition {}, leader {leader}, replicas: {}, isrs: {}",
        partition.index,
        plain::list(&partition.replicas),
        plain::list(&partition.in_sync)
    );
    if let Some(code) = partition.error {
        text.push_str(&format!(", {}", in_words(code)));
    }
    text
}

/// librdkafka's words for the errors that metadata has.
fn in_words(code: ErrorCode) -> String {
    match code {
        ErrorCode::UNKNOWN_TOPIC_OR_PARTITION => "Broker: Unknown topic or partition".into(),
        ErrorCode::LEADER_NOT_AVAILABLE => "Broker: Leader not available".into(),
        ErrorCode::REPLICA_NOT_AVAILABLE => "Broker: Replica not available".into(),
        ErrorCode::INVALID_TOPIC_EXCEPTION => "Broker: Invalid topic".into(),
        ErrorCode::TOPIC_AUTHORIZATION_FAILED => "Broker: Topic authorization failed".into(),
        code => format!("Broker: {code}"),
    }
}
