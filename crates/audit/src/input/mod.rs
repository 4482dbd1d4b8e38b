//! Reading keys: from lines, CSV, TSV, JSON lines or NUL-delimited bytes, in a file or on
//! standard input, compressed or not, in constant memory and on all cores; and records with their
//! partitions, from what other tools print of a topic ([`records`]); and records that are to be
//! written to one ([`outgoing`]).

mod block;
mod count;
mod cut;
mod delimited;
mod encoding;
mod format;
mod json;
mod key_frame;
mod open;
pub mod outgoing;
pub mod records;
mod serializer;

use std::io::Cursor;
use std::path::{Path, PathBuf};

use memchr::memchr_iter;

pub use block::KeyBlock;
pub use encoding::KeyEncoding;
pub use format::Format;
pub use key_frame::KeyFrame;
pub use open::Progress;
pub use serializer::KeySerializer;

use crate::Error;
use cut::Cutter;
use delimited::Rows;
use json::{Found, Pointer};
use open::{Opened, open};

/// How much of the input is worked on at a time: with what is made of it, it fits a core's cache.
pub(crate) const BLOCK_BYTES: usize = 256 << 10;

/// The longest record: four times the default `message.max.bytes` of a broker.
pub(crate) const MAX_RECORD_BYTES: usize = 4 << 20;

/// How to read keys.
#[derive(Clone, Debug, Default)]
pub struct InputOptions {
    /// The layout; without one, what the file's name suggests.
    pub format: Option<Format>,
    /// The column (CSV, TSV: a name, or a number from 1) or the JSON pointer of the key.
    pub field: Option<String>,
    /// The column or the JSON pointer of the number of records that a key stands for; without one,
    /// a key stands for one record. Lines and NUL-delimited keys have none.
    pub count_field: Option<String>,
    /// How a key's text becomes bytes.
    pub encoding: KeyEncoding,
    /// Makes a key's bytes of its text in the place of the encoding.
    pub serializer: Option<KeySerializer>,
    /// What happens to the schema registry's frame of a key, once it is bytes.
    pub frame: KeyFrame,
    /// The text that stands for the null key, where the format has no null of its own.
    pub null_value: Option<String>,
    /// CSV and TSV: the first row is data, not names.
    pub no_header: bool,
    /// JSON lines: a record without the field has the null key (an error otherwise).
    pub missing_is_null: bool,
}

/// An opened input that hands out its keys block by block.
pub struct Source {
    name: String,
    path: Option<PathBuf>,
    records_are_lines: bool,
    size: Option<u64>,
    progress: Progress,
    rules: KeyRules,
    layout: Layout,
}

enum Layout {
    Separated(Cutter, u8),
    Jsonl { cutter: Cutter, fields: JsonFields },
    Rows(Rows),
}

/// Where things are in a JSON line.
struct JsonFields {
    key: Pointer,
    count: Option<Pointer>,
    missing_is_null: bool,
}

/// What happens to the text of a key, whatever the format.
struct KeyRules {
    encoding: KeyEncoding,
    serializer: Option<KeySerializer>,
    frame: KeyFrame,
    null_value: Option<Vec<u8>>,
}

/// A record that can't be read.
#[derive(Debug)]
pub(crate) struct BadRecord {
    /// The block it is in.
    pub(crate) index: usize,
    pub(crate) at: Position,
    pub(crate) what: String,
}

/// Where in the input a bad record is.
#[derive(Debug)]
pub(crate) enum Position {
    /// On this line.
    Line(u64),
    /// This many records after the first of its block.
    InBlock(u64),
    /// Somewhere in the block.
    Unknown,
}

