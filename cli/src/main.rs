//! The `copart` command: argument parsing and printing; the work is done in `copart-audit`.
#![forbid(unsafe_code)]

#[macro_use]
mod errorln;

mod args;
mod cluster;
mod commands;
mod exit;
mod listing;
mod outcomes;
mod plain;
mod progress;
mod protobuf;
mod records;
mod registry;
mod start;
mod typed;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::exit::Exit;

/// Prove that Kafka clients put your keys on the same partitions.
///
/// A Kafka broker never decides a record's partition: the producer's client library does, and
/// libraries differ. copart computes what each of them does, checked against the libraries
/// themselves.
#[derive(Parser)]
#[command(version, after_help = exit::HELP, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Verify(commands::verify::Args),
    Map(commands::map::Args),
    Infer(commands::infer::Args),
    Copartition(commands::copartition::Args),
    Lint(commands::lint::Args),
    Check(Box<commands::check::Args>),
    Movement(commands::movement::Args),
    Skew(commands::skew::Args),
    Size(commands::size::Args),
    Clients(commands::clients::Args),
    Config(commands::config::Args),
    Vectors(commands::vectors::Args),
    Demo(commands::demo::Args),
    Broker(Box<commands::broker::Args>),
    Topics(commands::topics::Args),
    Groups(commands::groups::Args),
    Metadata(commands::metadata::Args),
    Produce(Box<commands::produce::Args>),
    Read(Box<commands::read::Args>),
    Consume(Box<commands::consume::Args>),
    Schema(commands::schema::Args),
    Bench(Box<commands::bench::Args>),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers: they go to standard output and succeed.
            let exit = if error.use_stderr() {
                Exit::USAGE
            } else {
                Exit::AGREE
            };
            let _ = error.print();
            return exit.into();
        }
    };
    let result = match cli.command {
        Command::Verify(args) => commands::verify::run(&args),
        Command::Map(args) => commands::map::run(&args),
        Command::Infer(args) => commands::infer::run(&args),
        Command::Copartition(args) => commands::copartition::run(&args),
        Command::Lint(args) => commands::lint::run(&args),
        Command::Check(args) => commands::check::run(&args),
        Command::Movement(args) => commands::movement::run(&args),
        Command::Skew(args) => commands::skew::run(&args),
        Command::Size(args) => commands::size::run(&args),
        Command::Clients(args) => commands::clients::run(&args),
        Command::Config(args) => commands::config::run(&args),
        Command::Vectors(args) => commands::vectors::run(&args),
        Command::Demo(args) => commands::demo::run(&args),
        Command::Broker(args) => Ok(commands::broker::run(&args)),
        Command::Topics(args) => commands::topics::run(&args),
        Command::Groups(args) => commands::groups::run(&args),
        Command::Metadata(args) => commands::metadata::run(&args),
        Command::Produce(args) => commands::produce::run(&args),
        Command::Read(args) => commands::read::run(&args),
        Command::Consume(args) => commands::consume::run(&args),
        Command::Schema(args) => commands::schema::run(&args),
        Command::Bench(args) => commands::bench::run(&args),
    };
    match result {
        Ok(exit) => exit.into(),
        Err(error) => exit::report(&error).into(),
    }
}
