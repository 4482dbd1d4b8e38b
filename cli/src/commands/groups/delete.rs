use copart::protocol::ErrorCode;
use copart_audit::Error;

use crate::cluster::ClusterArgs;
use crate::exit::Exit;
use crate::outcomes::settle;
use crate::plain;

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
    let missing = |error: &copart::Error| {
        args.if_exists && error.code() == Some(ErrorCode::GROUP_ID_NOT_FOUND)
    };
    let results = results.into_iter().map(|(group, outcome)| match outcome {
        Err(error) if missing(&error) => (group, Ok("does not exist")),
        outcome => (group, outcome.map(|()| "deleted")),
    });
    settle(results, |group, what| {
        plain::line(format_args!("{group}: {what}"))
    })
}
