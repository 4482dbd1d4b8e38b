use std::path::PathBuf;

use copart_audit::Error;
use copart_audit::copartition::{CopartitionOptions, copartition};
use copart_audit::output::Output;
use copart_partitioners::PartitionCount;

use super::print;
use crate::args::partition_count;
use crate::exit::Exit;
use crate::records::RecordArgs;

/// May these two topics be joined by key?
///
/// Reads records of both, each with its partition, and checks what a stream processor takes for
/// granted: that the partition counts are equal, that one rule placed the keys of both, that keys
/// are the same bytes, and that keys which both have are on the same partitions. Says what Kafka
/// Streams and ksqlDB would do.
///
/// Exits with 0 when they may be joined, with 1 when they may not, with 4 when it can't be told.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// Records of one topic: a file, or - for standard input
    #[arg(value_name = "A")]
    a: PathBuf,

    /// Records of the other
    #[arg(value_name = "B")]
    b: PathBuf,

    /// Partition counts of both topics, or two separated by a comma [default: counts that fit the
    /// records]
    #[arg(short, long, value_name = "N[,N]", value_delimiter = ',', num_args = 1..=2, value_parser = partition_count)]
    partitions: Vec<PartitionCount>,

    /// How many keys to list where keys are listed, at most 1000
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(0..=1000))]
    show: u16,

    /// Form of the report: table, json, jsonl, csv, markdown, junit, sarif, github or html
    #[arg(short, long, value_name = "FORM", default_value_t = Output::Table)]
    output: Output,

    #[command(flatten)]
    records: RecordArgs,
}

const EXAMPLES: &str = "\
Examples:
  kcat -b HOST -C -t orders -e -J >orders.jsonl
  kcat -b HOST -C -t users -e -J >users.jsonl
  copart copartition orders.jsonl users.jsonl -p 12,12";

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    if args.a == args.b && args.a.as_os_str() == "-" {
        return Err(Error::usage("standard input can be one of the topics only"));
    }
    let partitions = match args.partitions.as_slice() {
        [] => [None, None],
        [both] => [Some(*both), Some(*both)],
        [a, b] => [Some(*a), Some(*b)],
        _ => return Err(Error::usage("-p takes one count for both topics, or two")),
    };
    let options = CopartitionOptions {
        partitions,
        show: args.show.into(),
    };
    let mut a = args.records.open(&args.a)?;
    let mut b = args.records.open(&args.b)?;
    let report = args.records.run(&mut [&mut a, &mut b], |dumps, run| {
        let [a, b] = dumps else {
            return Err(Error::usage("there are two topics"));
        };
        copartition([&mut **a, &mut **b], &options, run)
    })?;
    print(args.output, &report, report.partial)?;
    Ok(Exit::of(report.exit_code()))
}
