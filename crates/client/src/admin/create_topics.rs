//! Creating topics.

use std::collections::{BTreeMap, HashMap};

use copart_protocol::messages::create_topics::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig, CreateTopicsRequest,
};
use copart_protocol::{ErrorCode, Uuid};

use super::call::{Answered, Call, Found, Time, outcome};
use super::{Admin, ConfigEntry, ConfigSource, Results};
use crate::cluster::Route;
use crate::{Error, ErrorKind, Result};

/// A topic to create.
///
/// ```
/// use copart::admin::NewTopic;
/// let topic = NewTopic::new("orders")
///     .partitions(12)
///     .replication_factor(3)
///     .config("cleanup.policy", "compact");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTopic {
    name: String,
    partitions: Option<i32>,
    replication_factor: Option<i16>,
    replicas: BTreeMap<i32, Vec<i32>>,
    configs: BTreeMap<String, String>,
}

impl NewTopic {
    /// A topic of this name. Brokers decide on what is left open, by `num.partitions` and
    /// `default.replication.factor`.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            partitions: None,
            replication_factor: None,
            replicas: BTreeMap::new(),
            configs: BTreeMap::new(),
        }
    }

    /// How many partitions it has.
    #[must_use]
    pub fn partitions(mut self, partitions: i32) -> Self {
        self.partitions = Some(partitions);
        self
    }

    /// How many brokers hold each partition.
    #[must_use]
    pub fn replication_factor(mut self, factor: i16) -> Self {
        self.replication_factor = Some(factor);
        self
    }

    /// Which brokers hold a partition; the first of them is the preferred leader. Then all partitions are to
    /// be given, instead of [`partitions`](Self::partitions) and
    /// [`replication_factor`](Self::replication_factor).
    #[must_use]
    pub fn replicas(mut self, partition: i32, brokers: impl IntoIterator<Item = i32>) -> Self {
        let brokers = brokers.into_iter().collect();
        self.replicas.insert(partition, brokers);
        self
    }

    /// A setting that differs from the brokers' default, such as `retention.ms`.
    #[must_use]
    pub fn config(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.configs.insert(name.into(), value.into());
        self
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn check(&self) -> Result<()> {
        let counted = self.partitions.is_some() || self.replication_factor.is_some();
        let mut violations = Vec::new();
        if counted && !self.replicas.is_empty() {
            violations.push(
                "give replicas for each partition, or how many partitions and replicas, not both",
            );
        }
        if self.partitions.is_some_and(|partitions| partitions < 1) {
            violations.push("a topic has at least one partition");
        }
        if self.replication_factor.is_some_and(|factor| factor < 1) {
            violations.push("a partition has at least one replica");
        }
        if violations.is_empty() {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Config, violations.join("; ")))
    }

    fn wire(&self) -> CreatableTopic {
        let assignments = self.replicas.iter();
        let assignments =
            assignments.map(|(&partition_index, brokers)| CreatableReplicaAssignment {
                partition_index,
                broker_ids: brokers.clone(),
            });
        let configs = self.configs.iter();
        let configs = configs.map(|(name, value)| CreatableTopicConfig {
            name: name.clone(),
            value: Some(value.clone()),
        });
        CreatableTopic {
            name: self.name.clone(),
            num_partitions: self.partitions.unwrap_or(-1),
            replication_factor: self.replication_factor.unwrap_or(-1),
            assignments: assignments.collect(),
            configs: configs.collect(),
        }
    }
}

/// A topic that was created, as far as the broker tells.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CreatedTopic {
    /// Its id; zero from brokers before Kafka 2.8, and from a check that created nothing.
    pub id: Uuid,
    /// How many partitions it has. `None` from brokers before Kafka 2.4, and if we may not see it.
    pub partitions: Option<i32>,
    /// How many replicas each has. `None` as above.
    pub replication_factor: Option<i16>,
    /// Its settings. `None` as above.
    pub configs: Option<Vec<ConfigEntry>>,
}

impl Admin {
    /// Creates topics.
    ///
    /// # Errors
    /// For each topic: that it exists (`TOPIC_ALREADY_EXISTS`), what is wrong with it, or that it is not
    /// known whether it was created.
    pub async fn create_topics(
        &self,
        topics: impl IntoIterator<Item = NewTopic>,
    ) -> Results<String, CreatedTopic> {
        self.create(topics, false).await
    }

    /// Has the controller check whether these topics could be created, and creates none.
    ///
    /// # Errors
    /// For each topic: what is wrong with it.
    pub async fn check_new_topics(
        &self,
        topics: impl IntoIterator<Item = NewTopic>,
    ) -> Results<String, CreatedTopic> {
        self.create(topics, true).await
    }

    async fn create(
        &self,
        topics: impl IntoIterator<Item = NewTopic>,
        validate_only: bool,
    ) -> Results<String, CreatedTopic> {
        let topics: Vec<NewTopic> = topics.into_iter().collect();
        let keys = topics.iter().map(|topic| topic.name.clone()).collect();
        let topics = topics.into_iter().rev();
        let call = CreateTopics {
            topics: topics.map(|topic| (topic.name.clone(), topic)).collect(),
            validate_only,
        };
        self.run(call, keys).await
    }
}

struct CreateTopics {
    topics: HashMap<String, NewTopic>,
    validate_only: bool,
}

/// The first version in which brokers decide on counts that are left open (KIP-464).
const BROKER_DEFAULTS: i16 = 4;

impl Call for CreateTopics {
    type Request = CreateTopicsRequest;
    type Key = String;
    type Value = CreatedTopic;

    // The second time, the topic exists.
    const REPEATABLE: bool = false;

    fn route(&self, _: &String) -> Route {
        Route::Controller
    }

    fn check(&self, key: &String, version: i16) -> Result<()> {
        let topic = &self.topics[key];
        let open = topic.replicas.is_empty()
            && (topic.partitions.is_none() || topic.replication_factor.is_none());
        if open && version < BROKER_DEFAULTS {
            return Err(Error::new(
                ErrorKind::UnsupportedVersion,
                "brokers before Kafka 2.4 have to be told how many partitions and replicas",
            ));
        }
        topic.check()
    }

    fn request(&self, keys: &[String], _: i16, time: Time) -> CreateTopicsRequest {
        CreateTopicsRequest {
            topics: keys.iter().map(|key| self.topics[key].wire()).collect(),
            timeout_ms: time.milliseconds(),
            validate_only: self.validate_only,
        }
    }

    fn answer(&self, answered: Answered<Self>, found: &mut Found<String, CreatedTopic>) {
        found.throttle(answered.response.throttle_time_ms);
        for topic in answered.response.topics {
            let created = outcome(topic.error_code, topic.error_message.as_deref());
            let created = created.map(|()| CreatedTopic {
                id: topic.topic_id,
                partitions: (topic.num_partitions >= 0).then_some(topic.num_partitions),
                replication_factor: (topic.replication_factor >= 0)
                    .then_some(topic.replication_factor),
                configs: topic
                    .configs
                    .filter(|_| topic.topic_config_error_code == ErrorCode::NONE)
                    .filter(|_| answered.version >= 5)
                    .map(|configs| {
                        let configs = configs.into_iter().map(|config| ConfigEntry {
                            name: config.name,
                            value: config.value,
                            source: ConfigSource::from_wire(config.config_source),
                            is_read_only: config.read_only,
                            is_sensitive: config.is_sensitive,
                            synonyms: Vec::new(),
                        });
                        configs.collect()
                    }),
            });
            found.item(topic.name, created);
        }
    }
}
