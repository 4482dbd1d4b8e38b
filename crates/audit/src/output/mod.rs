//! Reports for people, scripts and CI systems.

mod checks;
mod csv;
mod document;
mod github;
mod html;
mod json;
mod jsonl;
mod junit;
mod markdown;
mod problems;
mod reports;
mod sarif;
mod table;
#[cfg(test)]
mod testing;
mod uri;
mod wording;

use std::io::{self, Write};

use reports::Forms;

use crate::check::CheckReport;
use crate::copartition::CopartitionReport;
use crate::infer::InferReport;
use crate::lint::LintReport;
use crate::movement::MovementReport;
use crate::named::named;
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
    /// Of `copart check`.
    Check(&'r CheckReport),
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
    CheckReport: Check,
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
            Report::Movement(report) => self.forms(report, color, out),
            Report::Skew(report) => self.forms(report, color, out),
            Report::Infer(report) => self.forms(report, color, out),
            Report::Copartition(report) => self.forms(report, color, out),
            Report::Lint(report) => self.forms(report, color, out),
            Report::Check(report) => self.forms(report, color, out),
            Report::Size(report) => match self {
                Self::Json => json::write(report, out),
                Self::Csv => reports::size::csv(report, out),
                Self::Table => document::text::write(
                    &reports::size::document(report, document::text::ROOM),
                    color,
                    out,
                ),
                Self::Markdown => document::markdown::write(
                    &reports::size::document(report, document::markdown::ROOM),
                    out,
                ),
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

    /// A report that has every form.
    fn forms(self, report: &impl Forms, color: bool, out: &mut dyn Write) -> io::Result<()> {
        use document::{markdown, text};
        match self {
            Self::Table => text::write(&report.document(text::ROOM), color, out),
            Self::Json => json::write(report, out),
            Self::Jsonl => report.lines(out),
            Self::Csv => report.csv(out),
            Self::Markdown => markdown::write(&report.document(markdown::ROOM), out),
            Self::Junit => checks::junit::write(&report.checks(), out),
            Self::Sarif => checks::sarif::write(&report.checks(), out),
            Self::Github => checks::github::write(&report.checks(), out),
            Self::Html => {
                let command = report.checks().command;
                html::write(command, report.document(html::ROOM), report.pictures(), out)
            }
        }
    }
}

named!(Output, "output");
