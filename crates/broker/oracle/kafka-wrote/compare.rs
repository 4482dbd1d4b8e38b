//! What Kafka's clients printed, and what our log reads.

use std::collections::BTreeMap;
use std::fmt::Write;

use copart_broker::log::PartitionLog;
use copart_protocol::records::{Batch, Batches, Decompressor, RecordView};

use super::{Fallible, NOW};

/// A record, as it is printed: offset, timestamp, key, value, headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) offset: i64,
    timestamp: i64,
    key: String,
    value: String,
    headers: String,
}

impl Line {
    pub(super) fn new(
        offset: i64,
        timestamp: i64,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
    ) -> Self {
        Self {
            offset,
            timestamp,
            key: hex(key),
            value: hex(value),
            headers: String::new(),
        }
    }

    fn of(record: &RecordView<'_>) -> Self {
        let mut headers = String::new();
        for header in record.headers.iter() {
            let name = String::from_utf8_lossy(header.key);
            let _ = write!(headers, "{name}={},", hex(header.value));
        }
        Self {
            headers,
            ..Self::new(record.offset, record.timestamp, record.key, record.value)
        }
    }
}

fn hex(bytes: Option<&[u8]>) -> String {
    match bytes {
        None => "-".into(),
        Some(bytes) => bytes.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        }),
    }
}

/// What was printed, by what it is and topic.
#[derive(Debug, Default)]
pub(super) struct Expected(BTreeMap<(String, String), Vec<Line>>);

impl Expected {
    pub(super) fn of(text: &str) -> Fallible<Self> {
        let mut expected = Self::default();
        expected.take(text)?;
        Ok(expected)
    }

    /// What is sent adds up, what is read is as it is now.
    pub(super) fn take(&mut self, text: &str) -> Fallible<()> {
        self.0.retain(|(what, _), _| what == "sent");
        for line in text.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let [what, topic, offset, timestamp, key, value, headers] = fields[..] else {
                return Err(format!("not understood: {line}").into());
            };
            let entry = self.0.entry((what.to_owned(), topic.to_owned()));
            entry.or_default().push(Line {
                offset: offset.parse()?,
                timestamp: timestamp.parse()?,
                key: key.to_owned(),
                value: value.to_owned(),
                headers: headers.to_owned(),
            });
        }
        Ok(())
    }

    fn get(&self, what: &str, topic: &str) -> &[Line] {
        let key = (what.to_owned(), topic.to_owned());
        self.0.get(&key).map_or(&[], Vec::as_slice)
    }

    pub(super) fn read(&self, topic: &str) -> &[Line] {
        self.get("read", topic)
    }
}

pub(super) fn compare(
    topic: &str,
    log: &PartitionLog,
    expected: &Expected,
) -> Fallible<Vec<String>> {
    let mut faults = Vec::new();
    let ours = read(log, log.log_end_offset(), false)?;
    let theirs = expected.read(topic);
    let committed = read(log, log.last_stable_offset(), true)?;
    println!(
        "{topic}: {} records, {} committed, offsets {} to {}, {} sent",
        ours.len(),
        committed.len(),
        log.log_start_offset(),
        log.log_end_offset(),
        expected.get("sent", topic).len(),
    );
    differences(topic, "read", &ours, theirs, &mut faults);
    let theirs = expected.get("committed", topic);
    differences(topic, "committed", &committed, theirs, &mut faults);
    if topic != "compacted" {
        let mut sent = expected.get("sent", topic).to_vec();
        sent.sort_by_key(|line| line.offset);
        differences(topic, "sent", &ours, &sent, &mut faults);
    }
    for wanted in (0..100).map(|n| NOW - 200_000 + n * 1003) {
        let expected = ours.iter().find(|line| line.timestamp >= wanted);
        let found = log.find_time(wanted, log.log_end_offset())?;
        // Markers have timestamps too, and are no records to readers.
        let found = found.map(|found| found.offset);
        let marker = |offset| ours.iter().all(|line| line.offset != offset);
        if found != expected.map(|line| line.offset) && !found.is_some_and(marker) {
            faults.push(format!("{topic}: {found:?} at {wanted}, not {expected:?}"));
        }
    }
    Ok(faults)
}

fn differences(topic: &str, what: &str, ours: &[Line], theirs: &[Line], faults: &mut Vec<String>) {
    if ours.len() != theirs.len() || ours.is_empty() {
        faults.push(format!(
            "{topic}: {} records, Kafka's clients have {what} {}",
            ours.len(),
            theirs.len()
        ));
    }
    let different = ours
        .iter()
        .zip(theirs)
        .find(|(ours, theirs)| ours != theirs);
    if let Some((ours, theirs)) = different {
        faults.push(format!(
            "{topic}: {ours:?}, Kafka's clients have {what} {theirs:?}"
        ));
    }
}

/// All records before `to`, or those that a read_committed consumer gets.
fn read(log: &PartitionLog, to: i64, committed: bool) -> Fallible<Vec<Line>> {
    let mut lines = Vec::new();
    let mut decompressor = Decompressor::new(1 << 20);
    let mut offset = log.log_start_offset();
    let mut aborted = log.aborted_transactions(offset, to);
    aborted.sort_by_key(|aborted| std::cmp::Reverse(aborted.first_offset));
    let mut skipped = Vec::new();
    while offset < to {
        let bytes = log.read(offset, to, 100_000)?;
        if bytes.is_empty() {
            break;
        }
        for batch in Batches::new(bytes) {
            let Batch::Records(batch) = batch? else {
                return Err("messages of an old format".into());
            };
            let header = batch.header();
            offset = header.next_offset();
            while aborted
                .last()
                .is_some_and(|aborted| aborted.first_offset <= header.last_offset())
            {
                skipped.extend(aborted.pop().map(|aborted| aborted.producer_id));
            }
            if header.attributes.is_control() {
                skipped.retain(|&id| id != header.producer.id);
                continue;
            }
            let skip = header.attributes.is_transactional()
                && skipped.contains(&header.producer.id)
                && committed;
            for record in &batch.records(&mut decompressor)? {
                if !skip {
                    lines.push(Line::of(&record?));
                }
            }
        }
    }
    Ok(lines)
}
