//! For people at a terminal.

use std::io::{self, Write};

use comfy_table::CellAlignment;

use super::super::table::{indented, plain_table};
use super::{Answer, Grid, Part, Tone};

pub(super) fn write(answer: &Answer, color: bool, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", answer.about)?;
    if answer.partial {
        writeln!(out, "PARTIAL: interrupted before the end of the input")?;
    }
    let style = match answer.tone {
        Tone::Good => "\x1b[1;32m",
        Tone::Bad => "\x1b[1;31m",
        Tone::Unsure => "\x1b[1;33m",
    };
    let (start, end) = if color { (style, "\x1b[0m") } else { ("", "") };
    let word = answer.verdict.replace('_', " ");
    writeln!(out, "\n{start}{word}{end}: {}", answer.headline)?;
    for section in &answer.sections {
        writeln!(out, "\n{}", section.title)?;
        for part in &section.parts {
            match part {
                Part::Text(text) => {
                    for line in text.lines() {
                        writeln!(out, "  {line}")?;
                    }
                }
                Part::Grid(grid) => self::grid(grid, out)?,
            }
        }
    }
    for warning in &answer.warnings {
        writeln!(out, "\nwarning: {warning}")?;
    }
    Ok(())
}

fn grid(grid: &Grid, out: &mut dyn Write) -> io::Result<()> {
    let mut table = plain_table(grid.heads.iter().copied());
    for row in &grid.rows {
        table.add_row(row);
    }
    for (column, align) in table.column_iter_mut().zip(grid.align.chars()) {
        if align == 'r' {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    indented(&table, out)
}
