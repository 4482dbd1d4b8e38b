//! For comments on pull requests.

use std::io::{self, Write};

use super::super::markdown::{code, table, text};
use super::{Answer, Part, Tone};

/// Rows of a table that are shown: a comment has room for 65,536 characters.
const SHOWN: usize = 20;

pub(super) fn write(answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
    let mark = match answer.tone {
        Tone::Good => "✅",
        Tone::Bad => "❌",
        Tone::Unsure => "⚠️",
    };
    let sentence = answer.sentence();
    let (word, rest) = sentence.split_once(':').unwrap_or((&sentence, ""));
    writeln!(out, "{mark} **{}**:{}", text(word), text(rest))?;
    let inputs: Vec<_> = answer
        .inputs
        .iter()
        .map(|input| code(&input.name))
        .collect();
    writeln!(
        out,
        "\n{} of {}",
        text(&format!("copart {}", answer.command)),
        inputs.join(" and ")
    )?;
    for section in &answer.sections {
        writeln!(out, "\n#### {}", text(&section.title))?;
        for part in &section.parts {
            match part {
                Part::Text(lines) => {
                    for line in lines.lines().filter(|line| !line.is_empty()) {
                        writeln!(out, "\n{}", text(line.trim()))?;
                    }
                }
                Part::Grid(grid) => {
                    let rows = grid.rows.iter().take(SHOWN);
                    let rows = rows.map(|row| row.iter().map(|cell| text(cell)));
                    table(
                        grid.heads.iter().map(|head| text(head)),
                        grid.align.get(..grid.heads.len()).unwrap_or(grid.align),
                        rows,
                        out,
                    )?;
                    if grid.rows.len() > SHOWN {
                        writeln!(out, "\n… and {} more", grid.rows.len() - SHOWN)?;
                    }
                }
            }
        }
    }
    for warning in &answer.warnings {
        writeln!(out, "\n**Warning:** {}", text(warning))?;
    }
    Ok(())
}
