//! Reading a window with Fetch requests.

use std::sync::Arc;
use std::time::Duration;

use copart::protocol::messages::fetch::{FetchPartition, FetchRequest, FetchTopic, PartitionData};
use copart::protocol::records::{Batch, Batches, Decompressor, TransactionMarker};
use copart::protocol::{self, Body, ErrorCode, VersionRange};
use copart::{Client, Topic};
use tokio::time::{Instant, sleep};

use super::aborted::Aborted;
use super::plan::Window;
use super::sampled::Sampled;
use super::{Isolation, LiveOptions, error};
use crate::Error;

/// Between two tries of the same thing.
pub(super) const PAUSE: Duration = Duration::from_millis(200);

/// What the first fetch of a window asks for: windows are small, and values are not needed. Later
/// ones ask for twice as much each.
const FIRST_BYTES: i32 = 64 << 10;
const MOST_BYTES: i32 = 2 << 20;

/// The most that a batch may be decompressed to; it is more than brokers accept uncompressed.
const MOST_DECOMPRESSED: usize = 128 << 20;

/// Reads windows. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    client: Client,
    topic: Arc<Topic>,
    isolation: Isolation,
    timeout: Duration,
}

/// What was in a window.
#[derive(Debug, Default)]
pub(super) struct WindowRead {
    pub(super) records: Vec<Sampled>,
    /// Its offsets are gone.
    pub(super) lost: bool,
}

impl Reader {
    pub(super) fn new(client: Client, topic: Arc<Topic>, options: &LiveOptions) -> Self {
        Self {
            client,
            topic,
            isolation: options.isolation,
            timeout: options.timeout,
        }
    }

    /// Cancel-safe: nothing is changed anywhere.
    pub(super) async fn window(&self, window: Window) -> Result<WindowRead, Error> {
        let mut read = WindowRead::default();
        let mut decompressor = Decompressor::new(MOST_DECOMPRESSED);
        let (mut offset, mut bytes) = (window.from, FIRST_BYTES);
        let partition = window.partition as i32;
        while offset < window.until && (read.records.len() as u64) < window.take {
            let Some(data) = self.fetch(partition, offset, bytes).await? else {
                read.lost = true;
                break;
            };
            let after = take(&window, offset, &data, &mut decompressor, &mut read.records)
                .map_err(|e| error::damaged(&self.topic.name, partition, offset, e))?;
            // Nothing more up to the end: compacted away.
            if after <= offset {
                break;
            }
            offset = after;
            bytes = bytes.saturating_mul(2).min(MOST_BYTES);
        }
        Ok(read)
    }

    /// What a partition holds from an offset on; `None` if that is deleted. Follows the leader, and
    /// tries again until time is up.
    async fn fetch(
        &self,
        partition: i32,
        offset: i64,
        bytes: i32,
    ) -> Result<Option<PartitionData>, Error> {
        let deadline = Instant::now() + self.timeout;
        let name = &self.topic.name;
        // Up to version 12 topics have names, and from 13 on ids, which old brokers don't give.
        let versions = match self.topic.id.is_zero() {
            true => VersionRange::new(FetchRequest::VERSIONS.min, 12),
            false => FetchRequest::VERSIONS,
        };
        loop {
            let request = self
                .client
                .request(self.request(partition, offset, bytes))
                .leader(Arc::clone(name), partition)
                .versions(versions)
                .send();
            let trouble = match request.await {
                Ok(response) => {
                    let answer = response
                        .responses
                        .into_iter()
                        .flat_map(|topic| topic.partitions)
                        .find(|answer| answer.partition_index == partition);
                    let code = match (response.error_code, &answer) {
                        (ErrorCode::NONE, Some(answer)) => answer.error_code,
                        // A broker that leaves the partition out may know it soon.
                        (ErrorCode::NONE, None) => ErrorCode::LEADER_NOT_AVAILABLE,
                        (code, _) => code,
                    };
                    match code {
                        ErrorCode::NONE => return Ok(answer),
                        ErrorCode::OFFSET_OUT_OF_RANGE => return Ok(None),
                        code if code.is_retriable() => code.to_string(),
                        code => return Err(error::refused(name, code)),
                    }
                }
                Err(error) if error.is_retriable() => error.to_string(),
                Err(error) => return Err(error::in_topic(name, error)),
            };
            if Instant::now() >= deadline {
                return Err(Error::timed_out(format!(
                    "topic {name}: partition {partition} can't be read at offset {offset} after {:?}: {trouble}",
                    self.timeout
                )));
            }
            sleep(PAUSE).await;
        }
    }

    fn request(&self, partition: i32, fetch_offset: i64, bytes: i32) -> FetchRequest {
        FetchRequest {
            // Offsets below the end are there at once, if at all.
            max_wait_ms: 500,
            min_bytes: 1,
            max_bytes: bytes,
            isolation_level: self.isolation.level(),
            topics: vec![FetchTopic {
                topic: self.topic.name.to_string(),
                topic_id: self.topic.id,
                partitions: vec![FetchPartition {
                    partition,
                    fetch_offset,
                    partition_max_bytes: bytes,
                    ..FetchPartition::default()
                }],
            }],
            ..FetchRequest::default()
        }
    }
}

