//! Reports for people, scripts and CI systems.

mod table;

use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;

use crate::verify::VerifyReport;

/// The forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Output {
    /// For people at a terminal.
    Table,
}

impl Output {
    /// Every form with its name.
    pub const ALL: &[(Self, &str)] = &[(Self::Table, "table")];

    /// Writes a report in this form; `color` matters to the table alone.
    ///
    /// # Errors
    ///
    /// When `out` fails.
    pub fn write(self, report: &VerifyReport, color: bool, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Table => table::write(report, color, out),
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
