//! Dropping futures before they are ready.

use std::future::Future;
use std::pin::pin;
use std::task::Poll;

/// Polls a future until it is ready, or drops it after `polls` polls that it was not.
pub async fn poll_at_most<F: Future>(future: F, polls: usize) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut left = polls;
    std::future::poll_fn(|cx| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        match future.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            // Whoever wakes it brings the next poll, or nobody does.
            Poll::Pending if left == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}
