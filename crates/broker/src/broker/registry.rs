//! A broker's Schema Registry: its port, and the task behind it.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::builder::reachable;
use super::node::Address;
use super::shared::Shared;
use crate::registry::{Registry, listen};
use crate::{Error, Result};

/// The port, before the broker is there.
#[derive(Debug)]
pub(super) struct RegistryListener {
    listener: TcpListener,
    address: Address,
}

impl RegistryListener {
    pub(super) async fn bind(address: SocketAddr) -> Result<Self> {
        let failed = |error| {
            Error::io(
                format!("the Schema Registry: listening on {address}"),
                error,
            )
        };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        let address = Address {
            host: reachable(bound.ip()),
            port: bound.port(),
        };
        Ok(Self { listener, address })
    }

    pub(super) fn run(self, shared: &Arc<Shared>) -> RunningRegistry {
        let listening = listen(shared.clone(), Arc::new(Registry::default()), self.listener);
        RunningRegistry {
            task: tokio::spawn(listening),
            address: self.address,
        }
    }
}

/// The task that takes connections, and has them closed when it ends.
#[derive(Debug)]
pub(super) struct RunningRegistry {
    task: JoinHandle<()>,
    address: Address,
}

impl RunningRegistry {
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns when there are no connections any more.
    pub(super) async fn stop(&mut self) {
        self.task.abort();
        // It ends at the next point where it waits.
        let _ = (&mut self.task).await;
    }
}

impl Drop for RunningRegistry {
    fn drop(&mut self) {
        self.task.abort();
    }
}
