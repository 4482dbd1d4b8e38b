use copart_audit::Error;
use copart_audit::output::Output;
use copart_audit::size::platforms::{LIMITS, of_platform};
use copart_audit::size::units::{Rate, parse_bytes, parse_growth, parse_seconds, parse_share};
use copart_audit::size::{SizeOptions, size};

use crate::commands::print;
use crate::exit::Exit;

/// How many partitions does a topic need, and what does changing that later cost?
///
/// Computes the least number of partitions by what producers, consumers and the heaviest key ask
/// for, and numbers near it that may be better. Rates are in bytes (100MB/s) or in records (50k/s);
/// measure those of a partition with your own records and brokers. Exits with 1 when no number of
/// partitions is enough, which only a hot key can cause.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// What the topic has to take at its peak, in a second
    #[arg(long, value_name = "RATE")]
    throughput: Rate,

    /// What one partition takes from producers
    #[arg(long, visible_alias = "per-partition-in", value_name = "RATE")]
    produce_per_partition: Option<Rate>,

    /// What one consumer reads and processes from one partition
    #[arg(long, visible_alias = "per-partition-out", value_name = "RATE")]
    consume_per_partition: Option<Rate>,

    /// The time that a consumer takes for a record, if it takes one after the other: 5ms, 200us
    #[arg(long, value_name = "TIME", value_parser = parse_seconds)]
    latency: Option<f64>,

    /// Consumers of the largest group that are to have work
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    consumers: Option<u32>,

    /// The share of the records that the heaviest key has; `copart skew` finds it
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    hot_key: Option<f64>,

    /// Times the throughput that it is to grow to before the count changes again: 2, or 50%
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = parse_growth)]
    growth: f64,

    /// The share of a partition's rates that is kept free, for peaks and for catching up
    #[arg(long, value_name = "SHARE", default_value = "20%", value_parser = parse_share)]
    headroom: f64,

    /// Bytes of a record, where some rates are in bytes and some in records
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    record_size: Option<f64>,

    /// Replicas of each partition
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    replication: u32,

    /// Brokers of the cluster
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    brokers: Option<u32>,

    /// The partition count that the topic has now
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    current: Option<u32>,

    /// Compare with the limits of this platform alone: apache-kafka, msk, event-hubs, or none
    #[arg(long, value_name = "PLATFORM")]
    platform: Option<String>,

    /// Form of the report: table, json, csv or markdown
    #[arg(short, long, value_name = "FORM", default_value = "table", value_parser = form)]
    output: Output,
}

const EXAMPLES: &str = "\
Examples:
  copart size --throughput 100MB/s --produce-per-partition 10MB/s --consume-per-partition 20MB/s
  copart size --throughput 20k/s --latency 5ms --hot-key 2% --growth 2 --brokers 6 --current 64";

fn form(text: &str) -> Result<Output, String> {
    text.parse()
        .ok()
        .filter(|form| Output::OF_SIZE.contains(form))
        .ok_or_else(|| {
            let names: Vec<_> = Output::OF_SIZE.iter().map(ToString::to_string).collect();
            format!("a sizing has the forms {}", names.join(", "))
        })
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let report = size(&SizeOptions {
        throughput: args.throughput,
        growth: args.growth,
        headroom: args.headroom,
        record_bytes: args.record_size,
        produce: args.produce_per_partition,
        consume: args.consume_per_partition,
        latency: args.latency,
        consumers: args.consumers,
        hot_key: args.hot_key,
        replication: args.replication,
        brokers: args.brokers,
        current: args.current,
        limits: match args.platform.as_deref() {
            None => LIMITS.to_vec(),
            Some("none") => Vec::new(),
            Some(name) => of_platform(name)?,
        },
    })?;
    print(args.output, &report, false)?;
    Ok(Exit::of(report.exit_code()))
}
