//! Records as rows: CSV, TSV and JSON lines, with a field for each thing that is known.

use std::io::Read;

use csv::{ByteRecord, Reader, ReaderBuilder};
use serde_json::Value;

use super::layout::{DumpFormat, DumpOptions};
use crate::Error;
use crate::input::BLOCK_BYTES;
use crate::input::json::without_line;

/// What a row said, before the key's text became bytes.
#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) partition: i64,
    pub(super) offset: Option<i64>,
    pub(super) timestamp: Option<i64>,
    /// `None`: JSON's null.
    pub(super) key: Option<Vec<u8>>,
    pub(super) hints: Vec<(Vec<u8>, Vec<u8>)>,
}

/// The name under which a producer's name is kept among the hints.
const PRODUCER: &[u8] = b"producer";

const KEY: &[&str] = &["key"];
const PARTITION: &[&str] = &["partition"];
const OFFSET: &[&str] = &["offset"];
const TIMESTAMP: &[&str] = &["timestamp", "ts"];
const PRODUCERS: &[&str] = &["client_id", "producer_id", "producer"];

/// CSV and TSV.
pub(super) struct Table {
    reader: Reader<Box<dyn Read + Send>>,
    row: ByteRecord,
    key: usize,
    partition: usize,
    offset: Option<usize>,
    timestamp: Option<usize>,
    producer: Option<usize>,
}

impl Table {
    /// Finds the columns; the error says which there are.
    pub(super) fn new(
        name: &str,
        stream: Box<dyn Read + Send>,
        format: DumpFormat,
        options: &DumpOptions,
    ) -> Result<Self, Error> {
        let tabs = format == DumpFormat::Tsv;
        let mut reader = ReaderBuilder::new()
            .delimiter(if tabs { b'\t' } else { b',' })
            .quoting(!tabs)
            .flexible(true)
            .buffer_capacity(BLOCK_BYTES)
            .from_reader(stream);
        let heads = reader
            .byte_headers()
            .map_err(|e| Error::input(format!("{name}:1: {e}")))?;
        let heads: Vec<_> = heads
            .iter()
            .map(|head| String::from_utf8_lossy(head).into_owned())
            .collect();
        let find = |asked: &Option<String>, usual: &[&str]| match asked {
            Some(asked) => heads
                .iter()
                .position(|head| head == asked)
                .or_else(|| {
                    let number = asked.parse::<usize>().ok()?;
                    (1..=heads.len()).contains(&number).then(|| number - 1)
                })
                .map(Some)
                .ok_or_else(|| {
                    Error::usage(format!(
                        "{name}: there is no column `{asked}`; the columns are {}",
                        heads.join(", ")
                    ))
                }),
            None => Ok(usual.iter().find_map(|name| {
                heads
                    .iter()
                    .position(|head| head.eq_ignore_ascii_case(name))
            })),
        };
        let needed = |column: Option<usize>, what: &str, option: &str| match column {
            Some(column) => Ok(column),
            // A file of no bytes has no columns and no records; that is for the caller to say.
            None if heads.is_empty() => Ok(0),
            None => Err(Error::usage(format!(
                "{name}: which column holds the {what}? Say so with {option}; the columns are {}",
                heads.join(", ")
            ))),
        };
        Ok(Self {
            key: needed(find(&options.key_field, KEY)?, "key", "--field")?,
            partition: needed(
                find(&options.partition_field, PARTITION)?,
                "partition",
                "--partition-field",
            )?,
            offset: find(&options.offset_field, OFFSET)?,
            timestamp: find(&options.timestamp_field, TIMESTAMP)?,
            producer: find(&options.producer_field, PRODUCERS)?,
            reader,
            row: ByteRecord::new(),
        })
    }

    /// Reads a row and the line it is on; `None` at the end. The error is a line and what is wrong.
    pub(super) fn read(&mut self, into: &mut Row) -> Result<Option<u64>, (u64, String)> {
        match self.reader.read_byte_record(&mut self.row) {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(e) => return Err((self.reader.position().line(), e.to_string())),
        }
        let line = self.row.position().map_or(0, csv::Position::line);
        let field = |column: usize| {
            self.row.get(column).ok_or_else(|| {
                let what = format!(
                    "the row has {} of at least {} columns",
                    self.row.len(),
                    column + 1
                );
                (line, what)
            })
        };
        let number = |column: usize, what: &str| {
            let text = field(column)?;
            str::from_utf8(text)
                .ok()
                .and_then(|text| text.trim().parse::<i64>().ok())
                .ok_or_else(|| (line, format!("`{}` is no {what}", text.escape_ascii())))
        };
        let optional = |column: Option<usize>, what: &str| match column {
            Some(column) if !field(column)?.is_empty() => number(column, what).map(Some),
            _ => Ok(None),
        };
        into.partition = number(self.partition, "partition")?;
        into.offset = optional(self.offset, "offset")?;
        into.timestamp = optional(self.timestamp, "timestamp in milliseconds")?;
        into.key = Some(field(self.key)?.to_vec());
        into.hints.clear();
        if let Some(column) = self.producer {
            into.hints
                .push((PRODUCER.to_vec(), field(column)?.to_vec()));
        }
        Ok(Some(line))
    }
}

