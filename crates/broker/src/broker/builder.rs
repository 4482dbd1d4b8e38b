//! How a broker is described, and started.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, RwLock};

use tokio::net::TcpListener;

use super::node::{Address, Node};
use super::shared::{Shared, Storage, default_durability, memory_dir};
use super::{Broker, RegistryListener, housekeeping};
use crate::cluster::{Controller, NewTopic, NodeSpec, Options};
use crate::fetch::Sessions;
use crate::files::{DiskFiles, Files, MemoryFiles};
use crate::log::{DataDirectory, Durability, LogConfig};
use crate::registry::{SCHEMAS, create_if_missing as create_schemas};
use crate::server::Limits;
use crate::{Error, ErrorKind, Result};

/// Describes a broker.
///
/// Without further words it has one node on a free port of 127.0.0.1, and keeps everything in memory.
#[derive(Clone, Debug)]
#[must_use = "it is started by `start`"]
pub struct Builder {
    listen: SocketAddr,
    advertise: Option<(String, u16)>,
    nodes: Vec<NodeSpec>,
    data: Option<PathBuf>,
    durability: Option<Durability>,
    cluster_id: Option<String>,
    configs: BTreeMap<String, String>,
    topics: Vec<NewTopic>,
    limits: Limits,
    seed: Option<u64>,
    registry: Option<SocketAddr>,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
            advertise: None,
            nodes: vec![NodeSpec { id: 1, rack: None }],
            data: None,
            durability: None,
            cluster_id: None,
            configs: BTreeMap::new(),
            topics: Vec::new(),
            limits: Limits::default(),
            seed: None,
            registry: None,
        }
    }
}

impl Builder {
    /// Where the first node listens. The other nodes take the next ports; with port 0, free ones.
    pub fn listen(mut self, address: SocketAddr) -> Self {
        self.listen = address;
        self
    }

    /// What clients are told to connect to, if it is not where the first node listens. The other nodes are told
    /// to be on the next ports.
    pub fn advertise(mut self, host: impl Into<String>, port: u16) -> Self {
        self.advertise = Some((host.into(), port));
        self
    }

    /// How many nodes there are, with the ids 1 to `count`. Their replication is simulated: they share one copy
    /// of the data.
    pub fn nodes(mut self, count: usize) -> Self {
        let ids = (1..).take(count);
        self.nodes = ids.map(|id| NodeSpec { id, rack: None }).collect();
        self
    }

    /// As many nodes as there are racks given, each in its rack. A consumer with a `client.rack` is sent to an
    /// in-sync replica in its rack (KIP-392).
    pub fn racks<R: Into<String>>(mut self, racks: impl IntoIterator<Item = R>) -> Self {
        self.nodes = (1..)
            .zip(racks)
            .map(|(id, rack)| NodeSpec {
                id,
                rack: Some(rack.into()),
            })
            .collect();
        self
    }

    /// Keeps everything in this directory, which is created if it is not there.
    pub fn data(mut self, directory: impl Into<PathBuf>) -> Self {
        self.data = Some(directory.into());
        self
    }

    /// Keeps everything in memory, and forgets it when the broker ends. This is the default.
    pub fn in_memory(mut self) -> Self {
        self.data = None;
        self
    }