impl Source {
    /// Opens a file, or standard input for `-`.
    ///
    /// # Errors
    ///
    /// When it can't be opened, or the options don't fit the format or the columns.
    pub fn open(path: impl Into<PathBuf>, options: &InputOptions) -> Result<Self, Error> {
        let path: PathBuf = path.into();
        let name = if path == Path::new("-") {
            "standard input".into()
        } else {
            path.display().to_string()
        };
        let format = options.format.unwrap_or_else(|| Format::of_path(&path));
        let field = options.field.as_deref();
        let count_field = options.count_field.as_deref();
        let usage = |what: String| Error::usage(format!("{name}: {what}"));
        match format {
            Format::Lines | Format::Nul if field.is_some() => {
                return Err(usage(format!(
                    "--field needs --format csv, tsv or jsonl; read as {format}, the whole record is the key"
                )));
            }
            Format::Lines | Format::Nul if options.count_field.is_some() => {
                return Err(usage(format!(
                    "--count-field needs --format csv, tsv or jsonl; read as {format}, a record is a key and nothing else"
                )));
            }
            Format::Jsonl if options.null_value.is_some() => {
                return Err(usage("--null-value is for text; JSON has null".into()));
            }
            _ => {}
        }
        let progress = Progress::default();
        let (opened, size) = open(&path, &progress)?;
        // Of a compressed file, a viewer has no lines.
        let plain = matches!(opened, Opened::Plain(..));
        let records_are_lines = plain && matches!(format, Format::Lines | Format::Jsonl);
        let layout = match format {
            Format::Lines => Layout::Separated(Cutter::new(opened, &progress), b'\n'),
            Format::Nul => Layout::Separated(Cutter::new(opened, &progress), 0),
            Format::Jsonl => Layout::Jsonl {
                cutter: Cutter::new(opened, &progress),
                fields: JsonFields {
                    key: Pointer::parse(field).map_err(usage)?,
                    count: count_field
                        .map(|field| Pointer::parse(Some(field)))
                        .transpose()
                        .map_err(usage)?,
                    missing_is_null: options.missing_is_null,
                },
            },
            Format::Csv | Format::Tsv => {
                let stream = opened
                    .into_stream(&progress)
                    .map_err(|e| Error::unreadable(&name, e))?;
                Layout::Rows(Rows::new(
                    &name,
                    stream,
                    format,
                    !options.no_header,
                    field,
                    count_field,
                )?)
            }
        };
        let null_value = options
            .null_value
            .as_ref()
            .map(|text| text.clone().into_bytes());
        let rules = KeyRules {
            encoding: options.encoding,
            serializer: options.serializer.clone(),
            frame: options.frame,
            null_value,
        };
        Ok(Self {
            name,
            path: (path != Path::new("-")).then_some(path),
            records_are_lines,
            size,
            progress,
            rules,
            layout,
        })
    }

    /// Keys that are in memory, a line each, under a name for messages and reports.
    #[must_use]
    pub fn of_lines(name: impl Into<String>, lines: impl Into<Vec<u8>>) -> Self {
        let lines = lines.into();
        let size = lines.len() as u64;
        let progress = Progress::default();
        let opened = Opened::Stream(Box::new(Cursor::new(lines)));
        Self {
            name: name.into(),
            path: None,
            records_are_lines: false,
            size: Some(size),
            layout: Layout::Separated(Cutter::new(opened, &progress), b'\n'),
            progress,
            rules: KeyRules {
                encoding: KeyEncoding::default(),
                serializer: None,
                frame: KeyFrame::Keep,
                null_value: None,
            },
        }
    }

    /// The file's name, for messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file; standard input has none.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Whether record 7 is line 7 of the file, as anyone who opens it sees it.
    #[must_use]
    pub const fn records_are_lines(&self) -> bool {
        self.records_are_lines
    }

    /// The file's size in bytes, if it has one.
    #[must_use]
    pub const fn size(&self) -> Option<u64> {
        self.size
    }

    /// How far reading has come.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.progress.clone()
    }

    /// Reads the next block; `false` after the last. Any thread may call this at any time.
    pub(crate) fn next(&self, block: &mut KeyBlock) -> Result<bool, BadRecord> {
        block.clear();
        let (cutter, separator) = match &self.layout {
            Layout::Rows(rows) => return rows.next(&self.rules, block),
            Layout::Separated(cutter, separator) => (cutter, *separator),
            Layout::Jsonl { cutter, .. } => (cutter, b'\n'),
        };
        match cutter.next(separator, &mut block.raw) {
            Ok(Some((index, first))) => (block.index, block.first) = (index, first),
            Ok(None) => return Ok(false),
            Err((index, e)) => {
                return Err(BadRecord {
                    index,
                    at: Position::Unknown,
                    what: e.to_string(),
                });
            }
        }
        if let Layout::Jsonl { fields, .. } = &self.layout {
            self.rules.json_lines(fields, block)?;
        } else {
            self.rules.separated(separator, block)?;
        }
        Ok(true)
    }
}

