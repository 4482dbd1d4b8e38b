//! What each report is: a document for people, checks for CI systems, lines and rows for programs.
//! The outputs are functions of these.

mod check;
mod copartition;
mod infer;
mod lint;
pub(super) mod movement;
pub(super) mod size;
mod skew;

pub(super) use infer::named;

use std::io::{self, Write};

use ::csv::{Terminator, WriterBuilder};
use serde::Serialize;

use super::checks::Checks;
use super::document::Document;
use super::html::Pictures;
use crate::text::number;
use crate::verify::{ClientSummary, InputSummary};
use crate::weighed::{Distinct, Records};

/// A report that has every form.
pub(super) trait Forms: Serialize {
    /// For people, with as many rows of each table as the form has room for.
    fn document(&self, room: usize) -> Document;

    /// For CI systems.
    fn checks(&self) -> Checks;

    /// One fact a line; each has a `type`, and the last is the verdict.
    fn lines(&self, out: &mut dyn Write) -> io::Result<()>;

    /// What makes rows of a table, for spreadsheets.
    fn csv(&self, out: &mut dyn Write) -> io::Result<()>;

    /// What a page has besides the document.
    fn pictures(&self) -> Pictures;
}

/// One fact as a line of JSON, with its type first.
#[derive(Serialize)]
struct Line<'l, T> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(flatten)]
    body: &'l T,
}

struct Lines<'o>(&'o mut dyn Write);

impl Lines<'_> {
    fn line(&mut self, kind: &'static str, body: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.0, &Line { kind, body })?;
        self.0.write_all(b"\n")
    }

    fn warnings(&mut self, warnings: &[String]) -> io::Result<()> {
        warnings.iter().try_for_each(|message| {
            self.line("warning", &serde_json::json!({ "message": message }))
        })
    }
}

/// Facts as they are, a line each.
fn facts(
    facts: impl IntoIterator<Item = serde_json::Value>,
    out: &mut dyn Write,
) -> io::Result<()> {
    facts.into_iter().try_for_each(|fact| {
        serde_json::to_writer(&mut *out, &fact)?;
        writeln!(out)
    })
}

fn rows(out: &mut dyn Write) -> ::csv::Writer<&mut dyn Write> {
    WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(out)
}

/// What was read, in a sentence.
fn read(input: &InputSummary, records: &Records, distinct: &Distinct) -> String {
    let mut read = format!("{}: {} records", input.name, number(records.total));
    if records.total != input.keys {
        read.push_str(&format!(" in {} rows", number(input.keys)));
    }
    if records.empty + records.null > 0 {
        read.push_str(&format!(
            ", {} of them with an empty key, {} without a key",
            number(records.empty),
            number(records.null)
        ));
    }
    read.push_str(&format!("; {}", keys(distinct)));
    read
}

/// The number of distinct keys, with its error if it is an estimate.
fn keys(distinct: &Distinct) -> String {
    if distinct.exact {
        return format!("{} distinct keys", number(distinct.keys));
    }
    format!(
        "about {} distinct keys (± {:.1} %)",
        number(distinct.keys),
        // Two standard deviations: 95 of 100 such estimates are within.
        200.0 * distinct.standard_error
    )
}

/// A client under its name, with the rule it goes by.
fn client(client: &ClientSummary) -> String {
    format!("{} ({})", client.name, client.rule)
}

#[cfg(test)]
mod tests;
