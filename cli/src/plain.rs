//! Plain answers: aligned columns, or one JSON document.

use std::io::{self, BufWriter, Write};

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

/// The forms of answers that are rows as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowForm {
    /// For people
    Table,
    /// For programs: one document with a version, of which members may be added
    Json,
    /// For programs: an object a line
    Jsonl,
    /// For programs: a row a line, below a row of names
    Csv,
}

/// Prints rows, an object a line.
pub(crate) fn lines<T: Serialize>(rows: impl IntoIterator<Item = T>) -> Result<(), Error> {
    let mut out = BufWriter::new(io::stdout().lock());
    for row in rows {
        serde_json::to_writer(&mut out, &row).map_err(io::Error::from)?;
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(())
}

/// Prints rows of CSV, below a row with the names of the fields, if `headed`.
pub(crate) fn csv<T: Serialize>(
    rows: impl IntoIterator<Item = T>,
    names: &[&str],
    headed: bool,
) -> Result<(), Error> {
    let out = BufWriter::new(io::stdout().lock());
    let mut writer = csv::WriterBuilder::new()
        .has_headers(false)
        .from_writer(out);
    let failed = |error: csv::Error| match error.into_kind() {
        csv::ErrorKind::Io(error) => Error::from(error),
        other => Error::from(io::Error::other(format!("{other:?}"))),
    };
    if headed {
        writer.write_record(names).map_err(failed)?;
    }
    for row in rows {
        writer.serialize(row).map_err(failed)?;
    }
    writer.flush()?;
    Ok(())
}

/// A number, or a dash where there is none.
pub(crate) fn number(number: Option<impl std::fmt::Display>) -> String {
    number.map_or_else(|| "-".to_owned(), |number| number.to_string())
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