    /// When a record counts as stored. [`Durability::Disk`] with a data directory, if nothing is said here.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = Some(durability);
        self
    }

    /// The cluster's id, 22 characters of base64. A random one is made if nothing is said here.
    pub fn cluster_id(mut self, id: impl Into<String>) -> Self {
        self.cluster_id = Some(id.into());
        self
    }

    /// A setting of the broker, under Kafka's name: `num.partitions`, `log.retention.hours` and so on.
    pub fn config(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.configs.insert(name.into(), value.into());
        self
    }

    /// A topic that shall be there. One of this name that is there already stays as it is.
    pub fn topic(self, name: impl Into<String>, partitions: i32) -> Self {
        self.replicated_topic(name, partitions, -1)
    }

    /// As [`topic`](Self::topic), with a replication factor.
    pub fn replicated_topic(
        mut self,
        name: impl Into<String>,
        partitions: i32,
        replication_factor: i16,
    ) -> Self {
        self.topics.push(NewTopic {
            name: name.into(),
            partitions,
            replication_factor,
            assignments: BTreeMap::new(),
            configs: Vec::new(),
        });
        self
    }

    /// How much clients may have.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Makes ids and placements the same each time.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Has a Schema Registry, which listens there; with port 0, on a free port that [`Broker::registry`] tells. It
    /// speaks HTTP as Confluent's does, and keeps its schemas in the topic `_schemas`, which no client may write then.
    pub fn registry(mut self, address: SocketAddr) -> Self {
        self.registry = Some(address);
        self
    }

    /// Starts the broker, on the runtime of the caller. It takes connections when this returns. Not cancel-safe:
    /// a broker that is half started is dropped.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidConfig`] for what cannot be; [`ErrorKind::Io`] for a port that is taken or a directory
    /// that cannot be used; [`ErrorKind::Locked`] for one that another broker uses; [`ErrorKind::Damaged`] for
    /// one whose metadata is damaged. Damage of single partitions is logged, and keeps no others from working.
    pub async fn start(self) -> Result<Broker> {
        let listeners = self.bind().await?;
        let registry = match self.registry {
            None => None,
            Some(address) => Some(RegistryListener::bind(address).await?),
        };
        let starting = tokio::task::spawn_blocking(move || self.open(listeners));
        let (shared, listeners) = starting
            .await
            .map_err(|error| Error::new(ErrorKind::Io, format!("starting: {error}")))??;
        let shared = Arc::new(shared);
        Broker::run(shared, listeners, registry)
    }

    async fn bind(&self) -> Result<Vec<TcpListener>> {
        if self.nodes.is_empty() {
            return Err(Error::new(
                ErrorKind::InvalidConfig,
                "a broker has at least one node",
            ));
        }
        let mut listeners = Vec::with_capacity(self.nodes.len());
        for offset in 0..self.nodes.len() {
            let port = nth_port(self.listen.port(), offset)?;
            let address = SocketAddr::new(self.listen.ip(), port);
            let listener = TcpListener::bind(address)
                .await
                .map_err(|error| Error::io(format!("listening on {address}"), error))?;
            listeners.push(listener);
        }
        Ok(listeners)
    }

    /// What waits for the disk.
    fn open(self, listeners: Vec<TcpListener>) -> Result<(Shared, Vec<TcpListener>)> {
        let durability = self
            .durability
            .unwrap_or_else(|| default_durability(self.data.is_none()));
        let (files, path): (Arc<dyn Files>, PathBuf) = match &self.data {
            Some(path) => (Arc::new(DiskFiles), path.clone()),
            None => (Arc::new(MemoryFiles::new()), memory_dir()),
        };
        let nodes = self.make_nodes(&listeners)?;
        let directory = DataDirectory::open(files.clone(), &path)?;
        if directory.meta_properties()?.is_none() && Controller::is_there(&*files, &path)? {
            return Err(Error::new(
                ErrorKind::Damaged,
                format!(
                    "{} has a metadata log, and no meta.properties with the cluster's id; bring the \
                     file back from a copy, or write it anew",
                    path.display()
                ),
            ));
        }
        let identity = directory.claim(self.cluster_id.as_deref(), nodes[0].id)?;
        let mut controller = Controller::open(
            files.clone(),
            &path,
            Options {
                nodes: self.nodes,
                cluster_id: identity.cluster_id,
                directory_id: identity.directory_id,
                durability,
                configs: self.configs,
                seed: self.seed,
                now_ms: housekeeping::now_ms(),
            },
        )?;
        if let Some(cut) = &controller.recovery().cut {
            tracing::warn!("cut off the end of the metadata log, which was not synced: {cut}");
        }
        for (node, listener) in nodes.iter().zip(&listeners) {
            if let Ok(address) = listener.local_addr() {
                controller.set_fact(node.id, "listeners", format!("PLAINTEXT://{address}"));
            }
            let advertised = format!("PLAINTEXT://{}", node.address);
            controller.set_fact(node.id, "advertised.listeners", advertised);
        }
        let storage = Storage {
            path,
            directory: RwLock::new(Some(directory)),
            base: LogConfig {
                durability,
                ..LogConfig::default()
            },
        };
        let mut shared = Shared::new(controller, nodes, self.limits, storage)?;
        if self.registry.is_some() {
            shared.keeps_schemas = true;
            create_schemas(&shared).map_err(|error| {
                Error::new(
                    ErrorKind::InvalidConfig,
                    format!("topic {SCHEMAS}: {error}"),
                )
            })?;
        }
        for topic in &self.topics {
            if shared.controller().topic(&topic.name).is_some() {
                continue;
            }
            shared
                .change(|controller| controller.create_topic(topic, false))
                .map_err(|error| {
                    Error::new(
                        ErrorKind::InvalidConfig,
                        format!("topic {}: {error}", topic.name),
                    )
                })?;
        }
        Ok((shared, listeners))
    }

    fn make_nodes(&self, listeners: &[TcpListener]) -> Result<Vec<Arc<Node>>> {
        let pairs = self.nodes.iter().zip(listeners).enumerate();
        let nodes = pairs.map(|(offset, (spec, listener))| {
            let bound = listener
                .local_addr()
                .map_err(|error| Error::io("asking for the port that was bound", error))?;
            let address = match &self.advertise {
                Some((host, port)) => Address {
                    host: host.clone(),
                    port: nth_port(*port, offset)?,
                },
                None => Address {
                    host: reachable(bound.ip()),
                    port: bound.port(),
                },
            };
            let sessions = Sessions::new(
                self.limits.max_fetch_sessions,
                self.limits.max_fetch_session_partitions,
                // So that a session of a broker before this one is not taken for one of this.
                housekeeping::now_ms() as i32 & i32::MAX,
            );
            Ok(Arc::new(Node::new(
                spec.id,
                spec.rack.clone(),
                address,
                bound,
                sessions,
            )))
        });
        nodes.collect()
    }
}

fn nth_port(first: u16, offset: usize) -> Result<u16> {
    if first == 0 {
        return Ok(0);
    }
    u16::try_from(offset)
        .ok()
        .and_then(|offset| first.checked_add(offset))
        .ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidConfig,
                format!(
                    "there is no port for node {}, {offset} above {first}",
                    offset + 1
                ),
            )
        })
}

/// Clients on this machine reach a node that listens on all addresses by this one. Others need to be told
/// another: see [`Builder::advertise`].
pub(super) fn reachable(ip: IpAddr) -> String {
    match ip {
        ip if !ip.is_unspecified() => ip.to_string(),
        IpAddr::V4(_) => "127.0.0.1".to_owned(),
        IpAddr::V6(_) => "::1".to_owned(),
    }
}
