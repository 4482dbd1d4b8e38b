mod delete;
mod describe;
mod lag;
mod list;
mod offset_file;
mod reset;
mod state;

use copart_audit::Error;

use crate::exit::Exit;

/// List, describe and delete groups; watch their lag, and reset their offsets
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  copart groups list --bootstrap HOST:9092
  copart groups describe billing --properties client.properties --output json
  copart groups lag billing --max-lag 10000 --bootstrap HOST:9092
  copart groups lag --follow --bootstrap HOST:9092
  copart groups reset-offsets billing --topic orders --to -1h --bootstrap HOST:9092
  copart groups describe billing --output csv --bootstrap HOST:9092 >billing.csv
  copart groups reset-offsets billing --file billing.csv --execute --bootstrap HOST:9092
  copart groups delete billing --bootstrap HOST:9092";

#[derive(clap::Subcommand)]
enum Command {
    List(list::Args),
    Describe(describe::Args),
    Lag(lag::Args),
    ResetOffsets(reset::Args),
    Delete(delete::Args),
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    match &args.command {
        Command::List(args) => list::run(args),
        Command::Describe(args) => describe::run(args),
        Command::Lag(args) => lag::run(args),
        Command::ResetOffsets(args) => reset::run(args),
        Command::Delete(args) => delete::run(args),
    }
}
