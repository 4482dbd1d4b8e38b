//! Records that are to be written to a topic, read one by one: lines, CSV or JSON lines.

mod json;
mod rows;
mod text;

use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::str::FromStr;

use super::open;
use super::{KeyEncoding, Progress};
use crate::Error;

/// How records are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutgoingFormat {
    /// A record a line: the value, or key and value with a delimiter between.
    Lines,
    /// Rows with columns `key`, `value`, `partition`, `timestamp` and `header:NAME`.
    Csv,
    /// The same with tabs, without quotes.
    Tsv,
    /// An object a line with members `key`, `value` (or `payload`), `partition`, `timestamp` (or `ts`) and
    /// `headers`: what `kcat -J` prints, too.
    Jsonl,
}

const FORMATS: [(OutgoingFormat, &str); 4] = [
    (OutgoingFormat::Lines, "lines"),
    (OutgoingFormat::Csv, "csv"),
    (OutgoingFormat::Tsv, "tsv"),
    (OutgoingFormat::Jsonl, "jsonl"),
];

impl OutgoingFormat {
    /// By the file's name, without `.gz` and the like.
    fn of_name(path: &Path) -> Self {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let name = name.to_ascii_lowercase();
        let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
        match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
            "csv" => Self::Csv,
            "tsv" => Self::Tsv,
            "jsonl" | "ndjson" => Self::Jsonl,
            _ => Self::Lines,
        }
    }
}

impl FromStr for OutgoingFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = FORMATS.iter().find(|(_, name)| *name == text);
        found.map(|(format, _)| *format).ok_or_else(|| {
            let names: Vec<_> = FORMATS.iter().map(|(_, name)| *name).collect();
            format!("records are laid out as {}", names.join(", "))
        })
    }
}

impl fmt::Display for OutgoingFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = FORMATS.iter().find(|(format, _)| format == self);
        f.write_str(found.map_or("", |(_, name)| name))
    }
}

/// How records are read.
#[derive(Clone, Debug, Default)]
pub struct OutgoingOptions {
    /// By the file's name if not given.
    pub format: Option<OutgoingFormat>,
    /// What stands between key and value in a line. Without it a line is a value, and keys are null.
    pub delimiter: Option<String>,
    /// The text that stands for null, in lines and rows.
    pub null: Option<String>,
    /// How a key's text becomes its bytes.
    pub key_encoding: KeyEncoding,
    /// How a value's text becomes its bytes.
    pub value_encoding: KeyEncoding,
}

/// A header's name and value, which may be null.
pub type OutgoingHeader = (String, Option<Vec<u8>>);

/// A record that is to be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutgoingRecord {
    /// The line that it begins in, from 1.
    pub line: u64,
    /// The key, or null.
    pub key: Option<Vec<u8>>,
    /// The value, or null.
    pub value: Option<Vec<u8>>,
    /// The partition, if the record names one.
    pub partition: Option<i32>,
    /// The time in milliseconds since 1970, if the record has one.
    pub timestamp: Option<i64>,
    /// The headers.
    pub headers: Vec<OutgoingHeader>,
}

/// A record that cannot be read. Those behind it can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadOutgoing {
    /// The line that it begins in, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub what: String,
}

/// Reads records from a file or from standard input.
pub struct Outgoing {
    name: String,
    progress: Progress,
    size: Option<u64>,
    rules: Rules,
    source: Source,
}

enum Source {
    Lines(Lines),
    Json(Lines),
    Rows(Box<rows::Rows>),
}

/// What does not depend on where a record stands.
struct Rules {
    delimiter: Option<Vec<u8>>,
    null: Option<Vec<u8>>,
    key: KeyEncoding,
    value: KeyEncoding,
}

impl Rules {
    fn key(&self, text: &[u8]) -> Result<Option<Vec<u8>>, String> {
        self.bytes(self.key, text)
            .map_err(|what| format!("key: {what}"))
    }

    fn value(&self, text: &[u8]) -> Result<Option<Vec<u8>>, String> {
        self.bytes(self.value, text)
            .map_err(|what| format!("value: {what}"))
    }

    fn bytes(&self, encoding: KeyEncoding, text: &[u8]) -> Result<Option<Vec<u8>>, String> {
        if self.null.as_deref() == Some(text) {
            return Ok(None);
        }
        encoded(encoding, text).map(Some)
    }
}

fn encoded(encoding: KeyEncoding, text: &[u8]) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len());
    encoding.encode(text, &mut bytes)?;
    Ok(bytes)
}

