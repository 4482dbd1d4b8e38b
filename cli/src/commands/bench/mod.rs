mod consume;
mod measured;
mod produce;

use copart_audit::Error;

use crate::exit::Exit;

/// Measure writing to or reading from a topic of any cluster
///
/// Broker and client share the machine if they run on one; then both are measured.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  copart bench produce scratch --records 1000000 --size 100 --bootstrap HOST:9092
  copart bench produce scratch --size 1024 --compression zstd --acks 1 --properties client.properties
  copart bench consume scratch --output json --bootstrap HOST:9092";

#[derive(clap::Subcommand)]
enum Command {
    Produce(produce::Args),
    Consume(consume::Args),
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    match &args.command {
        Command::Produce(args) => produce::run(args),
        Command::Consume(args) => consume::run(args),
    }
}
