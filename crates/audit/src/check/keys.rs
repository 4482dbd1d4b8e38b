//! Sample keys in a file of their own: keys with the partitions that they belong on.

use std::path::Path;

use copart_partitioners::PartitionCount;
use csv::{ByteRecord, ReaderBuilder};
use serde_json::Value;

use super::contract::SampleKey;
use crate::input::{Format, KeyEncoding};
use crate::lock;

/// Keys that a contract may have; evidence does not grow with more.
const MAX_KEYS: usize = 100_000;

/// A key's bytes.
pub(super) fn encoded(encoding: KeyEncoding, text: &[u8]) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    encoding.encode(text, &mut bytes).map(|()| bytes)
}

/// What is wrong, and on which line.
pub(super) type Bad = (Option<u64>, String);

/// Reads a file: `key,partition` rows (CSV, TSV, with a header), objects with `key` and `partition`
/// (JSON lines), or keys alone, a line each.
pub(super) fn read(
    path: &Path,
    encoding: KeyEncoding,
    count: PartitionCount,
) -> Result<Vec<SampleKey>, Bad> {
    let text = lock::read(path).map_err(|what| (None, what))?;
    let keys = match Format::of_path(path) {
        Format::Csv => rows(&text, b',', encoding),
        Format::Tsv => rows(&text, b'\t', encoding),
        Format::Jsonl => each_line(&text, |line| of_json(line, encoding)),
        Format::Lines | Format::Nul => each_line(&text, |line| {
            Ok((Some(encoded(encoding, line.as_bytes())?), None))
        }),
    }?;
    if let Some(key) = keys
        .iter()
        .find(|key| key.partition.is_some_and(|p| p >= count.get()))
    {
        let partition = key.partition.unwrap_or(0);
        return Err((
            Some(key.line),
            format!("the topic has no partition {partition}"),
        ));
    }
    if keys.len() > MAX_KEYS {
        return Err((
            Some(keys[MAX_KEYS].line),
            format!("a contract has at most {MAX_KEYS} keys"),
        ));
    }
    Ok(keys)
}

type Parsed = Result<(Option<Vec<u8>>, Option<u32>), String>;

fn each_line(text: &str, parse: impl Fn(&str) -> Parsed) -> Result<Vec<SampleKey>, Bad> {
    let lines = text.lines().zip(1..);
    let lines = lines
        .filter(|(line, _)| !line.is_empty())
        .take(MAX_KEYS + 1);
    lines
        .map(|(text, line)| match parse(text) {
            Ok((key, partition)) => Ok(SampleKey {
                key,
                partition,
                line,
            }),
            Err(what) => Err((Some(line), what)),
        })
        .collect()
}

fn of_json(line: &str, encoding: KeyEncoding) -> Parsed {
    let object: Value = serde_json::from_str(line).map_err(|e| format!("no JSON: {e}"))?;
    let key = match object.get("key") {
        Some(Value::Null) => None,
        Some(Value::String(text)) => Some(encoded(encoding, text.as_bytes())?),
        Some(Value::Number(number)) => Some(encoded(encoding, number.to_string().as_bytes())?),
        _ => return Err("`key` is missing, or neither text nor a number nor null".into()),
    };
    let partition = match object.get("partition") {
        None | Some(Value::Null) => None,
        Some(value) => Some(
            value
                .as_u64()
                .and_then(|n| u32::try_from(n).ok())
                .ok_or_else(|| format!("`{value}` is no partition"))?,
        ),
    };
    Ok((key, partition))
}

fn rows(text: &str, delimiter: u8, encoding: KeyEncoding) -> Result<Vec<SampleKey>, Bad> {
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .quoting(delimiter == b',')
        .from_reader(text.as_bytes());
    let heads = reader
        .headers()
        .map_err(|e| (Some(1), e.to_string()))?
        .clone();
    let column = |name: &str| heads.iter().position(|head| head.trim() == name);
    let Some(key_column) = column("key") else {
        return Err((Some(1), "no column is called `key`".into()));
    };
    let partition_column = column("partition");
    let mut keys = Vec::new();
    let mut row = ByteRecord::new();
    while keys.len() <= MAX_KEYS {
        let more = reader.read_byte_record(&mut row);
        let line = row.position().map(csv::Position::line);
        match more {
            Ok(true) => {}
            Ok(false) => break,
            Err(e) => return Err((line, e.to_string())),
        }
        let key =
            encoded(encoding, row.get(key_column).unwrap_or_default()).map_err(|e| (line, e))?;
        let cell = partition_column
            .and_then(|column| row.get(column))
            .unwrap_or_default();
        let cell = String::from_utf8_lossy(cell);
        let partition = match cell.trim() {
            "" => None,
            number => Some(
                number
                    .parse()
                    .map_err(|_| (line, format!("`{number}` is no partition")))?,
            ),
        };
        keys.push(SampleKey {
            key: Some(key),
            partition,
            line: line.unwrap_or(1),
        });
    }
    Ok(keys)
}
