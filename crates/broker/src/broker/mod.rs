//! A broker: its nodes, and what they share.

mod builder;
mod closing;
mod housekeeping;
mod node;
mod registry;
mod repair;
mod several;
mod shared;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use copart_protocol::{ApiKey, Uuid};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use builder::Builder;
use housekeeping::Housekeeping;
use node::Mode;
pub(crate) use node::Node;
use registry::{RegistryListener, RunningRegistry};
pub use repair::DirectoryRepair;
pub(crate) use shared::Shared;

use crate::cluster::ApiError;
use crate::faults::{Fault, RequestInfo};
use crate::groups::Groups;
use crate::server::listen;
use crate::{Error, ErrorKind, Result};

/// A broker that runs.
///
/// Dropping it closes its listeners and connections and does nothing else: what was acknowledged is stored as
/// the durability promised. [`stop`](Self::stop) leaves a data directory that opens quicker, and that Kafka's
/// own tools read.
#[derive(Debug)]
pub struct Broker {
    shared: Arc<Shared>,
    /// By node, in the order of the shared ones.
    listeners: Vec<JoinHandle<()>>,
    /// The clock of the group coordinators.
    groups: JoinHandle<()>,
    housekeeping: Option<Housekeeping>,
    registry: Option<RunningRegistry>,
}

impl Broker {
    /// Describes a broker.
    pub fn builder() -> Builder {
        Builder::default()
    }

    fn run(
        shared: Arc<Shared>,
        listeners: Vec<TcpListener>,
        registry: Option<RegistryListener>,
    ) -> Result<Self> {
        let housekeeping = Housekeeping::start(&shared)?;
        let nodes = shared.nodes.iter().zip(listeners);
        let listeners = nodes
            .map(|(node, listener)| tokio::spawn(listen(shared.clone(), node.clone(), listener)))
            .collect();
        shared.groups.partitions_changed();
        let groups = tokio::spawn(Groups::run(Arc::downgrade(&shared)));
        let registry = registry.map(|listener| listener.run(&shared));
        Ok(Self {
            shared,
            listeners,
            groups,
            housekeeping: Some(housekeeping),
            registry,
        })
    }

    /// What clients take for `bootstrap.servers`: the addresses of all nodes, separated by commas.
    pub fn bootstrap(&self) -> String {
        let addresses: Vec<String> = self
            .shared
            .nodes
            .iter()
            .map(|node| node.address.to_string())
            .collect();
        addresses.join(",")
    }

    /// What clients take for `schema.registry.url`, if the broker was told to have one: see [`Builder::registry`].
    pub fn registry(&self) -> Option<String> {
        self.registry.as_ref().map(RunningRegistry::url)
    }

    /// The id of the cluster.
    pub fn cluster_id(&self) -> String {
        self.shared.controller().cluster_id().to_owned()
    }

    /// The ids of the nodes.
    pub fn nodes(&self) -> Vec<i32> {
        self.shared.nodes.iter().map(|node| node.id).collect()
    }

    /// Where a node listens.
    pub fn address(&self, node: i32) -> Result<SocketAddr> {
        Ok(self.node(node)?.1.listens_on)
    }

    /// The id of a topic, if it is there.
    pub fn topic_id(&self, topic: &str) -> Option<Uuid> {
        self.shared.controller().topic(topic).map(|topic| topic.id)
    }

    /// The partitions whose stored records are damaged, with the first damage. They take no records, and can be
    /// read up to there. Those that cannot be opened at all are here too.
    pub fn damaged_partitions(&self) -> Vec<(String, i32, String)> {
        self.shared.damaged_partitions()
    }

    /// Stops a node: it closes its listener and connections, leaves the ISRs that others are in, and leads no
    /// partition any more.
    pub async fn stop_node(&self, id: i32) -> Result<()> {
        let (_, node) = self.node(id)?;
        self.change(move |shared| {
            shared.change(|controller| {
                let changes = controller.set_node_running(id, false)?;
                Ok(((), changes))
            })
        })
        .await?;
        node.set_mode(Mode::Stopped);
        Ok(())
    }

    /// Starts a node that was stopped, on the same port. It joins the ISRs again, and leads what nobody led;
    /// the rest comes back to it by an election of preferred leaders.
    pub async fn start_node(&mut self, id: i32) -> Result<()> {
        let (index, node) = self.node(id)?;
        if *node.mode().borrow() != Mode::Stopped {
            node.set_mode(Mode::Running);
            return Ok(());
        }
        // The old one gives the port back when it ends.
        let _ = (&mut self.listeners[index]).await;
        let listener = TcpListener::bind(node.listens_on)
            .await
            .map_err(|error| Error::io(format!("listening on {}", node.listens_on), error))?;
        self.change(move |shared| {
            shared.change(|controller| {
                let changes = controller.set_node_running(id, true)?;
                Ok(((), changes))
            })
        })
        .await?;
        node.set_mode(Mode::Running);
        self.listeners[index] = tokio::spawn(listen(self.shared.clone(), node, listener));
        Ok(())
    }

