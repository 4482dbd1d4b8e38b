//! What all nodes of a broker share.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};

use copart_protocol::Uuid;
use tokio::sync::Semaphore;

use super::closing::{checkpoint, close_all};
use super::node::Node;
use super::several::several_at_a_time;
use crate::cluster::{
    ApiResult, Change, Changes, Controller, Partition as Assigned, Topic, is_internal,
};
use crate::faults::Faults;
use crate::files::Space;
use crate::groups::{CONSUMER_OFFSETS, Groups};
use crate::log::{Checkpoint, DataDirectory, Durability, LogConfig, Opened, PartitionLog};
use crate::partitions::{GroupCommit, Leadership, Partition, Partitions, TopicName};
use crate::registry::SCHEMAS;
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
    pub(crate) groups: Arc<Groups>,
    /// Does a Schema Registry of this broker write its topic?
    pub(super) keeps_schemas: bool,
    commit: GroupCommit,
    storage: Storage,
    /// Are there deleted logs that still take space?
    deleted: AtomicBool,
}

/// A topic whose logs are opened.
struct Opening<'t> {
    topic: &'t Topic,
    name: Arc<TopicName>,
    /// The first partition that is.
    first: usize,
    config: LogConfig,
}

/// Where the logs are.
#[derive(Debug)]
pub(super) struct Storage {
    pub(super) path: PathBuf,
    /// Until the broker stops.
    pub(super) directory: RwLock<Option<DataDirectory>>,
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
            groups: Arc::default(),
            keeps_schemas: false,
            commit: GroupCommit::start()?,
            storage,
            // What a broker before this one left.
            deleted: AtomicBool::new(true),
        };
        shared.with_directory(|directory| shared.set_strays_aside(directory))?;
        let topics: Vec<Topic> = shared.controller().topics().cloned().collect();
        shared.open_topics(topics.iter().map(|topic| (topic, 0)));
        Ok(shared)
    }

    fn with_directory<T>(&self, action: impl FnOnce(&DataDirectory) -> Result<T>) -> Result<T> {
        let directory = self
            .storage
            .directory
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        match &*directory {
            Some(directory) => action(directory),
            None => Err(Error::new(ErrorKind::ReadOnly, "the broker is stopping")),
        }
    }

    /// Logs that belong to no topic are not touched, and do not come in the way of new topics.
    fn set_strays_aside(&self, directory: &DataDirectory) -> Result<()> {
        let found = directory.partitions()?;
        for (path, error) in &found.unreadable {
            tracing::error!("{} is left alone: {error}", path.display());
        }
        for log in found.partitions {
            let controller = self.controller();
            let topic = controller.topic(&log.topic);
            let known = topic.is_some_and(|topic| {
                log.topic_id.is_none_or(|id| id == topic.id)
                    && topic.partition(log.partition).is_some()
            });
            if !known && log.path != self.storage.path.join(Controller::METADATA_DIR) {
                let aside = directory.set_aside(&log.topic, log.partition)?;
                tracing::warn!(
                    "no topic has the log in {}: it is now {}",
                    log.path.display(),
                    aside.display()
                );
            }
        }
        Ok(())
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
                    self.open_topics([(&topic, self.partitions.of(id).len())]);
                    if topic.name == CONSUMER_OFFSETS {
                        self.groups.partitions_changed();
                    }
                }
            }
            Change::PartitionDeleted { topic, id, .. } => {
                for partition in self.partitions.remove(id) {
                    self.delete(&partition);
                }
                if topic == CONSUMER_OFFSETS {
                    self.groups.partitions_changed();
                } else {
                    self.groups.topic_deleted(self, &topic, id);
                }
            }
            Change::PartitionChanged { topic, id, .. } => {
                self.update(id, |topic, assigned, partition| {
                    partition.lead(leadership(topic, assigned));
                });
                if topic == CONSUMER_OFFSETS {
                    self.groups.partitions_changed();
                }
            }
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

    /// Opens the logs of topics' partitions, of each topic from a number on.
    fn open_topics<'t>(&self, topics: impl IntoIterator<Item = (&'t Topic, usize)>) {
        let topics: Vec<Opening<'_>> = topics
            .into_iter()
            .map(|(topic, first)| Opening {
                topic,
                name: Arc::new(TopicName {
                    name: topic.name.clone(),
                    id: topic.id,
                }),
                first,
                config: topic.config.log_config(&self.storage.base),
            })
            .collect();
        let logs: Vec<(&Opening<'_>, usize)> = topics
            .iter()
            .flat_map(|of| (of.first..of.topic.partitions.len()).map(move |index| (of, index)))
            .collect();
        let mut opened = several_at_a_time(&logs, |(of, index)| {
            Arc::new(self.open_partition(of, *index))
        })
        .into_iter();
        for of in &topics {
            let count = of.topic.partitions.len().saturating_sub(of.first);
            self.partitions
                .add(&of.name, opened.by_ref().take(count).collect());
        }
    }

    fn open_partition(&self, of: &Opening<'_>, index: usize) -> Partition {
        let topic = of.topic;
        let partition = index as i32;
        let log = self
            .open_log(&topic.name, topic.id, partition, &of.config)
            .map_err(|error| {
                tracing::error!(topic = topic.name, partition, "{error}");
                error.to_string()
            });
        Partition::new(
            of.name.clone(),
            partition,
            leadership(topic, &topic.partitions[index]),
            of.config.durability,
            log,
        )
    }

    fn open_log(
        &self,
        topic: &str,
        id: Uuid,
        partition: i32,
        config: &LogConfig,
    ) -> Result<Box<PartitionLog>> {
        let opened = self.with_directory(|directory| {
            directory.create_partition(topic, partition, id)?;
            directory.open_log(topic, partition, config.clone(), self.now_ms())
        })?;
        match opened {
            Opened::Ready(log, recovery) => {
                if let Some(cut) = &recovery.cut {
                    tracing::warn!(topic, partition, "cut off what was not synced: {cut}");
                }
                for note in &recovery.notes {
                    tracing::warn!(topic, partition, "{note}");
                }
                Ok(log)
            }
            Opened::Quarantined(log) => {
                let damages = log.damages();
                tracing::error!(
                    topic,
                    partition,
                    "stored records are damaged in {} places, and can be read only up to the first: {}; \
                     `copart broker --repair` says what would be lost",
                    damages.len(),
                    damages
                        .first()
                        .map_or_else(String::new, ToString::to_string)
                );
                Ok(log)
            }
        }
    }

    fn delete(&self, partition: &Partition) {
        drop(partition.close());
        let deleted = self.with_directory(|directory| {
            directory.delete_partition(&partition.topic().name, partition.index())
        });
        if let Err(error) = deleted {
            tracing::error!(
                topic = partition.topic().name,
                partition = partition.index(),
                "the log is deleted, but not from the disk: {error}"
            );
        }
        self.deleted.store(true, Ordering::Release);
    }

    /// Frees the space of logs that were deleted.
    pub(super) fn remove_deleted(&self) -> Result<()> {
        if self.deleted.swap(false, Ordering::AcqRel) {
            self.with_directory(DataDirectory::remove_deleted)?;
        }
        Ok(())
    }

    /// Writes Kafka's checkpoint files.
    pub(super) fn store_checkpoints(&self) -> Result<()> {
        let checkpoints: Vec<Checkpoint> = self
            .partitions
            .all()
            .iter()
            .filter_map(|partition| {
                let mut state = partition.state();
                let log = state.log().ok()?;
                Some(checkpoint(partition, log))
            })
            .collect();
        self.with_directory(|directory| directory.store_checkpoints(&checkpoints))
    }

    /// Has what was written to a partition synced, if its durability asks for that.
    pub(crate) fn written(&self, partition: &Arc<Partition>) {
        if partition.syncs() {
            self.commit.request(partition);
        }
    }

    /// Is this the name of a topic that only the broker itself writes?
    pub(crate) fn writes_alone(&self, topic: &str) -> bool {
        is_internal(topic) || (self.keeps_schemas && topic == SCHEMAS)
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

    /// The partitions with damaged records, or that cannot be used at all, with the reason.
    pub(super) fn damaged_partitions(&self) -> Vec<(String, i32, String)> {
        let mut damaged: Vec<_> = self
            .partitions
            .all()
            .into_iter()
            .filter_map(|partition| {
                let reason = partition.state().damage()?;
                Some((partition.topic().name.clone(), partition.index(), reason))
            })
            .collect();
        damaged.sort();
        damaged
    }

    /// Where the logs are.
    pub(crate) fn log_dir(&self) -> &Path {
        &self.storage.path
    }

    /// How much room the disk under the logs has, if that is known.
    pub(crate) fn space(&self) -> Option<Space> {
        let directory = self.storage.directory.read();
        let directory = directory.unwrap_or_else(PoisonError::into_inner);
        directory.as_ref()?.space()
    }

    /// Closes all logs. Waits for the disk.
    pub(super) fn close(&self) -> Result<()> {
        let closed = close_all(&self.partitions.all());
        let (mut result, whole, checkpoints) = (closed.result, closed.whole, closed.checkpoints);
        let directory = self
            .storage
            .directory
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(directory) = directory {
            let stored = directory.store_checkpoints(&checkpoints);
            result = result.and(stored);
            // The mark of a clean stop stands for all logs.
            if whole && result.is_ok() {
                result = directory.close();
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
