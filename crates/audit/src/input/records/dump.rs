use std::path::{Path, PathBuf};

use copart_partitioners::PartitionCount;

use super::console;
use super::kcat;
use super::layout::{DumpFormat, DumpOptions};
use super::rows::{Pointers, Row, Table};
use super::text::Text;
use super::{KcatFormat, Record, RecordSource};
use crate::Error;
use crate::input::{KeyEncoding, Progress, open};
use crate::text::number;

/// Records that another tool printed of a topic.
pub struct Dump {
    name: String,
    path: Option<PathBuf>,
    size: Option<u64>,
    progress: Progress,
    layout: Layout,
    encoding: KeyEncoding,
    null_value: Option<Vec<u8>>,
    /// The record at hand; its buffers are used again.
    row: Row,
    key: Vec<u8>,
    at: u64,
    /// Lines that belong to no record of their own, and the first of them.
    continued: u64,
    first_continued: u64,
    may_be_null: bool,
    records_are_lines: bool,
}

enum Layout {
    Kcat {
        text: Text,
        format: KcatFormat,
        read: kcat::Read,
    },
    Console {
        text: Text,
        separator: Vec<u8>,
        headers: bool,
        line: Vec<u8>,
        begun: bool,
    },
    Jsonl {
        text: Text,
        pointers: Pointers,
        line: Vec<u8>,
    },
    Table(Table),
}

impl Dump {
    /// Opens a file, or standard input for `-`; gzip and zstd are read as they are.
    ///
    /// # Errors
    ///
    /// When it can't be opened, its format is not known, or the options don't fit it.
    pub fn open(path: impl Into<PathBuf>, options: &DumpOptions) -> Result<Self, Error> {
        let path: PathBuf = path.into();
        let is_stdin = path == Path::new("-");
        let name = if is_stdin {
            "standard input".into()
        } else {
            path.display().to_string()
        };
        let usage = |what: &str| Error::usage(format!("{name}: {what}"));
        let given = options
            .format
            .or(options.kcat_format.as_ref().map(|_| DumpFormat::Kcat));
        let Some(format) = given.or(DumpFormat::of_path(&path)) else {
            return Err(usage(
                "what printed these records? Say so with --format (console, jsonl for kcat -J, csv, tsv), or with --kcat-format and the string that kcat was given with -f",
            ));
        };
        let progress = Progress::default();
        let (opened, size) = open::open(&path, &progress)?;
        let plain = matches!(opened, open::Opened::Plain(..));
        let stream = opened
            .into_stream(&progress)
            .map_err(|e| Error::unreadable(&name, e))?;
        let mut null_value = options.null_value.clone();
        let layout = match format {
            DumpFormat::Kcat => {
                let Some(format) = options.kcat_format.clone() else {
                    return Err(usage(
                        "kcat's output can be read with the format string it was given: --kcat-format '%p %o %T %K %k\\n'",
                    ));
                };
                Layout::Kcat {
                    text: Text::new(stream),
                    format,
                    read: kcat::Read::default(),
                }
            }
            DumpFormat::Console => {
                null_value.get_or_insert_with(|| "null".into());
                let separator = options.separator.as_deref().unwrap_or("\t");
                if separator.is_empty() {
                    return Err(usage("--separator must not be empty"));
                }
                Layout::Console {
                    text: Text::new(stream),
                    separator: separator.as_bytes().to_vec(),
                    headers: options.console_headers,
                    line: Vec::new(),
                    begun: false,
                }
            }
            DumpFormat::Jsonl => Layout::Jsonl {
                text: Text::new(stream),
                pointers: Pointers::new(options).map_err(|e| usage(&e))?,
                line: Vec::new(),
            },
            DumpFormat::Csv | DumpFormat::Tsv => {
                Layout::Table(Table::new(&name, stream, format, options)?)
            }
        };
        let may_be_null = match &layout {
            Layout::Kcat { format, .. } => !format.has_key_length() && null_value.is_none(),
            Layout::Table(_) => null_value.is_none(),
            Layout::Console { .. } | Layout::Jsonl { .. } => false,
        };
        Ok(Self {
            name,
            path: (!is_stdin).then_some(path),
            size,
            progress,
            layout,
            encoding: options.encoding,
            null_value: null_value.map(String::into_bytes),
            row: Row::default(),
            key: Vec::new(),
            at: 0,
            continued: 0,
            first_continued: 0,
            may_be_null,
            records_are_lines: plain && matches!(format, DumpFormat::Jsonl),
        })
    }

