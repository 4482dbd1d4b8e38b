mod check;
mod get;
mod list;
mod register;
mod source;

use copart_audit::Error;

use crate::exit::Exit;

/// List, show, register and check schemas in a schema registry
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  copart schema list --registry http://HOST:8081
  copart schema get orders-value --registry http://HOST:8081 >order.avsc
  copart schema get --id 42 --registry-properties registry.properties
  copart schema check orders-value order.avsc --registry http://HOST:8081
  copart schema register orders-value order.proto --reference money.proto=money:1 --registry http://HOST:8081";

#[derive(clap::Subcommand)]
enum Command {
    List(list::Args),
    Get(get::Args),
    Register(register::Args),
    Check(check::Args),
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    match &args.command {
        Command::List(args) => list::run(args),
        Command::Get(args) => get::run(args),
        Command::Register(args) => register::run(args),
        Command::Check(args) => check::run(args),
    }
}
