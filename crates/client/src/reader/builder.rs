//! Building a reader.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::config::{End, Isolation, OffsetReset, Settings, Start};
use super::handle::Reader;
use super::shared::Shared;
use crate::client::{bounded, config_error, runtime};
use crate::cluster::Cluster;
use crate::{Backoff, Error, ErrorKind, Result, TopicPartition};

/// Collects what a reader needs.
///
/// ```no_run
/// # async fn run(client: copart::Client) -> copart::Result<()> {
/// use std::time::Duration;
/// use copart::{End, Start};
///
/// let mut reader = client
///     .reader()
///     .topic("orders")
///     .start(Start::Ago(Duration::from_secs(3600)))
///     .until(End::Latest)
///     .build()
///     .await?;
/// while let Some(batch) = reader.recv().await {
///     for record in batch?.records() {
///         println!("{}: {:?}", record.offset(), record.key());
///     }
/// }
/// # Ok(()) }
/// ```
#[must_use = "a builder does nothing until `build` is awaited"]
#[derive(Clone, Debug)]
pub struct ReaderBuilder {
    cluster: Cluster,
    settings: Settings,
}

impl ReaderBuilder {
    pub(crate) fn new(cluster: Cluster) -> Self {
        let rack = cluster.rack().map(|rack| rack.to_string());
        Self {
            cluster,
            settings: Settings {
                rack: rack.unwrap_or_default(),
                ..Settings::default()
            },
        }
    }

    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Settings)) {
        change(&mut self.settings);
    }

    /// Reads all partitions of a topic. Can be called more than once. Partitions that are added to it later are
    /// read from their first record on, unless the reader has an [`until`](Self::until).
    pub fn topic(mut self, topic: impl Into<Arc<str>>) -> Self {
        self.settings.topics.push(topic.into());
        self
    }

    /// Reads one partition. Can be called more than once.
    pub fn partition(mut self, partition: impl Into<TopicPartition>) -> Self {
        self.settings.partitions.push(partition.into());
        self
    }

    /// Reads these partitions.
    pub fn partitions<P: Into<TopicPartition>>(
        mut self,
        partitions: impl IntoIterator<Item = P>,
    ) -> Self {
        let partitions = partitions.into_iter().map(Into::into);
        self.settings.partitions.extend(partitions);
        self
    }

    /// Where reading begins. [`Start::Earliest`] by default.
    pub fn start(mut self, start: Start) -> Self {
        self.settings.start = start;
        self
    }

    /// Where reading of one partition begins: with offsets that are kept outside of Kafka, for example.
    pub fn start_of(mut self, partition: impl Into<TopicPartition>, start: Start) -> Self {
        self.settings.starts.insert(partition.into(), start);
        self
    }

    /// Where reading ends. By default it goes on for ever. Once every partition has reached its end, the reader
    /// gives `None`.
    pub fn until(mut self, end: End) -> Self {
        self.settings.end = Some(end);
        self
    }

    /// Where reading of one partition ends.
    pub fn until_of(mut self, partition: impl Into<TopicPartition>, end: End) -> Self {
        self.settings.ends.insert(partition.into(), end);
        self
    }

    /// Which records of transactions are read. [`Isolation::ReadCommitted`] by default; Java's default is the
    /// other.
    pub fn isolation(mut self, isolation: Isolation) -> Self {
        self.settings.isolation = isolation;
        self
    }

    /// What is done when a position is not in the log. [`OffsetReset::Error`] by default.
    pub fn on_out_of_range(mut self, reset: OffsetReset) -> Self {
        self.settings.reset = reset;
        self
    }

    /// Bytes that a broker waits for before it answers. 1 by default: it answers as soon as there is a record.
    pub fn fetch_min_bytes(mut self, bytes: usize) -> Self {
        self.settings.min_bytes = bytes;
        self
    }

    /// The most bytes in one answer. 50 MiB by default. A batch that is larger comes all the same.
    pub fn fetch_max_bytes(mut self, bytes: usize) -> Self {
        self.settings.max_bytes = bytes;
        self
    }

    /// How long a broker waits for [`fetch_min_bytes`](Self::fetch_min_bytes). 500 ms by default.
    pub fn fetch_max_wait(mut self, wait: Duration) -> Self {
        self.settings.max_wait = bounded(wait);
        self
    }

    /// The most bytes of one partition in one answer. 1 MiB by default. A batch that is larger comes all the
    /// same.
    pub fn partition_max_bytes(mut self, bytes: usize) -> Self {
        self.settings.partition_max_bytes = bytes;
        self
    }

    /// Bytes that are fetched ahead of the application, of all partitions together, as they come from brokers.
    /// 64 MiB by default. Batches that were handed out do not count; a batch that is larger than the rest of the
    /// budget comes all the same.
    pub fn memory(mut self, bytes: usize) -> Self {
        self.settings.memory = bytes;
        self
    }

    /// The most bytes that one batch is decompressed to. 128 MiB by default. A larger one is an error.
    pub fn max_decompressed_batch(mut self, bytes: usize) -> Self {
        self.settings.max_decompressed = bytes;
        self
    }

    /// The rack that this program runs in. Brokers that are set up for it then name a replica in it to read from
    /// (KIP-392). By default it is the client's.
    pub fn rack(mut self, rack: impl Into<String>) -> Self {
        self.settings.rack = rack.into();
        self
    }

    /// How long to wait before something that failed is tried again. 100 ms, doubling to 1 s, by default.
    pub fn retry_backoff(mut self, backoff: Backoff) -> Self {
        self.settings.backoff = backoff;
        self
    }

    /// How long [`build`](Self::build) waits for metadata, and calls that ask for offsets for their answers. A
    /// minute by default.
    pub fn metadata_timeout(mut self, timeout: Duration) -> Self {
        self.settings.metadata_timeout = bounded(timeout);
        self
    }

    /// The reader. Waits for the topics' metadata; fetching then begins at once.
    ///
    /// # Errors
    /// All violations of the configuration at once; or when a topic or partition does not exist, may not be seen,
    /// or no broker tells in time.
    ///
    /// # Cancel safety
    /// Cancel-safe: nothing stays behind.
    pub async fn build(self) -> Result<Reader> {
        let Self { cluster, settings } = self;
        let violations = settings.violations();
        if !violations.is_empty() {
            return Err(config_error(&violations));
        }
        let runtime = runtime()?;
        let deadline = Instant::now() + settings.metadata_timeout;
        let mut partitions = Vec::new();
        let shared = Arc::new(Shared::new(cluster, settings, runtime));
        let (cluster, settings) = (&shared.cluster, &shared.settings);
        for name in &settings.topics {
            shared.hold(name);
            let topic = cluster.topic(name, deadline).await?;
            let all = topic.partitions.iter();
            partitions.extend(all.map(|one| TopicPartition::new(topic.name.clone(), one.index)));
        }
        for partition in &settings.partitions {
            shared.hold(&partition.topic);
            let topic = cluster.topic(&partition.topic, deadline).await?;
            let index = usize::try_from(partition.partition).unwrap_or(usize::MAX);
            if index >= topic.partitions.len() {
                return Err(Error::new(
                    ErrorKind::UnknownTopic,
                    format!("the topic has {} partitions", topic.partitions.len()),
                )
                .in_partition(partition.topic.clone(), partition.partition));
            }
            partitions.push(partition.clone());
        }
        {
            let mut core = shared.core();
            for partition in partitions {
                let origin = shared.settings.start_of(&partition).origin();
                let bound = shared.settings.bound_of(&partition);
                core.assign(partition, origin, bound);
            }
        }
        Ok(Reader::start(shared))
    }
}
