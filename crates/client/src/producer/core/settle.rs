//! What an answer means for a batch.

use std::sync::Arc;

use copart_protocol::ErrorCode;
use tokio::time::Instant;

use crate::Error;
use crate::producer::completion::{Completion, Outcome, SplitPart};

/// What became of an attempt to write a batch.
#[derive(Clone, Debug)]
pub(crate) enum Answered {
    /// It is in the log. No offset if the broker does not tell.
    Written {
        base_offset: Option<i64>,
        append_time: Option<i64>,
    },
    /// The broker says why not.
    Refused(ErrorCode, Option<Arc<str>>),
    /// No answer that could be read came.
    Failed(Error),
}

/// What to do with the batch then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// As in Kafka's own client: it was written before, and this was a retry.
    AlreadyWritten,
    /// Send the same bytes again. `unknown`: this attempt may have been written.
    Retry { unknown: bool },
    /// The broker's and our idea of the sequence differ.
    OutOfSequence,
    /// Larger than the broker takes: nothing was written, and smaller ones may be (KIP-126).
    TooLarge,
    /// Never try again. `unknown`: it may have been written.
    Fail { unknown: bool },
}

impl Verdict {
    pub(super) fn of(code: ErrorCode, idempotent: bool) -> Self {
        match code {
            ErrorCode::DUPLICATE_SEQUENCE_NUMBER => Self::AlreadyWritten,
            ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER
            | ErrorCode::UNKNOWN_PRODUCER_ID
            | ErrorCode::INVALID_PRODUCER_EPOCH
            | ErrorCode::INVALID_PRODUCER_ID_MAPPING
                if idempotent =>
            {
                Self::OutOfSequence
            }
            // The leader has it, and it may yet be on enough replicas or on none that lives.
            ErrorCode::REQUEST_TIMED_OUT
            | ErrorCode::NOT_ENOUGH_REPLICAS_AFTER_APPEND
            | ErrorCode::KAFKA_STORAGE_ERROR
            | ErrorCode::NETWORK_EXCEPTION => Self::Retry { unknown: true },
            ErrorCode::MESSAGE_TOO_LARGE | ErrorCode::RECORD_LIST_TOO_LARGE => Self::TooLarge,
            ErrorCode::UNKNOWN_SERVER_ERROR => Self::Fail { unknown: true },
            code if code.is_retriable() => Self::Retry { unknown: false },
            _ => Self::Fail { unknown: false },
        }
    }
}

/// Whether such an error means that somebody else leads the partition, or that it is not what we think.
pub(crate) fn is_stale(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::NOT_LEADER_OR_FOLLOWER
            | ErrorCode::LEADER_NOT_AVAILABLE
            | ErrorCode::UNKNOWN_TOPIC_OR_PARTITION
            | ErrorCode::UNKNOWN_TOPIC_ID
            | ErrorCode::INCONSISTENT_TOPIC_ID
            | ErrorCode::FENCED_LEADER_EPOCH
            | ErrorCode::KAFKA_STORAGE_ERROR
            | ErrorCode::REPLICA_NOT_AVAILABLE
    )
}

/// A batch whose records are to be told how it ended.
pub(crate) struct Settled {
    pub(crate) topic: Arc<str>,
    pub(crate) completion: Arc<Completion>,
    pub(crate) records: u32,
    pub(crate) created: Instant,
    pub(crate) outcome: Outcome,
}

/// What the driver has to do after a call. Not under the partition's lock: whoever is woken may take it.
#[derive(Default)]
pub(crate) struct Effects {
    pub(crate) settled: Vec<Settled>,
    /// Batches whose records are in several others now.
    pub(crate) split: Vec<(Arc<Completion>, Box<[SplitPart]>)>,
    /// Bytes to give back to the memory budget.
    pub(crate) freed: usize,
    /// Records that the partition does not hold any more.
    pub(crate) retried: bool,
    /// Buffers of batches that are done, to be used again.
    pub(crate) buffers: Vec<bytes::Bytes>,
}

impl Effects {
    pub(crate) fn is_empty(&self) -> bool {
        self.settled.is_empty()
            && self.split.is_empty()
            && self.freed == 0
            && self.buffers.is_empty()
    }
}
