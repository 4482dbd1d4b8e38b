use copart::Client;
use copart::admin::{AlterConfigs, ConfigResource, NewPartitions};
use copart_audit::Error;

use super::setting;
use crate::cluster::ClusterArgs;
use crate::exit::Exit;
use crate::outcomes::{complain, worse};
use crate::plain;

/// Add partitions to a topic, or change its settings
///
/// Most keys go to another partition once there are more of them: `copart movement` says how many.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Its name
    #[arg(value_name = "NAME")]
    name: String,

    /// How many partitions it is to have in all; never fewer than it has
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    partitions: Option<i32>,

    /// A setting to change; can be given more than once
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    config: Vec<(String, String)>,

    /// A setting whose own value is taken away, so that the brokers' default holds
    #[arg(long, value_name = "NAME")]
    reset_config: Vec<String>,

    /// Have the cluster check the changes, and make none
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    cluster: ClusterArgs,
}

pub(super) fn run(args: &Args) -> Result<Exit, Error> {
    let has_settings = !args.config.is_empty() || !args.reset_config.is_empty();
    if args.partitions.is_none() && !has_settings {
        return Err(Error::usage(
            "what is to change? --partitions N, --config NAME=VALUE or --reset-config NAME",
        ));
    }
    args.cluster.run(async |client| {
        let mut exit = Exit::AGREE;
        // Settings first: those that are refused leave the topic as it was.
        if has_settings {
            match settings(&client, args).await {
                Ok(()) if args.dry_run => plain::line("settings can be changed")?,
                Ok(()) => plain::line("settings changed")?,
                Err(error) => exit = worse(exit, complain(error)),
            }
        }
        if let Some(count) = args.partitions
            && exit == Exit::AGREE
        {
            match partitions(&client, args, count).await {
                Ok(()) if args.dry_run => plain::line(format_args!("can have {count} partitions"))?,
                Ok(()) => {
                    plain::line(format_args!("has {count} partitions"))?;
                    errorln!(
                        "copart: from now on most keys go to another partition than their older records: \
                         see `copart movement`"
                    );
                }
                Err(error) => exit = worse(exit, complain(error)),
            }
        }
        Ok(exit)
    })
}

async fn settings(client: &Client, args: &Args) -> copart::Result<()> {
    let mut change = AlterConfigs::of(ConfigResource::topic(&args.name));
    for (name, value) in &args.config {
        change = change.set(name, value);
    }
    for name in &args.reset_config {
        change = change.reset(name);
    }
    let admin = client.admin().timeout(args.cluster.timeout());
    let results = match args.dry_run {
        true => admin.check_configs([change]).await,
        false => admin.alter_configs([change]).await,
    };
    results.all().map(drop)
}

async fn partitions(client: &Client, args: &Args, count: i32) -> copart::Result<()> {
    let total = NewPartitions::total(&args.name, count);
    let admin = client.admin().timeout(args.cluster.timeout());
    let results = match args.dry_run {
        true => admin.check_new_partitions([total]).await,
        false => admin.create_partitions([total]).await,
    };
    results.all().map(drop)
}
