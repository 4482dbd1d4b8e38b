//! Batches that a broker refuses because they are too large (KIP-126).
//!
//! The records go into two or more smaller batches in the same place and under the same sequences: nothing of
//! the refused batch was written, so its sequences are free, and those of the batches behind it stay right.
//! Parts that are still too large are split again, until a record stands alone.

use std::sync::Arc;

use copart_protocol::records::{
    BATCH_HEADER_LEN, BatchBuilder, Decompressor, Producer, RecordBatch, sequence_after,
};
use tracing::Span;

use super::batch::{Body, ClosedBatch};
use super::partition::PartitionCore;
use super::settle::Effects;
use crate::producer::completion::{Completion, SplitPart};
use crate::{Error, ErrorKind};

/// A part of a batch, so far without its own completion.
struct Part {
    builder: BatchBuilder,
    /// Its first record's place in the whole.
    first: u32,
}

impl PartitionCore {
    /// Puts smaller batches in the place of one that is too large for the broker, or fails it if it has one
    /// record.
    pub(super) fn split(&mut self, batch: ClosedBatch, error: Error, effects: &mut Effects) {
        let Body::Sealed(sealed) = &batch.body else {
            // Not reached: what was sent is sealed.
            return self.give_up(batch, error, effects);
        };
        if batch.count <= 1 || batch.told {
            let error = too_large(sealed.bytes().len(), self.config.max_request_size, error);
            return self.give_up(batch, error, effects);
        }
        let parts = match halves(sealed) {
            Ok(parts) => parts,
            Err(cause) => return self.give_up(batch, Error::from(cause), effects),
        };
        // Those to come need not be refused first. It stays so: that a limit was raised is not told.
        let largest = parts.iter().map(|part| part.builder.size()).max();
        self.batch_limit = self.batch_limit.min(largest.unwrap_or(self.batch_limit));
        tracing::debug!(
            topic = %self.topic, partition = self.index, records = batch.count, parts = parts.len(),
            "a batch is too large for the broker and is split"
        );
        let mut told = Vec::with_capacity(parts.len());
        let mut cost_left = batch.cost;
        let mut left = batch.count;
        for Part { builder, first } in parts {
            let count = builder.len() as u32;
            // In proportion; the last gets what is left.
            let cost = if count == left {
                cost_left
            } else {
                batch.cost / batch.count as usize * count as usize
            };
            cost_left -= cost;
            left -= count;
            let completion = Arc::new(Completion::new(self.index));
            told.push(SplitPart {
                first,
                completion: Arc::clone(&completion),
            });
            self.put_back(ClosedBatch {
                order: batch.order + u64::from(first),
                body: Body::Built(builder),
                completion,
                created: batch.created,
                cost,
                count,
                stamp: batch.stamp.map(|stamp| Producer {
                    base_sequence: sequence_after(stamp.base_sequence, first),
                    ..stamp
                }),
                unknown: batch.unknown,
                attempts: batch.attempts,
                told: false,
                trace: Span::none(),
            });
        }
        effects.split.push((batch.completion, told.into()));
        if let Body::Sealed(sealed) = batch.body {
            effects.buffers.push(sealed.into_bytes());
        }
    }
}

/// The records in batches of at most half the bytes, or of one record.
fn halves(sealed: &RecordBatch) -> copart_protocol::Result<Vec<Part>> {
    // Our own batch: what it holds was in memory before.
    let records = sealed.records(&mut Decompressor::new(usize::MAX))?;
    let target = BATCH_HEADER_LEN + records.data().len() / 2;
    let mut parts: Vec<Part> = Vec::new();
    for (index, record) in (0..).zip(&records) {
        let record = record?;
        let fits = parts.last().is_some_and(|part| {
            let headers: Vec<_> = record.headers.iter().collect();
            let size = part
                .builder
                .size_with(record.timestamp, record.key, record.value, &headers);
            size <= target
        });
        if !fits {
            parts.push(Part {
                builder: BatchBuilder::new(),
                first: index,
            });
        }
        if let Some(part) = parts.last_mut() {
            let base = sealed.header().base_offset + i64::from(part.first);
            part.builder.append_view(base, &record)?;
        }
    }
    Ok(parts)
}

/// A batch of one record that the broker refuses.
#[cold]
fn too_large(size: usize, limit: usize, refusal: Error) -> Error {
    Error::new(
        ErrorKind::TooLarge,
        format!(
            "the broker refuses a batch of {size} bytes with one record: it is over max.message.bytes of the \
             topic (message.max.bytes of the broker); the producer's own limit, max_request_size, is {limit} \
             bytes: raise the topic's limit, compress, or send smaller records"
        ),
    )
    .like_code_of(&refusal)
    .caused_by(refusal)
}