    /// A node that takes connections and answers nothing, until [`resume_node`](Self::resume_node). It stays a
    /// leader, as a broker does that hangs for a while.
    pub fn pause_node(&self, id: i32) -> Result<()> {
        self.set_mode(id, Mode::Paused)
    }

    /// A node that lets each request wait for `delay`, until [`resume_node`](Self::resume_node).
    pub fn slow_node(&self, id: i32, delay: Duration) -> Result<()> {
        self.set_mode(id, Mode::Slow(delay))
    }

    /// Ends a node's pause or slowness.
    pub fn resume_node(&self, id: i32) -> Result<()> {
        self.set_mode(id, Mode::Running)
    }

    fn set_mode(&self, id: i32, mode: Mode) -> Result<()> {
        let (_, node) = self.node(id)?;
        if *node.mode().borrow() == Mode::Stopped {
            return Err(Error::new(
                ErrorKind::InvalidConfig,
                format!("node {id} is stopped"),
            ));
        }
        node.set_mode(mode);
        Ok(())
    }

    /// Sets which replicas of a partition are in sync, until nodes stop or start. With fewer than
    /// `min.insync.replicas`, acks=all is refused.
    pub async fn set_isr(&self, topic: &str, partition: i32, isr: &[i32]) -> Result<()> {
        let (topic, isr) = (topic.to_owned(), isr.to_vec());
        self.change(move |shared| {
            shared.change(|controller| {
                let changes = controller.set_isr(&topic, partition, &isr)?;
                Ok(((), changes))
            })
        })
        .await
    }

    /// Has another replica lead a partition, in a new leader epoch.
    pub async fn set_leader(&self, topic: &str, partition: i32, leader: i32) -> Result<()> {
        let topic = topic.to_owned();
        self.change(move |shared| {
            shared.change(|controller| {
                let changes = controller.set_leader(&topic, partition, leader)?;
                Ok(((), changes))
            })
        })
        .await
    }

    async fn change(
        &self,
        change: impl FnOnce(&Shared) -> Result<(), ApiError> + Send + 'static,
    ) -> Result<()> {
        let shared = self.shared.clone();
        let changing = tokio::task::spawn_blocking(move || change(&shared));
        match changing.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(Error::new(ErrorKind::InvalidConfig, error.to_string())),
            Err(error) => Err(Error::new(ErrorKind::Io, error.to_string())),
        }
    }

    /// The next `times` requests of this API, to any node or to one, meet a fault.
    pub fn inject(&self, api: ApiKey, node: Option<i32>, times: usize, fault: Fault) {
        self.shared.faults.queue(api, node, times, fault);
    }

    /// Asks a function about every request. It takes the place of the one before; faults of
    /// [`inject`](Self::inject) come first.
    pub fn judge_requests(&self, judge: impl FnMut(&RequestInfo<'_>) -> Fault + Send + 'static) {
        self.shared.faults.set_judge(Box::new(judge));
    }

    /// No more faults.
    pub fn clear_faults(&self) {
        self.shared.faults.clear();
    }

    /// Stops the broker: no more requests are taken, and all logs are synced and closed. Not cancel-safe: the
    /// data directory is then as after a crash.
    ///
    /// # Errors
    /// What could not be stored.
    pub async fn stop(mut self) -> Result<()> {
        for node in &self.shared.nodes {
            node.set_mode(Mode::Stopped);
        }
        for listener in &mut self.listeners {
            // One that panicked has no connections any more.
            let _ = listener.await;
        }
        if let Some(registry) = &mut self.registry {
            registry.stop().await;
        }
        self.groups.abort();
        // It ends at the next point where it waits.
        let _ = (&mut self.groups).await;
        let housekeeping = self.housekeeping.take();
        let shared = self.shared.clone();
        let closing = tokio::task::spawn_blocking(move || {
            if let Some(housekeeping) = housekeeping {
                housekeeping.stop();
            }
            shared.close()
        });
        closing
            .await
            .map_err(|error| Error::new(ErrorKind::Io, format!("stopping: {error}")))?
    }

    fn node(&self, id: i32) -> Result<(usize, Arc<Node>)> {
        let found = self.shared.nodes.iter().enumerate();
        found
            .map(|(index, node)| (index, node.clone()))
            .find(|(_, node)| node.id == id)
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::InvalidConfig,
                    format!("there is no node {id}; there are {:?}", self.nodes()),
                )
            })
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        for listener in &self.listeners {
            listener.abort();
        }
        self.groups.abort();
    }
}
