//! What groups have committed.

use std::collections::HashMap;

use copart_protocol::messages::offset_commit::{
    OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};
use copart_protocol::messages::offset_delete::{
    OffsetDeleteRequest, OffsetDeleteRequestPartition, OffsetDeleteRequestTopic,
};
use copart_protocol::messages::offset_fetch::{
    OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchResponse,
};
use copart_protocol::{ErrorCode, VersionRange};

use super::{in_group, to_coordinator};
use crate::admin::call::{Answered, Call, Found, Time, outcome};
use crate::admin::{Admin, Results, by_topic};
use crate::cluster::Route;
use crate::{Error, Result, TopicPartition};

/// How far a group has come in a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommittedOffset {
    /// The offset of the next record that is to be processed.
    pub offset: i64,
    /// The epoch of the leader that the record before it came from, if known.
    pub leader_epoch: Option<i32>,
    /// What the one who committed noted beside it.
    pub metadata: String,
}

/// What a group has committed: each partition, or why it is not known.
pub type GroupOffsets = Vec<(TopicPartition, Result<CommittedOffset>)>;

impl Admin {
    /// All that these groups have committed, sorted by partition. Offsets of transactions that are still open
    /// are waited for (KIP-447).
    ///
    /// # Errors
    /// For each group: that we may not see it. A group that there is not has committed nothing.
    pub async fn list_group_offsets<N: Into<String>>(
        &self,
        groups: impl IntoIterator<Item = N>,
    ) -> Results<String, GroupOffsets> {
        let groups = groups.into_iter().map(Into::into).collect();
        self.run(FetchOffsets, groups).await
    }

    /// Sets a group's offsets. The group must have no members; one that there is not comes into being.
    ///
    /// # Errors
    /// For each partition: that the group has members (`UNKNOWN_MEMBER_ID`), that there is no such partition,
    /// or that we may not.
    pub async fn alter_group_offsets<P: Into<TopicPartition>>(
        &self,
        group: &str,
        offsets: impl IntoIterator<Item = (P, i64)>,
    ) -> Results<TopicPartition, ()> {
        let offsets = offsets.into_iter();
        let offsets: Vec<(TopicPartition, i64)> = offsets.map(|(p, o)| (p.into(), o)).collect();
        let keys = offsets.iter().map(|(p, _)| p.clone()).collect();
        let call = CommitOffsets {
            group: group.to_owned(),
            offsets: offsets.into_iter().rev().collect(),
        };
        named(group, self.run(call, keys).await)
    }

    /// Forgets a group's offsets of these partitions. No member may be subscribed to their topics.
    ///
    /// # Errors
    /// For each partition: that the group reads the topic (`GROUP_SUBSCRIBED_TO_TOPIC`), that there is no such
    /// group or partition, or that we may not.
    pub async fn delete_group_offsets<P: Into<TopicPartition>>(
        &self,
        group: &str,
        partitions: impl IntoIterator<Item = P>,
    ) -> Results<TopicPartition, ()> {
        let keys = partitions.into_iter().map(Into::into).collect();
        let call = DeleteOffsets {
            group: group.to_owned(),
        };
        named(group, self.run(call, keys).await)
    }
}

/// Errors of partitions say the group too.
fn named<T>(group: &str, results: Results<TopicPartition, T>) -> Results<TopicPartition, T> {
    let entries = results.into_iter();
    let entries = entries.map(|(key, outcome)| (key, outcome.map_err(|e| e.in_group(group))));
    Results::new(entries.collect())
}

struct FetchOffsets;

/// The first version of OffsetFetch that asks for several groups (KIP-709).
const SEVERAL_GROUPS: i16 = 8;

impl Call for FetchOffsets {
    type Request = OffsetFetchRequest;
    type Key = String;
    type Value = GroupOffsets;

    const REPEATABLE: bool = true;
    // From the first in which no topics means all of them, to the last that has topics' names.
    const VERSIONS: VersionRange = VersionRange::new(2, 9);

    fn route(&self, group: &String) -> Route {
        to_coordinator(group)
    }

    fn items_per_request(&self, version: i16) -> usize {
        if version >= SEVERAL_GROUPS {
            usize::MAX
        } else {
            1
        }
    }

    fn request(&self, groups: &[String], version: i16, _: Time) -> OffsetFetchRequest {
        let mut request = OffsetFetchRequest {
            require_stable: version >= 7,
            ..OffsetFetchRequest::default()
        };
        if version >= SEVERAL_GROUPS {
            let groups = groups.iter().map(|group| OffsetFetchRequestGroup {
                group_id: group.clone(),
                topics: None,
                ..OffsetFetchRequestGroup::default()
            });
            request.groups = groups.collect();
        } else {
            request.group_id = groups.first().cloned().unwrap_or_default();
            request.topics = None;
        }
        request
    }

    fn answer(&self, answered: Answered<Self>, found: &mut Found<String, GroupOffsets>) {
        found.throttle(answered.response.throttle_time_ms);
        if answered.version < SEVERAL_GROUPS {
            if let Some(group) = answered.keys.into_iter().next() {
                found.item(group, one_group(answered.response));
            }
            return;
        }
        for group in answered.response.groups {
            let offsets = outcome(group.error_code, None).and_then(|()| {
                let topics = group.topics.into_iter();
                let partitions = topics.flat_map(|topic| {
                    let name = topic.name;
                    topic.partitions.into_iter().map(move |partition| {
                        committed(
                            TopicPartition::new(name.as_str(), partition.partition_index),
                            partition.error_code,
                            partition.committed_offset,
                            partition.committed_leader_epoch,
                            partition.metadata,
                        )
                    })
                });
                sorted(partitions)
            });
            found.item(group.group_id, offsets);
        }
    }

