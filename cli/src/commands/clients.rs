use std::io::{self, BufWriter, Write};

use clap::ValueEnum;
use comfy_table::{Table, presets};
use copart_audit::{Client, Error};
use copart_partitioners::catalogue::{self, Entry, Evidence};
use serde_json::{Value, json};

use crate::exit::Exit;

/// The catalogue: every client's partitioners, what they do, and what proves it.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Show this client, or one partitioner of it, in full
    #[arg(value_name = "CLIENT")]
    name: Option<String>,

    /// Form of the listing
    #[arg(short, long, value_enum, value_name = "FORM", default_value = "table")]
    output: Form,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    Table,
    Json,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let entries: Vec<&Entry> = match &args.name {
        None => catalogue::entries().collect(),
        Some(name) => named(name)?,
    };
    let mut out = BufWriter::new(io::stdout().lock());
    if args.output == Form::Json {
        let entries: Vec<_> = entries.into_iter().map(entry_json).collect();
        let catalogue = json!({ "schema": "copart.clients/1", "clients": entries });
        serde_json::to_writer_pretty(&mut out, &catalogue).map_err(io::Error::from)?;
        writeln!(out)?;
    } else if args.name.is_some() {
        for (i, entry) in entries.into_iter().enumerate() {
            if i > 0 {
                writeln!(out)?;
            }
            in_full(entry, &mut out)?;
        }
    } else {
        list(&entries, &mut out)?;
    }
    out.flush()?;
    Ok(Exit::AGREE)
}

/// All partitioners of a client, or the one that the name means.
fn named(name: &str) -> Result<Vec<&'static Entry>, Error> {
    let of_client: Vec<_> = catalogue::entries()
        .filter(|entry| entry.client() == name)
        .collect();
    if !of_client.is_empty() {
        return Ok(of_client);
    }
    Ok(Client::parse(name)?.entry().into_iter().collect())
}

fn list(entries: &[&Entry], out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header([
        "",
        "partitioner",
        "keys with bytes",
        "empty key",
        "null key",
        "versions",
    ]);
    for entry in entries {
        let profile = &entry.profile;
        let unverified = matches!(entry.evidence, Evidence::Unverified(_));
        table.add_row([
            if entry.is_default() { "*" } else { "" }.into(),
            format!(
                "{}{}",
                entry.id,
                if unverified { " (unverified)" } else { "" }
            ),
            profile.keyed.to_string(),
            profile.empty.to_string(),
            profile.null.to_string(),
            entry.versions.to_string(),
        ]);
    }
    table
        .lines()
        .try_for_each(|line| writeln!(out, "{}", line.trim_end()))?;
    writeln!(
        out,
        "\n* what the client does with nothing configured: its bare name means this one\n`copart clients NAME` shows configuration, source and notes"
    )
}

fn in_full(entry: &Entry, out: &mut dyn Write) -> io::Result<()> {
    let profile = &entry.profile;
    writeln!(out, "{}", entry.id)?;
    let default = match entry.default_in {
        Some(range) if range.is_current() && range == entry.versions => "yes".into(),
        Some(range) => format!("in releases: {range}"),
        None => "no".into(),
    };
    let proof = match entry.evidence {
        Evidence::Vectors => "checked against the real client's placements".into(),
        Evidence::VectorsOf(id) => format!("runs the code of {id}, which is checked"),
        Evidence::Unverified(why) => format!("UNVERIFIED: {why}"),
    };
    for (name, value) in [
        ("default", default),
        ("releases", entry.versions.to_string()),
        ("keys", profile.keyed.to_string()),
        ("empty key", profile.empty.to_string()),
        ("null key", profile.null.to_string()),
        ("proof", proof),
        ("source", entry.source.into()),
    ] {
        writeln!(out, "  {name:10} {value}")?;
    }
    for (i, line) in entry.config.lines().enumerate() {
        writeln!(out, "  {:10} {line}", if i == 0 { "select by" } else { "" })?;
    }
    if !entry.note.is_empty() {
        writeln!(out, "  {:10} {}", "note", entry.note)?;
    }
    Ok(())
}

fn entry_json(entry: &Entry) -> Value {
    let profile = &entry.profile;
    let (verified, vectors) = match entry.evidence {
        Evidence::Unverified(_) => (false, None),
        _ => (true, entry.vectors()),
    };
    json!({
        "id": entry.id,
        "client": entry.client(),
        "default": entry.is_default(),
        "default_in": entry.default_in.map(|range| range.to_string()),
        "versions": entry.versions.to_string(),
        "keyed": profile.keyed.to_string(),
        "empty": profile.empty.to_string(),
        "null": profile.null.to_string(),
        "config": entry.config,
        "source": entry.source,
        "verified": verified,
        "vectors_of": vectors,
        "note": entry.note,
    })
}
