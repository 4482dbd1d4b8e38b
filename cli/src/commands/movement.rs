use copart_audit::Error;
use copart_audit::movement::{Endpoint, MovementOptions, movement};
use copart_audit::output::Output;
use copart_audit::verify::UnpinnedPolicy;

use crate::args::{KeyArgs, WeightArgs, unpinned_policy};
use crate::cluster::{ClusterArgs, needs_topic};
use crate::commands::print;
use crate::exit::Exit;

/// What moves when the partition count or the algorithm changes?
///
/// Reads all keys, places each before and after, and counts what stays and what moves, in distinct
/// keys and in records: from which partition to which, which keys, and the share that arithmetic
/// expects. Both the client and the count may change at once; then it also says what each change
/// moves by itself. A key that only one side pins moves; one that neither pins is reported apart.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    keys: KeyArgs,

    #[command(flatten)]
    weight: WeightArgs,

    /// Before: a client and its partition count, as in java:8; without a count, that of --topic
    #[arg(long, value_name = "CLIENT[:N]")]
    from: String,

    /// After: a client and its partition count; the count alone keeps the client, and the client
    /// alone takes the count of --topic
    #[arg(long, value_name = "[CLIENT:]N")]
    to: String,

    /// Topic whose partition count is taken from the cluster, where --from or --to has none
    #[arg(long, value_name = "TOPIC", help_heading = "Cluster")]
    topic: Option<String>,

    #[command(flatten)]
    cluster: ClusterArgs,

    /// Exit with 1 when more than so many percent of the distinct keys move
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    max_moved: Option<f64>,

    /// What keys count as that neither side pins: report (neither staying nor moving), fail (they
    /// move), or skip (not shown)
    #[arg(long, value_name = "POLICY", default_value = "report", value_parser = unpinned_policy)]
    unpinned: UnpinnedPolicy,

    /// How many moved keys and heavy keys to show, at most 100
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u8).range(0..=100))]
    show: u8,

    /// Form of the report: table, json, jsonl, csv, markdown, junit, sarif, github or html
    #[arg(short, long, value_name = "FORM", default_value_t = Output::Table)]
    output: Output,
}

const EXAMPLES: &str = "\
Examples:
  copart movement keys.txt --from java:8 --to 12
  copart movement keys.txt --from ruby-kafka:12 --to java:24
  copart movement counts.csv --field key --count-field records --from java:8 --to java:16
  copart movement keys.txt --from java:8 --to 16 --output html >movement.html
  copart movement keys.txt --bootstrap HOST:9092 --topic orders --from java --to 24";

fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end().parse();
    number
        .ok()
        .filter(|percent| (0.0..=100.0).contains(percent))
        .ok_or_else(|| "it is a number from 0 to 100".into())
}

/// Before and after, with the topic's count where they have none.
fn ends(args: &Args) -> Result<[String; 2], Error> {
    let ends = [&args.from, &args.to];
    needs_topic(&args.cluster, args.topic.as_deref())?;
    let Some(topic) = &args.topic else {
        return Ok(ends.map(String::clone));
    };
    if ends.iter().all(|end| Endpoint::has_count(end)) {
        return Err(Error::usage(
            "--from and --to both have a count; leave one out, as in --from java, to take it from the topic",
        ));
    }
    let count = args.cluster.partition_count(topic)?;
    Ok(ends.map(|end| match Endpoint::has_count(end) {
        true => end.clone(),
        false => format!("{end}:{count}"),
    }))
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let [from, to] = ends(args)?;
    let from = Endpoint::parse(&from, None)?;
    let options = MovementOptions {
        to: Endpoint::parse(&to, Some(&from.client))?,
        from,
        unpinned: args.unpinned,
        max_moved: args.max_moved,
        show: args.show.into(),
        exact_keys: args.weight.exact_keys,
    };
    let source = args.keys.open_counted(args.weight.count_field.as_deref())?;
    let report = args
        .keys
        .run(&source, |run| movement(&source, &options, run))?;
    print(args.output, &report, report.partial)?;
    Ok(Exit::of(report.exit_code()))
}
