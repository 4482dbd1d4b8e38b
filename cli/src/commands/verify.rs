use copart_audit::output::Output;
use copart_audit::verify::{self, UnpinnedPolicy, VerifyOptions};
use copart_audit::{Error, verify as run_verify};
use copart_partitioners::PartitionCount;

use crate::args::{ClientArgs, KeyArgs, partition_count, unpinned_policy};
use crate::commands::print;
use crate::exit::Exit;

/// Do these clients put these keys on the same partitions?
///
/// Reads all keys and compares where each client places them: how many agree, the first that do
/// not, why, and the setting that would fix it. Empty and null keys are counted apart. A key that
/// some clients pin to a partition and others spread is a disagreement; one that none pins is
/// reported and counts as neither.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    keys: KeyArgs,

    #[command(flatten)]
    clients: ClientArgs,

    /// Other counts to try besides, since sign rules agree at powers of two: counts separated by
    /// commas, or none [default: 12, 15 and 31, if not asked for]
    #[arg(long, value_name = "N,…|none")]
    probe: Option<String>,

    /// What keys count as that no client pins: report (neither agreement nor disagreement), fail,
    /// or skip (not shown)
    #[arg(long, value_name = "POLICY", default_value = "report", value_parser = unpinned_policy)]
    unpinned: UnpinnedPolicy,

    /// How many differing keys to show for each count, at most 100
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u8).range(0..=100))]
    show: u8,

    /// Form of the report: table, json, jsonl, csv, markdown, junit, sarif, github or html
    #[arg(short, long, value_name = "FORM", default_value_t = Output::Table)]
    output: Output,
}

const EXAMPLES: &str = "\
Examples:
  copart verify keys.txt -p 12
  copart verify users.csv --field user_id -p 12,30 --clients java,sarama
  zcat keys.gz | copart verify - -p 16 --clients java,platformatic
  copart verify keys.jsonl -p 12 --clients kafkajs@1.16,kafkajs@2 --output junit
  copart verify keys.txt -p 12 --output html >report.html
  copart verify keys.txt --bootstrap HOST:9092 --topic orders";

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let clients = args.clients.clients()?;
    let counts = args.clients.counts()?;
    let options = VerifyOptions {
        clients,
        probes: probes(args.probe.as_deref(), &counts)?,
        counts,
        unpinned: args.unpinned,
        show: args.show.into(),
    };
    let source = args.keys.open()?;
    let report = args
        .keys
        .run(&source, |run| run_verify(&source, &options, run))?;
    print(args.output, &report, report.partial)?;
    Ok(Exit::of(report.exit_code()))
}

fn probes(asked: Option<&str>, counts: &[PartitionCount]) -> Result<Vec<PartitionCount>, Error> {
    match asked {
        None => Ok(verify::default_probes(counts)),
        Some("none") => Ok(Vec::new()),
        Some(list) => list
            .split(',')
            .map(|n| partition_count(n).map_err(|e| Error::usage(format!("--probe {n}: {e}"))))
            .collect(),
    }
}
