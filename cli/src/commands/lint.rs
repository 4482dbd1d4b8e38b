use copart_audit::Error;
use copart_audit::lint::{LintOptions, LintRule, lint};
use copart_audit::output::Output;

use super::print;
use crate::args::KeyArgs;
use crate::exit::Exit;

/// Find keys that are not what they seem.
///
/// Every byte of a key is hashed, the line feed at its end too. Reads all keys and reports
/// trailing line ends, NULs and white space, byte order marks, quotes, upper-case UUIDs, leading
/// zeros, decomposed characters, U+FFFD, printed Connect structs, schema ids, 4- and 8-byte keys
/// side by side, keys in two spellings, and characters of several bytes. Counts are exact; two
/// spellings are looked for on a sample once there are more than 65,536 keys.
///
/// Exits with 0 when there is neither an error nor a warning (notes are fine), with 1 when there
/// is, with 4 when there is no key.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    keys: KeyArgs,

    /// Rules not to look at, separated by commas
    #[arg(long, value_name = "RULE,…", value_delimiter = ',', value_parser = rule)]
    allow: Vec<LintRule>,

    /// How many keys to show for each rule, at most 100
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(0..=100))]
    show: u8,

    /// Form of the report: table, json, jsonl, csv, markdown, junit, sarif, github or html
    #[arg(short, long, value_name = "FORM", default_value_t = Output::Table)]
    output: Output,
}

const EXAMPLES: &str = "\
Examples:
  copart lint keys.txt
  copart lint users.csv --field user_id --output github
  kcat -b HOST -C -t orders -e -J | copart lint - --format jsonl --allow non-ascii,quoted";

fn rule(text: &str) -> Result<LintRule, String> {
    let mut rules = LintRule::ALL.iter();
    rules
        .find(|rule| rule.id() == text)
        .copied()
        .ok_or_else(|| {
            let ids: Vec<_> = LintRule::ALL.iter().map(|rule| rule.id()).collect();
            format!("`{text}` is no rule; there are {}", ids.join(", "))
        })
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let options = LintOptions {
        allow: args.allow.clone(),
        show: args.show.into(),
    };
    let source = args.keys.open()?;
    let report = args.keys.run(&source, |run| lint(&source, &options, run))?;
    print(args.output, &report, report.partial)?;
    Ok(Exit::of(report.exit_code()))
}
