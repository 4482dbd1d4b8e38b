//! Reports for people, scripts and CI systems.

mod copartition;
mod csv;
mod answer;
mod github;
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
mod wording;

use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;

use crate::copartition::CopartitionReport;
use crate::infer::InferReport;
use crate::lint::LintReport;
use crate::verify::VerifyReport;

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
    ];

    /// Writes a report in this form; `color` matters to the table alone.
    ///
    /// # Errors
    ///
    /// When `out` fails.
    pub fn write(self, report: &VerifyReport, color: bool, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Table => table::write(report, color, out),
            Self::Json => json::write(report, out),
            Self::Jsonl => jsonl::write(report, out),
            Self::Csv => csv::write(report, out),
            Self::Markdown => markdown::write(report, out),
            Self::Junit => junit::write(report, out),
            Self::Sarif => sarif::write(report, out),
            Self::Github => github::write(report, out),
        }
    }
}

impl Output {
    /// Writes which rules placed a topic's records.
    ///
    /// # Errors
    ///
    /// When `out` fails.
    pub fn write_infer(
        self,
        report: &InferReport,
        color: bool,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        answer::write(self, report, || infer::answer(report), color, out)
    }

    /// Writes whether two topics may be joined.
    ///
    /// # Errors
    ///
    /// When `out` fails.
    pub fn write_copartition(
        self,
        report: &CopartitionReport,
        color: bool,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        answer::write(self, report, || copartition::answer(report), color, out)
    }

    /// Writes what is wrong with keys.
    ///
    /// # Errors
    ///
    /// When `out` fails.
    pub fn write_lint(
        self,
        report: &LintReport,
        color: bool,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        answer::write(self, report, || lint::answer(report), color, out)
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
