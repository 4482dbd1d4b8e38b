//! How partitions reach the sink of their leader.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::topic::PartitionHandle;

/// What a sink is told.
#[derive(Default)]
pub(crate) struct Inbox {
    /// Partitions that have something, and are on no list yet.
    listed: Mutex<Vec<Arc<PartitionHandle>>>,
    wake: Notify,
    /// Since when something waits and nothing was sent.
    blocked_since: Mutex<Option<Instant>>,
}

impl Inbox {
    pub(crate) fn list(&self, partition: Arc<PartitionHandle>) {
        self.listed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(partition);
    }

    pub(crate) fn take_listed(&self, to: &mut Vec<Arc<PartitionHandle>>) {
        to.append(&mut self.listed.lock().unwrap_or_else(PoisonError::into_inner));
    }

    pub(crate) fn wake(&self) {
        self.wake.notify_one();
    }

    pub(crate) async fn woken(&self) {
        self.wake.notified().await;
    }

    pub(crate) fn set_blocked(&self, blocked: bool, now: Instant) {
        let mut since = self
            .blocked_since
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if blocked {
            since.get_or_insert(now);
        } else {
            *since = None;
        }
    }

    pub(crate) fn blocked(&self) -> Option<Duration> {
        let since = self
            .blocked_since
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        since.map(|since| since.elapsed())
    }
}