/// Where the fields of a JSON object are.
pub(super) struct Pointers {
    key: Field,
    partition: Field,
    offset: Field,
    timestamp: Field,
    producer: Field,
}

struct Field {
    /// The first that is there counts.
    pointers: Vec<String>,
    asked: bool,
}

impl Field {
    fn new(asked: &Option<String>, usual: &[&str], option: &str) -> Result<Self, String> {
        Ok(match asked {
            Some(pointer) if pointer.is_empty() || pointer.starts_with('/') => Self {
                pointers: vec![pointer.clone()],
                asked: true,
            },
            Some(pointer) => {
                return Err(format!(
                    "{option} `{pointer}` is no JSON pointer: it starts with a slash, as in /{pointer}"
                ));
            }
            None => Self {
                pointers: usual.iter().map(|name| format!("/{name}")).collect(),
                asked: false,
            },
        })
    }

    fn find<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        self.pointers
            .iter()
            .find_map(|pointer| value.pointer(pointer))
    }

    fn number(&self, value: &Value, what: &str) -> Result<Option<i64>, String> {
        match self.find(value) {
            None | Some(Value::Null) if !self.asked => Ok(None),
            Some(found) => {
                let number = match found {
                    Value::String(text) => text.parse().ok(),
                    other => other.as_i64(),
                };
                number
                    .map(Some)
                    .ok_or_else(|| format!("{found} at {} is no {what}", self.pointers[0]))
            }
            None => Err(format!("there is no {what} at {}", self.pointers[0])),
        }
    }
}

impl Pointers {
    pub(super) fn new(options: &DumpOptions) -> Result<Self, String> {
        Ok(Self {
            key: Field::new(&options.key_field, KEY, "--field")?,
            partition: Field::new(&options.partition_field, PARTITION, "--partition-field")?,
            offset: Field::new(&options.offset_field, OFFSET, "--offset-field")?,
            timestamp: Field::new(&options.timestamp_field, TIMESTAMP, "--timestamp-field")?,
            producer: Field::new(&options.producer_field, PRODUCERS, "--producer-field")?,
        })
    }

    /// Reads a line. The error says what is wrong with it.
    pub(super) fn read(&self, line: &[u8], into: &mut Row) -> Result<(), String> {
        let value: Value = serde_json::from_slice(line).map_err(|e| without_line(&e))?;
        into.partition = self
            .partition
            .number(&value, "partition")?
            .ok_or("there is no partition at /partition; --partition-field says where it is")?;
        into.offset = self.offset.number(&value, "offset")?;
        // kcat writes -1 for none.
        into.timestamp = self
            .timestamp
            .number(&value, "timestamp in milliseconds")?
            .filter(|&timestamp| timestamp >= 0);
        into.key = match self.key.find(&value) {
            None => {
                return Err(format!(
                    "there is no key at {}; --field says where it is",
                    self.key.pointers[0]
                ));
            }
            Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone().into_bytes()),
            Some(Value::Number(number)) if !number.is_f64() => {
                Some(number.to_string().into_bytes())
            }
            Some(_) => {
                return Err(format!(
                    "the key at {} is no string, whole number or null; what a producer hashes are bytes, so dump the key as it is",
                    self.key.pointers[0]
                ));
            }
        };
        into.hints.clear();
        if let Some(producer) = self.producer.find(&value) {
            into.hints.push((PRODUCER.to_vec(), plain(producer)));
        }
        if let Some(headers) = value.get("headers") {
            headers_of(headers, &mut into.hints);
        }
        Ok(())
    }
}

/// A JSON value as bytes: a string's own.
fn plain(value: &Value) -> Vec<u8> {
    match value {
        Value::String(text) => text.clone().into_bytes(),
        other => other.to_string().into_bytes(),
    }
}

