//! A node: what clients take for a broker of the cluster.

use std::fmt;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use crate::fetch::Sessions;

/// A host and a port, as clients are told them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// What a node does with requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It answers them. After a start, or any other mode.
    Running,
    /// It takes connections, and answers nothing until it runs again.
    Paused,
    /// It lets each request wait.
    Slow(Duration),
    /// It has no listener and no connections.
    Stopped,
}

/// A node.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) id: i32,
    pub(crate) rack: Option<String>,
    /// Where clients find it. It does not change when the node is stopped and started.
    pub(crate) address: Address,
    pub(crate) listens_on: SocketAddr,
    mode: watch::Sender<Mode>,
    sessions: Mutex<Sessions>,
}

impl Node {
    pub(crate) fn new(
        id: i32,
        rack: Option<String>,
        address: Address,
        listens_on: SocketAddr,
        sessions: Sessions,
    ) -> Self {
        Self {
            id,
            rack,
            address,
            listens_on,
            mode: watch::Sender::new(Mode::Running),
            sessions: Mutex::new(sessions),
        }
    }

    pub(crate) fn mode(&self) -> watch::Receiver<Mode> {
        self.mode.subscribe()
    }

    pub(crate) fn set_mode(&self, mode: Mode) {
        self.mode.send_replace(mode);
    }

    pub(crate) fn sessions(&self) -> MutexGuard<'_, Sessions> {
        // At worst a session lost a partition, and the client is told of another epoch.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns when a request may be worked on. Cancel-safe.
    pub(crate) async fn admit(&self, mode: &mut watch::Receiver<Mode>) {
        loop {
            let now = *mode.borrow_and_update();
            match now {
                Mode::Running => return,
                Mode::Slow(delay) => return tokio::time::sleep(delay).await,
                Mode::Paused | Mode::Stopped => {
                    if mode.changed().await.is_err() {
                        return;
                    }
                }
            }
        }
    }

    /// Returns when the node is stopped. Cancel-safe.
    pub(crate) async fn stopped(&self) {
        // It fails when the node is gone, which is the same.
        let _ = self
            .mode
            .subscribe()
            .wait_for(|mode| *mode == Mode::Stopped)
            .await;
    }
}
