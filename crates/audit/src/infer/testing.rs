//! Topics for tests, written record by record.

use copart_partitioners::{PartitionCount, Placement, Profile};

use crate::Error;
use crate::clients::Client;
use crate::input::records::{Record, RecordSource};

/// Records one after the other, with offsets and times.
pub(crate) struct Topic {
    pub(crate) records: Vec<Written>,
    next: usize,
    pub(crate) count: Option<u32>,
    offsets: Vec<i64>,
}

pub(crate) struct Written {
    partition: u32,
    offset: i64,
    timestamp: i64,
    key: Option<Vec<u8>>,
    hints: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Topic {
    pub(crate) fn new(count: u32) -> Self {
        Self {
            records: Vec::new(),
            next: 0,
            count: Some(count),
            offsets: vec![0; count as usize],
        }
    }

    pub(crate) fn count_unknown(mut self) -> Self {
        self.count = None;
        self
    }

    fn write(&mut self, partition: u32, key: Option<&[u8]>, app: Option<&str>) {
        let offset = &mut self.offsets[partition as usize];
        self.records.push(Written {
            partition,
            offset: *offset,
            timestamp: 1_700_000_000_000 + self.records.len() as i64 * 10,
            key: key.map(<[u8]>::to_vec),
            hints: app
                .map(|app| (b"app".to_vec(), app.as_bytes().to_vec()))
                .into_iter()
                .collect(),
        });
        *offset += 1;
    }

    /// Writes keys as a client does that takes the topic to have `count` partitions.
    pub(crate) fn by(mut self, client: &str, count: u32, keys: &[Vec<u8>]) -> Self {
        let profile = *Client::parse(client).unwrap().profile();
        for key in keys {
            let partition = place(&profile, key, count);
            self.write(partition, Some(key), Some(client));
        }
        self
    }

    pub(crate) fn at(mut self, partition: u32, key: Option<&[u8]>) -> Self {
        self.write(partition, key, None);
        self
    }
}

pub(crate) fn place(profile: &Profile, key: &[u8], count: u32) -> u32 {
    match profile.place(Some(key), PartitionCount::new(count).unwrap()) {
        Placement::Pinned(partition) => partition as u32,
        other => panic!("{other:?}"),
    }
}

impl RecordSource for Topic {
    fn name(&self) -> &str {
        "a topic"
    }

    fn partition_count(&self) -> Option<PartitionCount> {
        PartitionCount::new(self.count?)
    }

    fn next_record(&mut self) -> Result<Option<Record<'_>>, Error> {
        let Some(record) = self.records.get(self.next) else {
            return Ok(None);
        };
        self.next += 1;
        Ok(Some(Record {
            partition: record.partition,
            offset: Some(record.offset),
            timestamp: Some(record.timestamp),
            key: record.key.as_deref(),
            hints: &record.hints,
            at: self.next as u64,
        }))
    }
}

/// Text keys with these numbers.
pub(crate) fn keys(from: u32, to: u32) -> Vec<Vec<u8>> {
    (from..to)
        .map(|i| format!("user-{i}").into_bytes())
        .collect()
}
