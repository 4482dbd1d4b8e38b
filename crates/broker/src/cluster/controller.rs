//! The controller: opening, looking, and the way that every change takes.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use copart_protocol::{ErrorCode, Uuid};

use super::image::{Image, registration};
use super::metadata_log::MetadataLog;
use super::producer_ids::ProducerIds;
use super::random::Chance;
use super::record::Record;
use super::{ApiError, ApiResult, Change, Changes, ConfigResource, Partition, Topic};
use crate::configs::{BrokerConfig, BrokerSettings, TopicConfig, Values, check_started, is_fact};
use crate::files::Files;
use crate::log::{Durability, Recovery};
use crate::{Error, ErrorKind, Result};

/// What Kafka calls the metadata log where it calls it a topic.
pub(crate) const CLUSTER_METADATA_TOPIC: &str = "__cluster_metadata";

/// A node that the broker runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NodeSpec {
    pub(crate) id: i32,
    pub(crate) rack: Option<String>,
}

/// A node of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) id: i32,
    pub(crate) rack: Option<String>,
    pub(crate) running: bool,
}

/// How a controller is opened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    /// At least one. All of them run.
    pub(crate) nodes: Vec<NodeSpec>,
    /// The cluster's id, which `meta.properties` has.
    pub(crate) cluster_id: String,
    /// The id of the data directory, which `meta.properties` has.
    pub(crate) directory_id: Uuid,
    /// What an answer to a change promises.
    pub(crate) durability: Durability,
    /// Settings from the command line or the builder, under Kafka's names:
    /// `num.partitions`, `log.retention.hours` …
    pub(crate) configs: Values,
    /// For tests: the same ids and placements each time.
    pub(crate) seed: Option<u64>,
    /// Milliseconds since 1970.
    pub(crate) now_ms: i64,
}

/// The controller's part of the broker: nodes, topics, partitions, settings
/// and producer ids.
///
/// A change is checked, appended to the metadata log, as durable as
/// [`Options::durability`] says, and applied, in this order. When the log
/// cannot be written, nothing is applied.
#[derive(Debug)]
pub(crate) struct Controller {
    pub(super) image: Image,
    log: MetadataLog,
    cluster_id: String,
    directory_id: Uuid,
    pub(super) durability: Durability,
    /// Settings that the broker was started with.
    started: Values,
    /// What they come to, with what clients set.
    broker_config: Arc<BrokerConfig>,
    /// What the server says of each node.
    facts: BTreeMap<i32, Values>,
    pub(super) chance: Chance,
    pub(super) producer_ids: ProducerIds,
}

impl Controller {
    /// The directory of the metadata log, in the data directory.
    pub(crate) const METADATA_DIR: &str = "__cluster_metadata-0";

    /// Is there a metadata log in the data directory `dir`?
    ///
    /// # Errors
    /// Those of the file system.
    pub(crate) fn is_there(files: &dyn Files, dir: &Path) -> Result<bool> {
        let names = files
            .list(dir)
            .map_err(|error| Error::io(format!("reading {}", dir.display()), error))?;
        Ok(names.iter().any(|name| name == Self::METADATA_DIR))
    }

    /// Replays the metadata log in the data directory `dir`, which must exist
    /// and be locked, or begins one. Nodes that were stopped run again, and
    /// nodes that are not among the options leave the cluster.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`] if what was promised cannot be read, and
    /// [`ErrorKind::InvalidConfig`] for options that make no sense.
    pub(crate) fn open(files: Arc<dyn Files>, dir: &Path, options: Options) -> Result<Self> {
        check_options(&options)?;
        let chance = Chance::new(options.seed);
        let metadata = dir.join(Self::METADATA_DIR);
        let started = BrokerSettings {
            started: Some(&options.configs),
            node_count: options.nodes.len(),
            ..BrokerSettings::default()
        };
        let unresolved = TopicConfig::resolve(&Values::new(), started).map_err(invalid)?;
        let broker_config = BrokerConfig::resolve(started).map_err(invalid)?;
        let mut image = Image::new(Arc::new(unresolved));
        let log = MetadataLog::open(
            files,
            &metadata,
            options.durability,
            options.now_ms,
            |record| image.apply(&record, &mut Changes::new()),
        )?;
        let mut controller = Self {
            producer_ids: ProducerIds::after(image.next_producer_id),
            image,
            log,
            cluster_id: options.cluster_id,
            directory_id: options.directory_id,
            durability: options.durability,
            started: options.configs,
            broker_config: Arc::new(broker_config),
            facts: BTreeMap::new(),
            chance,
        };
        for node in &options.nodes {
            controller.set_fact(node.id, "node.id", node.id.to_string());
            controller.set_fact(node.id, "broker.id", node.id.to_string());
            controller.set_fact(node.id, "log.dirs", dir.display().to_string());
            controller.set_fact(node.id, "log.dir", dir.display().to_string());
            if let Some(rack) = &node.rack {
                controller.set_fact(node.id, "broker.rack", rack);
            }
        }
        controller.register(options.nodes)?;
        Ok(controller)
    }

