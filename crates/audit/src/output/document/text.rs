//! A document at a terminal.

use std::borrow::Cow;
use std::io::{self, Write};

use comfy_table::{CellAlignment, Table as Grid, presets};

use super::{Cell, Document, Mark, Part, Section, Table, bytes};
use crate::text::{key, number};

/// Characters of a key that are shown.
const KEY_WIDTH: usize = 36;

/// Rows of a table that are shown.
pub(in super::super) const ROOM: usize = 50;

pub(in super::super) fn write(
    document: &Document,
    color: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    for sentence in &document.lead {
        writeln!(out, "{}", clean(sentence))?;
    }
    let style = match document.mark {
        Mark::Neutral => "\x1b[1m",
        Mark::Good => "\x1b[1;32m",
        Mark::Bad => "\x1b[1;31m",
        Mark::Unknown => "\x1b[1;33m",
    };
    let (start, end) = if color { (style, "\x1b[0m") } else { ("", "") };
    let headline = clean(&document.headline);
    let (word, rest) = headline.split_once(':').unwrap_or((&headline, ""));
    let colon = if rest.is_empty() { "" } else { ":" };
    writeln!(out, "\n{start}{word}{end}{colon}{rest}")?;
    for section in &document.sections {
        self::section(section, out)?;
    }
    for warning in &document.warnings {
        writeln!(out, "\nwarning: {}", clean(warning))?;
    }
    Ok(())
}

fn section(section: &Section, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n{}", clean(&section.title))?;
    for part in &section.parts {
        match part {
            Part::Table(table) => self::table(table, out)?,
            Part::Sentence(sentence) => {
                for line in sentence.lines() {
                    writeln!(out, "  {}", clean(line))?;
                }
            }
            Part::Verbatim(lines) => {
                for line in lines {
                    writeln!(out, "      {line}")?;
                }
            }
        }
    }
    Ok(())
}

/// Names and messages may hold anything; a terminal would take control characters for commands.
fn clean(line: &str) -> Cow<'_, str> {
    if !line.chars().any(char::is_control) {
        return Cow::Borrowed(line);
    }
    let mut clean = String::with_capacity(line.len());
    for c in line.chars() {
        if c.is_control() {
            clean.extend(c.escape_default());
        } else {
            clean.push(c);
        }
    }
    Cow::Owned(clean)
}

fn table(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let mut grid = Grid::new();
    grid.load_style(presets::NOTHING).set_header(&table.heads);
    for row in &table.rows {
        grid.add_row(row.iter().map(cell));
    }
    for (at, column) in grid.column_iter_mut().enumerate() {
        if table.is_number(at) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for line in grid.lines() {
        writeln!(out, "   {}", line.trim_end())?;
    }
    if table.left_out > 0 {
        writeln!(
            out,
            "    … {} more; --output json or csv has all",
            number(table.left_out as u64)
        )?;
    }
    Ok(())
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Key(hex, _) => key(Some(&bytes(hex)), KEY_WIDTH),
        Cell::Code(name) if name.is_empty() => String::new(),
        Cell::Code(name) => key(Some(name.as_bytes()), KEY_WIDTH),
        cell => clean(&cell.plain()).into_owned(),
    }
}
