//! Adding partitions to topics.

use std::collections::HashMap;

use copart_protocol::messages::create_partitions::{
    CreatePartitionsAssignment, CreatePartitionsRequest, CreatePartitionsTopic,
};

use super::call::{Answered, Call, Found, Time, outcome};
use super::{Admin, Results};
use crate::cluster::Route;
use crate::{Error, ErrorKind, Result};

/// How many partitions a topic is to have.
///
/// Most keys go to another partition from then on: `copart movement` says how many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPartitions {
    topic: String,
    count: i32,
    replicas: Option<Vec<Vec<i32>>>,
}

impl NewPartitions {
    /// `count` partitions in all, those that there are included.
    pub fn total(topic: impl Into<String>, count: i32) -> Self {
        Self {
            topic: topic.into(),
            count,
            replicas: None,
        }
    }

    /// Which brokers hold each partition that is added, in the order of the partitions. Brokers decide by
    /// default.
    #[must_use]
    pub fn replicas(mut self, replicas: Vec<Vec<i32>>) -> Self {
        self.replicas = Some(replicas);
        self
    }
}

impl Admin {
    /// Adds partitions to topics.
    ///
    /// # Errors
    /// For each topic: that there is none of this name, that it has so many partitions or more already
    /// (`INVALID_PARTITIONS`), or that it is not known whether they were added.
    pub async fn create_partitions(
        &self,
        topics: impl IntoIterator<Item = NewPartitions>,
    ) -> Results<String, ()> {
        self.add_partitions(topics, false).await
    }

    /// Has the controller check whether partitions could be added, and adds none.
    ///
    /// # Errors
    /// As [`create_partitions`](Self::create_partitions).
    pub async fn check_new_partitions(
        &self,
        topics: impl IntoIterator<Item = NewPartitions>,
    ) -> Results<String, ()> {
        self.add_partitions(topics, true).await
    }

    async fn add_partitions(
        &self,
        topics: impl IntoIterator<Item = NewPartitions>,
        validate_only: bool,
    ) -> Results<String, ()> {
        let topics: Vec<NewPartitions> = topics.into_iter().collect();
        let keys = topics.iter().map(|topic| topic.topic.clone()).collect();
        let topics = topics.into_iter().rev();
        let call = CreatePartitions {
            topics: topics.map(|topic| (topic.topic.clone(), topic)).collect(),
            validate_only,
        };
        self.run(call, keys).await
    }
}

struct CreatePartitions {
    topics: HashMap<String, NewPartitions>,
    validate_only: bool,
}

impl Call for CreatePartitions {
    type Request = CreatePartitionsRequest;
    type Key = String;
    type Value = ();

    // The second time, there are so many already.
    const REPEATABLE: bool = false;

    fn route(&self, _: &String) -> Route {
        Route::Controller
    }

    fn check(&self, key: &String, _: i16) -> Result<()> {
        if self.topics[key].count < 1 {
            let reason = "a topic has at least one partition";
            return Err(Error::new(ErrorKind::Config, reason));
        }
        Ok(())
    }

    fn request(&self, keys: &[String], _: i16, time: Time) -> CreatePartitionsRequest {
        let topics = keys.iter().map(|key| {
            let topic = &self.topics[key];
            let assignments = topic.replicas.as_ref().map(|replicas| {
                let replicas = replicas.iter().cloned();
                let replicas = replicas.map(|broker_ids| CreatePartitionsAssignment { broker_ids });
                replicas.collect()
            });
            CreatePartitionsTopic {
                name: key.clone(),
                count: topic.count,
                assignments,
            }
        });
        CreatePartitionsRequest {
            topics: topics.collect(),
            timeout_ms: time.milliseconds(),
            validate_only: self.validate_only,
        }
    }

    fn answer(&self, answered: Answered<Self>, found: &mut Found<String, ()>) {
        found.throttle(answered.response.throttle_time_ms);
        for topic in answered.response.results {
            let outcome = outcome(topic.error_code, topic.error_message.as_deref());
            found.item(topic.name, outcome);
        }
    }
}
