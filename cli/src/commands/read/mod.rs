mod by_registry;
pub(super) mod format;
pub(super) mod print;

use std::io::{self, BufWriter};

use copart::{Client, End, Isolation, Properties, Reader, TopicPartition};
use copart_audit::Error;

use crate::cluster::ClusterArgs;
use crate::exit::Exit;
use crate::progress;
use crate::start::From;
use format::{Decoder, FormatArgs};
use print::Printer;

/// Print the records of a topic
///
/// The topic is read without a group, and nothing is written or committed. Reading ends with the
/// records that are there when it begins, unless --follow is given.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// Topic to read
    #[arg(value_name = "TOPIC")]
    topic: String,

    /// Where to begin: earliest, latest, an offset, a time, or a duration back from now
    ///
    /// A time is 2026-11-30, 2026-11-30T06:00:00Z or @ and milliseconds since 1970; a duration is a
    /// minus sign, a number and a unit: -90s, -15m, -6h, -2d.
    #[arg(
        long,
        value_name = "WHERE",
        default_value = "earliest",
        allow_hyphen_values = true
    )]
    start: From,

    /// Only these partitions
    #[arg(short, long, value_name = "N,…", value_delimiter = ',')]
    partitions: Vec<i32>,

    /// Stop after so many records
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,

    /// Go on with what is written from now on
    #[arg(short, long)]
    follow: bool,

    /// Which records of transactions to read [default: isolation.level of the properties file, else
    /// read_committed]
    #[arg(long, value_enum, value_name = "LEVEL")]
    isolation: Option<IsolationArg>,

    /// How to print: text (see --format), jsonl (an object a line; json is the same), or hex
    /// (partition, offset, timestamp, key and value with tabs between; - for null)
    #[arg(short, long, value_name = "FORM", default_value = "text")]
    output: print::Form,

    /// Text for each record, as kcat has it
    ///
    /// %t topic, %p partition, %o offset, %T timestamp in milliseconds, %k key, %K its length (-1
    /// for null), %s value, %S its length, %R its length in four bytes, %h headers, %% a percent
    /// sign; \n \r \t \\ \0 and \xHH.
    #[arg(long, value_name = "FORMAT", default_value = "%s\\n")]
    format: String,

    /// Text that stands for a null key or value
    #[arg(long, value_name = "TEXT", default_value = "")]
    null_marker: String,

    #[command(flatten)]
    formats: FormatArgs,

    #[command(flatten)]
    cluster: ClusterArgs,
}

#[derive(Clone, Copy, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
pub(super) enum IsolationArg {
    /// Without those of aborted and open transactions
    ReadCommitted,
    /// All
    ReadUncommitted,
}

impl std::convert::From<IsolationArg> for Isolation {
    fn from(level: IsolationArg) -> Self {
        match level {
            IsolationArg::ReadCommitted => Self::ReadCommitted,
            IsolationArg::ReadUncommitted => Self::ReadUncommitted,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  copart read orders --bootstrap HOST:9092
  copart read orders --start -15m --follow --format '%p:%o %k=%s\\n' --properties client.properties
  copart read orders --value-format avro --registry http://HOST:8081 --bootstrap HOST:9092
  copart read orders --output jsonl --count 1000 --bootstrap HOST:9092 | copart infer --input - --format jsonl -p 12";

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let printer =
        Printer::new(args.output, &args.format, &args.null_marker).map_err(Error::usage)?;
    let decoder = args.formats.decoder()?;
    let properties = args.cluster.properties()?;
    args.cluster.run(async |client| {
        let reader = open(&client, args, properties.as_ref()).await?;
        print(reader, args, printer, decoder).await
    })
}

async fn open(
    client: &Client,
    args: &Args,
    properties: Option<&Properties>,
) -> copart::Result<Reader> {
    let mut builder = client.reader().metadata_timeout(args.cluster.timeout());
    if let Some(properties) = properties {
        builder = properties.configure_reader(builder);
    }
    builder = match args.partitions.as_slice() {
        [] => builder.topic(args.topic.as_str()),
        some => builder.partitions(
            some.iter()
                .map(|&partition| TopicPartition::new(args.topic.as_str(), partition)),
        ),
    };
    builder = builder.start(args.start.0);
    if let Some(isolation) = args.isolation {
        builder = builder.isolation(isolation.into());
    }
    if !args.follow {
        builder = builder.until(End::Latest);
    }
    builder.build().await
}

async fn print(
    mut reader: Reader,
    args: &Args,
    printer: Printer,
    mut decoder: Decoder,
) -> Result<Exit, Error> {
    let mut out = BufWriter::with_capacity(64 << 10, io::stdout().lock());
    let mut left = args.count.unwrap_or(u64::MAX);
    let stop = progress::stopped();
    tokio::pin!(stop);
    while left > 0 {
        let batch = tokio::select! {
            batch = reader.recv() => batch,
            // The end of following, but not of a topic that was to be read to its end.
            () = &mut stop => {
                return Ok(if args.follow { Exit::AGREE } else { Exit::INTERRUPTED });
            }
        };
        let Some(batch) = batch else { break };
        for record in batch?.records() {
            if left == 0 {
                break;
            }
            let shown = decoder.read(&record).await?;
            printer.print(&record, &shown, &mut out)?;
            left -= 1;
        }
        // Whoever reads at the other end sees records as they come.
        io::Write::flush(&mut out)?;
    }
    Ok(Exit::AGREE)
}
