//! Arguments of commands that talk to a cluster.

use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

use copart::{Client, ClientBuilder, Properties};
use copart_audit::{Error, live};
use copart_partitioners::PartitionCount;

/// Where the cluster is, and how to get in.
#[derive(clap::Args)]
pub(crate) struct ClusterArgs {
    /// Brokers to begin with; they name the others
    #[arg(long, value_name = "HOST:PORT,…", help_heading = "Cluster")]
    bootstrap: Option<String>,

    /// Properties file with the keys of Java's clients or of librdkafka: addresses, TLS, SASL
    /// [--bootstrap goes before its addresses]
    #[arg(long, value_name = "FILE", help_heading = "Cluster")]
    properties: Option<PathBuf>,

    /// How long to wait for the cluster: for a connection, and for each answer [default: 30, or
    /// what the properties file says]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Cluster")]
    timeout: Option<u32>,
}

impl ClusterArgs {
    /// Whether a cluster is named at all.
    pub(crate) fn is_given(&self) -> bool {
        self.bootstrap.is_some() || self.properties.is_some()
    }

    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout.unwrap_or(30).into())
    }

    /// Whether it is the command line that says how long to wait.
    pub(crate) fn has_timeout(&self) -> bool {
        self.timeout.is_some()
    }

    /// The properties file, if there is one.
    pub(crate) fn properties(&self) -> Result<Option<Properties>, Error> {
        let Some(path) = &self.properties else {
            return Ok(None);
        };
        let said = |what: String| Error::usage(format!("{}: {what}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| said(error.to_string()))?;
        let properties = Properties::parse(&text);
        properties
            .map(Some)
            .map_err(|error| said(error.reason().to_owned()))
    }

    /// A client that was not connected yet.
    pub(crate) fn client(&self) -> Result<ClientBuilder, Error> {
        let mut builder = match (&self.bootstrap, self.properties()?) {
            (None, None) => {
                return Err(Error::usage(
                    "where is the cluster? --bootstrap HOST:PORT, or --properties FILE",
                ));
            }
            (Some(bootstrap), None) => Client::builder(bootstrap).client_id("copart-cli"),
            (None, Some(properties)) => properties.client(),
            (Some(bootstrap), Some(properties)) => properties.client().bootstrap(bootstrap),
        };
        if self.timeout.is_some() || self.properties.is_none() {
            builder = builder
                .connect_timeout(self.timeout())
                .request_timeout(self.timeout());
        }
        Ok(builder)
    }

    /// How many partitions the cluster has of a topic.
    pub(crate) fn partition_count(&self, topic: &str) -> Result<PartitionCount, Error> {
        live::partition_count(self.client()?, topic, self.timeout())
    }

    /// Connects, and runs `work` on a runtime.
    pub(crate) fn run<T, F>(&self, work: impl FnOnce(Client) -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let builder = self.client()?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()?;
        let result = runtime.block_on(async { work(builder.connect().await?).await });
        // What is left in the background has nothing more to tell.
        runtime.shutdown_timeout(Duration::from_millis(100));
        result
    }
}

/// For commands in which the cluster is only asked about a topic.
pub(crate) fn needs_topic(cluster: &ClusterArgs, topic: Option<&str>) -> Result<(), Error> {
    if cluster.is_given() && topic.is_none() {
        return Err(Error::usage(
            "--bootstrap and --properties are for --topic: which topic is meant?",
        ));
    }
    Ok(())
}