impl KeyRules {
    /// Adds a key by its text.
    fn push(&self, text: &[u8], block: &mut KeyBlock) -> Result<(), String> {
        if self.null_value.as_deref() == Some(text) {
            block.push_null();
            return Ok(());
        }
        block.push_decoded(|out| {
            let from = out.len();
            match &self.serializer {
                Some(serializer) => serializer.serialize(text, out)?,
                None => self.encoding.encode(text, out)?,
            }
            self.frame.apply(out, from)
        })
    }

    fn separated(&self, separator: u8, block: &mut KeyBlock) -> Result<(), BadRecord> {
        let raw = std::mem::take(&mut block.raw);
        let is_line = separator == b'\n';
        let as_is = self.encoding == KeyEncoding::Utf8
            && self.serializer.is_none()
            && self.frame == KeyFrame::Keep
            && self.null_value.is_none();
        block.in_decoded = !as_is;
        let all = records(&raw, block.first, separator);
        let result = if as_is {
            // Nothing to decode, nothing that could fail: the case that has to be fast.
            all.for_each(|(start, end)| {
                let ends_in_cr = is_line && end > start && raw[end - 1] == b'\r';
                block.carriage_returns += u64::from(ends_in_cr);
                block.push(start, end - start);
            });
            Ok(())
        } else {
            let index = block.index;
            all.enumerate().try_for_each(|(record, (start, end))| {
                let text = &raw[start..end];
                let ends_in_cr = is_line && text.last() == Some(&b'\r');
                block.carriage_returns += u64::from(ends_in_cr);
                let at = Position::InBlock(record as u64);
                self.push(text, block)
                    .map_err(|what| BadRecord { index, at, what })
            })
        };
        block.raw = raw;
        result
    }

    fn json_lines(&self, fields: &JsonFields, block: &mut KeyBlock) -> Result<(), BadRecord> {
        let JsonFields {
            key: pointer,
            count,
            missing_is_null,
        } = fields;
        let raw = std::mem::take(&mut block.raw);
        block.in_decoded = true;
        let index = block.index;
        let mut text = String::new();
        let result = records(&raw, block.first, b'\n').enumerate().try_for_each(|(record, (start, end))| {
            let result = match pointer.find(&raw[start..end], &mut text) {
                _ if start == end => Err("an empty line is no JSON value".into()),
                Ok(Found::Null) => {
                    block.push_null();
                    Ok(())
                }
                Ok(Found::Missing) if *missing_is_null => {
                    block.push_null();
                    Ok(())
                }
                Ok(Found::Missing) => Err(format!(
                    "there is nothing at {pointer}; --field says where the key is, --missing null takes such records for keyless"
                )),
                Ok(Found::Text(text)) => self.push(text.as_bytes(), block),
                Err(what) => Err(what),
            };
            let result = result.and_then(|()| match count {
                Some(count) => {
                    block.push_weight(count::of_json(count, &raw[start..end], &mut text)?);
                    Ok(())
                }
                None => Ok(()),
            });
            result.map_err(|what| BadRecord { index, at: Position::InBlock(record as u64), what })
        });
        block.raw = raw;
        result
    }
}

/// Start and end of each record from `first` on; the last one may lack its separator.
fn records(bytes: &[u8], first: usize, separator: u8) -> impl Iterator<Item = (usize, usize)> + '_ {
    let tail = &bytes[first..];
    let unterminated = tail.last().is_some_and(|&last| last != separator);
    let ends = memchr_iter(separator, tail)
        .chain(unterminated.then_some(tail.len()))
        .map(move |end| first + end);
    let mut start = first;
    ends.map(move |end| {
        let record = (start, end);
        start = end + 1;
        record
    })
}
