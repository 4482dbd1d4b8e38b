//! What the records of the metadata log come to.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use copart_protocol::Uuid;
use copart_protocol::messages::broker_registration_change_record::BrokerRegistrationChangeRecord;
use copart_protocol::messages::config_record::ConfigRecord;
use copart_protocol::messages::feature_level_record::FeatureLevelRecord;
use copart_protocol::messages::partition_change_record::PartitionChangeRecord;
use copart_protocol::messages::partition_record::PartitionRecord;
use copart_protocol::messages::producer_ids_record::ProducerIdsRecord;
use copart_protocol::messages::register_broker_record::RegisterBrokerRecord;
use copart_protocol::messages::topic_record::TopicRecord;

use super::election::{NO_CHANGE, NO_LEADER};
use super::record::Record;
use super::{Change, Changes, ConfigResource, Node, Partition, Topic};
use crate::configs::{TopicConfig, Values};

/// The cluster's state.
#[derive(Debug)]
pub(super) struct Image {
    /// By id.
    pub(super) nodes: Vec<Node>,
    topics: BTreeMap<String, Topic>,
    names: HashMap<Uuid, String>,
    configs: BTreeMap<ConfigResource, Values>,
    features: BTreeMap<String, i16>,
    /// Producer ids below it are given out.
    pub(super) next_producer_id: i64,
    /// What a topic has until its settings are resolved.
    unresolved: Arc<TopicConfig>,
}

impl Image {
    pub(super) fn new(unresolved: Arc<TopicConfig>) -> Self {
        Self {
            nodes: Vec::new(),
            topics: BTreeMap::new(),
            names: HashMap::new(),
            configs: BTreeMap::new(),
            features: BTreeMap::new(),
            next_producer_id: 0,
            unresolved,
        }
    }

    pub(super) fn topic(&self, name: &str) -> Option<&Topic> {
        self.topics.get(name)
    }

    pub(super) fn topic_by_id(&self, id: Uuid) -> Option<&Topic> {
        self.topics.get(self.names.get(&id)?)
    }

    pub(super) fn topics(&self) -> impl Iterator<Item = &Topic> {
        self.topics.values()
    }

    pub(super) fn topics_mut(&mut self) -> impl Iterator<Item = &mut Topic> {
        self.topics.values_mut()
    }

    pub(super) fn topic_mut(&mut self, name: &str) -> Option<&mut Topic> {
        self.topics.get_mut(name)
    }

    pub(super) fn runs(&self, id: i32) -> bool {
        self.node(id).is_some_and(|node| node.running)
    }

    pub(super) fn node(&self, id: i32) -> Option<&Node> {
        let index = self.nodes.binary_search_by_key(&id, |node| node.id);
        Some(&self.nodes[index.ok()?])
    }

    /// What was set for a broker, all brokers or a group. Topics have theirs
    /// in [`Topic::overrides`].
    pub(super) fn configs(&self, resource: &ConfigResource) -> Option<&Values> {
        self.configs.get(resource)
    }

    /// The resources that something was set for, topics left out.
    pub(super) fn configured(&self) -> impl Iterator<Item = &ConfigResource> {
        self.configs.keys()
    }

    /// Takes note of a record. The error says why it makes no sense here,
    /// which is damage: records are checked before they are written.
    pub(super) fn apply(&mut self, record: &Record, changes: &mut Changes) -> Result<(), String> {
        match record {
            Record::RegisterBroker(record) => self.register(record),
            Record::UnregisterBroker(record) => {
                self.nodes.retain(|node| node.id != record.broker_id);
                Ok(())
            }
            Record::BrokerRegistrationChange(record) => self.registration_change(record, changes),
            Record::Topic(record) => self.add_topic(record),
            Record::RemoveTopic(record) => self.remove_topic(record.topic_id, changes),
            Record::Partition(record) => self.add_partition(record, changes),
            Record::PartitionChange(record) => self.change_partition(record, changes),
            Record::Config(record) => self.configure(record, changes),
            Record::FeatureLevel(FeatureLevelRecord {
                name,
                feature_level,
            }) => {
                match feature_level {
                    0 => self.features.remove(name),
                    level => self.features.insert(name.clone(), *level),
                };
                Ok(())
            }
            Record::ProducerIds(record) => {
                self.next_producer_id = self.next_producer_id.max(record.next_producer_id);
                Ok(())
            }
        }
    }

