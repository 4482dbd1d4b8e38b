//! Building a consumer.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use super::config::{Commit, Settings};
use super::driver;
use super::group::{Assignor, Protocol};
use super::handle::Consumer;
use super::hooks::{Rebalance, hook};
use super::shared::Shared;
use super::{committing, shared};
use crate::client::{bounded, config_error, runtime};
use crate::cluster::Cluster;
use crate::reader::{self, Isolation, OffsetReset, Reader};
use crate::{Backoff, Result};

/// Collects what a consumer needs.
///
/// ```no_run
/// # async fn run(client: copart::Client) -> copart::Result<()> {
/// use std::time::Duration;
/// use copart::{Commit, OffsetReset};
///
/// let consumer = client
///     .consumer("billing")
///     .topics(["orders", "refunds"])
///     .offset_reset(OffsetReset::Earliest)
///     .commit(Commit::Processed { every: Duration::from_secs(1) })
///     .build()?;
/// # Ok(()) }
/// ```
#[must_use = "a builder does nothing until `build` is called"]
#[derive(Clone, Debug)]
pub struct ConsumerBuilder {
    cluster: Cluster,
    settings: Settings,
}

impl ConsumerBuilder {
    pub(crate) fn new(cluster: Cluster, group: Arc<str>) -> Self {
        Self {
            settings: Settings::new(group, &cluster),
            cluster,
        }
    }

    pub(crate) fn change_reader(&mut self, change: impl FnOnce(&mut reader::Settings)) {
        change(&mut self.settings.reader);
    }

    /// Reads a topic. Can be called more than once.
    pub fn topic(mut self, topic: impl Into<Arc<str>>) -> Self {
        self.settings.topics.push(topic.into());
        self
    }

    /// Reads these topics.
    pub fn topics<T: Into<Arc<str>>>(mut self, topics: impl IntoIterator<Item = T>) -> Self {
        let topics = topics.into_iter().map(Into::into);
        self.settings.topics.extend(topics);
        self
    }

    /// Reads all topics whose whole name matches, also those that come later, but for Kafka's own.
    ///
    /// In the consumer protocol the broker matches, by the syntax of RE2/J; in the classic one it is the `regex` crate,
    /// whose syntax is the same for all that names of topics need.
    pub fn pattern(mut self, pattern: impl Into<String>) -> Self {
        self.settings.pattern = Some(pattern.into());
        self
    }

