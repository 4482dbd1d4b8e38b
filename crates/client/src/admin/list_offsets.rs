//! Finding offsets.

use std::collections::HashMap;

use copart_protocol::messages::list_offsets::{
    ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic,
};

use super::call::{Answered, Call, Found, Time, outcome};
use super::{Admin, Results, by_topic};
use crate::cluster::Route;
use crate::{Error, ErrorKind, Result, TopicPartition};

/// Which offset of a partition is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OffsetSpec {
    /// Where the log begins.
    Earliest,
    /// Behind the last record that consumers can read: the high watermark.
    Latest,
    /// Where the first open transaction begins, or the high watermark if none is open: what consumers with
    /// `read_committed` read up to.
    LastStable,
    /// Of the first record that is not older than this, in milliseconds since 1970.
    Timestamp(i64),
    /// Of the record with the highest timestamp (KIP-734). Needs brokers of Kafka 3.0 or later.
    MaxTimestamp,
    /// Where the part of the log that is on the leader's own disk begins (KIP-405).
    EarliestLocal,
    /// Behind the last record that is in tiered storage (KIP-1005).
    LatestTiered,
}

impl OffsetSpec {
    fn wire(self) -> i64 {
        match self {
            Self::Latest | Self::LastStable => -1,
            Self::Earliest => -2,
            Self::MaxTimestamp => -3,
            Self::EarliestLocal => -4,
            Self::LatestTiered => -5,
            Self::Timestamp(milliseconds) => milliseconds,
        }
    }

    /// The first version that has it.
    fn since(self) -> i16 {
        match self {
            Self::Earliest | Self::Latest | Self::Timestamp(_) => 1,
            Self::LastStable => 2,
            Self::MaxTimestamp => 7,
            Self::EarliestLocal => 8,
            Self::LatestTiered => 9,
        }
    }
}

/// An offset that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedOffset {
    /// The offset. `None` if there is no such record: none so young, or none at all.
    pub offset: Option<i64>,
    /// The timestamp of the record there, where it was looked for by timestamp.
    pub timestamp: Option<i64>,
    /// The epoch of the leader that wrote it, if known.
    pub leader_epoch: Option<i32>,
}

impl Admin {
    /// Finds offsets: where partitions begin and end, or what was written since a point in time.
    ///
    /// # Errors
    /// For each partition: that there is none such, that we may not see it, or that its leader's release does
    /// not have what is asked for.
    pub async fn list_offsets<P: Into<TopicPartition>>(
        &self,
        partitions: impl IntoIterator<Item = (P, OffsetSpec)>,
    ) -> Results<TopicPartition, ListedOffset> {
        let partitions = partitions.into_iter();
        let partitions: Vec<(TopicPartition, OffsetSpec)> =
            partitions.map(|(p, spec)| (p.into(), spec)).collect();
        let keys: Vec<TopicPartition> = partitions.iter().map(|(p, _)| p.clone()).collect();
        let specs: HashMap<_, _> = partitions.into_iter().rev().collect();
        let stable = |key: &TopicPartition| specs[key] == OffsetSpec::LastStable;
        if !keys.iter().any(stable) || keys.iter().all(stable) {
            let committed = keys.iter().all(stable);
            return self.run(ListOffsets { specs, committed }, keys).await;
        }
        // The isolation level is the request's, not the partition's.
        let (stable, others): (Vec<_>, Vec<_>) = keys.iter().cloned().partition(stable);
        let committed = ListOffsets {
            specs: specs.clone(),
            committed: true,
        };
        let uncommitted = ListOffsets {
            specs,
            committed: false,
        };
        let (stable, others) =
            tokio::join!(self.run(committed, stable), self.run(uncommitted, others));
        let mut found: HashMap<TopicPartition, Vec<_>> = HashMap::new();
        for (key, outcome) in stable.into_iter().chain(others) {
            found.entry(key).or_default().push(outcome);
        }
        found.values_mut().for_each(|outcomes| outcomes.reverse());
        let entries = keys.into_iter().filter_map(|key| {
            let outcome = found.get_mut(&key)?.pop()?;
            Some((key, outcome))
        });
        Results::new(entries.collect())
    }
}

struct ListOffsets {
    specs: HashMap<TopicPartition, OffsetSpec>,
    committed: bool,
}

impl Call for ListOffsets {
    type Request = ListOffsetsRequest;
    type Key = TopicPartition;
    type Value = ListedOffset;

    const REPEATABLE: bool = true;

    fn route(&self, key: &TopicPartition) -> Route {
        Route::Leader(key.topic.clone(), key.partition)
    }

    fn check(&self, key: &TopicPartition, version: i16) -> Result<()> {
        let spec = self.specs[key];
        match spec {
            OffsetSpec::Timestamp(milliseconds) if milliseconds < 0 => Err(Error::new(
                ErrorKind::Config,
                format!("a timestamp is not below zero: {milliseconds}"),
            )),
            _ if version < spec.since() => Err(Error::new(
                ErrorKind::UnsupportedVersion,
                format!("the leader's release does not know {spec:?}"),
            )),
            _ => Ok(()),
        }
    }

    fn request(&self, keys: &[TopicPartition], _: i16, time: Time) -> ListOffsetsRequest {
        let topics = by_topic(keys, |key| ListOffsetsPartition {
            partition_index: key.partition,
            timestamp: self.specs[key].wire(),
            ..ListOffsetsPartition::default()
        });
        let topics = topics.into_iter();
        ListOffsetsRequest {
            // A consumer, not a follower.
            replica_id: -1,
            isolation_level: i8::from(self.committed),
            topics: topics
                .map(|(name, partitions)| ListOffsetsTopic { name, partitions })
                .collect(),
            timeout_ms: time.milliseconds(),
        }
    }

    fn answer(&self, answered: Answered<Self>, found: &mut Found<TopicPartition, ListedOffset>) {
        found.throttle(answered.response.throttle_time_ms);
        for topic in answered.response.topics {
            for partition in topic.partitions {
                let outcome = outcome(partition.error_code, None).map(|()| ListedOffset {
                    offset: (partition.offset >= 0).then_some(partition.offset),
                    timestamp: (partition.timestamp >= 0).then_some(partition.timestamp),
                    leader_epoch: (partition.leader_epoch >= 0).then_some(partition.leader_epoch),
                });
                let key = TopicPartition::new(topic.name.as_str(), partition.partition_index);
                found.item(key, outcome);
            }
        }
    }

    fn name(key: &TopicPartition, error: Error) -> Error {
        error.in_partition(key.topic.clone(), key.partition)
    }
}
