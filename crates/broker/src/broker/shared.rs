//! What all nodes of a broker share.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};

use copart_protocol::Uuid;
use tokio::sync::Semaphore;

use super::node::Node;
use crate::cluster::{ApiResult, Change, Changes, Controller, Partition as Assigned, Topic};
use crate::faults::Faults;
use crate::files::{Files, Space};
use crate::log::{DataDirectory, Durability, LogConfig, Opened, PartitionLog, PartitionMetadata};
use crate::partitions::{GroupCommit, Leadership, Partition, Partitions, TopicName};
use crate::server::{Limits, Memory};
use crate::{Error, ErrorKind, Result};

/// What all nodes share: one state of the cluster, and one log for each partition.
#[derive(Debug)]
pub(crate) struct Shared {
    controller: RwLock<Controller>,
    /// Held while the controller's state and the logs are changed together.
    changing: Mutex<()>,
    pub(crate) partitions: Partitions,
    pub(crate) nodes: Vec<Arc<Node>>,
    pub(crate) limits: Arc<Limits>,
    /// For requests that arrive.
    pub(crate) requests: Arc<Memory>,
    /// For answers that leave.
    pub(crate) responses: Arc<Memory>,
    pub(crate) connections: Arc<Semaphore>,
    pub(crate) faults: Faults,
    commit: GroupCommit,
    storage: Storage,
}

/// Where the logs are.
#[derive(Debug)]
pub(super) struct Storage {
    pub(super) files: Arc<dyn Files>,
    pub(super) directory: DataDirectory,
    /// What the logs' settings are, as far as topics do not say.
    pub(super) base: LogConfig,
}

impl Shared {
    /// Opens the logs of all partitions that the controller knows.
    pub(super) fn new(
        controller: Controller,
        nodes: Vec<Arc<Node>>,
        limits: Limits,
        storage: Storage,
    ) -> Result<Self> {
        let shared = Self {
            controller: RwLock::new(controller),
            changing: Mutex::new(()),
            partitions: Partitions::default(),
            nodes,
            requests: Arc::new(Memory::new(limits.max_requests_in_memory)),
            responses: Arc::new(Memory::new(limits.max_responses_in_memory)),
            connections: Arc::new(Semaphore::new(limits.max_connections)),
            limits: Arc::new(limits),
            faults: Faults::default(),
            commit: GroupCommit::start()?,
            storage,
        };
        let topics: Vec<Topic> = shared.controller().topics().cloned().collect();
        for topic in &topics {
            shared.open_topic(topic, 0);
        }
        Ok(shared)
    }

