//! An answer of `infer`, `copartition` or `lint`: a sentence, sections of text and tables, problems
//! and test cases. Each command says once what its report is; the outputs are functions of that.

mod github;
mod junit;
mod markdown;
mod sarif;
mod table;
#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::path::PathBuf;

use ::csv::{Terminator, WriterBuilder};
use serde::Serialize;
use serde_json::Value;

use super::Output;

/// What the outputs say of a report.
pub(super) struct Answer {
    /// The command, such as `infer`.
    pub(super) command: &'static str,
    /// The word for the answer.
    pub(super) verdict: &'static str,
    pub(super) tone: Tone,
    /// The answer in a sentence, without the word.
    pub(super) headline: String,
    /// What was read, in a sentence.
    pub(super) about: String,
    pub(super) exit_code: u8,
    pub(super) partial: bool,
    pub(super) inputs: Vec<Input>,
    pub(super) sections: Vec<Section>,
    /// Every rule that a problem may have.
    pub(super) rules: Vec<Rule>,
    pub(super) problems: Vec<Problem>,
    /// What was checked, as test cases.
    pub(super) cases: Vec<Case>,
    pub(super) warnings: Vec<String>,
    /// The rows of the CSV output.
    pub(super) rows: Grid,
    /// The lines of the JSON lines output; each has a `type`, the last is the verdict.
    pub(super) facts: Vec<Value>,
    /// What tools that read SARIF may want besides.
    pub(super) properties: Value,
}

/// How the answer is to be taken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Good,
    Bad,
    Unsure,
}

/// A file that was read, or another source.
pub(super) struct Input {
    pub(super) name: String,
    /// Standard input and topics have none.
    pub(super) path: Option<PathBuf>,
}

pub(super) struct Section {
    pub(super) title: String,
    pub(super) parts: Vec<Part>,
}

pub(super) enum Part {
    Text(String),
    Grid(Grid),
}

/// A table.
#[derive(Default)]
pub(super) struct Grid {
    pub(super) heads: Vec<&'static str>,
    /// `l` or `r` for each column.
    pub(super) align: &'static str,
    pub(super) rows: Vec<Vec<String>>,
}

/// A kind of problem.
pub(super) struct Rule {
    pub(super) id: &'static str,
    /// What it is, as a sentence without its full stop.
    pub(super) describe: &'static str,
    /// What to do about it.
    pub(super) help: &'static str,
}

/// Something to annotate.
pub(super) struct Problem {
    /// A rule's id.
    pub(super) rule: &'static str,
    pub(super) severity: Severity,
    pub(super) message: String,
    /// The input's index.
    pub(super) input: usize,
    /// The line that shows it.
    pub(super) line: Option<u64>,
    /// What stays the same in the next run, besides the rule.
    pub(super) fingerprint: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Severity {
    /// It is why the command does not exit with 0.
    Error,
    /// To be known.
    Note,
}

pub(super) struct Case {
    pub(super) name: String,
    pub(super) outcome: Outcome,
}

pub(super) enum Outcome {
    Passed,
    Skipped(String),
    /// A rule's id and what is wrong.
    Failed(&'static str, String),
    Error(&'static str, String),
}

/// Writes a report in one of the forms.
pub(super) fn write(
    output: Output,
    report: &impl Serialize,
    answer: impl FnOnce() -> Answer,
    color: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    match output {
        Output::Json => {
            serde_json::to_writer_pretty(&mut *out, report)?;
            writeln!(out)
        }
        Output::Table => table::write(&answer(), color, out),
        Output::Markdown => markdown::write(&answer(), out),
        Output::Junit => junit::write(&answer(), out),
        Output::Sarif => sarif::write(&answer(), out),
        Output::Github => github::write(&answer(), out),
        Output::Jsonl => answer().facts.iter().try_for_each(|fact| {
            serde_json::to_writer(&mut *out, fact)?;
            writeln!(out)
        }),
        Output::Csv => {
            let rows = answer().rows;
            let mut writer = WriterBuilder::new()
                .terminator(Terminator::CRLF)
                .from_writer(out);
            writer.write_record(&rows.heads)?;
            for row in &rows.rows {
                writer.write_record(row)?;
            }
            writer.flush()
        }
        Output::Html => {
            let what = "this report has no form html yet";
            Err(io::Error::new(io::ErrorKind::Unsupported, what))
        }
    }
}

impl Answer {
    fn rule(&self, id: &str) -> (usize, Option<&Rule>) {
        let index = self.rules.iter().position(|rule| rule.id == id);
        (index.unwrap_or(0), index.map(|index| &self.rules[index]))
    }

    /// The answer: its word, and the sentence.
    fn sentence(&self) -> String {
        let partial = if self.partial {
            " (partial: interrupted before the end of the input)"
        } else {
            ""
        };
        format!("{}: {}{partial}", self.verdict, self.headline)
    }
}