    /// Which of Kafka's protocols for groups it speaks (`group.protocol`). [`Protocol::Auto`] by default: the consumer
    /// protocol (KIP-848) where the broker has it, else the classic one.
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.settings.protocol = protocol;
        self
    }

    /// How partitions are dealt out in the classic protocol, in order of preference (`partition.assignment.strategy`).
    /// All members need one in common. Cooperative-sticky, then range, by default. Each gives what Java's assignor of that
    /// name gives without racks.
    ///
    /// If all are cooperative, members keep their partitions while the group is rebalanced. To change a running group
    /// from one kind to the other, roll out twice (KIP-429): first with both in the list, then with the new one alone.
    pub fn assignors(mut self, assignors: impl IntoIterator<Item = Assignor>) -> Self {
        self.settings.assignors = assignors.into_iter().collect();
        self
    }

    /// How the broker deals them out in the consumer protocol (`group.remote.assignor`): `uniform` or `range`, or
    /// another that it was given. Its choice by default.
    pub fn server_assignor(mut self, assignor: impl Into<String>) -> Self {
        self.settings.server_assignor = Some(assignor.into());
        self
    }

    /// Makes it a static member (`group.instance.id`, KIP-345): when it comes back under this name within the session
    /// timeout, it has its partitions again, and the group is not rebalanced. No two members may have the same.
    pub fn instance_id(mut self, id: impl Into<Arc<str>>) -> Self {
        self.settings.instance_id = Some(id.into());
        self
    }

    /// After so long a silence a member is out of the group (`session.timeout.ms`). 45 seconds by default. In the
    /// consumer protocol the broker decides.
    pub fn session_timeout(mut self, timeout: Duration) -> Self {
        self.settings.session_timeout = timeout;
        self
    }

    /// How often it shows that it is there (`heartbeat.interval.ms`). 3 seconds by default. In the consumer protocol the
    /// broker decides.
    pub fn heartbeat_interval(mut self, interval: Duration) -> Self {
        self.settings.heartbeat_interval = interval;
        self
    }

    /// How long a batch that is out keeps its partition when another member is to have it, and so how long a rebalance
    /// can take. The [max processing time](Self::max_processing_time) by default.
    pub fn rebalance_timeout(mut self, timeout: Duration) -> Self {
        self.settings.rebalance_timeout = Some(timeout);
        self
    }

    /// How long a batch may be out, and how long the program may take to ask for the next one
    /// (`max.poll.interval.ms`). Five minutes by default. Then the consumer leaves the group, so that others go on.
    pub fn max_processing_time(mut self, time: Duration) -> Self {
        self.settings.max_processing_time = time;
        self
    }

    /// When offsets are committed. What was processed, every 5 seconds, by default.
    pub fn commit(mut self, commit: Commit) -> Self {
        self.settings.commit = commit;
        self
    }

    /// Where to begin if the group has committed nothing, and where to go on if what it has committed is not in the log
    /// any more (`auto.offset.reset`). [`OffsetReset::Earliest`] by default: nothing is passed over. Java's default is
    /// the latest.
    pub fn offset_reset(mut self, reset: OffsetReset) -> Self {
        self.settings.reader.reset = reset;
        self
    }

    /// Which records of transactions are read. [`Isolation::ReadCommitted`] by default; Java's default is the other.
    pub fn isolation(mut self, isolation: Isolation) -> Self {
        self.settings.reader.isolation = isolation;
        self
    }

    /// Bytes that a broker waits for before it answers. 1 by default: it answers as soon as there is a record.
    pub fn fetch_min_bytes(mut self, bytes: usize) -> Self {
        self.settings.reader.min_bytes = bytes;
        self
    }

    /// The most bytes in one answer. 50 MiB by default. A batch that is larger comes all the same.
    pub fn fetch_max_bytes(mut self, bytes: usize) -> Self {
        self.settings.reader.max_bytes = bytes;
        self
    }

    /// How long a broker waits for [`fetch_min_bytes`](Self::fetch_min_bytes). 500 ms by default.
    pub fn fetch_max_wait(mut self, wait: Duration) -> Self {
        self.settings.reader.max_wait = bounded(wait);
        self
    }

    /// The most bytes of one partition in one answer. 1 MiB by default. A batch that is larger comes all the same.
    pub fn partition_max_bytes(mut self, bytes: usize) -> Self {
        self.settings.reader.partition_max_bytes = bytes;
        self
    }

    /// Bytes that are fetched ahead of the program, of all partitions together. 64 MiB by default.
    pub fn memory(mut self, bytes: usize) -> Self {
        self.settings.reader.memory = bytes;
        self
    }

    /// The most bytes that one batch is decompressed to. 128 MiB by default. A larger one is an error.
    pub fn max_decompressed_batch(mut self, bytes: usize) -> Self {
        self.settings.reader.max_decompressed = bytes;
        self
    }

    /// The rack that this program runs in (`client.rack`): brokers then name a replica in it to read from (KIP-392), and
    /// a group whose leader is a Java client may give it partitions there (KIP-881); one whose leader is a consumer of
    /// this client does not look at racks. By default it is the client's.
    pub fn rack(mut self, rack: impl Into<String>) -> Self {
        self.settings.reader.rack = rack.into();
        self
    }

    /// How long to wait before something that failed is tried again. 100 ms, doubling to 1 s, by default.
    pub fn retry_backoff(mut self, backoff: Backoff) -> Self {
        self.settings.reader.backoff = backoff;
        self
    }

    /// How long commits, and calls that ask for offsets, may take with all their tries (`default.api.timeout.ms`). A
    /// minute by default.
    pub fn api_timeout(mut self, timeout: Duration) -> Self {
        self.settings.reader.metadata_timeout = bounded(timeout);
        self
    }

    /// Runs when partitions came, before the first record of them is handed out. It can say where they
    /// [begin](Rebalance::start_of).
    pub fn on_assigned<F, Fut>(mut self, code: F) -> Self
    where
        F: Fn(Rebalance) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.settings.hooks.assigned = Some(hook(code));
        self
    }

    /// Runs when partitions are given up, once no batch of them is out and before another member has them: the last
    /// chance to [commit](Rebalance::committer) of them. What was processed is committed after that by itself. Its time
    /// is what is left of the [rebalance timeout](Self::rebalance_timeout).
    pub fn on_revoked<F, Fut>(mut self, code: F) -> Self
    where
        F: Fn(Rebalance) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.settings.hooks.revoked = Some(hook(code));
        self
    }

    /// Runs when partitions are gone: the consumer was out of its group for too long, or took too long to give them up.
    /// Others may have them already, and what was not committed is processed again.
    pub fn on_lost<F, Fut>(mut self, code: F) -> Self
    where
        F: Fn(Rebalance) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.settings.hooks.lost = Some(hook(code));
        self
    }

    /// The consumer, which begins to join its group at once. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// All violations of the configuration at once. What the group or the cluster has against it,
    /// [`recv`](Consumer::recv) tells.
    pub fn build(self) -> Result<Consumer> {
        let Self { cluster, settings } = self;
        let violations = settings.violations();
        if !violations.is_empty() {
            return Err(config_error(&violations));
        }
        let runtime = runtime()?;
        let mut reading = settings.reader.clone();
        reading.group = Some(Arc::clone(&settings.group));
        let reading = Arc::new(reader::Shared::new(
            cluster.clone(),
            reading,
            runtime.clone(),
        ));
        let reader = Reader::start(Arc::clone(&reading));
        let (shared, channels) = Shared::new(cluster, reading, settings);
        let shared::Channels { commands, commits } = channels;
        runtime.spawn(committing::run(Arc::clone(&shared), commits));
        runtime.spawn(driver::run(Arc::clone(&shared), commands));
        Ok(Consumer::new(shared, reader))
    }
}
