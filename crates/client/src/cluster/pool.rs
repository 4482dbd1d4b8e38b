//! The connections to brokers, one for each broker and use.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::{Instant, sleep_until};

use crate::backoff::Backoff;
use crate::net::{Address, Connection, Dialer};
use crate::{Error, ErrorKind, Result};

/// What a connection is for. Answers come in the order of the questions, so that nothing urgent may stand
/// behind something slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Use {
    /// Produce, metadata, administration.
    General,
    /// One reader's fetches, by its number: an answer may wait for records that come later, and other readers
    /// do not wait for the same ones.
    Fetch(u64),
    /// One consumer's JoinGroup and SyncGroup, by its number: they wait for all other members, and a broker looks at
    /// nothing that comes behind them meanwhile.
    Join(u64),
    /// Groups and transactions: a heartbeat must not wait for a fetch or a megabyte of records.
    Coordination,
}

pub(crate) struct Pool {
    dialer: Dialer,
    backoff: Backoff,
    slots: Mutex<HashMap<(i32, Use), Arc<Slot>>>,
}

#[derive(Default)]
struct Slot {
    current: Mutex<Option<(Address, Connection)>>,
    /// Held by whoever dials, so that others wait for the same connection.
    dialing: tokio::sync::Mutex<Attempts>,
}

#[derive(Default)]
struct Attempts {
    failures: u32,
    not_before: Option<Instant>,
}

impl Slot {
    fn open(&self, address: &Address) -> Option<Connection> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        match &*current {
            Some((at, connection)) if at == address && connection.is_open() => {
                Some(connection.clone())
            }
            Some(_) => {
                // Ended, or the broker has moved.
                *current = None;
                None
            }
            None => None,
        }
    }
}

impl Pool {
    pub(crate) fn new(dialer: Dialer, backoff: Backoff) -> Self {
        Self {
            dialer,
            backoff,
            slots: Mutex::default(),
        }
    }

    pub(crate) fn dialer(&self) -> &Dialer {
        &self.dialer
    }

    fn slot(&self, node: i32, usage: Use) -> Arc<Slot> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(slots.entry((node, usage)).or_default())
    }

    /// The connection if there is one now.
    pub(crate) fn open(&self, node: i32, usage: Use, address: &Address) -> Option<Connection> {
        self.slot(node, usage).open(address)
    }

    /// The connection, dialled if there is none. After failures it waits first, longer each time.
    ///
    /// Cancel-safe: whoever comes next dials anew.
    pub(crate) async fn connect(
        &self,
        node: i32,
        usage: Use,
        address: &Address,
        wait: bool,
    ) -> Result<Connection> {
        let slot = self.slot(node, usage);
        if let Some(connection) = slot.open(address) {
            return Ok(connection);
        }
        let mut attempts = slot.dialing.lock().await;
        if let Some(connection) = slot.open(address) {
            return Ok(connection);
        }
        if let Some(not_before) = attempts.not_before.filter(|&at| at > Instant::now()) {
            if !wait {
                return Err(Error::new(
                    ErrorKind::Connect,
                    "the last connection failed, and it is too early for the next",
                )
                .at_broker(address.to_string()));
            }
            sleep_until(not_before).await;
        }
        match self.dialer.dial(address, Some(node)).await {
            Ok(connection) => {
                *attempts = Attempts::default();
                let mut current = slot.current.lock().unwrap_or_else(PoisonError::into_inner);
                *current = Some((address.clone(), connection.clone()));
                Ok(connection)
            }
            Err(error) => {
                attempts.failures = attempts.failures.saturating_add(1);
                attempts.not_before = Some(Instant::now() + self.backoff.after(attempts.failures));
                Err(error)
            }
        }
    }

    /// Forgets a connection that nobody will ask for again. It closes with its last handle.
    pub(crate) fn forget(&self, node: i32, usage: Use) {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.remove(&(node, usage));
    }

    /// Closes the connections to nodes that are gone.
    pub(crate) fn retain(&self, keep: impl Fn(i32) -> bool) {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.retain(|&(node, _), _| keep(node));
    }
}
