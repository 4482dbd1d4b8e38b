//! What a producer is told when it is built.

use std::collections::HashMap;
use std::time::Duration;

use copart_protocol::records::{Codec, Compression};

use super::guards::Guards;
use super::partitioner::Partitioning;
use crate::Backoff;
use crate::telemetry::Interceptors;

/// How many replicas must have a record before it counts as written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Acks {
    /// The broker does not answer: a record counts as written when it was handed to the operating system.
    None,
    /// The leader.
    Leader,
    /// All that are in sync.
    #[default]
    All,
}

impl Acks {
    pub(crate) fn wire(self) -> i16 {
        match self {
            Self::None => 0,
            Self::Leader => 1,
            Self::All => -1,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct ProducerConfig {
    pub(crate) partitioning: Partitioning,
    pub(crate) overrides: HashMap<String, Partitioning>,
    pub(crate) guards: Guards,
    pub(crate) interceptors: Interceptors,
    pub(crate) acks: Acks,
    pub(crate) buffer_memory: usize,
    pub(crate) max_block: Duration,
    pub(crate) max_request_size: usize,
    /// Requests on one connection that have no answer yet.
    pub(crate) max_in_flight: usize,
}

impl ProducerConfig {
    pub(crate) fn partitioning_for(&self, topic: &str) -> &Partitioning {
        self.overrides.get(topic).unwrap_or(&self.partitioning)
    }
}

/// What the builder collects, with defaults.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) overrides: HashMap<String, Partitioning>,
    pub(crate) guards: Guards,
    pub(crate) interceptors: Interceptors,
    pub(crate) acks: Acks,
    pub(crate) idempotence: bool,
    pub(crate) batch_size: usize,
    pub(crate) linger: Duration,
    pub(crate) compression: Compression,
    pub(crate) buffer_memory: usize,
    pub(crate) max_block: Duration,
    pub(crate) delivery_timeout: Duration,
    pub(crate) max_request_size: usize,
    pub(crate) max_in_flight: usize,
    pub(crate) backoff: Backoff,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            overrides: HashMap::new(),
            guards: Guards::default(),
            interceptors: Interceptors::default(),
            acks: Acks::All,
            idempotence: true,
            batch_size: 256 << 10,
            linger: Duration::from_millis(5),
            compression: Compression::NONE,
            buffer_memory: 64 << 20,
            max_block: Duration::from_secs(60),
            delivery_timeout: Duration::from_secs(120),
            max_request_size: 1 << 20,
            max_in_flight: 5,
            backoff: Backoff::new(Duration::from_millis(100), Duration::from_secs(1)),
        }
    }
}

/// The most that an idempotent producer may have in flight: brokers remember so many batches of it.
const MAX_IDEMPOTENT_IN_FLIGHT: usize = 5;

impl Settings {
    /// Everything that is wrong with them.
    pub(crate) fn violations(&self) -> Vec<String> {
        let mut violations = Vec::new();
        let mut check = |holds: bool, text: &str| {
            if !holds {
                violations.push(text.to_owned());
            }
        };
        check(
            !self.idempotence || self.acks == Acks::All,
            "acks: idempotence needs Acks::All; turn idempotence off for less",
        );
        check(self.max_in_flight > 0, "max in flight: must not be zero");
        check(
            !self.idempotence || self.max_in_flight <= MAX_IDEMPOTENT_IN_FLIGHT,
            "max in flight: with idempotence, brokers remember 5 batches of a partition and no more",
        );
        check(
            self.batch_size >= 512,
            "batch size: must be 512 bytes or more",
        );
        check(
            self.batch_size <= self.max_request_size,
            "batch size: must not be above the maximum request size",
        );
        check(
            self.max_request_size <= 100 << 20,
            "max request size: must not be above 100 MiB, which is where brokers hang up",
        );
        check(
            self.buffer_memory >= self.max_request_size,
            "buffer memory: must hold the maximum request size",
        );
        check(
            self.buffer_memory <= tokio::sync::Semaphore::MAX_PERMITS,
            "buffer memory: is more than can be counted",
        );
        check(
            self.delivery_timeout > self.linger,
            "delivery timeout: must be longer than linger",
        );
        if let Some(level) = self.compression.level()
            && let Err(error) = Compression::new(self.compression.codec()).with_level(level)
        {
            violations.push(format!("compression: {error}"));
        }
        self.backoff.check("retry backoff", &mut violations);
        violations
    }
}

/// The first version of Produce in which a codec may be used (KIP-110).
pub(crate) fn min_produce_version(compression: Compression) -> i16 {
    match compression.codec() {
        Codec::Zstd => 7,
        _ => 3,
    }
}
