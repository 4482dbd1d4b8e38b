use copart_audit::output::Output;
use copart_audit::skew::{SkewOptions, skew};
use copart_audit::{Client, Error};

use crate::args::{CountArgs, KeyArgs, WeightArgs};
use crate::commands::print;
use crate::exit::Exit;

/// How evenly are these keys spread, and which are hot?
///
/// Reads all keys, places each with one client, and measures what is on each partition, in distinct
/// keys and in records: the busiest over the mean, the variation, partitions without anything, and
/// whether chance would explain it (χ²). Names the keys of most records, and says how much work
/// can be done in parallel beside them.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    keys: KeyArgs,

    #[command(flatten)]
    weight: WeightArgs,

    #[command(flatten)]
    counts: CountArgs,

    /// Who places the keys: a client, client/partitioner, or a profile of your own
    #[arg(long, value_name = "CLIENT", default_value = "java")]
    client: String,

    /// Exit with 1 when the busiest partition has more than so many times the mean of the records
    #[arg(long, value_name = "RATIO", value_parser = ratio)]
    max_skew: Option<f64>,

    /// How many heavy keys to show, at most 100
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u8).range(0..=100))]
    show: u8,

    /// Form of the report: table, json, jsonl, csv, markdown, junit, sarif, github or html
    #[arg(short, long, value_name = "FORM", default_value_t = Output::Table)]
    output: Output,
}

const EXAMPLES: &str = "\
Examples:
  copart skew keys.txt -p 12
  copart skew keys.txt -p 12,24,48 --client librdkafka --max-skew 1.5
  copart skew counts.csv --field key --count-field records -p 12
  copart skew keys.txt -p 12 --output html >skew.html
  copart skew keys.txt --bootstrap HOST:9092 --topic orders";

fn ratio(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|ratio: &f64| ratio.is_finite() && *ratio >= 1.0)
        .ok_or_else(|| "it is a number of at least 1: the busiest is never below the mean".into())
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let options = SkewOptions {
        client: Client::parse(&args.client)?,
        counts: args.counts.counts()?,
        max_skew: args.max_skew,
        show: args.show.into(),
        exact_keys: args.weight.exact_keys,
    };
    let source = args.keys.open_counted(args.weight.count_field.as_deref())?;
    let report = args.keys.run(&source, |run| skew(&source, &options, run))?;
    print(args.output, &report, report.partial)?;
    Ok(Exit::of(report.exit_code()))
}
