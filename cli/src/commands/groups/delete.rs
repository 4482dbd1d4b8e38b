use copart::protocol::ErrorCode;
use copart_audit::Error;

use crate::cluster::ClusterArgs;
use crate::exit::Exit;
use crate::outcomes::settle_deleted;

/// Delete groups, with the offsets that they have committed
///
/// A group that has members is refused.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Their ids
    #[arg(value_name = "GROUP", required = true)]
    groups: Vec<String>,

    /// A group that does not exist is no error
    #[arg(long)]
    if_exists: bool,

    #[command(flatten)]
    cluster: ClusterArgs,
}

pub(super) fn run(args: &Args) -> Result<Exit, Error> {
    let results = args.cluster.run(async |client| {
        let admin = client.admin().timeout(args.cluster.timeout());
        Ok(admin
            .delete_groups(args.groups.iter().map(String::as_str))
            .await)
    })?;
    let missing = args.if_exists.then_some(ErrorCode::GROUP_ID_NOT_FOUND);
    settle_deleted(results, missing)
}
