//! Building a producer. Without a partitioner it does not compile.

use std::sync::Arc;
use std::time::Duration;

use copart_protocol::records::Compression;

use super::config::{Acks, ProducerConfig, Settings};
use super::core::CoreConfig;
use super::guards::Guard;
use super::handle::Producer;
use super::partitioner::Partitioning;
use super::shared::Shared;
use super::supervisor;
use crate::client::{bounded, config_error, runtime};
use crate::cluster::Cluster;
use crate::telemetry::Interceptor;
use crate::{Backoff, Result};

/// A producer's builder before its partitioner is named.
#[derive(Clone, Copy, Debug)]
pub struct NoPartitioner(());

/// A producer's builder after its partitioner is named.
#[derive(Clone, Debug)]
pub struct NamedPartitioner(Partitioning);

/// Says whether a builder knows its partitioner. There is nothing to implement.
#[diagnostic::on_unimplemented(
    message = "this producer has no partitioner",
    label = "name a partitioner before building the producer",
    note = "clients of Kafka disagree on where a key goes, so there is no default: say which client's keys \
            must match, for example `.partitioner(Partitioning::like(\"java\")?)`",
    note = "or ignore keys with `.partitioner(Partitioning::uniform())`"
)]
pub trait PartitionerChosen: sealed::Sealed {}

mod sealed {
    pub trait Sealed {
        fn partitioning(self) -> super::Partitioning;
    }
}

impl sealed::Sealed for NamedPartitioner {
    fn partitioning(self) -> Partitioning {
        self.0
    }
}

impl PartitionerChosen for NamedPartitioner {}

/// Collects what a producer needs.
///
/// ```no_run
/// # async fn run(client: copart::Client) -> copart::Result<()> {
/// use copart::{Codec, Partitioning, ProducerRecord};
///
/// let producer = client
///     .producer()
///     .partitioner(Partitioning::like("java")?)
///     .partitioner_for("legacy", Partitioning::like("ruby-kafka")?)
///     .compression(Codec::Zstd)
///     .build()?;
/// let receipt = producer.send(ProducerRecord::to("orders").key("k").value("v")).await?;
/// # Ok(()) }
/// ```
///
/// A producer without a partitioner cannot be built:
///
/// ```compile_fail,E0277
/// # fn run(client: copart::Client) -> copart::Result<()> {
/// let producer = client.producer().build()?;
/// # Ok(()) }
/// ```
#[must_use = "a builder does nothing until `build` is called"]
#[derive(Clone, Debug)]
pub struct ProducerBuilder<P> {
    cluster: Cluster,
    partitioner: P,
    settings: Settings,
}

impl ProducerBuilder<NoPartitioner> {
    pub(crate) fn new(cluster: Cluster) -> Self {
        Self {
            cluster,
            partitioner: NoPartitioner(()),
            settings: Settings::default(),
        }
    }
}

impl<P> ProducerBuilder<P> {
    /// Names the partitioner for all topics that have none of their own.
    pub fn partitioner(self, partitioning: Partitioning) -> ProducerBuilder<NamedPartitioner> {
        ProducerBuilder {
            cluster: self.cluster,
            partitioner: NamedPartitioner(partitioning),
            settings: self.settings,
        }
    }

    /// Names another partitioner for one topic.
    pub fn partitioner_for(mut self, topic: impl Into<String>, partitioning: Partitioning) -> Self {
        self.settings.overrides.insert(topic.into(), partitioning);
        self
    }

    /// Declares how many partitions a topic has. What is done if it has another number is `guard`'s to say.
    pub fn expect_partitions(
        mut self,
        topic: impl Into<String>,
        count: usize,
        guard: Guard,
    ) -> Self {
        let expected = &mut self.settings.guards.expected;
        expected.insert(topic.into(), (count, guard));
        self
    }

    /// What is done when the number of a topic's partitions changes while the producer runs: most keys go
    /// elsewhere from then on. [`Guard::Warn`] by default. With [`Guard::Refuse`], records that were taken
    /// before are still sent.
    pub fn on_partition_count_change(mut self, guard: Guard) -> Self {
        self.settings.guards.on_change = guard;
        self
    }

    /// Compares the topic's newest records with its partitioner before the first record is sent, which waits for
    /// that. With [`Guard::Refuse`] nothing is written to a topic whose keys are elsewhere: the error says what
    /// was declared, what was found, and which client of the catalogue places keys so.
    ///
    /// A sample is read, of at most 20,000 records, 16 MiB and 5 seconds, which takes the permission READ on the
    /// topic. Few keys prove nothing, and an empty topic may be written to. Keys that are where the partitioner put
    /// them when the topic had fewer partitions are no disagreement. Partitioners that pin no keys, and such of
    /// your own, are not verified.
    pub fn verify_topic(mut self, topic: impl Into<String>, guard: Guard) -> Self {
        self.settings.guards.verify.insert(topic.into(), guard);
        self
    }

