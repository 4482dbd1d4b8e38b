//! Where brokers keep partitions, and how large they are.

use copart_protocol::messages::describe_log_dirs::{
    DescribeLogDirsRequest, DescribeLogDirsResponse, DescribeLogDirsResult,
};

use super::call::{Answered, Call, Found, Time, outcome};
use super::{Admin, Results};
use crate::cluster::Route;
use crate::{Error, Result, TopicPartition};

/// A directory of a broker.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LogDir {
    /// Its path, on the broker.
    pub path: String,
    /// What is the matter with it, such as `KAFKA_STORAGE_ERROR` for a disk that has failed.
    pub error: Option<Error>,
    /// What is in it.
    pub replicas: Vec<LogDirReplica>,
    /// The size of its volume in bytes. `None` from brokers before Kafka 3.3 (KIP-827).
    pub total_bytes: Option<i64>,
    /// How much of that is free. `None` as above.
    pub usable_bytes: Option<i64>,
}

/// A replica in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogDirReplica {
    /// The partition.
    pub partition: TopicPartition,
    /// The bytes of its segments.
    pub size: i64,
    /// How many records it is behind: behind the high watermark, or if it is moved here from another
    /// directory, behind that one.
    pub offset_lag: i64,
    /// Whether it is moved here from another directory.
    pub is_future: bool,
}

impl Admin {
    /// The directories of these brokers, and the replicas in them.
    ///
    /// # Errors
    /// For each broker: that it is not known or not reached, or does not let us see.
    pub async fn describe_log_dirs(
        &self,
        brokers: impl IntoIterator<Item = i32>,
    ) -> Results<i32, Vec<LogDir>> {
        self.run(DescribeLogDirs, brokers.into_iter().collect())
            .await
    }
}

struct DescribeLogDirs;

impl Call for DescribeLogDirs {
    type Request = DescribeLogDirsRequest;
    type Key = i32;
    type Value = Vec<LogDir>;

    const REPEATABLE: bool = true;

    fn route(&self, key: &i32) -> Route {
        Route::Node(*key)
    }

    fn request(&self, _: &[i32], _: i16, _: Time) -> DescribeLogDirsRequest {
        DescribeLogDirsRequest { topics: None }
    }

    fn answer(&self, answered: Answered<Self>, found: &mut Found<i32, Vec<LogDir>>) {
        found.throttle(answered.response.throttle_time_ms);
        let outcome = directories(answered.response);
        // The request went to one broker, and names no other.
        for key in answered.keys {
            found.item(key, outcome.clone());
        }
    }

    fn name(key: &i32, error: Error) -> Error {
        error.about(format_args!("log directories of broker {key}"))
    }
}

fn directories(response: DescribeLogDirsResponse) -> Result<Vec<LogDir>> {
    outcome(response.error_code, None)?;
    Ok(response.results.into_iter().map(Into::into).collect())
}

impl From<DescribeLogDirsResult> for LogDir {
    fn from(result: DescribeLogDirsResult) -> Self {
        let mut replicas = Vec::new();
        for topic in result.topics {
            for partition in topic.partitions {
                replicas.push(LogDirReplica {
                    partition: TopicPartition::new(topic.name.as_str(), partition.partition_index),
                    size: partition.partition_size,
                    offset_lag: partition.offset_lag,
                    is_future: partition.is_future_key,
                });
            }
        }
        replicas.sort_by(|a, b| a.partition.cmp(&b.partition));
        Self {
            path: result.log_dir,
            error: outcome(result.error_code, None).err(),
            replicas,
            total_bytes: (result.total_bytes >= 0).then_some(result.total_bytes),
            usable_bytes: (result.usable_bytes >= 0).then_some(result.usable_bytes),
        }
    }
}
