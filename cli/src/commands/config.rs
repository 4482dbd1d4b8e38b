use std::io::{self, BufWriter, Write};

use clap::ValueEnum;
use copart_audit::{Client, Error, by_hand, setting};
use serde_json::json;

use crate::exit::Exit;

/// The setting that makes one client place keys as another does.
///
/// Exits with 0 when a setting makes keys with bytes agree; what differs for empty or null keys is
/// said. Exits with 1 when the client has no such setting.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The client to configure
    #[arg(long, value_name = "CLIENT")]
    from: String,

    /// The client whose placement is wanted
    #[arg(long, value_name = "CLIENT")]
    to: String,

    /// Form of the answer
    #[arg(short, long, value_enum, value_name = "FORM", default_value = "text")]
    output: Form,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    Text,
    Json,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let library = library(&args.from)?;
    let to = Client::parse(&args.to)?;
    let setting = setting(library, to.profile());
    let by_hand = setting.is_none().then(|| by_hand(to.profile()));
    let mut out = BufWriter::new(io::stdout().lock());
    if args.output == Form::Json {
        let answer = json!({
            "schema": "copart.config/1",
            "from": library,
            "to": to.name(),
            "setting": setting,
            "by_hand": by_hand,
        });
        serde_json::to_writer_pretty(&mut out, &answer).map_err(io::Error::from)?;
        writeln!(out)?;
    } else if let Some(setting) = &setting {
        writeln!(out, "{}", setting.config)?;
        writeln!(
            out,
            "\n{library} then places keys as {} ({}).",
            to.name(),
            setting.id
        )?;
        writeln!(out, "Releases that have it: {}.", setting.versions)?;
        for difference in &setting.differences {
            writeln!(out, "Still different: {difference}.")?;
        }
        if !setting.note.is_empty() {
            writeln!(out, "{}", setting.note)?;
        }
    } else if let Some(by_hand) = &by_hand {
        writeln!(
            out,
            "{library} has no setting that places keys as {}: {by_hand}.",
            to.name()
        )?;
    }
    out.flush()?;
    Ok(if setting.is_some() {
        Exit::AGREE
    } else {
        Exit::DISAGREE
    })
}

/// The library that a client's name belongs to; a partitioner named with it does not matter here.
fn library(name: &str) -> Result<&'static str, Error> {
    let base = name.split(['/', '@']).next().unwrap_or(name);
    let known = copart_partitioners::catalogue::entries().find(|entry| entry.client() == base);
    match known {
        Some(entry) => Ok(entry.client()),
        // A binding of librdkafka, or an error that says what there is.
        None => Client::parse(name)?
            .entry()
            .map(|entry| entry.client())
            .ok_or_else(|| Error::usage("--from names a client, not a profile of your own")),
    }
}
