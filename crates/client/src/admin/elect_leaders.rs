//! Having leaders elected anew.

use copart_protocol::ErrorCode;
use copart_protocol::messages::elect_leaders::{ElectLeadersRequest, TopicPartitions};

use super::call::{Answered, Call, Found, Time, outcome};
use super::{Admin, Results, by_topic};
use crate::cluster::Route;
use crate::{Error, ErrorKind, Result, TopicPartition};

/// Who may become leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Election {
    /// The first of a partition's replicas, if it is in sync.
    Preferred,
    /// Any replica that is there, if none in sync is. Records can be lost. Needs brokers of Kafka 2.4 or
    /// later.
    Unclean,
}

impl Admin {
    /// Has the controller elect leaders of partitions. A partition whose leader is right already counts as
    /// done.
    ///
    /// # Errors
    /// For each partition: that there is none such, or that none may be elected
    /// (`PREFERRED_LEADER_NOT_AVAILABLE`, `ELIGIBLE_LEADERS_NOT_AVAILABLE`).
    pub async fn elect_leaders<P: Into<TopicPartition>>(
        &self,
        election: Election,
        partitions: impl IntoIterator<Item = P>,
    ) -> Results<TopicPartition, ()> {
        let keys = partitions.into_iter().map(Into::into).collect();
        self.run(ElectLeaders { election }, keys).await
    }
}

struct ElectLeaders {
    election: Election,
}

impl Call for ElectLeaders {
    type Request = ElectLeadersRequest;
    type Key = TopicPartition;
    type Value = ();

    const REPEATABLE: bool = true;

    fn route(&self, _: &TopicPartition) -> Route {
        Route::Controller
    }

    fn check(&self, _: &TopicPartition, version: i16) -> Result<()> {
        if self.election == Election::Unclean && version < 1 {
            return Err(Error::new(
                ErrorKind::UnsupportedVersion,
                "brokers before Kafka 2.4 elect preferred leaders only",
            ));
        }
        Ok(())
    }

    fn request(&self, keys: &[TopicPartition], _: i16, time: Time) -> ElectLeadersRequest {
        let topics = by_topic(keys, |key| key.partition).into_iter();
        let topics = topics.map(|(topic, partitions)| TopicPartitions { topic, partitions });
        ElectLeadersRequest {
            election_type: match self.election {
                Election::Preferred => 0,
                Election::Unclean => 1,
            },
            topic_partitions: Some(topics.collect()),
            timeout_ms: time.milliseconds(),
        }
    }

    fn answer(&self, answered: Answered<Self>, found: &mut Found<TopicPartition, ()>) {
        found.throttle(answered.response.throttle_time_ms);
        if let Err(error) = outcome(answered.response.error_code, None) {
            return found.rest(error);
        }
        for topic in answered.response.replica_election_results {
            for partition in topic.partition_result {
                let outcome = match partition.error_code {
                    ErrorCode::ELECTION_NOT_NEEDED => Ok(()),
                    code => outcome(code, partition.error_message.as_deref()),
                };
                let key = TopicPartition::new(topic.topic.as_str(), partition.partition_id);
                found.item(key, outcome);
            }
        }
    }

    fn name(key: &TopicPartition, error: Error) -> Error {
        error.in_partition(key.topic.clone(), key.partition)
    }
}
