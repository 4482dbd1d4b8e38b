use std::num::NonZero;
use std::path::PathBuf;

use clap::ValueEnum;
use copart_audit::infer::{InferOptions, infer, infer_from};
use copart_audit::live::{Isolation, LiveOptions, LiveTopic};
use copart_audit::output::Output;
use copart_audit::{Client, Error};
use copart_partitioners::PartitionCount;

use super::print;
use crate::args::partition_count;
use crate::cluster::{ClusterArgs, needs_topic};
use crate::exit::Exit;
use crate::records::RecordArgs;

/// Which client's partitioner wrote these records?
///
/// Reads records with their partitions from a topic, or from what kcat, kafka-console-consumer or
/// an export printed, and compares them with every partitioner of the catalogue, on every plausible form of
/// the key and modulo every count up to the topic's. Says whether one rule placed all keys, several
/// did (each one's share, and since which offset and time), a producer divides by a stale count, or
/// keys do not decide at all; and which keys are on more than one partition.
///
/// Exits with 0 when one rule (or none, for keys that are ignored) placed all records, with 1 when
/// several did or a count is stale, with 4 when it can't be told: too few keys, rules that are the
/// same at this count, no known rule. With --expect: 0 when all records are where the profile puts
/// them, 1 when some are not, 4 when there are too few keys.
///
/// A topic is read without a group, and nothing is written: a sample of its records, in windows over
/// the offsets of each partition, from the oldest to the newest.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// File of records, or - for standard input; gzip and zstd are read as they are
    #[arg(long, value_name = "DUMP", required_unless_present = "topic")]
    input: Option<PathBuf>,

    /// Topic to read, instead of a dump of it
    #[arg(long, value_name = "TOPIC", conflicts_with_all = OF_DUMPS, help_heading = "Cluster")]
    topic: Option<String>,

    #[command(flatten)]
    cluster: ClusterArgs,

    /// The most records to read from the topic, of all its partitions together
    #[arg(
        long,
        value_name = "N",
        default_value = "10000",
        requires = "topic",
        help_heading = "Cluster"
    )]
    records: NonZero<u64>,

    /// Which records of transactions to read from the topic
    #[arg(
        long,
        value_enum,
        value_name = "LEVEL",
        default_value = "read_committed",
        requires = "topic",
        help_heading = "Cluster"
    )]
    isolation: IsolationArg,

    /// Partition count of the topic [default: what the cluster says, or a count that fits the
    /// records of a dump]
    #[arg(short, long, value_name = "N", value_parser = partition_count)]
    partitions: Option<PartitionCount>,

    /// The profile that all records are to be placed by; makes the exit code a gate
    #[arg(long, value_name = "CLIENT")]
    expect: Option<String>,

    /// How many keys to list where keys are listed, at most 1000
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(0..=1000))]
    show: u16,

    /// Form of the report: table, json, jsonl, csv, markdown, junit, sarif, github or html
    #[arg(short, long, value_name = "FORM", default_value_t = Output::Table)]
    output: Output,

    #[command(flatten)]
    dump: RecordArgs,
}

/// What makes no sense for a topic: it says by itself what these are for.
const OF_DUMPS: [&str; 13] = [
    "input",
    "partitions",
    "format",
    "kcat_format",
    "field",
    "partition_field",
    "offset_field",
    "timestamp_field",
    "producer_field",
    "key_encoding",
    "null_value",
    "separator",
    "headers",
];

#[derive(Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum IsolationArg {
    /// Without those of aborted and open transactions
    ReadCommitted,
    /// All
    ReadUncommitted,
}

impl From<IsolationArg> for Isolation {
    fn from(arg: IsolationArg) -> Self {
        match arg {
            IsolationArg::ReadCommitted => Self::ReadCommitted,
            IsolationArg::ReadUncommitted => Self::ReadUncommitted,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  copart infer --bootstrap HOST:9092 --topic orders
  copart infer --bootstrap HOST:9092 --topic orders --records 100000 --expect java
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
    needs_topic(&args.cluster, args.topic.as_deref())?;
    let report = match (&args.topic, &args.input) {
        (Some(topic), _) => {
            let how = LiveOptions {
                isolation: args.isolation.into(),
                records: args.records.get(),
                timeout: args.cluster.timeout(),
            };
            let mut live = LiveTopic::open(args.cluster.client()?, topic, &how)?;
            infer_from(&mut live, &options, &args.dump.running())?
        }
        (None, Some(input)) => {
            let mut dump = args.dump.open(input)?;
            args.dump.run(&mut [&mut dump], |dumps, run| {
                infer(dumps[0], &options, run)
            })?
        }
        (None, None) => return Err(Error::usage("--input or --topic says what to read")),
    };
    print(args.output, &report, report.partial)?;
    Ok(Exit::of(report.exit_code()))
}
