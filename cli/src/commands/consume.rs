use std::io::{self, BufWriter, Write};
use std::time::Duration;

use copart::{Client, Commit, Consumer, GroupProtocol, OffsetReset, Properties};
use copart_audit::Error;

use super::read::IsolationArg;
use super::read::format::{Decoder, FormatArgs};
use super::read::print::{Form, Printer};
use crate::cluster::ClusterArgs;
use crate::exit::Exit;
use crate::progress;

/// Print the records of topics as a member of a group
///
/// What was printed is committed: the group goes on behind it. The keys of consumers in the properties
/// file count too, such as group.id, group.instance.id and fetch.min.bytes; options go before them. With
/// enable.auto.commit=false nothing is committed.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// Topics to read
    #[arg(value_name = "TOPIC", required = true)]
    topics: Vec<String>,

    /// The group [default: group.id of the properties file]
    #[arg(short, long, value_name = "GROUP")]
    group: Option<String>,

    /// Which of Kafka's protocols for groups to speak [default: group.protocol of the properties file,
    /// else auto]
    #[arg(long, value_enum, value_name = "PROTOCOL")]
    protocol: Option<ProtocolArg>,

    /// Where to begin if the group has committed nothing [default: auto.offset.reset of the properties
    /// file, else earliest]
    #[arg(long, value_enum, value_name = "WHERE")]
    start: Option<Beginning>,

    /// Stop after so many records
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,

    /// Which records of transactions to read [default: isolation.level of the properties file, else
    /// read_committed]
    #[arg(long, value_enum, value_name = "LEVEL")]
    isolation: Option<IsolationArg>,

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

#[derive(Clone, Copy, clap::ValueEnum)]
enum ProtocolArg {
    /// consumer where the broker has it (from Kafka 4.0 on), else classic
    Auto,
    /// JoinGroup and SyncGroup: one of the members assigns
    Classic,
    /// ConsumerGroupHeartbeat: the broker assigns (KIP-848)
    Consumer,
}

impl From<ProtocolArg> for GroupProtocol {
    fn from(protocol: ProtocolArg) -> Self {
        match protocol {
            ProtocolArg::Auto => Self::Auto,
            ProtocolArg::Classic => Self::Classic,
            ProtocolArg::Consumer => Self::Consumer,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  copart consume orders --group look --bootstrap HOST:9092
  copart consume orders --group look --count 10 --output jsonl --bootstrap HOST:9092
  copart consume orders --properties consumer.properties --protocol classic";

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let printer =
        Printer::new(args.output, &args.format, &args.null_marker).map_err(Error::usage)?;
    let mut decoder = args.formats.decoder()?;
    let properties = args.cluster.properties()?;
    let named = properties.as_ref().and_then(Properties::group);
    let Some(group) = args.group.as_deref().or(named) else {
        return Err(Error::usage(
            "which group? --group GROUP, or group.id in the properties file",
        ));
    };
    args.cluster.run(async |client| {
        let mut consumer = open(&client, args, group, properties.as_ref())?;
        let printed = print(&mut consumer, args, &printer, &mut decoder).await;
        // What was printed is committed also when a later record could not be.
        let closed = consumer.close(args.cluster.timeout()).await;
        printed?;
        closed?;
        Ok(Exit::AGREE)
    })
}

fn open(
    client: &Client,
    args: &Args,
    group: &str,
    properties: Option<&Properties>,
) -> copart::Result<Consumer> {
    let mut builder = client
        .consumer(group)
        .topics(args.topics.iter().map(String::as_str))
        .api_timeout(args.cluster.timeout())
        .commit(Commit::Processed {
            every: Duration::from_secs(1),
        });
    if let Some(properties) = properties {
        builder = properties.configure_consumer(builder);
    }
    if args.cluster.has_timeout() {
        builder = builder.api_timeout(args.cluster.timeout());
    }
    if let Some(protocol) = args.protocol {
        builder = builder.protocol(protocol.into());
    }
    if let Some(start) = args.start {
        builder = builder.offset_reset(match start {
            Beginning::Earliest => OffsetReset::Earliest,
            Beginning::Latest => OffsetReset::Latest,
        });
    }
    if let Some(isolation) = args.isolation {
        builder = builder.isolation(isolation.into());
    }
    builder.build()
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