    /// The file; standard input has none.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
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

    /// Whether [`Record::at`] is a line of the file, as anyone who opens it sees it.
    #[must_use]
    pub const fn records_are_lines(&self) -> bool {
        self.records_are_lines
    }

    /// Reads the next record into `row`; `false` at the end.
    fn read(&mut self) -> Result<bool, (u64, String)> {
        let row = &mut self.row;
        match &mut self.layout {
            Layout::Table(table) => match table.read(row)? {
                Some(line) => self.at = line,
                None => return Ok(false),
            },
            Layout::Jsonl {
                text,
                pointers,
                line,
            } => {
                self.at = text.line();
                if text.is_at_end().map_err(|e| (self.at, e.to_string()))? {
                    return Ok(false);
                }
                text.up_to(b"\n", line)
                    .map_err(|e| (self.at, e.to_string()))?;
                pointers.read(line, row).map_err(|e| (self.at, e))?;
            }
            Layout::Kcat { text, format, read } => {
                self.at = text.line();
                if !format.read(text, read).map_err(|e| (self.at, e))? {
                    return Ok(false);
                }
                row.partition = read.partition;
                (row.offset, row.timestamp) = (read.offset, read.timestamp);
                let null = read.key_length.is_some_and(|length| length < 0);
                row.key = (!null).then(|| read.key.clone());
                row.hints.clear();
                kcat::headers(&read.headers, &mut row.hints);
            }
            Layout::Console {
                text,
                separator,
                headers,
                line,
                begun,
            } => loop {
                self.at = text.line();
                if text.is_at_end().map_err(|e| (self.at, e.to_string()))? {
                    return Ok(false);
                }
                text.up_to(b"\n", line)
                    .map_err(|e| (self.at, e.to_string()))?;
                match console::line(line, separator, *headers).map_err(|e| (self.at, e))? {
                    Some(found) => {
                        *begun = true;
                        row.partition = found.partition.ok_or((
                            self.at,
                            "the line has no partition; print it with --property print.partition=true".to_owned(),
                        ))?;
                        (row.offset, row.timestamp) = (found.offset, found.timestamp);
                        let key = found.key.ok_or((
                            self.at,
                            "the line has no key; print it with --property print.key=true".to_owned(),
                        ))?;
                        row.key = Some(key.to_vec());
                        row.hints.clear();
                        if let Some(found) = found.headers {
                            console::headers(found, &mut row.hints);
                        }
                        break;
                    }
                    None if *begun => {
                        if self.continued == 0 {
                            self.first_continued = self.at;
                        }
                        self.continued += 1;
                    }
                    None => return Err((
                        self.at,
                        "the line does not begin with Partition: or CreateTime:; print them with --property print.partition=true (and --separator, if key.separator was set)".into(),
                    )),
                }
            },
        }
        Ok(true)
    }
}

impl RecordSource for Dump {
    fn name(&self) -> &str {
        &self.name
    }

    fn partition_count(&self) -> Option<PartitionCount> {
        None
    }

