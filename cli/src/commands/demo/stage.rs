//! Where it takes place: a broker of five nodes in this process, a client, and a runtime that both live in.

use std::future::Future;
use std::time::Duration;

use copart::admin::{Admin, NewTopic};
use copart::{Client, TopicPartition};
use copart_audit::Error;
use copart_broker::Broker;
use tokio::runtime::Runtime;

use super::views::Views;

/// Longer than anything here takes, on a machine that is busy with other things.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// How often something is looked at that is to come about.
pub(super) const SOON: Duration = Duration::from_millis(10);

pub(super) const NODES: usize = 5;
pub(super) const PARTITIONS: u32 = 8;
pub(super) const PARTITIONS_AFTER: u32 = 12;
pub(super) const REPLICAS: usize = 3;

pub(super) struct Stage {
    runtime: Runtime,
    broker: Broker,
    pub(super) client: Client,
    pub(super) views: Views,
}

impl Stage {
    pub(super) fn set(seed: u64) -> Result<Self, Error> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?;
        let broker = Broker::builder()
            .nodes(NODES)
            .seed(seed)
            // Members of the groups are told sooner than usual that partitions come and go.
            .config("group.consumer.heartbeat.interval.ms", "100");
        let broker = runtime
            .block_on(broker.start())
            .map_err(|error| Error::input(format!("the broker cannot start: {error}")))?;
        let client = runtime.block_on(connect(&broker))?;
        Ok(Self {
            runtime,
            broker,
            client,
            views: Views::new(seed),
        })
    }

    /// Runs until it is done, or for too long.
    pub(super) fn run<T>(
        &self,
        what: &str,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        self.runtime.block_on(within(what, work))
    }

    pub(super) fn bootstrap(&self) -> String {
        self.broker.bootstrap()
    }

    /// A client that knows nothing yet, as another program's.
    pub(super) async fn another_client(&self) -> Result<Client, Error> {
        connect(&self.broker).await
    }

    pub(super) fn admin(&self) -> Admin {
        self.client.admin().timeout(PATIENCE)
    }

    pub(super) async fn create_topic(&self, name: &str) -> Result<(), Error> {
        let topic = NewTopic::new(name)
            .partitions(PARTITIONS as i32)
            .replication_factor(REPLICAS as i16)
            // The views are older than what is kept otherwise.
            .config("retention.ms", "-1");
        self.admin().create_topics([topic]).await.all()?;
        Ok(())
    }

    /// How many records a topic has.
    pub(super) async fn records_in(&self, topic: &str, partitions: u32) -> Result<i64, Error> {
        use copart::admin::OffsetSpec;
        let ends =
            (0..partitions as i32).map(|p| (TopicPartition::new(topic, p), OffsetSpec::Latest));
        let ends = self.admin().list_offsets(ends).await.all()?;
        Ok(ends.iter().filter_map(|(_, end)| end.offset).sum())
    }

    pub(super) fn clear(self) {
        // Nothing of it is kept: how it ends does not matter.
        let _ = self.runtime.block_on(self.broker.stop());
        self.runtime.shutdown_timeout(Duration::from_millis(100));
    }
}

async fn connect(broker: &Broker) -> Result<Client, Error> {
    let client = Client::builder(broker.bootstrap())
        .client_id("copart-demo")
        // Partitions that are added are to be seen soon.
        .metadata_max_age(Duration::from_millis(500));
    Ok(client.connect().await?)
}

/// Waits, but not for ever.
async fn within<T>(what: &str, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let late = |_| Error::input(format!("{what}: not within {} seconds", PATIENCE.as_secs()));
    tokio::time::timeout(PATIENCE, work).await.map_err(late)?
}