    fn name(group: &String, error: Error) -> Error {
        in_group(group, error)
    }
}

/// The answer of versions for one group.
fn one_group(response: OffsetFetchResponse) -> Result<GroupOffsets> {
    outcome(response.error_code, None)?;
    let partitions = response.topics.into_iter().flat_map(|topic| {
        let name = topic.name;
        topic.partitions.into_iter().map(move |partition| {
            committed(
                TopicPartition::new(name.as_str(), partition.partition_index),
                partition.error_code,
                partition.committed_offset,
                partition.committed_leader_epoch,
                partition.metadata,
            )
        })
    });
    sorted(partitions)
}

/// `None` if the group has committed nothing there.
fn committed(
    partition: TopicPartition,
    code: ErrorCode,
    offset: i64,
    epoch: i32,
    metadata: Option<String>,
) -> Option<(TopicPartition, Result<CommittedOffset>)> {
    if code.is_none() && offset < 0 {
        return None;
    }
    let committed = outcome(code, None).map(|()| CommittedOffset {
        offset,
        leader_epoch: (epoch >= 0).then_some(epoch),
        metadata: metadata.unwrap_or_default(),
    });
    Some((partition, committed))
}

/// # Errors
/// When a transaction has to be waited for: then all of the group is asked for again.
fn sorted(
    partitions: impl Iterator<Item = Option<(TopicPartition, Result<CommittedOffset>)>>,
) -> Result<GroupOffsets> {
    let mut offsets: GroupOffsets = partitions.flatten().collect();
    let unstable = offsets.iter().find_map(|(_, outcome)| match outcome {
        Err(error) if error.code() == Some(ErrorCode::UNSTABLE_OFFSET_COMMIT) => Some(error),
        _ => None,
    });
    if let Some(error) = unstable {
        return Err(error.clone());
    }
    offsets.sort_by(|(a, _), (b, _)| a.cmp(b));
    let offsets = offsets.into_iter().map(|(partition, outcome)| {
        let name = |e: Error| e.in_partition(partition.topic.clone(), partition.partition);
        let outcome = outcome.map_err(name);
        (partition, outcome)
    });
    Ok(offsets.collect())
}

struct CommitOffsets {
    group: String,
    offsets: HashMap<TopicPartition, i64>,
}

impl Call for CommitOffsets {
    type Request = OffsetCommitRequest;
    type Key = TopicPartition;
    type Value = ();

    const REPEATABLE: bool = true;
    // To the last that has topics' names.
    const VERSIONS: VersionRange = VersionRange::new(2, 9);

    fn route(&self, _: &TopicPartition) -> Route {
        to_coordinator(&self.group)
    }

    fn request(&self, keys: &[TopicPartition], _: i16, _: Time) -> OffsetCommitRequest {
        let topics = by_topic(keys, |key| OffsetCommitRequestPartition {
            partition_index: key.partition,
            committed_offset: self.offsets[key],
            committed_metadata: Some(String::new()),
            ..OffsetCommitRequestPartition::default()
        });
        let topics = topics.into_iter();
        OffsetCommitRequest {
            group_id: self.group.clone(),
            topics: topics
                .map(|(name, partitions)| OffsetCommitRequestTopic {
                    name,
                    partitions,
                    ..OffsetCommitRequestTopic::default()
                })
                .collect(),
            ..OffsetCommitRequest::default()
        }
    }

    fn answer(&self, answered: Answered<Self>, found: &mut Found<TopicPartition, ()>) {
        found.throttle(answered.response.throttle_time_ms);
        for topic in answered.response.topics {
            for partition in topic.partitions {
                let key = TopicPartition::new(topic.name.as_str(), partition.partition_index);
                found.item(key, outcome(partition.error_code, None));
            }
        }
    }

    fn name(key: &TopicPartition, error: Error) -> Error {
        error.in_partition(key.topic.clone(), key.partition)
    }
}

struct DeleteOffsets {
    group: String,
}

impl Call for DeleteOffsets {
    type Request = OffsetDeleteRequest;
    type Key = TopicPartition;
    type Value = ();

    const REPEATABLE: bool = true;

    fn route(&self, _: &TopicPartition) -> Route {
        to_coordinator(&self.group)
    }

    fn request(&self, keys: &[TopicPartition], _: i16, _: Time) -> OffsetDeleteRequest {
        let topics = by_topic(keys, |key| OffsetDeleteRequestPartition {
            partition_index: key.partition,
        });
        let topics = topics.into_iter();
        OffsetDeleteRequest {
            group_id: self.group.clone(),
            topics: topics
                .map(|(name, partitions)| OffsetDeleteRequestTopic { name, partitions })
                .collect(),
        }
    }

    fn answer(&self, answered: Answered<Self>, found: &mut Found<TopicPartition, ()>) {
        found.throttle(answered.response.throttle_time_ms);
        if let Err(error) = outcome(answered.response.error_code, None) {
            return found.rest(error);
        }
        for topic in answered.response.topics {
            for partition in topic.partitions {
                let key = TopicPartition::new(topic.name.as_str(), partition.partition_index);
                found.item(key, outcome(partition.error_code, None));
            }
        }
    }

    fn name(key: &TopicPartition, error: Error) -> Error {
        error.in_partition(key.topic.clone(), key.partition)
    }
}
