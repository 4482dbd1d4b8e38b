//! GitHub's workflow commands: an annotation for each problem, and last a notice with the answer.

use std::io::{self, Write};

use super::super::github::{data, property};
use super::{Answer, Severity};

pub(super) fn write(answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
    for problem in &answer.problems {
        let name = match problem.severity {
            Severity::Error => "error",
            Severity::Note => "warning",
        };
        let describe = answer.rule(problem.rule).1.map_or("", |rule| rule.describe);
        let title = format!("copart: {describe}");
        command(
            answer,
            name,
            problem.input,
            problem.line,
            &title,
            &problem.message,
            out,
        )?;
    }
    for warning in &answer.warnings {
        command(answer, "warning", 0, None, "copart", warning, out)?;
    }
    let title = format!("copart {}", answer.command);
    command(answer, "notice", 0, None, &title, &answer.sentence(), out)
}

fn command(
    answer: &Answer,
    name: &str,
    input: usize,
    line: Option<u64>,
    title: &str,
    message: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    write!(out, "::{name} ")?;
    if let Some(input) = answer.inputs.get(input)
        && input.path.is_some()
    {
        write!(out, "file={},", property(&input.name))?;
        if let Some(line) = line {
            write!(out, "line={line},")?;
        }
    }
    writeln!(out, "title={}::{}", property(title), data(message))
}