    /// As [`verify_topic`](Self::verify_topic), for all topics that it was not called for. Off by default.
    pub fn verify_topics(mut self, guard: Guard) -> Self {
        self.settings.guards.verify_others = Some(guard);
        self
    }

    /// Adds code that sees records and outcomes. Several are called in the order in which they were added.
    pub fn interceptor(mut self, interceptor: impl Interceptor) -> Self {
        self.settings.interceptors.add(interceptor);
        self
    }

    /// How many replicas must have a record. All that are in sync, by default.
    pub fn acks(mut self, acks: Acks) -> Self {
        self.settings.acks = acks;
        self
    }

    /// Whether brokers recognise retries, so that none is written twice or out of order. On by default.
    /// Without it a retry can write records a second time, and behind others that were sent later.
    pub fn idempotence(mut self, idempotence: bool) -> Self {
        self.settings.idempotence = idempotence;
        self
    }

    /// Bytes of records after which a batch is closed, before compression. 256 KiB by default. Memory is
    /// taken as records come, not ahead. A record that is larger is a batch of its own.
    pub fn batch_size(mut self, bytes: usize) -> Self {
        self.settings.batch_size = bytes;
        self
    }

    /// How long a batch waits for more records. 5 ms by default (KIP-1030). A record that is sent with
    /// [`Producer::send`] does not wait if nothing else of its partition is on the way.
    pub fn linger(mut self, linger: Duration) -> Self {
        self.settings.linger = linger;
        self
    }

    /// How batches are compressed: a codec, or one with a level. Not at all by default.
    pub fn compression(mut self, compression: impl Into<Compression>) -> Self {
        self.settings.compression = compression.into();
        self
    }

    /// Bytes of records that are held until they are delivered. 64 MiB by default. When they are used up,
    /// [`Producer::enqueue`] waits.
    pub fn buffer_memory(mut self, bytes: usize) -> Self {
        self.settings.buffer_memory = bytes;
        self
    }

    /// How long a record may wait for metadata and memory before it is refused. A minute by default.
    pub fn max_block(mut self, timeout: Duration) -> Self {
        self.settings.max_block = timeout;
        self
    }

    /// How long delivery may take, from when a record's batch is opened, retries included. Two minutes by
    /// default.
    pub fn delivery_timeout(mut self, timeout: Duration) -> Self {
        self.settings.delivery_timeout = timeout;
        self
    }

    /// The largest request in bytes, and with it the largest record. 1 MiB by default, as in Java's producer
    /// and in brokers' `message.max.bytes`.
    pub fn max_request_size(mut self, bytes: usize) -> Self {
        self.settings.max_request_size = bytes;
        self
    }

    /// How many requests to one broker may be without an answer. 5 by default, and at most with
    /// idempotence.
    pub fn max_in_flight(mut self, requests: usize) -> Self {
        self.settings.max_in_flight = requests;
        self
    }

    /// How long to wait before a batch is sent again. 100 ms, doubling to 1 s, by default.
    pub fn retry_backoff(mut self, backoff: Backoff) -> Self {
        self.settings.backoff = backoff;
        self
    }

    /// The producer. Must be called within a tokio runtime. Nothing is sent yet: metadata and a producer id
    /// are asked for with the first record.
    ///
    /// # Errors
    /// All violations of the configuration at once.
    pub fn build(self) -> Result<Producer>
    where
        P: PartitionerChosen,
    {
        let settings = self.settings;
        let violations = settings.violations();
        if !violations.is_empty() {
            return Err(config_error(&violations));
        }
        let core = CoreConfig {
            batch_size: settings.batch_size,
            max_request_size: settings.max_request_size,
            linger: bounded(settings.linger),
            delivery_timeout: bounded(settings.delivery_timeout),
            max_in_flight: settings.max_in_flight,
            idempotent: settings.idempotence,
            compression: settings.compression,
            backoff: settings.backoff,
        };
        let config = ProducerConfig {
            partitioning: sealed::Sealed::partitioning(self.partitioner),
            overrides: settings.overrides,
            guards: settings.guards,
            interceptors: settings.interceptors,
            acks: settings.acks,
            buffer_memory: settings.buffer_memory,
            max_block: bounded(settings.max_block),
            max_request_size: settings.max_request_size,
            max_in_flight: settings.max_in_flight,
        };
        let runtime = runtime()?;
        let shared = Arc::new(Shared::new(self.cluster, config, core, runtime));
        shared.runtime.spawn(supervisor::run(Arc::clone(&shared)));
        Ok(Producer::new(shared))
    }
}
