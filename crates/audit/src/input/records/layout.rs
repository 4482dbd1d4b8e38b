use std::path::Path;

use super::KcatFormat;
use crate::input::KeyEncoding;
use crate::named::named;

/// What wrote a dump, and so how its records are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DumpFormat {
    /// `kcat -C -f FORMAT`; the format string must be known.
    Kcat,
    /// `kcat -C -J`, and any other JSON object a line.
    Jsonl,
    /// `kafka-console-consumer` with `print.partition=true` and `print.key=true`.
    Console,
    /// Comma-separated values with a column for the partition (RFC 4180).
    Csv,
    /// Tab-separated values without quoting.
    Tsv,
}

impl DumpFormat {
    /// Every format with its name.
    pub const ALL: &[(Self, &str)] = &[
        (Self::Kcat, "kcat"),
        (Self::Jsonl, "jsonl"),
        (Self::Console, "console"),
        (Self::Csv, "csv"),
        (Self::Tsv, "tsv"),
    ];

    /// The format that a file's name suggests, compression suffixes aside.
    #[must_use]
    pub fn of_path(path: &Path) -> Option<Self> {
        use crate::input::Format;
        match Format::of_path(path) {
            Format::Csv => Some(Self::Csv),
            Format::Tsv => Some(Self::Tsv),
            Format::Jsonl => Some(Self::Jsonl),
            Format::Lines | Format::Nul => None,
        }
    }
}

named!(
    DumpFormat,
    "format of records",
    // What people call `kcat -J`.
    "kcat-json" | "json" | "ndjson" => "jsonl"
);

/// How to read a dump.
#[derive(Clone, Debug, Default)]
pub struct DumpOptions {
    /// The layout; without one, what the file's name and the other options suggest.
    pub format: Option<DumpFormat>,
    /// The format string that kcat was given with `-f`.
    pub kcat_format: Option<KcatFormat>,
    /// Where the key is: a column or a JSON pointer. Without one, `key`.
    pub key_field: Option<String>,
    /// Where the partition is. Without one, `partition`.
    pub partition_field: Option<String>,
    /// Where the offset is. Without one, `offset`, if there is such a field.
    pub offset_field: Option<String>,
    /// Where the timestamp in milliseconds is. Without one, `timestamp` or `ts`, if there is one.
    pub timestamp_field: Option<String>,
    /// Where the producer's name is, whatever says who wrote the record. Without one, `client_id`
    /// or `producer_id`, if there is one.
    pub producer_field: Option<String>,
    /// How a key's text becomes the bytes of the record's key.
    pub encoding: KeyEncoding,
    /// The text that stands for the null key, where the format has no null of its own. Without
    /// one, the console consumer's is `null`.
    pub null_value: Option<String>,
    /// What stands between the console consumer's fields (`key.separator`); a tab if unset.
    pub separator: Option<String>,
    /// Whether the console consumer printed headers (`print.headers=true`).
    pub console_headers: bool,
}