impl Outgoing {
    /// Opens a file, or standard input for `-`. gzip and zstd are read as they are.
    ///
    /// # Errors
    /// When it cannot be read, or the options make no sense for its format.
    pub fn open(path: &Path, options: &OutgoingOptions) -> Result<Self, Error> {
        let format = options
            .format
            .unwrap_or_else(|| OutgoingFormat::of_name(path));
        if options.delimiter.is_some() && format != OutgoingFormat::Lines {
            return Err(Error::usage(
                "a delimiter is for lines; the other formats have keys of their own",
            ));
        }
        if options.delimiter.as_deref() == Some("") {
            return Err(Error::usage(
                "the delimiter is empty; leave it out to write values without keys",
            ));
        }
        if options.null.is_some() && format == OutgoingFormat::Jsonl {
            return Err(Error::usage(
                "JSON has null: write that instead of a text that stands for it",
            ));
        }
        let name = match path.to_str() {
            Some("-") => "standard input".to_owned(),
            _ => path.display().to_string(),
        };
        let progress = Progress::default();
        let (opened, size) = open::open(path, &progress)?;
        let stream = opened.into_stream(&progress);
        let stream = stream.map_err(|error| Error::unreadable(&name, error))?;
        let source = match format {
            OutgoingFormat::Lines => Source::Lines(Lines::new(stream)),
            OutgoingFormat::Jsonl => Source::Json(Lines::new(stream)),
            OutgoingFormat::Csv => Source::Rows(Box::new(rows::Rows::new(&name, stream, b',')?)),
            OutgoingFormat::Tsv => Source::Rows(Box::new(rows::Rows::new(&name, stream, b'\t')?)),
        };
        Ok(Self {
            name,
            progress,
            size,
            rules: Rules {
                delimiter: options.delimiter.clone().map(String::into_bytes),
                null: options.null.clone().map(String::into_bytes),
                key: options.key_encoding,
                value: options.value_encoding,
            },
            source,
        })
    }

    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// When nothing more can be read. A record that makes no sense is a value, not an error.
    #[allow(
        clippy::type_complexity,
        reason = "a record, a bad one, the end, or an error"
    )]
    pub fn next_record(&mut self) -> Result<Option<Result<OutgoingRecord, BadOutgoing>>, Error> {
        match &mut self.source {
            Source::Rows(rows) => rows.next(&self.name, &self.rules),
            Source::Lines(lines) => {
                let Some((line, content)) = lines.next(&self.name)? else {
                    return Ok(None);
                };
                Ok(Some(text::read(line, content, &self.rules)))
            }
            Source::Json(lines) => loop {
                let Some((line, content)) = lines.next(&self.name)? else {
                    return Ok(None);
                };
                // An empty line is no JSON, and no record: files end with them.
                if !content.trim_ascii().is_empty() {
                    return Ok(Some(json::read(line, content, &self.rules)));
                }
            },
        }
    }

    /// How far it has come, in bytes of the file.
    pub fn progress(&self) -> Progress {
        self.progress.clone()
    }

    /// The file's size, if it is one.
    pub fn size(&self) -> Option<u64> {
        self.size
    }
}

impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outgoing")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// The longest line that is read: more than brokers take for a record.
const LONGEST: u64 = 128 << 20;

/// Lines without their ends.
struct Lines {
    reader: BufReader<Box<dyn Read + Send>>,
    line: u64,
    content: Vec<u8>,
}

impl Lines {
    fn new(stream: Box<dyn Read + Send>) -> Self {
        Self {
            reader: BufReader::with_capacity(64 << 10, stream),
            line: 0,
            content: Vec::new(),
        }
    }

    fn next(&mut self, name: &str) -> Result<Option<(u64, &[u8])>, Error> {
        self.content.clear();
        self.line += 1;
        let mut bounded = self.reader.by_ref().take(LONGEST);
        let read = bounded
            .read_until(b'\n', &mut self.content)
            .map_err(|error| Error::unreadable(name, error))?;
        if read == 0 {
            return Ok(None);
        }
        if self.content.last() == Some(&b'\n') {
            self.content.pop();
        } else if read as u64 == LONGEST {
            return Err(Error::input(format!(
                "{name}:{}: the line is longer than 128 MiB",
                self.line
            )));
        }
        Ok(Some((self.line, &self.content)))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn read(
        name: &str,
        content: &[u8],
        options: &OutgoingOptions,
    ) -> Vec<Result<OutgoingRecord, BadOutgoing>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::File::create(&path)
            .unwrap()
            .write_all(content)
            .unwrap();
        let mut input = Outgoing::open(&path, options).unwrap();
        std::iter::from_fn(|| input.next_record().unwrap()).collect()
    }

    fn record(line: u64, key: Option<&str>, value: Option<&str>) -> OutgoingRecord {
        let bytes = |text: Option<&str>| text.map(|text| text.as_bytes().to_vec());
        OutgoingRecord {
            line,
            key: bytes(key),
            value: bytes(value),
            ..OutgoingRecord::default()
        }
    }

