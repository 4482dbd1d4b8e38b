use copart::protocol::ErrorCode;
use copart_audit::Error;

use crate::cluster::ClusterArgs;
use crate::exit::Exit;
use crate::outcomes::settle_deleted;

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
    let missing = args
        .if_exists
        .then_some(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    settle_deleted(results, missing)
}
