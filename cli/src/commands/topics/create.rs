use copart::admin::NewTopic;
use copart::protocol::ErrorCode;
use copart_audit::Error;

use super::setting;
use crate::cluster::ClusterArgs;
use crate::exit::Exit;
use crate::outcomes::settle;
use crate::plain;

/// Create topics
///
/// What is left open is for the brokers to decide: num.partitions, default.replication.factor.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Their names
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,

    /// How many partitions each has
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    partitions: Option<i32>,

    /// How many brokers hold each partition
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(i16).range(1..))]
    replication_factor: Option<i16>,

    /// A setting that differs from the brokers' default; can be given more than once
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    config: Vec<(String, String)>,

    /// A topic that exists already is no error
    #[arg(long)]
    if_not_exists: bool,

    /// Have the cluster check whether they could be created, and create none
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    cluster: ClusterArgs,
}

pub(super) fn run(args: &Args) -> Result<Exit, Error> {
    let topics: Vec<NewTopic> = args.names.iter().map(|name| topic(name, args)).collect();
    let results = args.cluster.run(async |client| {
        let admin = client.admin().timeout(args.cluster.timeout());
        Ok(match args.dry_run {
            true => admin.check_new_topics(topics).await,
            false => admin.create_topics(topics).await,
        })
    })?;
    let exists = |error: &copart::Error| {
        args.if_not_exists && error.code() == Some(ErrorCode::TOPIC_ALREADY_EXISTS)
    };
    let done = if args.dry_run {
        "can be created"
    } else {
        "created"
    };
    let results = results.into_iter().map(|(name, outcome)| match outcome {
        Err(error) if exists(&error) => (name, Ok(None)),
        outcome => (name, outcome.map(Some)),
    });
    settle(results, |name, topic| match topic {
        None => plain::line(format_args!("{name}: exists")),
        Some(topic) => {
            let counts = match (topic.partitions, topic.replication_factor) {
                (Some(partitions), Some(replicas)) => {
                    format!(", partitions: {partitions}, replicas of each: {replicas}")
                }
                _ => String::new(),
            };
            plain::line(format_args!("{name}: {done}{counts}"))
        }
    })
}

fn topic(name: &str, args: &Args) -> NewTopic {
    let mut topic = NewTopic::new(name);
    if let Some(partitions) = args.partitions {
        topic = topic.partitions(partitions);
    }
    if let Some(factor) = args.replication_factor {
        topic = topic.replication_factor(factor);
    }
    for (name, value) in &args.config {
        topic = topic.config(name, value);
    }
    topic
}
