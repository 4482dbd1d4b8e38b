//! Records as text, JSON lines or hexadecimal.

use std::io::{self, Write};
use std::str::FromStr;

use copart::{Record, TimestampType};

use super::format::Text;
use data_encoding::{BASE64, HEXLOWER};
use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Json,
    Hex,
}

impl FromStr for Form {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "text" => Ok(Self::Text),
            "json" | "jsonl" => Ok(Self::Json),
            "hex" => Ok(Self::Hex),
            _ => Err("it is text, jsonl or hex".into()),
        }
    }
}

/// Prints records one by one.
pub(crate) struct Printer {
    form: Form,
    parts: Vec<Part>,
    null: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(Vec<u8>),
    Topic,
    Partition,
    Offset,
    Timestamp,
    Key,
    KeyLength,
    Value,
    ValueLength,
    ValueLengthBytes,
    Headers,
}

impl Printer {
    /// # Errors
    /// What is wrong with the format.
    pub(crate) fn new(form: Form, format: &str, null: &str) -> Result<Self, String> {
        Ok(Self {
            form,
            parts: parse(format)?,
            null: null.as_bytes().to_vec(),
        })
    }

    /// Prints a record, with `shown` for its key and its value where they have a text of their own.
    pub(crate) fn print(
        &self,
        record: &Record<'_>,
        shown: &[Text; 2],
        out: &mut impl Write,
    ) -> io::Result<()> {
        let [key, value] = shown
            .each_ref()
            .map(|text| text.as_deref().map(str::as_bytes));
        let (key, value) = (key.or(record.key()), value.or(record.value()));
        match self.form {
            Form::Text => self.text(record, key, value, out),
            Form::Json => {
                serde_json::to_writer(&mut *out, &Line::of(record, key, value))?;
                out.write_all(b"\n")
            }
            Form::Hex => {
                let hex =
                    |bytes: Option<&[u8]>| bytes.map_or_else(|| "-".into(), |b| HEXLOWER.encode(b));
                writeln!(
                    out,
                    "{}\t{}\t{}\t{}\t{}",
                    record.partition(),
                    record.offset(),
                    record.timestamp(),
                    hex(key),
                    hex(value)
                )
            }
        }
    }

    fn text(
        &self,
        record: &Record<'_>,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        for part in &self.parts {
            match part {
                Part::Text(text) => out.write_all(text)?,
                Part::Topic => out.write_all(record.topic().as_bytes())?,
                Part::Partition => write!(out, "{}", record.partition())?,
                Part::Offset => write!(out, "{}", record.offset())?,
                Part::Timestamp => write!(out, "{}", record.timestamp())?,
                Part::Key => out.write_all(key.unwrap_or(&self.null))?,
                Part::KeyLength => write!(out, "{}", length(key))?,
                Part::Value => out.write_all(value.unwrap_or(&self.null))?,
                Part::ValueLength => write!(out, "{}", length(value))?,
                Part::ValueLengthBytes => out.write_all(&length(value).to_be_bytes())?,
                Part::Headers => {
                    for (at, header) in record.headers().iter().enumerate() {
                        if at > 0 {
                            out.write_all(b",")?;
                        }
                        out.write_all(header.key)?;
                        out.write_all(b"=")?;
                        // kcat's word.
                        out.write_all(header.value.unwrap_or(b"NULL"))?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Null has the length -1, as in kcat.
fn length(bytes: Option<&[u8]>) -> i32 {
    bytes.map_or(-1, |bytes| i32::try_from(bytes.len()).unwrap_or(i32::MAX))
}

fn parse(format: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut text = Vec::new();
    let mut bytes = format.bytes();
    while let Some(byte) = bytes.next() {
        let part = match byte {
            b'%' => match bytes.next() {
                Some(b'%') => {
                    text.push(b'%');
                    continue;
                }
                Some(b't') => Part::Topic,
                Some(b'p') => Part::Partition,
                Some(b'o') => Part::Offset,
                Some(b'T') => Part::Timestamp,
                Some(b'k') => Part::Key,
                Some(b'K') => Part::KeyLength,
                Some(b's') => Part::Value,
                Some(b'S') => Part::ValueLength,
                Some(b'R') => Part::ValueLengthBytes,
                Some(b'h') => Part::Headers,
                other => {
                    let shown = other.map(|byte| char::from(byte).to_string());
                    return Err(format!(
                        "--format has no %{}; it has %t %p %o %T %k %K %s %S %R %h and %%",
                        shown.unwrap_or_default()
                    ));
                }
            },
            b'\\' => {
                text.push(escaped(&mut bytes)?);
                continue;
            }
            byte => {
                text.push(byte);
                continue;
            }
        };
        if !text.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut text)));
        }
        parts.push(part);
    }
    if !text.is_empty() {
        parts.push(Part::Text(text));
    }
    Ok(parts)
}

fn escaped(bytes: &mut std::str::Bytes<'_>) -> Result<u8, String> {
    match bytes.next() {
        Some(b'n') => Ok(b'\n'),
        Some(b'r') => Ok(b'\r'),
        Some(b't') => Ok(b'\t'),
        Some(b'0') => Ok(0),
        Some(b'\\') => Ok(b'\\'),
        Some(b'x') => {
            let mut digit = || bytes.next().and_then(|byte| char::from(byte).to_digit(16));
            digit()
                .zip(digit())
                .and_then(|(high, low)| u8::try_from(high * 16 + low).ok())
                .ok_or_else(|| "--format: behind \\x stand two hexadecimal digits".to_owned())
        }
        _ => Err("--format has no such escape; it has \\n \\r \\t \\0 \\\\ and \\xHH".to_owned()),
    }
}

/// `docs/src/schema/copart.record-1.schema.json`. `copart produce --format jsonl` reads it back.
#[derive(Serialize)]
struct Line<'a> {
    topic: &'a str,
    partition: i32,
    offset: i64,
    timestamp: i64,
    timestamp_type: &'static str,
    #[serde(skip_serializing_if = "Headers::is_empty")]
    headers: Headers<'a>,
    #[serde(flatten)]
    key: Key<'a>,
    #[serde(flatten)]
    value: Value<'a>,
}