/// Takes the window's records from an answer, and says at which offset the next fetch begins.
fn take(
    window: &Window,
    offset: i64,
    data: &PartitionData,
    decompressor: &mut Decompressor,
    records: &mut Vec<Sampled>,
) -> protocol::Result<i64> {
    let mut aborted = Aborted::new(data.aborted_transactions.as_deref());
    let mut after = offset;
    for batch in Batches::new(data.records.clone()) {
        let batch = batch?;
        // A fetch may begin with an older batch, and a broken broker might send only such.
        after = after.max(batch.next_offset());
        let mut producer = -1;
        if let Batch::Records(records) = &batch {
            let header = records.header();
            if header.attributes.is_control() {
                for record in batch.records(decompressor)?.iter() {
                    if TransactionMarker::decode(&record?)?.is_some_and(|marker| !marker.commit) {
                        aborted.end(header);
                    }
                }
                continue;
            }
            if aborted.hides(header) {
                continue;
            }
            producer = header.producer.id;
        }
        for record in batch.records(decompressor)?.iter() {
            let record = record?;
            if records.len() as u64 >= window.take || record.offset >= window.until {
                return Ok(window.until);
            }
            if record.offset >= offset {
                records.push(Sampled::new(window.partition, &record, producer));
            }
        }
    }
    Ok(after)
}

#[cfg(test)]
mod tests {
    use copart::protocol::messages::fetch::AbortedTransaction;
    use copart::protocol::records::{BatchBuilder, Compressor, Producer, Seal};

    use super::*;

    const ALL: Window = Window {
        partition: 3,
        from: 0,
        until: 100,
        take: 100,
    };

    /// A batch of two records at an offset, of a transaction if the producer has an id.
    fn batch(base: i64, producer: i64, keys: [&str; 2]) -> Vec<u8> {
        let mut builder = BatchBuilder::with_capacity(256);
        for key in keys {
            builder
                .append(1000 + base, Some(key.as_bytes()), Some(b"v"), &[])
                .unwrap();
        }
        let seal = Seal {
            producer: match producer {
                -1 => Producer::NONE,
                id => Producer {
                    id,
                    epoch: 0,
                    base_sequence: 0,
                },
            },
            transactional: producer >= 0,
            ..Seal::default()
        };
        at(
            base,
            builder
                .seal(&seal, &mut Compressor::new())
                .unwrap()
                .into_bytes(),
        )
    }

    fn marker(base: i64, producer: i64, commit: bool) -> Vec<u8> {
        let marker = TransactionMarker {
            commit,
            coordinator_epoch: 0,
        };
        at(
            base,
            marker.to_batch(producer, 0, 1000).unwrap().into_bytes(),
        )
    }

    fn at(base: i64, bytes: impl Into<Vec<u8>>) -> Vec<u8> {
        let mut bytes = bytes.into();
        bytes[..8].copy_from_slice(&base.to_be_bytes());
        bytes
    }

    fn read(
        window: Window,
        offset: i64,
        log: &[Vec<u8>],
        aborted: &[(i64, i64)],
    ) -> (i64, Vec<i64>) {
        let data = PartitionData {
            records: log.concat().into(),
            aborted_transactions: Some(
                aborted
                    .iter()
                    .map(|&(producer_id, first_offset)| AbortedTransaction {
                        producer_id,
                        first_offset,
                    })
                    .collect(),
            ),
            ..PartitionData::default()
        };
        let mut records = Vec::new();
        let mut decompressor = Decompressor::new(1 << 20);
        let after = take(&window, offset, &data, &mut decompressor, &mut records).unwrap();
        (after, records.iter().map(|record| record.offset).collect())
    }

    #[test]
    fn aborted_transactions_and_markers_are_left_out() {
        let log = [
            batch(0, 7, ["a", "b"]),
            batch(2, 8, ["c", "d"]),
            marker(4, 7, false),
            batch(5, 7, ["e", "f"]),
            marker(7, 7, true),
            batch(8, -1, ["g", "h"]),
            marker(10, 8, true),
        ];
        // Producer 7 aborted its first transaction and committed its second.
        assert_eq!(read(ALL, 0, &log, &[(7, 0)]), (11, vec![2, 3, 5, 6, 8, 9]));
        // Without a list, nothing is aborted, and markers are no records all the same.
        assert_eq!(read(ALL, 0, &log, &[]), (11, vec![0, 1, 2, 3, 5, 6, 8, 9]));
        // A transaction that began before the fetch.
        assert_eq!(read(ALL, 5, &log[3..], &[(7, 4)]).1, [8, 9]);
    }

    #[test]
    fn a_window_ends_with_its_offsets_or_its_number() {
        let log = [batch(0, -1, ["a", "b"]), batch(2, -1, ["c", "d"])];
        let window = Window { until: 3, ..ALL };
        // A fetch from the middle of a batch begins with the whole of it.
        assert_eq!(read(window, 1, &log, &[]), (3, vec![1, 2]));
        let window = Window { take: 1, ..ALL };
        assert_eq!(read(window, 0, &log, &[]).1, [0]);
        assert_eq!(read(ALL, 0, &[], &[]), (0, vec![]));
    }
}
