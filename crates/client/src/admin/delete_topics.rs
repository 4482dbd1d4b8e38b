//! Deleting topics.

use copart_protocol::Uuid;
use copart_protocol::VersionRange;
use copart_protocol::messages::delete_topics::{DeleteTopicState, DeleteTopicsRequest};

use super::call::{Answered, Call, Found, Time, outcome};
use super::{Admin, Results};
use crate::Error;
use crate::cluster::Route;

impl Admin {
    /// Deletes topics, with all their records.
    ///
    /// # Errors
    /// For each topic: that there is none of this name (`UNKNOWN_TOPIC_OR_PARTITION`), that it may not be
    /// deleted, or that it is not known whether it was.
    pub async fn delete_topics<N: Into<String>>(
        &self,
        names: impl IntoIterator<Item = N>,
    ) -> Results<String, ()> {
        let names = names.into_iter().map(Into::into).collect();
        self.run(ByName, names).await
    }

    /// Deletes topics by their ids: not another topic that has got the name since (KIP-516). Needs brokers of
    /// Kafka 2.8 or later.
    ///
    /// # Errors
    /// As [`delete_topics`](Self::delete_topics); an id that no topic has is `UNKNOWN_TOPIC_ID`.
    pub async fn delete_topics_by_id(
        &self,
        ids: impl IntoIterator<Item = Uuid>,
    ) -> Results<Uuid, ()> {
        self.run(ById, ids.into_iter().collect()).await
    }
}

/// The first version that has ids.
const IDS: i16 = 6;

struct ByName;

impl Call for ByName {
    type Request = DeleteTopicsRequest;
    type Key = String;
    type Value = ();

    // The second time, the topic is gone; or it is another one of the same name.
    const REPEATABLE: bool = false;

    fn route(&self, _: &String) -> Route {
        Route::Controller
    }

    fn request(&self, names: &[String], version: i16, time: Time) -> DeleteTopicsRequest {
        let mut request = DeleteTopicsRequest {
            timeout_ms: time.milliseconds(),
            ..DeleteTopicsRequest::default()
        };
        if version >= IDS {
            let topics = names.iter().map(|name| DeleteTopicState {
                name: Some(name.clone()),
                ..DeleteTopicState::default()
            });
            request.topics = topics.collect();
        } else {
            request.topic_names = names.to_vec();
        }
        request
    }

    fn answer(&self, answered: Answered<Self>, found: &mut Found<String, ()>) {
        found.throttle(answered.response.throttle_time_ms);
        for topic in answered.response.responses {
            let outcome = outcome(topic.error_code, topic.error_message.as_deref());
            if let Some(name) = topic.name {
                found.item(name, outcome);
            }
        }
    }
}

struct ById;

impl Call for ById {
    type Request = DeleteTopicsRequest;
    type Key = Uuid;
    type Value = ();

    const REPEATABLE: bool = false;
    const VERSIONS: VersionRange = VersionRange::new(IDS, i16::MAX);

    fn route(&self, _: &Uuid) -> Route {
        Route::Controller
    }

    fn request(&self, ids: &[Uuid], _: i16, time: Time) -> DeleteTopicsRequest {
        let topics = ids.iter().map(|&topic_id| DeleteTopicState {
            name: None,
            topic_id,
        });
        DeleteTopicsRequest {
            topics: topics.collect(),
            timeout_ms: time.milliseconds(),
            ..DeleteTopicsRequest::default()
        }
    }

    fn answer(&self, answered: Answered<Self>, found: &mut Found<Uuid, ()>) {
        found.throttle(answered.response.throttle_time_ms);
        for topic in answered.response.responses {
            let outcome = outcome(topic.error_code, topic.error_message.as_deref());
            found.item(topic.topic_id, outcome);
        }
    }

    fn name(id: &Uuid, error: Error) -> Error {
        error.in_topic(format!("with id {id}"))
    }
}