impl<'a> Line<'a> {
    fn of(record: &Record<'a>, key: Option<&'a [u8]>, value: Option<&'a [u8]>) -> Self {
        Self {
            topic: record.topic(),
            partition: record.partition(),
            offset: record.offset(),
            timestamp: record.timestamp(),
            timestamp_type: match record.timestamp_type() {
                TimestampType::CreateTime => "create",
                TimestampType::LogAppendTime => "append",
            },
            headers: Headers(record.headers().iter().map(|h| (h.key, h.value)).collect()),
            key: match key.map(text_or_base64) {
                None => Key::Text { key: None },
                Some(Ok(key)) => Key::Text { key: Some(key) },
                Some(Err(key_base64)) => Key::Base64 { key_base64 },
            },
            value: match value.map(text_or_base64) {
                None => Value::Text { value: None },
                Some(Ok(value)) => Value::Text { value: Some(value) },
                Some(Err(value_base64)) => Value::Base64 { value_base64 },
            },
        }
    }
}

fn text_or_base64(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|_| BASE64.encode(bytes))
}

#[derive(Serialize)]
#[serde(untagged)]
enum Key<'a> {
    Text { key: Option<&'a str> },
    Base64 { key_base64: String },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Value<'a> {
    Text { value: Option<&'a str> },
    Base64 { value_base64: String },
}

/// Names and values in turn, as in `kcat -J`: order and duplicates are kept.
struct Headers<'a>(Vec<(&'a [u8], Option<&'a [u8]>)>);

impl Headers<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum HeaderText<'a> {
    Text(Option<&'a str>),
    Base64 { base64: String },
}

impl<'a> HeaderText<'a> {
    fn of(bytes: Option<&'a [u8]>) -> Self {
        match bytes.map(text_or_base64) {
            None => Self::Text(None),
            Some(Ok(text)) => Self::Text(Some(text)),
            Some(Err(base64)) => Self::Base64 { base64 },
        }
    }
}

impl Serialize for Headers<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let pairs = self.0.iter();
        let texts =
            pairs.flat_map(|&(name, value)| [HeaderText::of(Some(name)), HeaderText::of(value)]);
        serializer.collect_seq(texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_kcats() {
        let parts = parse("%p:%o %%\\t%k\\x41\\n").unwrap();
        let text = |text: &str| Part::Text(text.as_bytes().to_vec());
        let expected = [
            Part::Partition,
            text(":"),
            Part::Offset,
            text(" %\t"),
            Part::Key,
            text("A\n"),
        ];
        assert_eq!(parts, expected);
        for bad in ["%z", "%", "\\q", "\\x4", "\\xzz", "\\"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
