//! Streams in memory, and the brokers at their other ends.

use std::io;
use std::sync::Arc;

use copart::{Address, BoxFuture, BoxStream, Transport};

use crate::cluster::SimCluster;

/// Leads to the brokers `b0:9092`, `b1:9092` and so on.
pub struct Network(pub Arc<SimCluster>);

impl Transport for Network {
    fn connect<'a>(&'a self, address: &'a Address) -> BoxFuture<'a, io::Result<BoxStream>> {
        Box::pin(async move {
            let node = address.host()[1..]
                .parse()
                .expect("a host is b and a number");
            tokio::time::sleep(self.0.faults.latency()).await;
            if self.0.faults.refuses_connection() {
                return Err(io::ErrorKind::ConnectionRefused.into());
            }
            let (near, far) = tokio::io::duplex(64 << 10);
            tokio::spawn(Arc::clone(&self.0).serve(node, far));
            Ok(Box::new(near) as BoxStream)
        })
    }

    fn name(&self) -> &'static str {
        "memory"
    }
}
