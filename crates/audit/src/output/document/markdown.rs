//! A document for a pull request; see the [Markdown of verify](super::super::markdown) for why
//! keys and names are written as they are.

use std::io::{self, Write};

use super::{Cell, Document, Mark, Part, Section, Table, bytes};
use crate::output::markdown::{code, fence, table, text};
use crate::output::wording::printable_bytes;
use crate::text::number;

/// Rows of a table that are shown: a comment has room for 65,536 characters.
pub(in super::super) const ROOM: usize = 25;

/// Characters of a key that are shown.
const KEY_WIDTH: usize = 64;

pub(in super::super) fn write(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let mark = match document.mark {
        Mark::Neutral => "📊",
        Mark::Good => "✅",
        Mark::Bad => "❌",
        Mark::Unknown => "⚠️",
    };
    let (word, rest) = document
        .headline
        .split_once(':')
        .unwrap_or((&document.headline, ""));
    writeln!(out, "{mark} **{}**:{}", text(word), text(rest))?;
    for sentence in &document.lead {
        writeln!(out, "\n{}", text(sentence))?;
    }
    for section in &document.sections {
        self::section(section, out)?;
    }
    for warning in &document.warnings {
        writeln!(out, "\n**Warning:** {}", text(warning))?;
    }
    Ok(())
}

fn section(section: &Section, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n#### {}", text(&section.title))?;
    for part in &section.parts {
        match part {
            Part::Table(table) => rows(table, out)?,
            Part::Sentence(sentence) => {
                for line in sentence.lines().filter(|line| !line.trim().is_empty()) {
                    writeln!(
                        out,
                        "
{}",
                        text(line.trim())
                    )?;
                }
            }
            Part::Verbatim(lines) => {
                let lines = lines.join(
                    "
",
                );
                let fence = fence(&lines);
                writeln!(
                    out,
                    "
{fence}
{lines}
{fence}"
                )?;
            }
        }
    }
    Ok(())
}

fn rows(of: &Table, out: &mut dyn Write) -> io::Result<()> {
    let align: String = (0..of.heads.len())
        .map(|column| if of.is_number(column) { 'r' } else { 'l' })
        .collect();
    let rows = of.rows.iter().map(|row| row.iter().map(cell));
    table(of.heads.iter().map(|head| text(head)), &align, rows, out)?;
    if of.left_out > 0 {
        let left_out = number(of.left_out as u64);
        writeln!(
            out,
            "\n… {left_out} more; the json and csv outputs have all."
        )?;
    }
    Ok(())
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Code(name) => code(name),
        Cell::Key(hex, _) if hex.is_empty() => "(empty)".into(),
        Cell::Key(hex, truncated) => {
            let (prefix, shown) = match printable_bytes(&bytes(hex)) {
                Some(text) => ("", text),
                None => ("hex ", hex.clone()),
            };
            let cut = shown.chars().count() > KEY_WIDTH;
            let kept: String = shown.chars().take(KEY_WIDTH).collect();
            let more = if cut || *truncated { "…" } else { "" };
            format!("{prefix}{}{more}", code(&kept))
        }
        cell => text(&cell.plain()),
    }
}
