//! Many records through three groups in a row whose members come, leave, die and lose their connections, at any broker.
//!
//!     cargo run --release --package copart-tests --example etl -- --bootstrap localhost:9092 --protocol consumer
//!
//! Exit codes: 0 all came through, at least once, each key in order; 1 it did not.

#![allow(unreachable_pub, reason = "modules of a test and of a program")]

mod pipeline;

use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use copart::{Assignor, GroupProtocol};
use pipeline::{Membership, Plan};

#[derive(Parser)]
struct Options {
    /// Where the cluster is: HOST:PORT, several with commas between
    #[arg(long)]
    bootstrap: String,
    #[arg(long, default_value_t = 500_000)]
    records: u64,
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    keys: u64,
    /// The time in which the first topic is filled, in seconds; there is no peace in the groups as long
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    #[arg(long, value_enum, default_value_t = Spoken::Auto)]
    protocol: Spoken,
    /// Of the classic protocol, in order of preference
    #[arg(long, value_enum, value_delimiter = ',')]
    assignors: Vec<Named>,
    /// Of the consumer protocol
    #[arg(long)]
    server_assignor: Option<String>,
    /// Members that died come back under the same name
    #[arg(long = "static")]
    is_static: bool,
    /// Topics and groups have names that begin so
    #[arg(long, default_value = "etl")]
    name: String,
    /// Of what happens to the members
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Clone, Copy, ValueEnum)]
enum Spoken {
    Auto,
    Classic,
    Consumer,
}

#[derive(Clone, Copy, ValueEnum)]
#[value(rename_all = "kebab-case")]
enum Named {
    Range,
    #[value(name = "roundrobin")]
    RoundRobin,
    Sticky,
    CooperativeSticky,
}

#[tokio::main]
async fn main() -> ExitCode {
    let options = Options::parse();
    let assignors = options.assignors.iter().map(|named| match named {
        Named::Range => Assignor::Range,
        Named::RoundRobin => Assignor::RoundRobin,
        Named::Sticky => Assignor::Sticky,
        Named::CooperativeSticky => Assignor::CooperativeSticky,
    });
    let membership = Membership {
        protocol: match options.protocol {
            Spoken::Auto => GroupProtocol::Auto,
            Spoken::Classic => GroupProtocol::Classic,
            Spoken::Consumer => GroupProtocol::Consumer,
        },
        assignors: assignors.collect(),
        server_assignor: options.server_assignor,
        is_static: options.is_static,
    };
    let what = format!("{membership}, {} records", options.records);
    let plan = Plan {
        bootstrap: options.bootstrap,
        name: options.name,
        records: options.records,
        keys: options.keys,
        filled_in: Duration::from_secs(options.seconds),
        membership,
        peace: Duration::from_millis(500)..Duration::from_millis(3000),
        patience: Duration::from_secs(120),
        seed: options.seed,
    };
    match pipeline::run(plan).await {
        Ok(report) => {
            println!("{what}: {report}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("failed: {what}: {error}");
            ExitCode::FAILURE
        }
    }
}