    fn next_record(&mut self) -> Result<Option<Record<'_>>, Error> {
        let bad =
            |name: &str, line: u64, what: String| Error::input(format!("{name}:{line}: {what}"));
        match self.read() {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err((line, what)) => return Err(bad(&self.name, line, what)),
        }
        let row = &self.row;
        let partition = u32::try_from(row.partition)
            .ok()
            .filter(|&partition| i32::try_from(partition).is_ok())
            .ok_or_else(|| {
                bad(
                    &self.name,
                    self.at,
                    format!("{} is no partition", row.partition),
                )
            })?;
        let key = match row.key.as_deref() {
            None => None,
            Some(text) if self.null_value.as_deref() == Some(text) => None,
            Some(text) => {
                self.key.clear();
                self.encoding
                    .encode(text, &mut self.key)
                    .map_err(|what| bad(&self.name, self.at, what))?;
                Some(&self.key[..])
            }
        };
        Ok(Some(Record {
            partition,
            offset: row.offset,
            timestamp: row.timestamp,
            key,
            hints: &row.hints,
            at: self.at,
        }))
    }

    fn warnings(&self) -> Vec<String> {
        if self.continued == 0 {
            return Vec::new();
        }
        vec![format!(
            "{} lines, the first of them line {}, do not begin as a record does and were taken for the rest of a value",
            number(self.continued),
            number(self.first_continued)
        )]
    }

    fn empty_may_be_null(&self) -> bool {
        self.may_be_null
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    type Seen = (u32, Option<i64>, Option<Vec<u8>>);

    fn all(name: &str, content: &[u8], options: &DumpOptions) -> Result<Vec<Seen>, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::File::create(&path)
            .unwrap()
            .write_all(content)
            .unwrap();
        let mut dump = Dump::open(&path, options).map_err(|e| e.to_string())?;
        let mut seen = Vec::new();
        while let Some(record) = dump.next_record().map_err(|e| e.to_string())? {
            seen.push((
                record.partition,
                record.offset,
                record.key.map(<[u8]>::to_vec),
            ));
        }
        Ok(seen)
    }

    fn key(text: &str) -> Option<Vec<u8>> {
        Some(text.as_bytes().to_vec())
    }

    #[test]
    fn the_same_records_from_every_format() {
        let want = vec![
            (1, Some(5), key("a b")),
            (0, Some(6), None),
            (1, Some(7), key("")),
        ];
        let kcat = DumpOptions {
            kcat_format: Some("%p,%o,%K,%k;%S:%s\\n".parse().unwrap()),
            ..DumpOptions::default()
        };
        assert_eq!(
            all("x.out", b"1,5,3,a b;2:\nv\n0,6,-1,;-1:\n1,7,0,;0:\n", &kcat).unwrap(),
            want
        );
        let json = b"{\"partition\":1,\"offset\":5,\"key\":\"a b\"}\n{\"partition\":0,\"offset\":6,\"key\":null}\n{\"partition\":1,\"offset\":7,\"key\":\"\"}";
        assert_eq!(all("x.jsonl", json, &DumpOptions::default()).unwrap(), want);
        let console = DumpOptions {
            format: Some(DumpFormat::Console),
            ..DumpOptions::default()
        };
        let text = b"CreateTime:1\tPartition:1\tOffset:5\ta b\tval\nue\nCreateTime:1\tPartition:0\tOffset:6\tnull\tv\nCreateTime:1\tPartition:1\tOffset:7\t\tv\n";
        assert_eq!(all("x.log", text, &console).unwrap(), want);
        let csv = DumpOptions {
            null_value: Some("\\N".into()),
            ..DumpOptions::default()
        };
        assert_eq!(
            all(
                "x.csv",
                b"partition,offset,key\n1,5,a b\n0,6,\\N\n1,7,\n",
                &csv
            )
            .unwrap(),
            want
        );
        assert_eq!(
            all(
                "x.tsv",
                b"partition\toffset\tkey\n1\t5\ta b\n0\t6\t\\N\n1\t7\t\n",
                &csv
            )
            .unwrap(),
            want
        );
    }

    #[test]
    fn bad_input_is_named_by_line() {
        let console = DumpOptions {
            format: Some(DumpFormat::Console),
            ..DumpOptions::default()
        };
        let long = DumpOptions {
            encoding: KeyEncoding::Int64,
            ..DumpOptions::default()
        };
        for (name, content, options, hint) in [
            (
                "x",
                &b"1 a\n"[..],
                &DumpOptions::default(),
                "what printed these records?",
            ),
            (
                "x.txt",
                b"a\tb\n",
                &console,
                "x.txt:1: the line does not begin",
            ),
            (
                "x.txt",
                b"CreateTime:1\tk\n",
                &console,
                "x.txt:1: the line has no partition",
            ),
            (
                "x.txt",
                b"Partition:1\n",
                &console,
                "x.txt:1: the line has no key",
            ),
            (
                "x.jsonl",
                b"{\"partition\":0,\"key\":\"1\"}\n{\"partition\":-1,\"key\":\"1\"}\n",
                &long,
                "x.jsonl:2: -1 is no partition",
            ),
            (
                "x.jsonl",
                b"{\"partition\":0,\"key\":\"x\"}\n",
                &long,
                "x.jsonl:1: `x` is not a whole number",
            ),
            ("x.jsonl", b"\n", &long, "x.jsonl:1: EOF"),
        ] {
            let error = all(name, content, options).unwrap_err();
            assert!(error.contains(hint), "{error}");
        }
    }
}
