//! How much a broker lets its clients have.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Limits of what clients can make a broker hold. All are finite, so that no client can take it down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest request: `socket.request.max.bytes`.
    pub max_request_bytes: usize,
    /// How many array elements, such as partitions, one request may have in all.
    pub max_request_elements: usize,
    /// Bytes of requests that were received in part or are worked on, over all connections:
    /// `queued.max.request.bytes`. One request more may go beyond it, so that there is progress.
    pub max_requests_in_memory: usize,
    /// Bytes of record batches that are on their way to consumers, over all connections. A single answer more may
    /// go beyond it.
    pub max_responses_in_memory: usize,
    /// The most bytes of record batches in one answer: `fetch.max.bytes`.
    pub max_fetch_bytes: usize,
    /// Requests of one connection that wait for their answer, before no more are read.
    pub max_in_flight: usize,
    /// Connections to all nodes: `max.connections`.
    pub max_connections: usize,
    /// How long a connection may be silent: `connections.max.idle.ms`.
    pub idle_timeout: Duration,
    /// How long a client may take to send a request after its first byte.
    pub receive_timeout: Duration,
    /// How long a client may take no bytes of an answer.
    pub send_timeout: Duration,
    /// How many fetch sessions a node keeps: `max.incremental.fetch.session.cache.slots`.
    pub max_fetch_sessions: usize,
    /// How many partitions all fetch sessions of a node may have.
    pub max_fetch_session_partitions: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_request_bytes: 100 << 20,
            max_request_elements: 200_000,
            max_requests_in_memory: 128 << 20,
            max_responses_in_memory: 128 << 20,
            max_fetch_bytes: 55 << 20,
            max_in_flight: 64,
            max_connections: 20_000,
            idle_timeout: Duration::from_secs(600),
            receive_timeout: Duration::from_secs(30),
            send_timeout: Duration::from_secs(60),
            max_fetch_sessions: 1000,
            max_fetch_session_partitions: 500_000,
        }
    }
}

/// Memory that connections share.
///
/// It is handed out in units of [`Memory::UNIT`] bytes, as bytes really arrive. When it is used up, one
/// connection at a time may go beyond it: so nobody waits for ever for those who wait, too.
#[derive(Debug)]
pub(crate) struct Memory {
    budget: Arc<Semaphore>,
    overdraft: Arc<Semaphore>,
    units: usize,
}

/// What a connection has of it, given back when dropped.
#[derive(Debug, Default)]
pub(crate) struct Share {
    budget: Option<OwnedSemaphorePermit>,
    overdraft: Option<OwnedSemaphorePermit>,
}

impl Memory {
    pub(crate) const UNIT: usize = 64 << 10;

    pub(crate) fn new(bytes: usize) -> Self {
        let units = bytes
            .div_ceil(Self::UNIT)
            .clamp(1, Semaphore::MAX_PERMITS.min(u32::MAX as usize));
        Self {
            budget: Arc::new(Semaphore::new(units)),
            overdraft: Arc::new(Semaphore::new(1)),
            units,
        }
    }

    /// Adds to a share what `bytes` more take. Cancel-safe.
    pub(crate) async fn take(&self, share: &mut Share, bytes: usize) {
        if share.overdraft.is_some() {
            return;
        }
        let units = bytes.div_ceil(Self::UNIT).min(self.units) as u32;
        tokio::select! {
            biased;
            permit = self.budget.clone().acquire_many_owned(units) => {
                let permit = permit.expect("the semaphore is never closed");
                match &mut share.budget {
                    Some(have) => have.merge(permit),
                    none => *none = Some(permit),
                }
            }
            permit = self.overdraft.clone().acquire_owned() => {
                share.overdraft = Some(permit.expect("the semaphore is never closed"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn one_at_a_time_goes_beyond_the_budget() {
        let memory = Memory::new(2 * Memory::UNIT);
        let mut all = Share::default();
        memory.take(&mut all, 2 * Memory::UNIT).await;
        let mut beyond = Share::default();
        memory.take(&mut beyond, 1).await;
        memory.take(&mut beyond, 100 * Memory::UNIT).await;
        let mut third = Share::default();
        let wait = Duration::from_secs(1);
        tokio::time::timeout(wait, memory.take(&mut third, 1))
            .await
            .expect_err("nothing is left");
        drop(all);
        tokio::time::timeout(wait, memory.take(&mut third, 1))
            .await
            .expect("the budget is free again");
        drop((beyond, third));
        assert_eq!(memory.budget.available_permits(), 2);
        assert_eq!(memory.overdraft.available_permits(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn more_than_there_is_counts_as_all_of_it() {
        let memory = Memory::new(2 * Memory::UNIT);
        let mut share = Share::default();
        memory.take(&mut share, usize::MAX).await;
        assert!(share.overdraft.is_none());
        assert_eq!(memory.budget.available_permits(), 0);
    }
}
