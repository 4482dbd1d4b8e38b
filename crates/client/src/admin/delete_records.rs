//! Deleting the oldest records of partitions.

use std::collections::HashMap;

use copart_protocol::messages::delete_records::{
    DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic,
};

use super::call::{Answered, Call, Found, Time, outcome};
use super::{Admin, Results, by_topic};
use crate::cluster::Route;
use crate::{Error, TopicPartition};

/// Which records go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeleteBefore {
    /// Those before this offset.
    Offset(i64),
    /// All that consumers could read.
    HighWatermark,
}

impl DeleteBefore {
    fn wire(self) -> i64 {
        match self {
            Self::Offset(offset) => offset,
            Self::HighWatermark => -1,
        }
    }
}

impl Admin {
    /// Deletes the oldest records of partitions: the log begins later from then on. Tells at which offset.
    ///
    /// # Errors
    /// For each partition: that the offset is beyond the high watermark (`OFFSET_OUT_OF_RANGE`), that the
    /// topic may not be written to, or what else its leader says, such as `POLICY_VIOLATION` for a compacted
    /// topic.
    pub async fn delete_records<P: Into<TopicPartition>>(
        &self,
        partitions: impl IntoIterator<Item = (P, DeleteBefore)>,
    ) -> Results<TopicPartition, i64> {
        let partitions = partitions.into_iter();
        let partitions: Vec<(TopicPartition, DeleteBefore)> =
            partitions.map(|(p, before)| (p.into(), before)).collect();
        let keys = partitions.iter().map(|(p, _)| p.clone()).collect();
        let before = partitions.into_iter().rev().collect();
        self.run(DeleteRecords { before }, keys).await
    }
}

struct DeleteRecords {
    before: HashMap<TopicPartition, DeleteBefore>,
}

impl Call for DeleteRecords {
    type Request = DeleteRecordsRequest;
    type Key = TopicPartition;
    type Value = i64;

    // Up to an offset is up to an offset. Up to the high watermark may be more the second time, and that is
    // what was asked for.
    const REPEATABLE: bool = true;

    fn route(&self, key: &TopicPartition) -> Route {
        Route::Leader(key.topic.clone(), key.partition)
    }

    fn request(&self, keys: &[TopicPartition], _: i16, time: Time) -> DeleteRecordsRequest {
        let topics = by_topic(keys, |key| DeleteRecordsPartition {
            partition_index: key.partition,
            offset: self.before[key].wire(),
        });
        let topics = topics.into_iter();
        DeleteRecordsRequest {
            topics: topics
                .map(|(name, partitions)| DeleteRecordsTopic { name, partitions })
                .collect(),
            timeout_ms: time.milliseconds(),
        }
    }

    fn answer(&self, answered: Answered<Self>, found: &mut Found<TopicPartition, i64>) {
        found.throttle(answered.response.throttle_time_ms);
        for topic in answered.response.topics {
            for partition in topic.partitions {
                let outcome = outcome(partition.error_code, None);
                found.item(
                    TopicPartition::new(topic.name.as_str(), partition.partition_index),
                    outcome.map(|()| partition.low_watermark),
                );
            }
        }
    }

    fn name(key: &TopicPartition, error: Error) -> Error {
        error.in_partition(key.topic.clone(), key.partition)
    }
}
