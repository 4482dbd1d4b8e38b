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
    ending: OnceLock<Ending>,
    wakers: Mutex<Vec<Waker>>,
}

/// How a batch ends.
#[derive(Debug)]
enum Ending {
    Outcome(Outcome),
    /// Its records are in these batches now, in order, and wait for theirs.
    Split(Box<[SplitPart]>),
}

/// A batch that has some of the records of one that was split.
#[derive(Debug)]
pub(crate) struct SplitPart {
    /// The place of its first record in the one that was split.
    pub(crate) first: u32,
    pub(crate) completion: Arc<Completion>,
}

impl Completion {
    pub(crate) fn new(partition: i32) -> Self {
        Self {
            partition,
            ending: OnceLock::new(),
            wakers: Mutex::default(),
        }
    }

    pub(crate) fn partition(&self) -> i32 {
        self.partition
    }

    /// Tells everybody who waits. The first outcome is the one that stays.
    pub(crate) fn complete(&self, outcome: Outcome) {
        self.end(Ending::Outcome(outcome));
    }

    /// Has everybody who waits do so for one of these. They are in order, and the first begins with record 0.
    pub(crate) fn split(&self, parts: Box<[SplitPart]>) {
        self.end(Ending::Split(parts));
    }

    fn end(&self, ending: Ending) {
        if self.ending.set(ending).is_err() {
            return;
        }
        let wakers = {
            let mut wakers = self.wakers.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *wakers)
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    /// How it ended, or a promise to wake. `place` is where the waiter's waker is kept.
    fn poll(&self, place: &mut Option<usize>, cx: &Context<'_>) -> Poll<&Ending> {
        if let Some(ending) = self.ending.get() {
            return Poll::Ready(ending);
        }
        let mut wakers = self.wakers.lock().unwrap_or_else(PoisonError::into_inner);
        // Looked at again: it may have been completed before the lock was taken.
        if let Some(ending) = self.ending.get() {
            return Poll::Ready(ending);
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

    /// Waits for the batch as a whole, also when it is split. The result is the first failure.
    ///
    /// Cancel-safe.
    pub(crate) async fn wait(self: &Arc<Self>) -> Result<()> {
        let mut first = Ok(());
        // The last goes first.
        let mut left = vec![Arc::clone(self)];
        while let Some(batch) = left.pop() {
            let mut place = None;
            let outcome = std::future::poll_fn(|cx| {
                batch.poll(&mut place, cx).map(|ending| match ending {
                    Ending::Outcome(outcome) => outcome.as_ref().map(|_| ()).map_err(Error::clone),
                    Ending::Split(parts) => {
                        let parts = parts.iter().rev();
                        left.extend(parts.map(|part| Arc::clone(&part.completion)));
                        Ok(())
                    }
                })
            })
            .await;
            if first.is_ok() {
                first = outcome;
            }
        }
        first
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
        loop {
            let part = match this.batch.poll(&mut this.place, cx) {
                Poll::Ready(Ending::Outcome(Ok(written))) => {
                    return Poll::Ready(Ok(this.receipt(written)));
                }
                Poll::Ready(Ending::Outcome(Err(error))) => {
                    return Poll::Ready(Err(error.clone()));
                }
                Poll::Ready(Ending::Split(parts)) => {
                    let behind = parts.partition_point(|part| part.first <= this.index);
                    let part = &parts[behind - 1];
                    (Arc::clone(&part.completion), part.first)
                }
                Poll::Pending => return Poll::Pending,
            };
            let (batch, first) = part;
            this.batch = batch;
            this.index -= first;
            this.place = None;
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

    #[test]
    fn records_of_a_split_batch_wait_for_their_part() {
        let whole = Arc::new(Completion::new(3));
        let counter = Arc::new(Counter::default());
        let waker = Waker::from(Arc::clone(&counter));
        let mut cx = Context::from_waker(&waker);
        let mut deliveries: Vec<_> = (0..4)
            .map(|index| Delivery::new(Arc::clone(&whole), index, 77))
            .collect();
        let mut waiting = Box::pin(whole.wait());
        assert!(waiting.as_mut().poll(&mut cx).is_pending());
        assert!(Pin::new(&mut deliveries[3]).poll(&mut cx).is_pending());
        let parts: Vec<_> = [0, 1, 3]
            .map(|first| SplitPart {
                first,
                completion: Arc::new(Completion::new(3)),
            })
            .into();
        let completions: Vec<_> = parts.iter().map(|p| Arc::clone(&p.completion)).collect();
        whole.split(parts.into());
        assert_eq!(counter.0.load(Ordering::Relaxed), 2);
        assert!(Pin::new(&mut deliveries[3]).poll(&mut cx).is_pending());
        for (offset, completion) in [(10, &completions[0]), (50, &completions[2])] {
            completion.complete(Ok(Written {
                base_offset: Some(offset),
                append_time: None,
            }));
        }
        assert!(waiting.as_mut().poll(&mut cx).is_pending());
        completions[1].complete(Err(Error::new(ErrorKind::Closed, "closed")));
        assert!(matches!(
            waiting.as_mut().poll(&mut cx),
            Poll::Ready(Err(_))
        ));
        let offsets: Vec<_> = deliveries
            .iter_mut()
            .map(|delivery| match Pin::new(delivery).poll(&mut cx) {
                Poll::Ready(Ok(receipt)) => receipt.offset,
                Poll::Ready(Err(_)) => None,
                Poll::Pending => panic!("no outcome"),
            })
            .collect();
        assert_eq!(offsets, [Some(10), None, None, Some(50)]);
    }
}
