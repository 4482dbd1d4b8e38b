use std::path::Path;

use crate::named::named;

/// How keys are laid out in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// A key a line, byte for byte; an empty line is an empty key.
    Lines,
    /// Keys that each end with a NUL byte, so that they may hold line ends.
    Nul,
    /// Comma-separated values with quoting (RFC 4180).
    Csv,
    /// Tab-separated values without quoting.
    Tsv,
    /// A JSON value a line.
    Jsonl,
}

impl Format {
    /// Every format with its name.
    pub const ALL: &[(Self, &str)] = &[
        (Self::Lines, "lines"),
        (Self::Nul, "nul"),
        (Self::Csv, "csv"),
        (Self::Tsv, "tsv"),
        (Self::Jsonl, "jsonl"),
    ];

    /// The format that a file's name suggests, compression suffixes aside: lines if nothing else.
    #[must_use]
    pub fn of_path(path: &Path) -> Self {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_ascii_lowercase();
        let name = name
            .strip_suffix(".gz")
            .or(name.strip_suffix(".zst"))
            .unwrap_or(&name);
        match name.rsplit_once('.').map(|(_, extension)| extension) {
            Some("csv") => Self::Csv,
            Some("tsv" | "tab") => Self::Tsv,
            Some("jsonl" | "ndjson") => Self::Jsonl,
            _ => Self::Lines,
        }
    }
}

named!(Format, "input format");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_by_file_name() {
        for (name, format) in [
            ("keys.txt", Format::Lines),
            ("keys", Format::Lines),
            ("keys.gz", Format::Lines),
            ("KEYS.CSV", Format::Csv),
            ("a/b.csv.gz", Format::Csv),
            ("x.tsv.zst", Format::Tsv),
            ("dump.ndjson", Format::Jsonl),
        ] {
            assert_eq!(Format::of_path(Path::new(name)), format, "{name}");
        }
    }
}
