//! Reading windows with a reader of the client.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use copart::{Batch, Client, End, ErrorKind, Reader, Start, Topic};

use super::plan::{Range, Window};
use super::sampled::Sampled;
use super::{LiveOptions, error};
use crate::Error;

/// Windows are small, and values are not needed: no more than this is fetched of a partition at a time.
const PARTITION_BYTES: usize = 256 << 10;

/// What is fetched ahead, of all partitions together.
const MEMORY: usize = 16 << 20;

/// Reads windows.
#[derive(Debug)]
pub(super) struct Windows {
    reader: Reader,
    topic: Arc<Topic>,
    timeout: Duration,
}

/// What was in a window.
#[derive(Debug, Default)]
pub(super) struct WindowRead {
    pub(super) records: Vec<Sampled>,
    /// Its offsets are gone.
    pub(super) lost: bool,
}

impl Windows {
    /// A reader that is at its end, until it is given windows.
    pub(super) async fn new(
        client: &Client,
        topic: Arc<Topic>,
        options: &LiveOptions,
    ) -> Result<Self, Error> {
        let reader = client
            .reader()
            .topic(Arc::clone(&topic.name))
            .start(Start::Offset(0))
            .until(End::Offset(0))
            .isolation(options.isolation.of_reader())
            .partition_max_bytes(PARTITION_BYTES)
            .fetch_max_bytes(MEMORY)
            .memory(MEMORY)
            .metadata_timeout(options.timeout)
            .build()
            .await
            .map_err(|e| error::in_topic(&topic.name, e))?;
        Ok(Self {
            reader,
            topic,
            timeout: options.timeout,
        })
    }

    /// The offsets that can be read now.
    pub(super) async fn ranges(&self) -> Result<Vec<Range>, Error> {
        let told = async {
            let from = self.reader.beginning_offsets().await?;
            Ok((from, self.reader.end_offsets().await?))
        };
        let (from, until) = told
            .await
            .map_err(|e| error::in_topic(&self.topic.name, e))?;
        // Both are in the order of the partitions.
        let ranges = from.into_iter().zip(until);
        let ranges = ranges.map(|((partition, from), (_, until))| Range {
            partition: partition.partition.unsigned_abs(),
            from: from.max(0),
            until: until.max(0),
        });
        Ok(ranges.collect())
    }

    /// Reads windows of different partitions. The results are in their order.
    pub(super) async fn read(&mut self, windows: &[Window]) -> Result<Vec<WindowRead>, Error> {
        let mut read: Vec<WindowRead> = windows.iter().map(|_| WindowRead::default()).collect();
        let mut places = BTreeMap::new();
        for (place, window) in windows.iter().enumerate() {
            places.insert(window.partition as i32, place);
            self.seek(window, window.from)?;
        }
        loop {
            let batch = tokio::time::timeout(self.timeout, self.reader.recv()).await;
            let batch = match batch {
                Ok(None) => return Ok(read),
                Ok(Some(batch)) => batch,
                Err(_) => return Err(self.timed_out()),
            };
            match batch {
                Ok(batch) => {
                    let Some(&place) = places.get(&batch.partition()) else {
                        continue;
                    };
                    if take(&windows[place], &batch, &mut read[place].records) {
                        self.seek(&windows[place], windows[place].until)?;
                    }
                }
                Err(error) if error.kind() == ErrorKind::OffsetOutOfRange => {
                    let partition = error.context().partition;
                    if let Some(&place) = partition.and_then(|partition| places.get(&partition)) {
                        read[place].lost = true;
                    }
                }
                Err(error) => return Err(error::in_partition(&self.topic.name, error)),
            }
        }
    }

    /// Reads a window's partition from `from` on.
    fn seek(&mut self, window: &Window, from: i64) -> Result<(), Error> {
        let name = &self.topic.name;
        let partition = (Arc::clone(name), window.partition as i32);
        let (from, until) = (Start::Offset(from), End::Offset(window.until));
        let sought = self.reader.seek_within(partition, from, until);
        sought.map_err(|e| error::in_topic(name, e))
    }

    fn timed_out(&self) -> Error {
        let trouble = match self.reader.trouble() {
            Some(error) => error.to_string(),
            None => "brokers send nothing".to_owned(),
        };
        Error::timed_out(format!(
            "topic {}: it can't be read on after {:?}: {trouble}",
            self.topic.name, self.timeout
        ))
    }
}

/// Takes what the window still wants, and says whether it has all.
fn take(window: &Window, batch: &Batch, records: &mut Vec<Sampled>) -> bool {
    let left = window.take.saturating_sub(records.len() as u64);
    let left = usize::try_from(left).unwrap_or(usize::MAX);
    let producer = batch.producer_id().unwrap_or(-1);
    let taken = batch.records().take(left);
    records.extend(taken.map(|record| Sampled::new(window.partition, &record, producer)));
    batch.len() >= left
}
