//! Waiting for something to happen to partitions.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use super::Partition;

/// Those who wait for a partition.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    list: Mutex<Vec<Arc<Notify>>>,
    /// Its length: mostly nobody waits, and producing need not take the lock.
    count: AtomicUsize,
}

impl Waiters {
    /// Wakes everybody. They look for themselves whether it is what they wait for.
    pub(crate) fn wake(&self) {
        if self.count.load(Ordering::SeqCst) == 0 {
            return;
        }
        for waiter in &*self.list.lock().unwrap_or_else(PoisonError::into_inner) {
            waiter.notify_one();
        }
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Arc<Notify>>)) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut list);
        self.count.store(list.len(), Ordering::SeqCst);
    }
}

/// Waits for any of some partitions. What happens between [`Watch::new`] and [`Watch::changed`] is not missed,
/// so look at the partitions between the two.
#[derive(Debug)]
pub(crate) struct Watch {
    partitions: Vec<Arc<Partition>>,
    notify: Arc<Notify>,
}

impl Watch {
    pub(crate) fn new(partitions: Vec<Arc<Partition>>) -> Self {
        let notify = Arc::new(Notify::new());
        for partition in &partitions {
            let waiter = notify.clone();
            partition.waiters().change(|list| list.push(waiter));
        }
        Self { partitions, notify }
    }

    /// Returns when one of the partitions has changed since the last call. Cancel-safe.
    pub(crate) async fn changed(&self) {
        self.notify.notified().await;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        for partition in &self.partitions {
            partition
                .waiters()
                .change(|list| list.retain(|waiter| !Arc::ptr_eq(waiter, &self.notify)));
        }
    }
}
