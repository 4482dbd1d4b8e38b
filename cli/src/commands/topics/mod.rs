mod alter;
mod create;
mod delete;
mod describe;
mod list;

use copart_audit::Error;

use crate::exit::Exit;

/// List, create, describe, alter and delete topics
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  copart topics list --bootstrap HOST:9092
  copart topics create orders --partitions 12 --replication-factor 3 --bootstrap HOST:9092
  copart topics describe orders --properties client.properties --output json
  copart topics alter orders --config retention.ms=86400000 --bootstrap HOST:9092
  copart topics delete orders --bootstrap HOST:9092";

#[derive(clap::Subcommand)]
enum Command {
    List(list::Args),
    Create(create::Args),
    Describe(describe::Args),
    Alter(alter::Args),
    Delete(delete::Args),
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    match &args.command {
        Command::List(args) => list::run(args),
        Command::Create(args) => create::run(args),
        Command::Describe(args) => describe::run(args),
        Command::Alter(args) => alter::run(args),
        Command::Delete(args) => delete::run(args),
    }
}

/// A setting with its value: NAME=VALUE.
fn setting(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("it is NAME=VALUE")?;
    Ok((name.trim().to_owned(), value.to_owned()))
}
