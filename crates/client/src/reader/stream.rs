//! Records one by one.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use super::handle::Reader;
use super::record::OwnedRecord;
use crate::Result;

/// The records of a reader one by one, each sharing the buffer of its batch.
///
/// Nothing is lost when it is dropped: the reader goes on with the record after the last one that was given out.
#[must_use = "a stream does nothing until it is polled"]
#[derive(Debug)]
pub struct RecordStream<'a> {
    reader: &'a mut Reader,
}

impl<'a> RecordStream<'a> {
    pub(super) fn new(reader: &'a mut Reader) -> Self {
        Self { reader }
    }

    /// The next record, as [`Reader::recv`] gives the next batch.
    ///
    /// # Cancel safety
    /// Cancel-safe.
    pub async fn next(&mut self) -> Option<Result<OwnedRecord>> {
        std::future::poll_fn(|cx| self.reader.poll_record(cx)).await
    }
}

impl Stream for RecordStream<'_> {
    type Item = Result<OwnedRecord>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.reader.poll_record(cx)
    }
}

impl Stream for Reader {
    type Item = Result<super::Batch>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(ready!(self.poll_batch(cx)))
    }
}
