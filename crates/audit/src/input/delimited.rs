//! CSV and TSV: one column of each row.

use std::io::Read;
use std::sync::Mutex;

use csv::{ByteRecord, Reader, ReaderBuilder};

use super::{BLOCK_BYTES, BadRecord, Format, KeyBlock, KeyRules, Position, count};
use crate::Error;

/// Quoted fields may hold line ends, so rows can only be found in order, by whoever comes.
pub(super) struct Rows {
    state: Mutex<State>,
    column: usize,
    /// Where the number of records is that a key stands for.
    count_column: Option<usize>,
}

struct State {
    reader: Reader<Box<dyn Read + Send>>,
    row: ByteRecord,
    next: usize,
    ended: bool,
}

impl Rows {
    /// Finds the column; the error says which there are.
    pub(super) fn new(
        name: &str,
        stream: Box<dyn Read + Send>,
        format: Format,
        header: bool,
        field: Option<&str>,
        count_field: Option<&str>,
    ) -> Result<Self, Error> {
        let tabs = format == Format::Tsv;
        let mut reader = ReaderBuilder::new()
            .delimiter(if tabs { b'\t' } else { b',' })
            .quoting(!tabs)
            .has_headers(header)
            .flexible(true)
            .buffer_capacity(BLOCK_BYTES)
            .from_reader(stream);
        let first = reader
            .byte_headers()
            .map_err(|e| Error::input(format!("{name}:1: {e}")))?;
        let names: Vec<_> = first.iter().map(String::from_utf8_lossy).collect();
        let find = |field| {
            find_column(&names, header, field)
                .map_err(|what| Error::usage(format!("{name}: {what}")))
        };
        let column = find(field)?;
        let count_column = count_field.map(|field| find(Some(field))).transpose()?;
        let state = State {
            reader,
            row: ByteRecord::new(),
            next: 0,
            ended: false,
        };
        Ok(Self {
            state: Mutex::new(state),
            column,
            count_column,
        })
    }

    pub(super) fn next(&self, rules: &KeyRules, block: &mut KeyBlock) -> Result<bool, BadRecord> {
        let mut state = self
            .state
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        let state = &mut *state;
        if state.ended {
            return Ok(false);
        }
        block.index = state.next;
        block.in_decoded = true;
        state.next += 1;
        let index = block.index;
        while block.decoded.len() < BLOCK_BYTES / 2 && block.len() < BLOCK_BYTES / 16 {
            let bad = |line: u64, what: String| BadRecord {
                index,
                at: Position::Line(line),
                what,
            };
            match state.reader.read_byte_record(&mut state.row) {
                Ok(true) => {}
                Ok(false) => {
                    state.ended = true;
                    break;
                }
                Err(e) => {
                    let line = state.reader.position().line();
                    return Err(bad(line, e.to_string()));
                }
            }
            let line = state.row.position().map_or(0, csv::Position::line);
            let row = &state.row;
            let column = |at: usize| {
                row.get(at).ok_or_else(|| {
                    let what = format!("the row has {} of at least {} columns", row.len(), at + 1);
                    bad(line, what)
                })
            };
            rules
                .push(column(self.column)?, block)
                .map_err(|what| bad(line, what))?;
            if let Some(at) = self.count_column {
                let weight = count::parse(column(at)?).map_err(|what| bad(line, what))?;
                block.push_weight(weight);
            }
        }
        Ok(true)
    }
}

fn find_column(
    names: &[impl AsRef<str>],
    header: bool,
    field: Option<&str>,
) -> Result<usize, String> {
    let listed = || {
        let names = names
            .iter()
            .take(20)
            .map(AsRef::as_ref)
            .collect::<Vec<_>>()
            .join(", ");
        if header {
            format!("the columns are {names}")
        } else {
            format!("there are {} columns", names.len())
        }
    };
    let Some(field) = field else {
        return match names.len() {
            0 | 1 => Ok(0),
            _ => Err(format!(
                "which column holds the key? Say so with --field; {}",
                listed()
            )),
        };
    };
    if header && let Some(at) = names.iter().position(|name| name.as_ref() == field) {
        return Ok(at);
    }
    match field.parse::<usize>() {
        Ok(0) => Err("columns are counted from 1".into()),
        Ok(number) if number <= names.len() || names.is_empty() => Ok(number - 1),
        Ok(number) => Err(format!("there is no column {number}; {}", listed())),
        Err(_) if !header => Err(format!(
            "without a header row --field takes a column's number, not `{field}`"
        )),
        // An empty file has no header and no keys; that is for the caller to say.
        Err(_) if names.is_empty() => Ok(0),
        Err(_) => Err(format!("there is no column `{field}`; {}", listed())),
    }
}
