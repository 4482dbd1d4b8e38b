//! GitHub's workflow commands: an annotation for each problem, and last a notice with the answer.

use std::io::{self, Write};

use super::super::github::{data, property};
use super::{Document, Severity};

pub(super) fn write(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    for problem in &document.problems {
        let name = match problem.severity {
            Severity::Error => "error",
            Severity::Note => "warning",
        };
        let describe = document
            .rule(problem.rule)
            .1
            .map_or("", |rule| rule.describe);
        let title = format!("copart: {describe}");
        command(
            document,
            name,
            problem.input,
            problem.line,
            &title,
            &problem.message,
            out,
        )?;
    }
    for warning in &document.warnings {
        command(document, "warning", 0, None, "copart", warning, out)?;
    }
    let title = format!("copart {}", document.command);
    command(document, "notice", 0, None, &title, &document.answer(), out)
}

fn command(
    document: &Document,
    name: &str,
    input: usize,
    line: Option<u64>,
    title: &str,
    message: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    write!(out, "::{name} ")?;
    if let Some(input) = document.inputs.get(input)
        && input.path.is_some()
    {
        write!(out, "file={},", property(&input.name))?;
        if let Some(line) = line {
            write!(out, "line={line},")?;
        }
    }
    writeln!(out, "title={}::{}", property(title), data(message))
}
