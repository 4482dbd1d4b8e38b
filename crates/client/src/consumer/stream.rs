//! A consumer as a stream.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::batch::{GroupBatch, GroupRecord};
use super::handle::Consumer;
use crate::Result;

/// The records of a consumer one by one, each sharing the buffer of its batch.
///
/// What of a batch was not taken when the consumer is asked for a batch, comes again with it.
#[must_use = "a stream does nothing until it is polled"]
#[derive(Debug)]
pub struct GroupRecords<'a> {
    consumer: &'a mut Consumer,
}

impl<'a> GroupRecords<'a> {
    pub(super) fn new(consumer: &'a mut Consumer) -> Self {
        Self { consumer }
    }

    /// The next record, as [`Consumer::recv`] gives the next batch.
    ///
    /// # Cancel safety
    /// Cancel-safe.
    pub async fn next(&mut self) -> Option<Result<GroupRecord>> {
        std::future::poll_fn(|cx| self.consumer.poll_record(cx)).await
    }
}

impl Stream for GroupRecords<'_> {
    type Item = Result<GroupRecord>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.consumer.poll_record(cx)
    }
}

impl Stream for Consumer {
    type Item = Result<GroupBatch>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_batch(cx)
    }
}
