//! A batch, from its first record to the broker's answer.

use std::sync::Arc;

use copart_protocol::records::{
    BatchBuilder, Compression, Compressor, Header, Producer, RecordBatch, Seal,
};
use tokio::time::Instant;
use tracing::Span;

use crate::producer::completion::Completion;

/// A record as it is appended: bytes, and nothing owned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts<'a> {
    pub(crate) timestamp: i64,
    pub(crate) key: Option<&'a [u8]>,
    pub(crate) value: Option<&'a [u8]>,
    pub(crate) headers: &'a [Header<'a>],
}

impl Parts<'_> {
    /// No encoding of the record is larger.
    pub(crate) fn size_bound(&self) -> usize {
        // Length, attributes, timestamp and offset deltas, three lengths: varints of at most 5 or 10 bytes.
        const FIXED: usize = 36;
        let headers = self
            .headers
            .iter()
            .map(|header| 10 + header.key.len() + header.value.map_or(0, <[u8]>::len));
        FIXED
            + self.key.map_or(0, <[u8]>::len)
            + self.value.map_or(0, <[u8]>::len)
            + headers.sum::<usize>()
    }
}

/// A batch that takes records.
pub(super) struct OpenBatch {
    pub(super) builder: BatchBuilder,
    pub(super) completion: Arc<Completion>,
    pub(super) created: Instant,
    /// Bytes of the memory budget that its records hold.
    pub(super) cost: usize,
    /// Somebody waits for one of its records alone: lingering would only delay them.
    pub(super) urgent: bool,
    pub(super) trace: Span,
}

/// A batch that takes no more records.
pub(super) struct ClosedBatch {
    /// Its place among the partition's batches: how many records came before it. Never changes, and leaves room
    /// for the parts of a batch that is split.
    pub(super) order: u64,
    pub(super) body: Body,
    pub(super) completion: Arc<Completion>,
    pub(super) created: Instant,
    pub(super) cost: usize,
    pub(super) count: u32,
    pub(super) stamp: Option<Producer>,
    /// An attempt ended without an answer that says whether the batch was written.
    pub(super) unknown: bool,
    pub(super) attempts: u32,
    /// Its records were told already that their time is over.
    pub(super) told: bool,
    /// Until it goes out for the first time.
    pub(super) trace: Span,
}

/// Where a closed batch's bytes are. They go through the states in this order, and never back.
pub(super) enum Body {
    /// Encoded, not compressed.
    Built(BatchBuilder),
    /// Somewhere else, being compressed.
    Sealing,
    /// As it is sent, but for the stamp.
    Sealed(RecordBatch),
}

/// A batch to compress, away from the partition's lock.
pub(crate) struct SealJob {
    pub(super) order: u64,
    pub(super) builder: BatchBuilder,
    pub(super) compression: Compression,
}

impl SealJob {
    /// Bytes to compress.
    pub(crate) fn size(&self) -> usize {
        self.builder.size()
    }

    /// Compresses it.
    pub(crate) fn run(self, compressor: &mut Compressor) -> SealedJob {
        let seal = Seal {
            compression: self.compression,
            ..Seal::default()
        };
        SealedJob {
            order: self.order,
            result: self.builder.seal(&seal, compressor),
        }
    }
}

/// What came of a [`SealJob`].
pub(crate) struct SealedJob {
    pub(super) order: u64,
    pub(super) result: copart_protocol::Result<RecordBatch>,
}