    fn register(&mut self, record: &RegisterBrokerRecord) -> Result<(), String> {
        let node = Node {
            id: record.broker_id,
            rack: record.rack.clone(),
            running: !record.fenced,
        };
        match self.nodes.binary_search_by_key(&node.id, |node| node.id) {
            Ok(index) => self.nodes[index] = node,
            Err(index) => self.nodes.insert(index, node),
        }
        Ok(())
    }

    fn registration_change(
        &mut self,
        record: &BrokerRegistrationChangeRecord,
        changes: &mut Changes,
    ) -> Result<(), String> {
        let id = record.broker_id;
        let node = self.nodes.iter_mut().find(|node| node.id == id);
        let node =
            node.ok_or_else(|| format!("a change of broker {id}, which did not register"))?;
        let running = match record.fenced {
            0 => return Ok(()),
            fenced => fenced < 0,
        };
        if node.running != running {
            node.running = running;
            changes.push(Change::NodeChanged { id, running });
        }
        Ok(())
    }

    fn add_topic(&mut self, record: &TopicRecord) -> Result<(), String> {
        let (name, id) = (&record.name, record.topic_id);
        if self.topics.contains_key(name) || self.names.contains_key(&id) {
            return Err(format!("topic {name} with id {id} is made a second time"));
        }
        self.names.insert(id, name.clone());
        let topic = Topic {
            name: name.clone(),
            id,
            config: self.unresolved.clone(),
            overrides: Values::new(),
            partitions: Vec::new(),
        };
        self.topics.insert(name.clone(), topic);
        Ok(())
    }

    fn remove_topic(&mut self, id: Uuid, changes: &mut Changes) -> Result<(), String> {
        let name = self.names.remove(&id);
        let topic = name.and_then(|name| self.topics.remove(&name));
        let topic = topic.ok_or_else(|| format!("topic {id} is removed, and is not there"))?;
        changes.extend((0..topic.partitions.len() as i32).map(|partition| {
            Change::PartitionDeleted {
                topic: topic.name.clone(),
                id,
                partition,
            }
        }));
        Ok(())
    }

    fn topic_of(&mut self, id: Uuid) -> Result<&mut Topic, String> {
        let name = self.names.get(&id);
        name.and_then(|name| self.topics.get_mut(name))
            .ok_or_else(|| format!("a partition of topic {id}, which is not there"))
    }

    fn add_partition(
        &mut self,
        record: &PartitionRecord,
        changes: &mut Changes,
    ) -> Result<(), String> {
        let topic = self.topic_of(record.topic_id)?;
        let index = record.partition_id;
        if index as usize != topic.partitions.len() {
            return Err(format!(
                "partition {index} of topic {}, which has {}",
                topic.name,
                topic.partitions.len()
            ));
        }
        topic.partitions.push(Partition {
            leader: (record.leader != NO_LEADER).then_some(record.leader),
            leader_epoch: record.leader_epoch,
            partition_epoch: record.partition_epoch,
            replicas: record.replicas.clone(),
            isr: record.isr.clone(),
            adding: record.adding_replicas.clone(),
            removing: record.removing_replicas.clone(),
        });
        changes.push(Change::PartitionCreated {
            topic: topic.name.clone(),
            id: topic.id,
            partition: index,
        });
        Ok(())
    }

