//! Topics and brokers as JSON documents have them: `docs/src/schema/copart.topics-1.schema.json` and
//! `copart.metadata-1.schema.json`.

use copart::admin::{
    ClusterDescription, ConfigEntry, ConfigSource, PartitionDescription, TopicDescription,
};
use serde::Serialize;

#[derive(Serialize)]
pub(crate) struct Topics {
    schema: &'static str,
    topics: Vec<Topic>,
}

impl Topics {
    pub(crate) fn new(topics: Vec<Topic>) -> Self {
        Self {
            schema: "copart.topics/1",
            topics,
        }
    }
}

#[derive(Serialize)]
pub(crate) struct Metadata {
    schema: &'static str,
    cluster_id: Option<String>,
    controller: Option<i32>,
    brokers: Vec<Broker>,
    topics: Vec<Topic>,
}

#[derive(Serialize)]
struct Broker {
    id: i32,
    host: String,
    port: i32,
    rack: Option<String>,
}

impl Metadata {
    pub(crate) fn new(cluster: ClusterDescription, topics: Vec<Topic>) -> Self {
        let brokers = cluster
            .brokers
            .into_iter()
            .filter(|broker| !broker.is_fenced);
        let brokers = brokers.map(|broker| Broker {
            id: broker.id,
            host: broker.host,
            port: broker.port,
            rack: broker.rack,
        });
        Self {
            schema: "copart.metadata/1",
            cluster_id: cluster.cluster_id,
            controller: cluster.controller,
            brokers: brokers.collect(),
            topics,
        }
    }
}

#[derive(Serialize)]
pub(crate) struct Topic {
    pub(crate) name: String,
    /// Brokers before Kafka 2.8 have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    pub(crate) internal: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    pub(crate) partitions: Vec<Partition>,
    /// Only where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) configs: Option<Vec<Config>>,
}

impl Topic {
    /// One that is in trouble.
    pub(crate) fn failed(name: String, error: &copart::Error) -> Self {
        Self {
            name,
            id: None,
            internal: false,
            error: Some(match error.code().and_then(|code| code.name()) {
                Some(name) => name.to_owned(),
                None => error.to_string(),
            }),
            partitions: Vec::new(),
            configs: None,
        }
    }
}

#[derive(Serialize)]
pub(crate) struct Partition {
    pub(crate) partition: i32,
    pub(crate) leader: Option<i32>,
    pub(crate) leader_epoch: Option<i32>,
    pub(crate) replicas: Vec<i32>,
    pub(crate) in_sync: Vec<i32>,
    pub(crate) offline: Vec<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) begin_offset: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) end_offset: Option<i64>,
}

#[derive(Serialize)]
pub(crate) struct Config {
    pub(crate) name: String,
    pub(crate) value: Option<String>,
    source: &'static str,
    read_only: bool,
    sensitive: bool,
}

impl From<TopicDescription> for Topic {
    fn from(topic: TopicDescription) -> Self {
        Self {
            name: topic.name,
            id: (!topic.id.is_zero()).then(|| topic.id.to_string()),
            internal: topic.is_internal,
            error: None,
            partitions: topic.partitions.into_iter().map(Into::into).collect(),
            configs: None,
        }
    }
}

impl From<PartitionDescription> for Partition {
    fn from(partition: PartitionDescription) -> Self {
        let error = partition.error.map(|code| match code.name() {
            Some(name) => name.to_owned(),
            None => code.to_string(),
        });
        Self {
            partition: partition.index,
            leader: partition.leader,
            leader_epoch: Some(partition.leader_epoch).filter(|&epoch| epoch >= 0),
            replicas: partition.replicas,
            in_sync: partition.in_sync,
            offline: partition.offline,
            error,
            begin_offset: None,
            end_offset: None,
        }
    }
}

impl From<ConfigEntry> for Config {
    fn from(entry: ConfigEntry) -> Self {
        Self {
            source: match entry.source {
                ConfigSource::Topic => "topic",
                ConfigSource::Broker => "broker",
                ConfigSource::AllBrokers => "all_brokers",
                ConfigSource::BrokerFile => "broker_file",
                ConfigSource::Default => "default",
                _ => "other",
            },
            name: entry.name,
            value: entry.value,
            read_only: entry.is_read_only,
            sensitive: entry.is_sensitive,
        }
    }
}