    /// Makes the nodes those that the options name.
    fn register(&mut self, specs: Vec<NodeSpec>) -> Result<()> {
        let mut records = Vec::new();
        let mut again = Vec::new();
        for spec in &specs {
            match self.image.node(spec.id) {
                None => records.push(Record::from(registration(&spec.clone().into()))),
                Some(node) => {
                    if node.rack != spec.rack {
                        let mut changed = node.clone();
                        changed.rack.clone_from(&spec.rack);
                        records.push(Record::from(registration(&changed)));
                    }
                    if !node.running {
                        again.push(spec.id);
                    }
                }
            }
        }
        self.write(records)?;
        let gone = self.image.nodes.iter().map(|node| node.id);
        let gone: Vec<i32> = gone
            .filter(|id| specs.iter().all(|spec| spec.id != *id))
            .collect();
        for id in gone {
            if self.image.runs(id) {
                self.write(self.running_records(id, false))?;
            }
            self.write(vec![Record::from(super::nodes::unregistration(id))])?;
        }
        for id in again {
            self.write(self.running_records(id, true))?;
        }
        // How many nodes there are bounds some defaults.
        self.resolve_all(&mut Changes::new())
    }

    /// Appends and applies records that were checked.
    pub(super) fn commit(&mut self, records: Vec<Record>) -> ApiResult<Changes> {
        Ok(self.write(records)?)
    }

    pub(super) fn write(&mut self, records: Vec<Record>) -> Result<Changes> {
        let mut changes = Changes::new();
        if records.is_empty() {
            return Ok(changes);
        }
        self.log.append(&records)?;
        let mut all = false;
        let mut topics = Vec::new();
        for record in &records {
            self.image.apply(record, &mut changes).map_err(|reason| {
                let reason = format!("a change that was checked cannot be made: {reason}");
                Error::new(ErrorKind::Damaged, reason)
            })?;
            match record {
                Record::Topic(record) => topics.push(record.name.clone()),
                Record::Config(record) if record.resource_type == ConfigResource::TOPIC => {
                    topics.push(record.resource_name.clone());
                }
                Record::Config(record) if record.resource_type == ConfigResource::BROKER => {
                    all = true;
                }
                _ => {}
            }
        }
        changes.dedup();
        if all {
            self.resolve_all(&mut changes)?;
        } else {
            for topic in topics {
                self.resolve(&topic)?;
            }
        }
        if self.log.wants_snapshot() {
            // The change itself is done. If the snapshot fails, the log goes
            // on growing, and the next change tries again.
            let _ = self.log.snapshot(&self.image.records());
        }
        Ok(changes)
    }

    fn resolve(&mut self, name: &str) -> Result<()> {
        let Some(topic) = self.image.topic(name) else {
            return Ok(());
        };
        let config = TopicConfig::resolve(&topic.overrides, self.topic_defaults());
        let config = Arc::new(config.map_err(|reason| invalid(format!("topic {name}: {reason}")))?);
        if let Some(topic) = self.image.topic_mut(name) {
            topic.config = config;
        }
        Ok(())
    }

    /// After a change of what topics have by default.
    fn resolve_all(&mut self, changes: &mut Changes) -> Result<()> {
        let broker_config = BrokerConfig::resolve(self.topic_defaults()).map_err(invalid)?;
        let mut resolved = Vec::new();
        for topic in self.image.topics() {
            let config = TopicConfig::resolve(&topic.overrides, self.topic_defaults())
                .map_err(|reason| invalid(format!("topic {}: {reason}", topic.name)))?;
            resolved.push(config);
        }
        self.broker_config = Arc::new(broker_config);
        for (topic, config) in self.image.topics_mut().zip(resolved) {
            if *topic.config != config {
                topic.config = Arc::new(config);
                changes.push(Change::TopicConfigChanged {
                    topic: topic.name.clone(),
                    id: topic.id,
                });
            }
        }
        Ok(())
    }

