//! Plain answers: aligned columns, or one JSON document.

use std::io::{self, Write};

use clap::ValueEnum;
use copart_audit::Error;
use serde::Serialize;

/// The forms of everyday commands' answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// For people
    Table,
    /// For programs: one document with a version, of which members may be added
    Json,
}

/// Prints one document.
pub(crate) fn json(document: &impl Serialize) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, document).map_err(io::Error::from)?;
    writeln!(out)?;
    out.flush()?;
    Ok(())
}

/// Prints rows below headings, in columns.
pub(crate) fn columns<const N: usize>(
    headings: [&str; N],
    rows: &[[String; N]],
) -> Result<(), Error> {
    let mut widths = headings.map(|heading| heading.chars().count());
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let mut out = io::stdout().lock();
    let mut line = |cells: [&str; N]| {
        let padded = cells.iter().zip(widths);
        let padded: Vec<_> = padded
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        writeln!(out, "{}", padded.join("  ").trim_end())
    };
    line(headings)?;
    for row in rows {
        line(row.each_ref().map(String::as_str))?;
    }
    out.flush()?;
    Ok(())
}

/// Prints a line.
pub(crate) fn line(text: impl std::fmt::Display) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    Ok(())
}

/// Numbers with commas between.
pub(crate) fn list(numbers: &[i32]) -> String {
    let texts: Vec<_> = numbers.iter().map(ToString::to_string).collect();
    texts.join(",")
}
