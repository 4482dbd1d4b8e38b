//! Reports for people, scripts and CI systems.

mod answer;
mod checks;
mod copartition;
mod csv;
mod document;
mod github;
mod html;
mod infer;
mod json;
mod jsonl;
mod junit;
mod lint;
mod markdown;
mod problems;
mod sarif;
mod table;
#[cfg(test)]
mod testing;
mod uri;
mod weighed;
mod wording;

use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;

use document::Document;

use crate::copartition::CopartitionReport;
use crate::infer::InferReport;
use crate::lint::LintReport;
use crate::movement::MovementReport;
use crate::size::SizeReport;
use crate::skew::SkewReport;
use crate::verify::VerifyReport;

/// A report of any command.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Report<'r> {
    /// Of `copart verify`.
    Verify(&'r VerifyReport),
    /// Of `copart movement`.
    Movement(&'r MovementReport),
    /// Of `copart skew`.
    Skew(&'r SkewReport),
    /// Of `copart infer`.
    Infer(&'r InferReport),
    /// Of `copart copartition`.
    Copartition(&'r CopartitionReport),
    /// Of `copart lint`.
    Lint(&'r LintReport),
    /// Of `copart size`, which has no keys and so none of the forms for CI systems.
    Size(&'r SizeReport),
}

macro_rules! from {
    ($($report:ident: $kind:ident),+) => {
        $(impl<'r> From<&'r $report> for Report<'r> {
            fn from(report: &'r $report) -> Self {
                Self::$kind(report)
            }
        })+
    };
}
from!(
    VerifyReport: Verify,
    MovementReport: Movement,
    SkewReport: Skew,
    InferReport: Infer,
    CopartitionReport: Copartition,
    LintReport: Lint,
    SizeReport: Size
);

/// The forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Output {
    /// For people at a terminal.
    Table,
    /// All of it, for programs.
    Json,
    /// One fact a line, for programs that read as they go.
    Jsonl,
    /// The keys that differ, for spreadsheets.
    Csv,
    /// For pull requests.
    Markdown,
    /// For CI systems, as test cases.
    Junit,
    /// For code scanning.
    Sarif,
    /// Annotations in a GitHub workflow.
    Github,
    /// One page with plots, for a browser.
    Html,
}

impl Output {
    /// Every form with its name.
    pub const ALL: &[(Self, &str)] = &[
        (Self::Table, "table"),
        (Self::Json, "json"),
        (Self::Jsonl, "jsonl"),
        (Self::Csv, "csv"),
        (Self::Markdown, "markdown"),
        (Self::Junit, "junit"),
        (Self::Sarif, "sarif"),
        (Self::Github, "github"),
        (Self::Html, "html"),
    ];

    /// The forms that `copart size` has: it reads no keys, so there is nothing to annotate.
    pub const OF_SIZE: &[Self] = &[Self::Table, Self::Json, Self::Csv, Self::Markdown];

    /// The forms that `copart infer`, `copartition` and `lint` have.
    pub const OF_ANSWERS: &[Self] = &[
        Self::Table,
        Self::Json,
        Self::Jsonl,
        Self::Csv,
        Self::Markdown,
        Self::Junit,
        Self::Sarif,
        Self::Github,
    ];

    /// Writes a report in this form; `color` matters to the table alone.
    ///
    /// # Errors
    ///
    /// When `out` fails, or the report has no such form.
    pub fn write<'r>(
        self,
        report: impl Into<Report<'r>>,
        color: bool,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match report.into() {
            Report::Verify(report) => self.verify(report, color, out),
            Report::Movement(report) => match self {
                Self::Json => json::write(report, out),
                Self::Jsonl => weighed::movement::lines(report, out),
                Self::Csv => weighed::movement::csv(report, out),
                Self::Html => html::movement::write(report, out),
                Self::Table | Self::Markdown => {
                    self.document(|room| weighed::movement::document(report, room), color, out)
                }
                Self::Junit | Self::Sarif | Self::Github => {
                    self.checks(&weighed::movement::checks(report), out)
                }
            },
            Report::Skew(report) => match self {
                Self::Json => json::write(report, out),
                Self::Jsonl => weighed::skew::lines(report, out),
                Self::Csv => weighed::skew::csv(report, out),
                Self::Html => html::skew::write(report, out),
                Self::Table | Self::Markdown => {
                    self.document(|room| weighed::skew::document(report, room), color, out)
                }
                Self::Junit | Self::Sarif | Self::Github => {
                    self.checks(&weighed::skew::checks(report), out)
                }
            },
            Report::Infer(report) => {
                answer::write(self, report, || infer::answer(report), color, out)
            }
            Report::Copartition(report) => {
                answer::write(self, report, || copartition::answer(report), color, out)
            }
            Report::Lint(report) => {
                answer::write(self, report, || lint::answer(report), color, out)
            }
            Report::Size(report) => match self {
                Self::Json => json::write(report, out),
                Self::Csv => weighed::size::csv(report, out),
                Self::Table | Self::Markdown => {
                    self.document(|room| weighed::size::document(report, room), color, out)
                }
                Self::Jsonl | Self::Junit | Self::Sarif | Self::Github | Self::Html => {
                    let what = format!("a sizing has no form {self}");
                    Err(io::Error::new(io::ErrorKind::Unsupported, what))
                }
            },
        }
    }

    fn verify(self, report: &VerifyReport, color: bool, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Table => table::write(report, color, out),
            Self::Json => json::write(report, out),
            Self::Jsonl => jsonl::write(report, out),
            Self::Csv => csv::write(report, out),
            Self::Markdown => markdown::write(report, out),
            Self::Junit => junit::write(report, out),
            Self::Sarif => sarif::write(report, out),
            Self::Github => github::write(report, out),
            Self::Html => html::verify::write(report, out),
        }
    }

    /// For people, with as many rows as the form has room for.
    fn document(
        self,
        document: impl Fn(usize) -> Document,
        color: bool,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match self {
            Self::Markdown => document::markdown::write(&document(document::markdown::ROOM), out),
            _ => document::text::write(&document(document::text::ROOM), color, out),
        }
    }

    /// For CI systems.
    fn checks(self, checks: &checks::Checks<'_>, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Junit => checks::junit::write(checks, out),
            Self::Sarif => checks::sarif::write(checks, out),
            _ => checks::github::write(checks, out),
        }
    }
}

impl FromStr for Output {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .iter()
            .find(|(_, name)| *name == text)
            .map(|(output, _)| *output)
            .ok_or_else(|| {
                let names: Vec<_> = Self::ALL.iter().map(|(_, name)| *name).collect();
                format!("`{text}` is no output; there are {}", names.join(", "))
            })
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            Self::ALL
                .iter()
                .find(|(output, _)| output == self)
                .map_or("", |(_, name)| name),
        )
    }
}
