//! How senders learn what became of their records: one shared object for each batch.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::{Error, Result};

/// Where a batch was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) base_offset: Option<i64>,
    pub(crate) append_time: Option<i64>,
}

pub(crate) type Outcome = Result<Written>;

/// What all records of a batch wait for.
#[derive(Debug)]
pub(crate) struct Completion {
    partition: i32,
    outcome: OnceLock<Outcome>,
    wakers: Mutex<Vec<Waker>>,
}

impl Completion {
    pub(crate) fn new(partition: i32) -> Self {
        Self {
            partition,
            outcome: OnceLock::new(),
            wakers: Mutex::default(),
        }
    }

    /// Tells everybody who waits. The first outcome is the one that stays.
    pub(crate) fn complete(&self, outcome: Outcome) {
        if self.outcome.set(outcome).is_err() {
            return;
        }
        let wakers = {
            let mut wakers = self.wakers.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *wakers)
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    /// The outcome, or a promise to wake. `place` is where the waiter's waker is kept.
    pub(crate) fn poll(&self, place: &mut Option<usize>, cx: &Context<'_>) -> Poll<&Outcome> {
        if let Some(outcome) = self.outcome.get() {
            return Poll::Ready(outcome);
        }
        let mut wakers = self.wakers.lock().unwrap_or_else(PoisonError::into_inner);
        // Looked at again: it may have been completed before the lock was taken.
        if let Some(outcome) = self.outcome.get() {
            return Poll::Ready(outcome);
        }
        match *place {
            Some(at) => {
                if !wakers[at].will_wake(cx.waker()) {
                    wakers[at].clone_from(cx.waker());
                }
            }
            None => {
                *place = Some(wakers.len());
                wakers.push(cx.waker().clone());
            }
        }
        Poll::Pending
    }

    /// Waits for the batch as a whole.
    ///
    /// Cancel-safe.
    pub(crate) async fn wait(&self) -> Result<()> {
        let mut place = None;
        std::future::poll_fn(|cx| match self.poll(&mut place, cx) {
            Poll::Ready(outcome) => Poll::Ready(outcome.as_ref().map(|_| ()).map_err(Error::clone)),
            Poll::Pending => Poll::Pending,
        })
        .await
    }
}

/// A record that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Receipt {
    /// The partition that it went to.
    pub partition: i32,
    /// Its offset. None if the broker does not tell: with `Acks::None`, or when it recognised a retry of a
    /// batch whose offset it has forgotten.
    pub offset: Option<i64>,
    /// Its timestamp in milliseconds since 1970: the record's own, or the broker's if the topic takes the
    /// time of appending.
    pub timestamp: i64,
}

/// A record that is on its way. Awaiting it tells what became of it; dropping it changes nothing about that.
///
/// Cancel-safe: it can be polled from anywhere, dropped, and awaited by reference.
#[derive(Debug)]
#[must_use = "a failed delivery goes unnoticed unless it is awaited, or `flush` is"]
pub struct Delivery {
    batch: Arc<Completion>,
    index: u32,
    timestamp: i64,
    place: Option<usize>,
}

impl Delivery {
    pub(crate) fn new(batch: Arc<Completion>, index: u32, timestamp: i64) -> Self {
        Self {
            batch,
            index,
            timestamp,
            place: None,
        }
    }

    /// The partition that was chosen.
    pub fn partition(&self) -> i32 {
        self.batch.partition
    }

    fn receipt(&self, written: &Written) -> Receipt {
        Receipt {
            partition: self.batch.partition,
            offset: written.base_offset.map(|base| base + i64::from(self.index)),
            timestamp: written.append_time.unwrap_or(self.timestamp),
        }
    }
}

impl Future for Delivery {
    type Output = Result<Receipt>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        match this.batch.poll(&mut this.place, cx) {
            Poll::Ready(Ok(written)) => Poll::Ready(Ok(this.receipt(written))),
            Poll::Ready(Err(error)) => Poll::Ready(Err(error.clone())),
            Poll::Pending => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;
    use crate::ErrorKind;

    #[derive(Default)]
    struct Counter(AtomicUsize);

    impl Wake for Counter {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn every_record_is_told_once_and_keeps_its_offset() {
        let batch = Arc::new(Completion::new(3));
        let counter = Arc::new(Counter::default());
        let waker = Waker::from(Arc::clone(&counter));
        let mut cx = Context::from_waker(&waker);
        let mut deliveries: Vec<_> = (0..3)
            .map(|index| Delivery::new(Arc::clone(&batch), index, 77))
            .collect();
        for delivery in &mut deliveries {
            // Polled twice, one waker each all the same.
            assert!(Pin::new(&mut *delivery).poll(&mut cx).is_pending());
            assert!(Pin::new(&mut *delivery).poll(&mut cx).is_pending());
        }
        batch.complete(Ok(Written {
            base_offset: Some(40),
            append_time: None,
        }));
        batch.complete(Err(Error::new(ErrorKind::Closed, "too late")));
        assert_eq!(counter.0.load(Ordering::Relaxed), 3);
        for (offset, mut delivery) in (40..).zip(deliveries) {
            let Poll::Ready(Ok(receipt)) = Pin::new(&mut delivery).poll(&mut cx) else {
                panic!("not written");
            };
            let expected = Receipt {
                partition: 3,
                offset: Some(offset),
                timestamp: 77,
            };
            assert_eq!(receipt, expected);
        }
    }
}
