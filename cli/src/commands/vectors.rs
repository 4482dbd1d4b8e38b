use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Subcommand, ValueEnum};
use comfy_table::{Table, presets};
use copart_audit::Error;
use copart_audit::check::{Contract, Framework, unit_tests};
use copart_audit::vectors::VectorSet;
use serde_json::json;

use crate::exit::Exit;

/// The golden vectors: partitions computed by the real clients.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the profiles that have vectors, and the client and release that made them
    List {
        /// Form of the listing
        #[arg(short, long, value_enum, value_name = "FORM", default_value = "table")]
        output: Form,
    },
    /// Place every key of every vector again and compare: does this copart do what the clients did?
    Verify {
        /// A folder of vectors in place of the built-in ones
        #[arg(long, value_name = "FOLDER")]
        from: Option<PathBuf>,
        /// Form of the report
        #[arg(short, long, value_enum, value_name = "FORM", default_value = "table")]
        output: Form,
    },
    /// Write the built-in vectors into a new folder, with their schema and README; or, with --for, a
    /// unit test with the keys of a partition contract
    Export(ExportArgs),
}

#[derive(clap::Args)]
struct ExportArgs {
    /// The new folder; with --for, the test's file [default with --for: standard output]
    #[arg(value_name = "TO", required_unless_present = "framework")]
    to: Option<PathBuf>,

    /// Write a unit test that calls the client's own partitioner: rspec, junit, pytest, go, jest or
    /// rust
    #[arg(long = "for", value_name = "FRAMEWORK", value_parser = str::parse::<Framework>)]
    framework: Option<Framework>,

    /// With --for: the contract that has the keys
    #[arg(
        long,
        value_name = "CONTRACT",
        default_value = "copart.toml",
        requires = "framework"
    )]
    contract: PathBuf,

    /// With --for: the topic, if not all
    #[arg(
        long,
        value_name = "TOPIC",
        value_delimiter = ',',
        requires = "framework"
    )]
    topic: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    Table,
    Json,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let mut out = BufWriter::new(io::stdout().lock());
    let exit = match &args.command {
        Command::List { output } => list(*output, &mut out)?,
        Command::Verify { from, output } => {
            let set = match from {
                Some(folder) => VectorSet::folder(folder)?,
                None => VectorSet::built_in()?,
            };
            verify(&set, *output, &mut out)?
        }
        Command::Export(args) => export(args, &mut out)?,
    };
    out.flush()?;
    Ok(exit)
}

fn export(args: &ExportArgs, out: &mut dyn Write) -> Result<Exit, Error> {
    let Some(framework) = args.framework else {
        let folder = args.to.as_deref().unwrap_or(Path::new("."));
        let files = VectorSet::built_in()?.export(folder)?;
        writeln!(out, "{files} files in {}", folder.display())?;
        return Ok(Exit::AGREE);
    };
    let mut contract = Contract::read(&args.contract)?;
    if !args.topic.is_empty() {
        contract.keep_topics(&args.topic)?;
    }
    let text = unit_tests(&contract, framework)?;
    match &args.to {
        None => out.write_all(text.as_bytes())?,
        Some(path) => {
            let named = |e: io::Error| io::Error::new(e.kind(), format!("{}: {e}", path.display()));
            fs::write(path, text).map_err(named)?;
            writeln!(out, "{}", path.display())?;
        }
    }
    Ok(Exit::AGREE)
}

fn list(output: Form, out: &mut dyn Write) -> Result<Exit, Error> {
    let set = VectorSet::built_in()?;
    if output == Form::Json {
        let list = json!({
            "schema": "copart.vectors/1",
            "version": set.version(),
            "files": set.files(),
        });
        serde_json::to_writer_pretty(&mut *out, &list).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(Exit::AGREE);
    }
    let mut table = plain_table(["profile", "client", "release", "partitioner", "keys"]);
    for file in set.files() {
        table.add_row([
            &file.profile,
            &file.client,
            &file.version,
            &file.partitioner,
            &file.rows.to_string(),
        ]);
    }
    table
        .lines()
        .try_for_each(|line| writeln!(out, "{}", line.trim_end()))?;
    writeln!(out, "\nversion {} of the vectors", set.version())?;
    Ok(Exit::AGREE)
}

fn verify(set: &VectorSet, output: Form, out: &mut dyn Write) -> Result<Exit, Error> {
    let checked = set.check()?;
    let placements: u64 = checked.iter().map(|profile| profile.placements).sum();
    let different: u64 = checked.iter().map(|profile| profile.different).sum();
    let exit = match (different, placements) {
        (0, 0) => Exit::INCONCLUSIVE,
        (0, _) => Exit::AGREE,
        _ => Exit::DISAGREE,
    };
    if output == Form::Json {
        let report = json!({
            "schema": "copart.vectors-verify/1",
            "version": set.version(),
            "placements": placements,
            "different": different,
            "profiles": checked,
        });
        serde_json::to_writer_pretty(&mut *out, &report).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(exit);
    }
    let mut table = plain_table(["profile", "placements", "different"]);
    for profile in &checked {
        table.add_row([
            &profile.profile,
            &profile.placements.to_string(),
            &profile.different.to_string(),
        ]);
    }
    table
        .lines()
        .try_for_each(|line| writeln!(out, "{}", line.trim_end()))?;
    for profile in &checked {
        for difference in &profile.differences {
            writeln!(out, "{}: {difference}", profile.profile)?;
        }
    }
    writeln!(
        out,
        "\n{} profiles, {placements} placements compared, {different} different",
        checked.len()
    )?;
    Ok(exit)
}

fn plain_table<const N: usize>(heads: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(heads);
    table
}
