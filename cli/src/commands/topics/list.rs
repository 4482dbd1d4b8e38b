use copart_audit::Error;

use crate::cluster::ClusterArgs;
use crate::exit::Exit;
use crate::listing::{Topic, Topics};
use crate::outcomes::{complain, worse};
use crate::plain::{self, Form};

/// The topics, with their partition counts and replication factors
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    cluster: ClusterArgs,

    /// Kafka's own topics too, such as __consumer_offsets
    #[arg(long)]
    internal: bool,

    /// Form of the answer
    #[arg(short, long, value_enum, value_name = "FORM", default_value = "table")]
    output: Form,
}

pub(super) fn run(args: &Args) -> Result<Exit, Error> {
    let listed = args.cluster.run(async |client| {
        let admin = client.admin().timeout(args.cluster.timeout());
        Ok(admin.list_topics().await?)
    })?;
    let mut exit = Exit::AGREE;
    let mut topics = Vec::new();
    for (_, outcome) in listed {
        match outcome {
            Ok(topic) if topic.is_internal && !args.internal => {}
            Ok(topic) => topics.push(Topic::from(topic)),
            Err(error) => exit = worse(exit, complain(error)),
        }
    }
    match args.output {
        Form::Json => plain::json(&Topics::new(topics))?,
        Form::Table => {
            let rows: Vec<_> = topics
                .iter()
                .map(|topic| {
                    let replicas = topic.partitions.iter().map(|p| p.replicas.len());
                    [
                        topic.name.clone(),
                        topic.partitions.len().to_string(),
                        replicas.max().unwrap_or_default().to_string(),
                    ]
                })
                .collect();
            plain::columns(["TOPIC", "PARTITIONS", "REPLICAS"], &rows)?;
        }
    }
    Ok(exit)
}
