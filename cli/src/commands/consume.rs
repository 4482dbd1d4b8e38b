use std::io::{self, BufWriter, Write};
use std::time::Duration;

use copart::{Client, Commit, Consumer, OffsetReset};
use copart_audit::Error;

use super::read::IsolationArg;
use super::read::format::{Decoder, FormatArgs};
use super::read::print::{Form, Printer};
use crate::cluster::ClusterArgs;
use crate::exit::Exit;
use crate::progress;

/// Print the records of topics as a member of a group
///
/// What was printed is committed: the group goes on behind it. Of the properties file, where the cluster
/// is and how to get in counts.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// Topics to read
    #[arg(value_name = "TOPIC", required = true)]
    topics: Vec<String>,

    /// The group
    #[arg(short, long, value_name = "GROUP")]
    group: String,

    /// Where to begin if the group has committed nothing
    #[arg(long, value_enum, value_name = "WHERE", default_value = "earliest")]
    start: Beginning,

    /// Stop after so many records
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,

    /// Which records of transactions to read
    #[arg(
        long,
        value_enum,
        value_name = "LEVEL",
        default_value = "read_committed"
    )]
    isolation: IsolationArg,

    /// How to print: text (see --format), jsonl (an object a line; json is the same), or hex
    /// (partition, offset, timestamp, key and value with tabs between; - for null)
    #[arg(short, long, value_name = "FORM", default_value = "text")]
    output: Form,

    /// Text for each record, as kcat has it: see `copart read --help`
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
enum Beginning {
    /// With the oldest records
    Earliest,
    /// With what is written from now on
    Latest,
}

const EXAMPLES: &str = "\
Examples:
  copart consume orders --group look --bootstrap HOST:9092
  copart consume orders --group look --count 10 --output jsonl --bootstrap HOST:9092";

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let printer =
        Printer::new(args.output, &args.format, &args.null_marker).map_err(Error::usage)?;
    let mut decoder = args.formats.decoder()?;
    args.cluster.run(async |client| {
        let mut consumer = open(&client, args)?;
        let printed = print(&mut consumer, args, &printer, &mut decoder).await;
        // What was printed is committed also when a later record could not be.
        let closed = consumer.close(args.cluster.timeout()).await;
        printed?;
        closed?;
        Ok(Exit::AGREE)
    })
}

fn open(client: &Client, args: &Args) -> copart::Result<Consumer> {
    client
        .consumer(args.group.as_str())
        .topics(args.topics.iter().map(String::as_str))
        .offset_reset(match args.start {
            Beginning::Earliest => OffsetReset::Earliest,
            Beginning::Latest => OffsetReset::Latest,
        })
        .isolation(args.isolation.into())
        .api_timeout(args.cluster.timeout())
        .commit(Commit::Processed {
            every: Duration::from_secs(1),
        })
        .build()
}

async fn print(
    consumer: &mut Consumer,
    args: &Args,
    printer: &Printer,
    decoder: &mut Decoder,
) -> Result<(), Error> {
    let mut out = BufWriter::with_capacity(64 << 10, io::stdout().lock());
    let mut left = args.count.unwrap_or(u64::MAX);
    let stop = progress::stopped();
    tokio::pin!(stop);
    while left > 0 {
        let batch = tokio::select! {
            batch = consumer.recv() => batch,
            () = &mut stop => return Ok(()),
        };
        let Some(batch) = batch else { break };
        let batch = batch?;
        let mut next = None;
        for record in batch.records() {
            if left == 0 {
                next = Some(record.offset());
                break;
            }
            let shown = match decoder.read(&record).await {
                Ok(shown) => shown,
                Err(error) => {
                    out.flush()?;
                    batch.done_to(record.offset());
                    return Err(error);
                }
            };
            printer.print(&record, &shown, &mut out)?;
            left -= 1;
        }
        // Nothing counts as processed before whoever reads at the other end can have it.
        out.flush()?;
        match next {
            Some(offset) => batch.done_to(offset),
            None => batch.done(),
        }
    }
    Ok(())
}
