use copart::protocol::ErrorCode;
use copart_audit::Error;

use crate::cluster::ClusterArgs;
use crate::exit::Exit;
use crate::outcomes::settle;
use crate::plain;

/// Delete topics, with all their records
#[derive(clap::Args)]
pub(super) struct Args {
    /// Their names
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,

    /// A topic that does not exist is no error
    #[arg(long)]
    if_exists: bool,

    #[command(flatten)]
    cluster: ClusterArgs,
}

pub(super) fn run(args: &Args) -> Result<Exit, Error> {
    let results = args.cluster.run(async |client| {
        let admin = client.admin().timeout(args.cluster.timeout());
        Ok(admin
            .delete_topics(args.names.iter().map(String::as_str))
            .await)
    })?;
    let missing = |error: &copart::Error| {
        args.if_exists && error.code() == Some(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)
    };
    let results = results.into_iter().map(|(name, outcome)| match outcome {
        Err(error) if missing(&error) => (name, Ok("does not exist")),
        outcome => (name, outcome.map(|()| "deleted")),
    });
    settle(results, |name, what| {
        plain::line(format_args!("{name}: {what}"))
    })
}
