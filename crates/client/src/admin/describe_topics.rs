//! Listing and describing topics.

use copart_protocol::messages::metadata::{
    MetadataRequest, MetadataRequestTopic, MetadataResponse, MetadataResponsePartition,
    MetadataResponseTopic,
};
use copart_protocol::{ErrorCode, Uuid, VersionRange};

use super::call::{Answered, Call, Found, Time, outcome};
use super::{Admin, Results};
use crate::cluster::Route;
use crate::{Error, Result};

/// A topic as a broker describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopicDescription {
    /// Its name.
    pub name: String,
    /// Its id; zero from brokers before Kafka 2.8.
    pub id: Uuid,
    /// Whether it is one of Kafka's own.
    pub is_internal: bool,
    /// Its partitions, in order.
    pub partitions: Vec<PartitionDescription>,
}

/// A partition as a broker describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartitionDescription {
    /// Its number.
    pub index: i32,
    /// The node that leads it, if one does.
    pub leader: Option<i32>,
    /// The leader's epoch, or -1 from brokers before Kafka 2.1.
    pub leader_epoch: i32,
    /// The nodes that hold it, the preferred leader first.
    pub replicas: Vec<i32>,
    /// Those that are in sync.
    pub in_sync: Vec<i32>,
    /// Those that are not there.
    pub offline: Vec<i32>,
    /// What is the matter with it, such as `LEADER_NOT_AVAILABLE`.
    pub error: Option<ErrorCode>,
}

impl From<MetadataResponsePartition> for PartitionDescription {
    fn from(partition: MetadataResponsePartition) -> Self {
        Self {
            index: partition.partition_index,
            leader: (partition.leader_id >= 0).then_some(partition.leader_id),
            leader_epoch: partition.leader_epoch,
            replicas: partition.replica_nodes,
            in_sync: partition.isr_nodes,
            offline: partition.offline_replicas,
            error: Some(partition.error_code).filter(|code| !code.is_none()),
        }
    }
}

impl Admin {
    /// All topics that we may see, Kafka's own among them, by name.
    ///
    /// # Errors
    /// When no broker answers in time. A topic that is in trouble is an entry with an error.
    pub async fn list_topics(&self) -> Result<Results<String, TopicDescription>> {
        let listed = self.run(ListTopics, vec!["topics"]).await.all()?;
        let mut topics: Vec<_> = listed.into_iter().flat_map(|(_, topics)| topics).collect();
        topics.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(Results::new(topics))
    }

    /// Topics with their partitions, leaders and replicas. None is created by asking.
    ///
    /// # Errors
    /// For each topic: that there is none of this name (`UNKNOWN_TOPIC_OR_PARTITION`), or that we may not see
    /// it.
    pub async fn describe_topics<N: Into<String>>(
        &self,
        names: impl IntoIterator<Item = N>,
    ) -> Results<String, TopicDescription> {
        let names = names.into_iter().map(Into::into).collect();
        self.run(DescribeTopics, names).await
    }
}

/// From the first version in which a topic is not created by asking for it.
const VERSIONS: VersionRange = VersionRange::new(4, i16::MAX);

fn request(topics: Option<Vec<MetadataRequestTopic>>) -> MetadataRequest {
    MetadataRequest {
        topics,
        allow_auto_topic_creation: false,
        ..MetadataRequest::default()
    }
}

fn described(topic: MetadataResponseTopic) -> Option<(String, Result<TopicDescription>)> {
    let name = topic.name?;
    let described = outcome(topic.error_code, None).map(|()| {
        let partitions = topic.partitions.into_iter().map(Into::into);
        let mut partitions: Vec<PartitionDescription> = partitions.collect();
        partitions.sort_by_key(|partition| partition.index);
        TopicDescription {
            name: name.clone(),
            id: topic.topic_id,
            is_internal: topic.is_internal,
            partitions,
        }
    });
    Some((name, described))
}

/// What the answer says as a whole.
fn whole(response: &MetadataResponse) -> Result<()> {
    outcome(response.error_code, None)
}

struct DescribeTopics;

impl Call for DescribeTopics {
    type Request = MetadataRequest;
    type Key = String;
    type Value = TopicDescription;

    const REPEATABLE: bool = true;
    const VERSIONS: VersionRange = VERSIONS;

    fn route(&self, _: &String) -> Route {
        Route::Any
    }

    fn request(&self, names: &[String], _: i16, _: Time) -> MetadataRequest {
        let topics = names.iter().map(|name| MetadataRequestTopic {
            name: Some(name.clone()),
            ..MetadataRequestTopic::default()
        });
        request(Some(topics.collect()))
    }

    fn answer(&self, answered: Answered<Self>, found: &mut Found<String, TopicDescription>) {
        found.throttle(answered.response.throttle_time_ms);
        if let Err(error) = whole(&answered.response) {
            return found.rest(error);
        }
        for (name, outcome) in answered.response.topics.into_iter().filter_map(described) {
            found.item(name, outcome);
        }
    }
}

type Topics = Vec<(String, Result<TopicDescription>)>;

struct ListTopics;

impl Call for ListTopics {
    type Request = MetadataRequest;
    type Key = &'static str;
    type Value = Topics;

    const REPEATABLE: bool = true;
    const VERSIONS: VersionRange = VERSIONS;

    fn route(&self, _: &&'static str) -> Route {
        Route::Any
    }

    fn request(&self, _: &[&'static str], _: i16, _: Time) -> MetadataRequest {
        request(None)
    }

    fn answer(&self, answered: Answered<Self>, found: &mut Found<&'static str, Topics>) {
        found.throttle(answered.response.throttle_time_ms);
        let listed = whole(&answered.response).map(|()| {
            let topics = answered.response.topics.into_iter().filter_map(described);
            let named = topics.map(|(name, outcome)| {
                let outcome = outcome.map_err(|error| error.in_topic(name.as_str()));
                (name, outcome)
            });
            named.collect()
        });
        found.item("topics", listed);
    }

    fn name(_: &&'static str, error: Error) -> Error {
        error
    }
}
