//! A record a row, with columns by name.

use std::io::Read;
use std::str::FromStr;

use csv::{ByteRecord, Reader, ReaderBuilder};

use super::{BadOutgoing, OutgoingRecord, Rules};
use crate::Error;

const HEADER: &str = "header:";

pub(super) struct Rows {
    reader: Reader<Box<dyn Read + Send>>,
    row: ByteRecord,
    columns: usize,
    key: Option<usize>,
    value: usize,
    partition: Option<usize>,
    timestamp: Option<usize>,
    headers: Vec<(usize, String)>,
}

impl Rows {
    pub(super) fn new(
        name: &str,
        stream: Box<dyn Read + Send>,
        delimiter: u8,
    ) -> Result<Self, Error> {
        let mut reader = ReaderBuilder::new()
            .delimiter(delimiter)
            .quoting(delimiter != b'\t')
            .flexible(true)
            .from_reader(stream);
        let names = reader
            .byte_headers()
            .map_err(|error| Error::input(format!("{name}:1: {error}")))?;
        let names: Vec<_> = names.iter().map(String::from_utf8_lossy).collect();
        let find = |wanted: &str| names.iter().position(|name| name == wanted);
        let value = find("value").ok_or_else(|| {
            Error::input(format!(
                "{name}:1: the first row names the columns, and none is `value`: {}",
                names.join(", ")
            ))
        })?;
        let headers = names.iter().enumerate().filter_map(|(at, name)| {
            let header = name.strip_prefix(HEADER)?;
            Some((at, header.to_owned()))
        });
        Ok(Self {
            columns: names.len(),
            key: find("key"),
            value,
            partition: find("partition"),
            timestamp: find("timestamp"),
            headers: headers.collect(),
            row: ByteRecord::new(),
            reader,
        })
    }

    #[allow(
        clippy::type_complexity,
        reason = "a record, a bad one, the end, or an error"
    )]
    pub(super) fn next(
        &mut self,
        name: &str,
        rules: &Rules,
    ) -> Result<Option<Result<OutgoingRecord, BadOutgoing>>, Error> {
        let more = self.reader.read_byte_record(&mut self.row);
        let line = self.row.position().map_or(0, csv::Position::line);
        match more {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(error) => {
                let line = self.reader.position().line();
                return Err(Error::input(format!("{name}:{line}: {error}")));
            }
        }
        Ok(Some(
            self.record(line, rules)
                .map_err(|what| BadOutgoing { line, what }),
        ))
    }

    fn record(&self, line: u64, rules: &Rules) -> Result<OutgoingRecord, String> {
        if self.row.len() < self.columns {
            return Err(format!(
                "the row has {} of {} columns",
                self.row.len(),
                self.columns
            ));
        }
        let field = |at: usize| self.row.get(at).unwrap_or_default();
        let key = self.key.map(|at| rules.key(field(at))).transpose()?;
        let mut headers = Vec::new();
        for (at, name) in &self.headers {
            // A row that has nothing there has no such header.
            if !field(*at).is_empty() {
                headers.push((name.clone(), Some(field(*at).to_vec())));
            }
        }
        Ok(OutgoingRecord {
            line,
            key: key.flatten(),
            value: rules.value(field(self.value))?,
            partition: self.number("partition", self.partition)?,
            timestamp: self.number("timestamp", self.timestamp)?,
            headers,
        })
    }

    fn number<T: FromStr>(&self, name: &str, at: Option<usize>) -> Result<Option<T>, String> {
        let text = at.and_then(|at| self.row.get(at)).unwrap_or_default();
        if text.is_empty() {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(text);
        let number = text.trim().parse();
        number
            .map(Some)
            .map_err(|_| format!("{name}: `{text}` is no number that it can be"))
    }
}
