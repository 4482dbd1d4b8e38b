//! Taking connections.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::connection::serve;
use crate::broker::{Node, Shared};

/// Takes connections for a node until it is stopped, and then closes them all.
pub(crate) async fn listen(broker: Arc<Shared>, node: Arc<Node>, listener: TcpListener) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(ended) = connections.join_next() => {
                if let Err(error) = ended
                    && error.is_panic()
                {
                    tracing::error!(node = node.id, "a connection ended with a panic: {error}");
                }
                continue;
            }
            () = node.stopped() => return,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file descriptors, mostly: those who are connected go on.
                tracing::warn!(node = node.id, "cannot take a connection: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let Ok(slot) = broker.connections.clone().try_acquire_owned() else {
            tracing::warn!(
                node = node.id,
                %peer,
                "refused a connection: there are {} already, which is the limit",
                broker.limits.max_connections
            );
            continue;
        };
        let (broker, node) = (broker.clone(), node.clone());
        connections.spawn(async move {
            serve(broker, node, stream, peer).await;
            drop(slot);
        });
    }
}
