//! The producer's logic without sockets, tasks and clocks: everything is told what time it is.
//!
//! - [`batch`]: batches, from the first record to the answer.
//! - [`partition`]: one partition's batches: which one goes out when, and under which sequence.
//! - [`answers`], [`settle`]: what answers mean for them, and what happens when none comes.
//! - [`split`]: batches that a broker refuses because they are too large.
//! - [`stamp`]: the producer's identity in a partition, and its sequences.

mod answers;
mod batch;
mod partition;
mod settle;
mod split;
#[cfg(test)]
mod split_tests;
mod stamp;
#[cfg(test)]
mod tests;

pub(crate) use batch::{Parts, SealJob};
pub(crate) use partition::{Attention, PartitionCore, Sending};
pub(crate) use settle::{Answered, Effects, Settled, is_stale};
pub(crate) use stamp::ProducerId;

use std::time::Duration;

use copart_protocol::records::Compression;

use crate::Backoff;

/// What a partition's core needs to know.
#[derive(Clone, Debug)]
pub(crate) struct CoreConfig {
    /// A batch is closed when the next record would not fit into this many bytes.
    pub(crate) batch_size: usize,
    /// For errors.
    pub(crate) max_request_size: usize,
    pub(crate) linger: Duration,
    pub(crate) delivery_timeout: Duration,
    /// Batches of one partition that are on their way at once.
    pub(crate) max_in_flight: usize,
    pub(crate) idempotent: bool,
    pub(crate) compression: Compression,
    pub(crate) backoff: Backoff,
}
