//! Arguments of commands that ask a cluster.

use std::time::Duration;

use copart::{Client, ClientBuilder};
use copart_audit::{Error, live};
use copart_partitioners::PartitionCount;

/// Where the cluster is.
#[derive(clap::Args)]
pub(crate) struct ClusterArgs {
    /// Brokers to begin with; they name the others
    #[arg(
        long,
        value_name = "HOST:PORT,…",
        requires = "topic",
        help_heading = "Cluster"
    )]
    bootstrap: Option<String>,

    /// How long to wait for the cluster: for a connection, and for each answer
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Cluster")]
    timeout: u32,
}

impl ClusterArgs {
    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout.into())
    }

    /// A client that was not connected yet.
    pub(crate) fn client(&self) -> Result<ClientBuilder, Error> {
        let Some(bootstrap) = &self.bootstrap else {
            return Err(Error::usage(
                "--topic needs --bootstrap: where the cluster is",
            ));
        };
        Ok(Client::builder(bootstrap)
            .client_id("copart-audit")
            .connect_timeout(self.timeout())
            .request_timeout(self.timeout()))
    }

    /// How many partitions the cluster has of a topic.
    pub(crate) fn partition_count(&self, topic: &str) -> Result<PartitionCount, Error> {
        live::partition_count(self.client()?, topic, self.timeout())
    }
}