    fn change_partition(
        &mut self,
        record: &PartitionChangeRecord,
        changes: &mut Changes,
    ) -> Result<(), String> {
        let topic = self.topic_of(record.topic_id)?;
        let index = record.partition_id;
        let (name, id) = (topic.name.clone(), topic.id);
        let partition = usize::try_from(index)
            .ok()
            .and_then(|index| topic.partitions.get_mut(index))
            .ok_or_else(|| format!("partition {index} of topic {name}, which is not there"))?;
        let take = |into: &mut Vec<i32>, from: &Option<Vec<i32>>| {
            if let Some(from) = from {
                into.clone_from(from);
            }
        };
        take(&mut partition.isr, &record.isr);
        take(&mut partition.replicas, &record.replicas);
        take(&mut partition.adding, &record.adding_replicas);
        take(&mut partition.removing, &record.removing_replicas);
        let new_leader_epoch = record.leader != NO_CHANGE;
        if new_leader_epoch {
            partition.leader = (record.leader != NO_LEADER).then_some(record.leader);
            partition.leader_epoch += 1;
        }
        partition.partition_epoch += 1;
        changes.push(Change::PartitionChanged {
            topic: name,
            id,
            partition: index,
            new_leader_epoch,
        });
        Ok(())
    }

    fn configure(&mut self, record: &ConfigRecord, changes: &mut Changes) -> Result<(), String> {
        let resource = ConfigResource::read(record.resource_type, &record.resource_name)?;
        let values = match &resource {
            ConfigResource::Topic(name) => {
                let topic = self.topics.get_mut(name);
                let topic = topic.ok_or_else(|| format!("a setting of topic {name}"))?;
                if !topic.partitions.is_empty() {
                    changes.push(Change::TopicConfigChanged {
                        topic: name.clone(),
                        id: topic.id,
                    });
                }
                &mut topic.overrides
            }
            resource => {
                changes.push(match resource {
                    ConfigResource::Group(group) => Change::GroupConfigChanged {
                        group: group.clone(),
                    },
                    ConfigResource::Broker(node) => Change::BrokerConfigChanged { node: *node },
                    ConfigResource::Topic(_) => return Ok(()),
                });
                self.configs.entry(resource.clone()).or_default()
            }
        };
        match &record.value {
            Some(value) => values.insert(record.name.clone(), value.clone()),
            None => values.remove(&record.name),
        };
        if self.configs.get(&resource).is_some_and(Values::is_empty) {
            self.configs.remove(&resource);
        }
        Ok(())
    }

    /// Records that say all of it.
    pub(super) fn records(&self) -> Vec<Record> {
        let mut records = Vec::new();
        let features = self.features.iter().map(|(name, level)| {
            Record::from(FeatureLevelRecord {
                name: name.clone(),
                feature_level: *level,
            })
        });
        records.extend(features);
        records.extend(
            self.nodes
                .iter()
                .map(|node| Record::from(registration(node))),
        );
        for topic in self.topics.values() {
            records.push(Record::from(TopicRecord {
                name: topic.name.clone(),
                topic_id: topic.id,
            }));
            let resource = ConfigResource::Topic(topic.name.clone());
            records.extend(config_records(&resource, &topic.overrides));
            let partitions = topic.partitions.iter().enumerate();
            records.extend(
                partitions.map(|(index, it)| Record::from(it.to_record(topic.id, index as i32))),
            );
        }
        for (resource, values) in &self.configs {
            records.extend(config_records(resource, values));
        }
        if self.next_producer_id > 0 {
            records.push(Record::from(ProducerIdsRecord {
                next_producer_id: self.next_producer_id,
                ..ProducerIdsRecord::default()
            }));
        }
        records
    }
}

/// A node as it registers.
pub(super) fn registration(node: &Node) -> RegisterBrokerRecord {
    RegisterBrokerRecord {
        broker_id: node.id,
        rack: node.rack.clone(),
        fenced: !node.running,
        ..RegisterBrokerRecord::default()
    }
}

fn config_records(resource: &ConfigResource, values: &Values) -> Vec<Record> {
    let records = values
        .iter()
        .map(|(name, value)| resource.to_record(name, Some(value.clone())));
    records.map(Record::from).collect()
}

impl Partition {
    pub(super) fn to_record(&self, topic_id: Uuid, index: i32) -> PartitionRecord {
        PartitionRecord {
            partition_id: index,
            topic_id,
            replicas: self.replicas.clone(),
            isr: self.isr.clone(),
            adding_replicas: self.adding.clone(),
            removing_replicas: self.removing.clone(),
            leader: self.leader.unwrap_or(NO_LEADER),
            leader_epoch: self.leader_epoch,
            partition_epoch: self.partition_epoch,
            ..PartitionRecord::default()
        }
    }
}