/// Headers as an object, as kcat's list of names and values in turn, or as a list of objects with
/// `key` and `value`.
fn headers_of(headers: &Value, out: &mut Vec<(Vec<u8>, Vec<u8>)>) {
    match headers {
        Value::Object(members) => {
            out.extend(
                members
                    .iter()
                    .map(|(name, value)| (name.clone().into_bytes(), plain(value))),
            );
        }
        Value::Array(items) if items.iter().all(Value::is_object) => {
            out.extend(
                items
                    .iter()
                    .filter_map(|item| Some((plain(item.get("key")?), plain(item.get("value")?)))),
            );
        }
        Value::Array(items) => {
            out.extend(
                items
                    .chunks_exact(2)
                    .map(|pair| (plain(&pair[0]), plain(&pair[1]))),
            );
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(options: &DumpOptions, line: &str) -> Result<Row, String> {
        let mut row = Row::default();
        Pointers::new(options)?.read(line.as_bytes(), &mut row)?;
        Ok(row)
    }

    #[test]
    fn kcats_json_is_read_as_it_is() {
        let line = r#"{"topic":"t","partition":3,"offset":9,"tstype":"create","ts":1700000000000,"broker":1,"headers":["app","a","n","1"],"key":"k","payload":null}"#;
        let row = json(&DumpOptions::default(), line).unwrap();
        assert_eq!(
            (row.partition, row.offset, row.timestamp),
            (3, Some(9), Some(1_700_000_000_000))
        );
        assert_eq!(row.key.as_deref(), Some(&b"k"[..]));
        assert_eq!(
            row.hints,
            [
                (b"app".to_vec(), b"a".to_vec()),
                (b"n".to_vec(), b"1".to_vec())
            ]
        );
        let row = json(
            &DumpOptions::default(),
            r#"{"partition":0,"key":null,"ts":-1}"#,
        )
        .unwrap();
        assert_eq!((row.key, row.timestamp), (None, None));
    }

    #[test]
    fn fields_may_be_elsewhere() {
        let options = DumpOptions {
            key_field: Some("/k/id".into()),
            partition_field: Some("/p".into()),
            producer_field: Some("/who".into()),
            ..DumpOptions::default()
        };
        let row = json(
            &options,
            r#"{"p":"4","k":{"id":7},"who":"svc","headers":[{"key":"h","value":"v"}]}"#,
        )
        .unwrap();
        assert_eq!((row.partition, row.key.as_deref()), (4, Some(&b"7"[..])));
        assert_eq!(row.hints[0], (b"producer".to_vec(), b"svc".to_vec()));
        assert_eq!(row.hints[1], (b"h".to_vec(), b"v".to_vec()));
    }

    #[test]
    fn what_is_missing_is_named() {
        let with = |field: &str| DumpOptions {
            offset_field: Some(field.into()),
            ..DumpOptions::default()
        };
        for (options, line, hint) in [
            (
                DumpOptions::default(),
                r#"{"key":"k"}"#,
                "--partition-field",
            ),
            (DumpOptions::default(), r#"{"partition":1}"#, "--field says"),
            (
                DumpOptions::default(),
                r#"{"partition":1,"key":{}}"#,
                "bytes",
            ),
            (
                DumpOptions::default(),
                r#"{"partition":1.5,"key":""}"#,
                "no partition",
            ),
            (DumpOptions::default(), "{", "EOF"),
            (with("/o"), r#"{"partition":1,"key":""}"#, "no offset at /o"),
            (with("o"), "{}", "starts with a slash"),
        ] {
            let error = json(&options, line).unwrap_err();
            assert!(error.contains(hint), "{error}");
        }
    }

    fn table(content: &str, options: &DumpOptions) -> Result<Vec<Row>, String> {
        let stream = Box::new(std::io::Cursor::new(content.as_bytes().to_vec()));
        let mut table =
            Table::new("t.csv", stream, DumpFormat::Csv, options).map_err(|e| e.to_string())?;
        let mut rows = Vec::new();
        loop {
            let mut row = Row::default();
            match table.read(&mut row) {
                Ok(Some(_)) => rows.push(row),
                Ok(None) => return Ok(rows),
                Err((line, what)) => return Err(format!("{line}: {what}")),
            }
        }
    }

    #[test]
    fn columns_by_usual_and_by_given_names() {
        let content = "Partition,key,ts,client_id\n2,\"a\nb\",5,svc\n0,,,x\n";
        let rows = table(content, &DumpOptions::default()).unwrap();
        assert_eq!(
            (rows[0].partition, rows[0].key.as_deref(), rows[0].timestamp),
            (2, Some(&b"a\nb"[..]), Some(5))
        );
        assert_eq!((rows[1].timestamp, rows[1].offset), (None, None));
        assert_eq!(rows[1].hints, [(b"producer".to_vec(), b"x".to_vec())]);
        let options = DumpOptions {
            key_field: Some("user".into()),
            partition_field: Some("1".into()),
            ..DumpOptions::default()
        };
        assert_eq!(table("n,user\n1,u\n", &options).unwrap()[0].partition, 1);
    }

    #[test]
    fn rows_that_do_not_fit_are_named() {
        for (content, hint) in [
            ("a,b\n1,2\n", "which column holds the key?"),
            ("key,b\n1,2\n", "which column holds the partition?"),
            ("key,partition\nx,y\n", "2: `y` is no partition"),
            (
                "key,partition\nx,1\ny\n",
                "3: the row has 1 of at least 2 columns",
            ),
        ] {
            let error = table(content, &DumpOptions::default()).unwrap_err();
            assert!(error.contains(hint), "{error}");
        }
        assert!(table("", &DumpOptions::default()).unwrap().is_empty());
    }
}
