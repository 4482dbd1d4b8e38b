//! A record as it was fetched, without its value.

use copart::Record as Read;

use crate::input::records::Record;

/// The hint that stands for an idempotent producer: one id for each run of it.
const PRODUCER_ID: &[u8] = b"producer id";

/// What is kept of a record until it is handed out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sampled {
    partition: u32,
    pub(super) offset: i64,
    timestamp: Option<i64>,
    pub(super) key: Option<Box<[u8]>>,
    hints: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Sampled {
    /// `producer` is the id in the record's batch, or -1.
    pub(super) fn new(partition: u32, record: &Read<'_>, producer: i64) -> Self {
        let producer = (producer >= 0).then(|| (PRODUCER_ID.into(), producer.to_string().into()));
        let headers = record.headers().iter();
        let headers =
            headers.map(|header| (header.key.into(), header.value.unwrap_or_default().into()));
        Self {
            partition,
            offset: record.offset(),
            timestamp: (record.timestamp() >= 0).then_some(record.timestamp()),
            key: record.key().map(Into::into),
            hints: producer.into_iter().chain(headers).collect(),
        }
    }

    /// As sources hand it out; `at` is its number from 1.
    pub(super) fn record(&self, at: u64) -> Record<'_> {
        Record {
            partition: self.partition,
            offset: Some(self.offset),
            timestamp: self.timestamp,
            key: self.key.as_deref(),
            hints: &self.hints,
            at,
        }
    }
}