    #[test]
    fn lines_with_and_without_keys() {
        let options = OutgoingOptions::default();
        let values = read("a.txt", b"x\n\ny", &options);
        let expected = [(1, "x"), (2, ""), (3, "y")].map(|(n, v)| Ok(record(n, None, Some(v))));
        assert_eq!(values, expected);
        let options = OutgoingOptions {
            delimiter: Some("::".into()),
            null: Some("-".into()),
            ..OutgoingOptions::default()
        };
        let read = read("a", b"k::v::w\n-::-\n::\nno key\n", &options);
        assert_eq!(read[0], Ok(record(1, Some("k"), Some("v::w"))));
        assert_eq!(read[1], Ok(record(2, None, None)));
        assert_eq!(read[2], Ok(record(3, Some(""), Some(""))));
        let bad = read[3].as_ref().unwrap_err();
        assert_eq!(bad.line, 4);
        assert!(bad.what.contains("`::`"), "{}", bad.what);
    }

    #[test]
    fn rows_have_columns_by_name() {
        let content = b"partition,key,value,header:trace,timestamp,other\n\
                        3,k,\"two\nlines\",t,17,x\n,,v,,,\nx,k,v,,,\nk\n";
        let options = OutgoingOptions {
            null: Some(String::new()),
            ..OutgoingOptions::default()
        };
        let read = read("a.csv", content, &options);
        let first = OutgoingRecord {
            partition: Some(3),
            timestamp: Some(17),
            headers: vec![("trace".into(), Some(b"t".to_vec()))],
            ..record(2, Some("k"), Some("two\nlines"))
        };
        assert_eq!(read[0], Ok(first));
        assert_eq!(read[1], Ok(record(4, None, Some("v"))));
        let what = |at: usize| read[at].as_ref().unwrap_err().what.as_str();
        assert!(what(2).contains("partition"), "{}", what(2));
        assert!(what(3).contains("columns"), "{}", what(3));
    }

    #[test]
    fn json_lines_of_ours_and_of_kcat() {
        let content = br#"{"key":"k","value":{"b": 1, "a":[]},"partition":2,"timestamp":5}
{"topic":"t","partition":1,"offset":9,"tstype":"create","ts":7,"broker":1,"headers":["h","1","h",null],"key":7,"payload":"v"}

{"value":null,"headers":{"b":"2","a":null}}
{"key":"k"}
{"key":[1],"value":""}
{"value":1,"payload":2}
[1]
{"key_base64":"/w==","value_base64":"AP8=","headers":["b",{"base64":"/g=="}]}
{"key_base64":"?","value":""}
"#;
        let read = read(
            "a.jsonl.txt",
            content,
            &OutgoingOptions {
                format: Some(OutgoingFormat::Jsonl),
                ..OutgoingOptions::default()
            },
        );
        let header = |name: &str, value: Option<&str>| {
            (
                name.to_owned(),
                value.map(|value| value.as_bytes().to_vec()),
            )
        };
        let first = OutgoingRecord {
            partition: Some(2),
            timestamp: Some(5),
            ..record(1, Some("k"), Some(r#"{"b": 1, "a":[]}"#))
        };
        assert_eq!(read[0], Ok(first));
        let second = OutgoingRecord {
            partition: Some(1),
            timestamp: Some(7),
            headers: vec![header("h", Some("1")), header("h", None)],
            ..record(2, Some("7"), Some("v"))
        };
        assert_eq!(read[1], Ok(second));
        let third = OutgoingRecord {
            headers: vec![header("a", None), header("b", Some("2"))],
            ..record(4, None, None)
        };
        assert_eq!(read[2], Ok(third));
        for (at, line, hint) in [
            (3, 5, "no value"),
            (4, 6, "key"),
            (5, 7, "payload"),
            (6, 8, "map"),
        ] {
            let bad = read[at].as_ref().unwrap_err();
            assert_eq!(bad.line, line);
            assert!(bad.what.contains(hint), "{}", bad.what);
        }
    }

    #[test]
    fn options_that_make_no_sense_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        std::fs::write(&path, "").unwrap();
        for options in [
            OutgoingOptions {
                delimiter: Some(":".into()),
                ..OutgoingOptions::default()
            },
            OutgoingOptions {
                null: Some("-".into()),
                ..OutgoingOptions::default()
            },
            OutgoingOptions {
                format: Some(OutgoingFormat::Lines),
                delimiter: Some(String::new()),
                ..OutgoingOptions::default()
            },
        ] {
            let error = Outgoing::open(&path, &options).unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Usage);
        }
    }
}