    /// The places that the settings of a node come from, or of all together.
    pub(super) fn settings(&self, node: Option<i32>) -> BrokerSettings<'_> {
        let of_node = ConfigResource::Broker(node);
        BrokerSettings {
            facts: node.and_then(|node| self.facts.get(&node)),
            node: node.and_then(|_| self.image.configs(&of_node)),
            cluster: self.image.configs(&ConfigResource::Broker(None)),
            started: Some(&self.started),
            node_count: self.image.nodes.len(),
        }
    }

    /// The same, for what topics have by default. Nodes share their logs, so
    /// settings of one node count only where it is the only one.
    pub(super) fn topic_defaults(&self) -> BrokerSettings<'_> {
        match &self.image.nodes[..] {
            [only] => self.settings(Some(only.id)),
            _ => self.settings(None),
        }
    }

    /// 22 characters, or whatever the cluster was given.
    pub(crate) fn cluster_id(&self) -> &str {
        &self.cluster_id
    }

    /// The id of the data directory.
    pub(crate) fn directory_id(&self) -> Uuid {
        self.directory_id
    }

    /// In the order of their ids.
    pub(crate) fn nodes(&self) -> &[Node] {
        &self.image.nodes
    }

    pub(crate) fn node(&self, id: i32) -> Option<&Node> {
        self.image.node(id)
    }

    /// The running node with the lowest id; `None` if none runs.
    pub(crate) fn controller_id(&self) -> Option<i32> {
        let running = self.image.nodes.iter().find(|node| node.running);
        running.map(|node| node.id)
    }

    pub(crate) fn topic(&self, name: &str) -> Option<&Topic> {
        self.image.topic(name)
    }

    pub(crate) fn topic_by_id(&self, id: Uuid) -> Option<&Topic> {
        self.image.topic_by_id(id)
    }

    /// In the order of their names.
    pub(crate) fn topics(&self) -> impl Iterator<Item = &Topic> {
        self.image.topics()
    }

    /// Groups and brokers that something was set for.
    pub(crate) fn configured(&self) -> impl Iterator<Item = &ConfigResource> {
        self.image.configured()
    }

    /// What was set for a group.
    pub(crate) fn group_setting(&self, group: &str, name: &str) -> Option<&str> {
        let group = ConfigResource::Group(group.to_owned());
        self.image.configs(&group)?.get(name).map(String::as_str)
    }

    /// The settings of brokers, typed: what counts for all nodes together.
    pub(crate) fn broker_config(&self) -> &Arc<BrokerConfig> {
        &self.broker_config
    }

    /// Says how a node is: what it listens on, where its data is. For settings
    /// that DescribeConfigs shows and nobody can change, such as `listeners`.
    /// Returns false if there is no such setting.
    pub(crate) fn set_fact(&mut self, node: i32, name: &str, value: impl Into<String>) -> bool {
        if !is_fact(name) {
            return false;
        }
        let facts = self.facts.entry(node).or_default();
        facts.insert(name.to_owned(), value.into());
        true
    }

    /// The offset behind the last record of the metadata log.
    pub(crate) fn metadata_end_offset(&self) -> i64 {
        self.log.end_offset()
    }

    /// The leader epoch of the metadata log.
    pub(crate) fn metadata_epoch(&self) -> i32 {
        super::metadata_log::EPOCH
    }

    /// What was done to open the metadata log.
    pub(crate) fn recovery(&self) -> &Recovery {
        self.log.recovery()
    }

    /// Syncs the metadata log, which a durability below `disk` has not. For a
    /// broker that stops.
    pub(crate) fn sync(&mut self) -> Result<()> {
        self.log.sync()
    }

    pub(super) fn find_partition(
        &self,
        topic: &str,
        index: i32,
    ) -> ApiResult<(&Topic, &Partition)> {
        let unknown = |message| ApiError::new(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, message);
        let found = self.image.topic(topic);
        let topic = found.ok_or_else(|| unknown(format!("there is no topic {topic:?}")))?;
        let partition = topic.partition(index).ok_or_else(|| {
            unknown(format!(
                "topic {} has no partition {index}, it has {}",
                topic.name,
                topic.partitions.len()
            ))
        })?;
        Ok((topic, partition))
    }

    #[cfg(test)]
    pub(super) fn set_worth_a_snapshot(&mut self, bytes: u64) {
        self.log.set_worth_a_snapshot(bytes);
    }
}

fn check_options(options: &Options) -> Result<()> {
    if options.nodes.is_empty() {
        return Err(invalid("a broker has at least one node"));
    }
    for (index, node) in options.nodes.iter().enumerate() {
        if node.id < 0 {
            return Err(invalid(format!("node id {} is negative", node.id)));
        }
        if options.nodes[..index].iter().any(|it| it.id == node.id) {
            return Err(invalid(format!("two nodes have the id {}", node.id)));
        }
    }
    for (name, value) in &options.configs {
        check_started(name, value, options.durability).map_err(invalid)?;
    }
    Ok(())
}

#[cold]
fn invalid(reason: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidConfig, reason)
}
