use std::path::PathBuf;

use copart_audit::infer::{InferOptions, infer};
use copart_audit::output::Output;
use copart_audit::{Client, Error};
use copart_partitioners::PartitionCount;

use super::{form, print};
use crate::args::partition_count;
use crate::exit::Exit;
use crate::records::RecordArgs;

/// Which client's partitioner wrote these records?
///
/// Reads records with their partitions from what kcat, kafka-console-consumer or an export
/// printed, and compares them with every partitioner of the catalogue, on every plausible form of
/// the key and modulo every count up to the topic's. Says whether one rule placed all keys, several
/// did (each one's share, and since which offset and time), a producer divides by a stale count, or
/// keys do not decide at all; and which keys are on more than one partition.
///
/// Exits with 0 when one rule (or none, for keys that are ignored) placed all records, with 1 when
/// several did or a count is stale, with 4 when it can't be told: too few keys, rules that are the
/// same at this count, no known rule. With --expect: 0 when all records are where the profile puts
/// them, 1 when some are not, 4 when there are too few keys.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// File of records, or - for standard input; gzip and zstd are read as they are
    #[arg(long, value_name = "DUMP")]
    input: PathBuf,

    /// Partition count of the topic [default: a count that fits the records]
    #[arg(short, long, value_name = "N", value_parser = partition_count)]
    partitions: Option<PartitionCount>,

    /// The profile that all records are to be placed by; makes the exit code a gate
    #[arg(long, value_name = "CLIENT")]
    expect: Option<String>,

    /// How many keys to list where keys are listed, at most 1000
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(0..=1000))]
    show: u16,

    /// Form of the report: table, json, jsonl, csv, markdown, junit, sarif or github
    #[arg(short, long, value_name = "FORM", default_value_t = Output::Table, value_parser = form)]
    output: Output,

    #[command(flatten)]
    records: RecordArgs,
}

const EXAMPLES: &str = "\
Examples:
  kcat -b HOST -C -t orders -e -o -5000 -f '%p %o %T %K %k\\n' >orders.kcat
  copart infer --input orders.kcat --kcat-format '%p %o %T %K %k\\n' -p 12
  kcat -b HOST -C -t orders -e -J | copart infer --input - --format jsonl -p 12 --expect java
  copart infer --input orders.csv --output markdown";

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let options = InferOptions {
        partitions: args.partitions,
        expect: args.expect.as_deref().map(Client::parse).transpose()?,
        show: args.show.into(),
    };
    let mut dump = args.records.open(&args.input)?;
    let report = args.records.run(&mut [&mut dump], |dumps, run| {
        infer(dumps[0], &options, run)
    })?;
    print(args.output, &report, report.partial)?;
    Ok(Exit::of(report.exit_code()))
}
