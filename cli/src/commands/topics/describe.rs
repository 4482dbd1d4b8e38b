use std::collections::HashMap;

use copart::admin::{ConfigResource, OffsetSpec, TopicDescription};
use copart::{Client, TopicPartition};
use copart_audit::Error;

use crate::cluster::ClusterArgs;
use crate::exit::Exit;
use crate::listing::{Config, Topic, Topics};
use crate::outcomes::{complain, worse};
use crate::plain::{self, Form};

/// Topics with their settings, partitions, leaders, replicas and offsets
#[derive(clap::Args)]
pub(super) struct Args {
    /// Their names
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,

    /// All settings, also those that have the brokers' default
    #[arg(long)]
    all_configs: bool,

    /// Form of the answer
    #[arg(short, long, value_enum, value_name = "FORM", default_value = "table")]
    output: Form,

    #[command(flatten)]
    cluster: ClusterArgs,
}

pub(super) fn run(args: &Args) -> Result<Exit, Error> {
    let mut exit = Exit::AGREE;
    let described = args
        .cluster
        .run(async |client| Ok(describe(&client, args).await))?;
    let mut topics = Vec::new();
    for outcome in described {
        match outcome {
            Ok(topic) => topics.push(topic),
            Err(error) => exit = worse(exit, complain(error)),
        }
    }
    match args.output {
        Form::Json => plain::json(&Topics::new(topics))?,
        Form::Table => topics.iter().try_for_each(print)?,
    }
    Ok(exit)
}

async fn describe(client: &Client, args: &Args) -> Vec<copart::Result<Topic>> {
    let admin = client.admin().timeout(args.cluster.timeout());
    let described = admin
        .describe_topics(args.names.iter().map(String::as_str))
        .await;
    let mut topics = Vec::new();
    for (_, outcome) in described {
        topics.push(match outcome {
            Ok(topic) => complete(client, topic, args).await,
            Err(error) => Err(error),
        });
    }
    topics
}

/// A topic with its settings and offsets.
async fn complete(
    client: &Client,
    described: TopicDescription,
    args: &Args,
) -> copart::Result<Topic> {
    let admin = client.admin().timeout(args.cluster.timeout());
    let mut topic = Topic::from(described);
    let resource = ConfigResource::topic(&topic.name);
    let configs = admin.describe_configs([resource]).await.all()?;
    let configs = configs.into_iter().flat_map(|(_, entries)| entries);
    let configs = configs.filter(|entry| args.all_configs || entry.is_own());
    topic.configs = Some(configs.map(Config::from).collect());
    // A partition without a leader cannot tell.
    let led = topic.partitions.iter().filter(|p| p.leader.is_some());
    let led: Vec<i32> = led.map(|p| p.partition).collect();
    let asked = |spec: OffsetSpec| {
        let name = topic.name.clone();
        let of = led
            .iter()
            .map(move |&p| (TopicPartition::new(name.as_str(), p), spec));
        admin.list_offsets(of.collect::<Vec<_>>())
    };
    let (begin, end) = tokio::join!(asked(OffsetSpec::Earliest), asked(OffsetSpec::Latest));
    let by_partition = |results: copart::admin::Results<TopicPartition, _>| {
        let known = results.into_iter().filter_map(|(key, outcome)| {
            let found: copart::admin::ListedOffset = outcome.ok()?;
            Some((key.partition, found.offset?))
        });
        known.collect::<HashMap<i32, i64>>()
    };
    let (begin, end) = (by_partition(begin), by_partition(end));
    for partition in &mut topic.partitions {
        partition.begin_offset = begin.get(&partition.partition).copied();
        partition.end_offset = end.get(&partition.partition).copied();
    }
    Ok(topic)
}

fn print(topic: &Topic) -> Result<(), Error> {
    plain::line(format_args!("topic {}", topic.name))?;
    if let Some(id) = &topic.id {
        plain::line(format_args!("  id        {id}"))?;
    }
    for config in topic.configs.iter().flatten() {
        let value = config.value.as_deref().unwrap_or("(not told)");
        plain::line(format_args!("  {}={value}", config.name))?;
    }
    let number = |number: Option<i64>| number.map_or_else(|| "-".to_owned(), |n| n.to_string());
    let rows: Vec<_> = topic
        .partitions
        .iter()
        .map(|partition| {
            [
                partition.partition.to_string(),
                number(partition.leader.map(i64::from)),
                plain::list(&partition.replicas),
                plain::list(&partition.in_sync),
                number(partition.begin_offset),
                number(partition.end_offset),
            ]
        })
        .collect();
    let headings = ["PARTITION", "LEADER", "REPLICAS", "IN SYNC", "BEGIN", "END"];
    plain::columns(headings, &rows)
}