    /// The cluster's state, to look at: never across an await.
    pub(crate) fn controller(&self) -> RwLockReadGuard<'_, Controller> {
        // The controller applies what it has written to its log, or nothing.
        self.controller
            .read()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the cluster's state, and then the logs accordingly. Waits for the disk.
    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(&mut Controller) -> ApiResult<(T, Changes)>,
    ) -> ApiResult<T> {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let (result, changes) = {
            let mut controller = self
                .controller
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            change(&mut controller)?
        };
        // Applying looks at what the topic is now, so once is enough for all of its partitions.
        let mut applied = HashSet::new();
        for change in changes {
            let kind = std::mem::discriminant(&change);
            if change
                .topic_id()
                .is_none_or(|id| applied.insert((kind, id)))
            {
                self.apply(change);
            }
        }
        Ok(result)
    }

    /// A producer id that was never given out before. Waits for the disk, now and then.
    pub(crate) fn next_producer_id(&self) -> Result<i64> {
        let mut controller = self
            .controller
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        controller.next_producer_id()
    }

    fn apply(&self, change: Change) {
        match change {
            Change::PartitionCreated { id, .. } => {
                let topic = self.controller().topic_by_id(id).cloned();
                if let Some(topic) = topic {
                    self.open_topic(&topic, self.partitions.of(id).len());
                }
            }
            Change::PartitionDeleted { id, .. } => {
                for partition in self.partitions.remove(id) {
                    self.delete(&partition);
                }
            }
            Change::PartitionChanged { id, .. } => self.update(id, |topic, assigned, partition| {
                partition.lead(leadership(topic, assigned));
            }),
            Change::TopicConfigChanged { id, .. } => {
                self.update(id, |topic, assigned, partition| {
                    if let Ok(log) = partition.state().log() {
                        log.set_config(topic.config.log_config(&self.storage.base));
                    }
                    partition.lead(leadership(topic, assigned));
                });
            }
            // Read where they are needed.
            Change::BrokerConfigChanged { .. } | Change::GroupConfigChanged { .. } => {}
            // Whoever starts or stops a node sees to its connections.
            Change::NodeChanged { .. } => {}
        }
    }

    fn update(&self, id: Uuid, update: impl Fn(&Topic, &Assigned, &Partition)) {
        let controller = self.controller();
        let Some(topic) = controller.topic_by_id(id) else {
            return;
        };
        for (assigned, partition) in topic.partitions.iter().zip(self.partitions.of(id)) {
            update(topic, assigned, &partition);
        }
    }

    /// Opens the logs of a topic's partitions from number `first` on.
    fn open_topic(&self, topic: &Topic, first: usize) {
        let name = Arc::new(TopicName {
            name: topic.name.clone(),
            id: topic.id,
        });
        let config = topic.config.log_config(&self.storage.base);
        let assigned = topic.partitions.iter().enumerate().skip(first);
        let partitions = assigned.map(|(index, assigned)| {
            let index = index as i32;
            let log = self
                .open_log(&topic.name, topic.id, index, &config)
                .map_err(|error| {
                    tracing::error!(topic = topic.name, partition = index, "{error}");
                    error.to_string()
                });
            Arc::new(Partition::new(
                name.clone(),
                index,
                leadership(topic, assigned),
                config.durability,
                log,
            ))
        });
        self.partitions.add(&name, partitions.collect());
    }

    fn open_log(
        &self,
        topic: &str,
        id: Uuid,
        partition: i32,
        config: &LogConfig,
    ) -> Result<Box<PartitionLog>> {
        let files = &self.storage.files;
        let dir = self.storage.directory.partition(topic, partition)?;
        match PartitionMetadata::load(&**files, &dir)? {
            Some(metadata) if metadata.topic_id == id => {}
            Some(metadata) => {
                return Err(Error::new(
                    ErrorKind::Damaged,
                    format!(
                        "the log in {} is of another topic of this name, with id {}",
                        dir.display(),
                        metadata.topic_id
                    ),
                ));
            }
            None => PartitionMetadata { topic_id: id }.store(&**files, &dir)?,
        }
        match PartitionLog::open(files.clone(), &dir, config.clone(), self.now_ms())? {
            Opened::Ready(log, recovery) => {
                if let Some(cut) = &recovery.cut {
                    tracing::warn!(topic, partition, "cut off what was not synced: {cut}");
                }
                for note in &recovery.notes {
                    tracing::warn!(topic, partition, "{note}");
                }
                Ok(log)
            }
            Opened::Quarantined(quarantine) => {
                let first = quarantine.damages.first();
                Err(Error::new(
                    ErrorKind::Damaged,
                    format!(
                        "stored records are damaged ({} places{}); `--repair` says what would be lost",
                        quarantine.damages.len(),
                        first.map_or_else(String::new, |first| format!(", the first: {first}"))
                    ),
                )
                .within(dir.display().to_string()))
            }
        }
    }

    fn delete(&self, partition: &Partition) {
        drop(partition.close());
        if let Err(error) = self
            .storage
            .directory
            .delete_partition(&partition.topic().name, partition.index())
        {
            tracing::error!(
                topic = partition.topic().name,
                partition = partition.index(),
                "the log is deleted, but not from the disk: {error}"
            );
        }
    }

    /// Has what was written to a partition synced, if its durability asks for that.
    pub(crate) fn written(&self, partition: &Arc<Partition>) {
        if partition.syncs() {
            self.commit.request(partition);
        }
    }

    pub(crate) fn node(&self, id: i32) -> Option<&Arc<Node>> {
        self.nodes.iter().find(|node| node.id == id)
    }

    /// The nodes with these ids, each once.
    pub(crate) fn endpoints<'a>(&'a self, ids: &'a [i32]) -> impl Iterator<Item = &'a Arc<Node>> {
        self.nodes.iter().filter(|node| ids.contains(&node.id))
    }

    /// The time of day, in milliseconds since 1970.
    pub(crate) fn now_ms(&self) -> i64 {
        super::housekeeping::now_ms()
    }

    /// The partitions that cannot be used, with the reason.
    pub(super) fn unusable_partitions(&self) -> Vec<(String, i32, String)> {
        let mut unusable: Vec<_> = self
            .partitions
            .all()
            .into_iter()
            .filter_map(|partition| {
                let reason = partition.state().unusable()?.to_owned();
                Some((partition.topic().name.clone(), partition.index(), reason))
            })
            .collect();
        unusable.sort();
        unusable
    }

    /// Where the logs are.
    pub(crate) fn log_dir(&self) -> &Path {
        self.storage.directory.path()
    }

    /// How much room the disk under the logs has, if that is known.
    pub(crate) fn space(&self) -> Option<Space> {
        self.storage.files.space(self.log_dir()).ok().flatten()
    }

    /// Closes all logs. Waits for the disk.
    pub(super) fn close(&self) -> Result<()> {
        let mut result = Ok(());
        for partition in self.partitions.all() {
            if let Some(log) = partition.close() {
                let closed = match log.failure() {
                    // What it could not store was reported when it failed.
                    Some(_) => Ok(()),
                    None => log.close(),
                };
                result = result.and(closed);
            }
        }
        let mut controller = self
            .controller
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        result.and(controller.sync())
    }
}

fn leadership(topic: &Topic, assigned: &Assigned) -> Leadership {
    Leadership {
        leader: assigned.leader,
        epoch: assigned.leader_epoch,
        replicas: assigned.replicas.clone(),
        isr: assigned.isr.clone(),
        min_isr: topic.config.min_insync_replicas,
    }
}

/// Where a broker without a data directory has its files: nowhere, under this name.
pub(super) fn memory_dir() -> PathBuf {
    PathBuf::from("/memory")
}

/// The durability of a broker that was not told any.
pub(super) fn default_durability(in_memory: bool) -> Durability {
    if in_memory {
        Durability::Memory
    } else {
        Durability::Disk
    }
}
