//! Committing offsets, and asking for those that were committed: requests and answers.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use copart_protocol::messages::offset_commit::{
    OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic,
    OffsetCommitResponse,
};
use copart_protocol::messages::offset_fetch::{
    OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopic, OffsetFetchRequestTopics,
    OffsetFetchResponse,
};
use copart_protocol::{ErrorCode, VersionRange};

use super::group::Identity;
use crate::TopicPartition;
use crate::reader::Position;

/// How far a group has come in a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Committed {
    /// The offset of the next record that is to be processed.
    pub offset: i64,
    /// The epoch of the leader that wrote the record before it; -1 if it is not known. Whoever goes on there notices
    /// with it that the log was truncated (KIP-320).
    pub leader_epoch: i32,
    /// What is noted beside it; empty for nothing.
    pub metadata: String,
}

impl Committed {
    /// This offset, with nothing noted beside it.
    pub fn new(offset: i64) -> Self {
        Self::at(Position::at(offset))
    }

    /// With the epoch of the leader that wrote the record before it.
    #[must_use]
    pub fn leader_epoch(mut self, epoch: i32) -> Self {
        self.leader_epoch = epoch;
        self
    }

    /// With a note, which brokers keep as it is: up to 4096 bytes by default.
    #[must_use]
    pub fn metadata(mut self, metadata: impl Into<String>) -> Self {
        self.metadata = metadata.into();
        self
    }

    pub(crate) fn at(position: Position) -> Self {
        Self {
            offset: position.offset,
            leader_epoch: position.epoch,
            metadata: String::new(),
        }
    }

    pub(crate) fn position(&self) -> Position {
        Position::new(self.offset, self.leader_epoch)
    }
}

impl From<i64> for Committed {
    fn from(offset: i64) -> Self {
        Self::new(offset)
    }
}

/// The versions of OffsetCommit that have topics' names. KIP-848's members need the last of them, as no other has their
/// error codes.
pub(crate) const COMMIT_VERSIONS: VersionRange = VersionRange::new(2, 9);
/// The versions of OffsetFetch that have topics' names.
pub(crate) const FETCH_VERSIONS: VersionRange = VersionRange::new(1, 9);
/// The first that asks for several groups (KIP-709).
const SEVERAL_GROUPS: i16 = 8;
/// The first that says who asks.
const MEMBERS: i16 = 9;
/// The first that waits for transactions (KIP-447).
const STABLE: i16 = 7;

fn by_topic<'a, T: 'a>(
    entries: impl IntoIterator<Item = (&'a TopicPartition, T)>,
) -> BTreeMap<&'a Arc<str>, Vec<(i32, T)>> {
    let mut topics: BTreeMap<&Arc<str>, Vec<(i32, T)>> = BTreeMap::new();
    for (partition, value) in entries {
        let values = topics.entry(&partition.topic).or_default();
        values.push((partition.partition, value));
    }
    topics
}

pub(crate) fn commit_request<'a>(
    group: &str,
    by: &Identity,
    offsets: impl Iterator<Item = (&'a TopicPartition, &'a Committed)>,
) -> OffsetCommitRequest {
    let topics = by_topic(offsets).into_iter();
    let topics = topics.map(|(name, partitions)| OffsetCommitRequestTopic {
        name: name.to_string(),
        partitions: partitions
            .into_iter()
            .map(
                |(partition_index, committed)| OffsetCommitRequestPartition {
                    partition_index,
                    committed_offset: committed.offset,
                    committed_leader_epoch: committed.leader_epoch,
                    committed_metadata: Some(committed.metadata.clone()),
                },
            )
            .collect(),
        ..OffsetCommitRequestTopic::default()
    });
    OffsetCommitRequest {
        group_id: group.to_owned(),
        generation_id_or_member_epoch: by.generation,
        member_id: by.member_id.to_string(),
        group_instance_id: by.instance_id.as_deref().map(str::to_owned),
        retention_time_ms: -1,
        topics: topics.collect(),
    }
}

/// The outcome of each partition that the answer speaks of.
pub(crate) fn commit_outcomes(
    response: &OffsetCommitResponse,
) -> HashMap<TopicPartition, ErrorCode> {
    let mut outcomes = HashMap::new();
    for topic in &response.topics {
        for one in &topic.partitions {
            let partition = TopicPartition::new(topic.name.as_str(), one.partition_index);
            outcomes.insert(partition, one.error_code);
        }
    }
    outcomes
}

pub(crate) fn fetch_request(
    group: &str,
    member: Option<&Identity>,
    partitions: &[TopicPartition],
    stable: bool,
    version: i16,
) -> OffsetFetchRequest {
    let topics = by_topic(partitions.iter().map(|partition| (partition, ())));
    let topics = topics.into_iter().map(|(name, partitions)| {
        let indexes: Vec<i32> = partitions.into_iter().map(|(index, ())| index).collect();
        (name.to_string(), indexes)
    });
    let mut request = OffsetFetchRequest {
        require_stable: stable && version >= STABLE,
        ..OffsetFetchRequest::default()
    };
    if version < SEVERAL_GROUPS {
        request.group_id = group.to_owned();
        let topics = topics.map(|(name, partition_indexes)| OffsetFetchRequestTopic {
            name,
            partition_indexes,
        });
        request.topics = Some(topics.collect());
        return request;
    }
    let topics = topics.map(|(name, partition_indexes)| OffsetFetchRequestTopics {
        name,
        partition_indexes,
        ..OffsetFetchRequestTopics::default()
    });
    let mut asked = OffsetFetchRequestGroup {
        group_id: group.to_owned(),
        topics: Some(topics.collect()),
        ..OffsetFetchRequestGroup::default()
    };
    if version >= MEMBERS
        && let Some(member) = member.filter(|member| member.is_epoch)
    {
        asked.member_id = Some(member.member_id.to_string());
        asked.member_epoch = member.generation;
    }
    request.groups = vec![asked];
    request
}

/// What is committed of each partition that the answer speaks of; `None` for nothing.
pub(crate) type Fetched = HashMap<TopicPartition, Result<Option<Committed>, ErrorCode>>;

/// Or why the group as a whole is not told of.
pub(crate) fn fetch_outcomes(
    response: OffsetFetchResponse,
    version: i16,
) -> Result<Fetched, ErrorCode> {
    let mut found = Fetched::new();
    let mut one =
        |topic: &str, index, code: ErrorCode, offset, leader_epoch, metadata: Option<String>| {
            let committed = code.ok().map(|()| {
                (offset >= 0).then(|| Committed {
                    offset,
                    leader_epoch,
                    metadata: metadata.unwrap_or_default(),
                })
            });
            found.insert(TopicPartition::new(topic, index), committed);
        };
    if version < SEVERAL_GROUPS {
        response.error_code.ok()?;
        for topic in response.topics {
            for p in topic.partitions {
                one(
                    &topic.name,
                    p.partition_index,
                    p.error_code,
                    p.committed_offset,
                    p.committed_leader_epoch,
                    p.metadata,
                );
            }
        }
        return Ok(found);
    }
    for group in response.groups {
        group.error_code.ok()?;
        for topic in group.topics {
            for p in topic.partitions {
                one(
                    &topic.name,
                    p.partition_index,
                    p.error_code,
                    p.committed_offset,
                    p.committed_leader_epoch,
                    p.metadata,
                );
            }
        }
    }
    Ok(found)
}

/// What a refused commit means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The coordinator is elsewhere, or has to be looked for.
    Move,
    /// Later.
    Retry,
    /// Once the group has settled: the member's epoch or generation is being replaced.
    AfterRebalance,
    /// The member is not in the group any more; the partitions may be another's.
    Gone,
    /// It will not be otherwise.
    Refused,
}

impl Verdict {
    pub(crate) fn of(code: ErrorCode) -> Self {
        match code {
            ErrorCode::NOT_COORDINATOR | ErrorCode::COORDINATOR_NOT_AVAILABLE => Self::Move,
            ErrorCode::COORDINATOR_LOAD_IN_PROGRESS
            | ErrorCode::UNSTABLE_OFFSET_COMMIT
            | ErrorCode::REQUEST_TIMED_OUT => Self::Retry,
            // A generation that is over may only not be known yet to be: the answer to the join is on its way. If
            // the member is out, its partitions are lost, and with them the commit.
            ErrorCode::STALE_MEMBER_EPOCH
            | ErrorCode::REBALANCE_IN_PROGRESS
            | ErrorCode::ILLEGAL_GENERATION => Self::AfterRebalance,
            ErrorCode::UNKNOWN_MEMBER_ID
            | ErrorCode::FENCED_INSTANCE_ID
            | ErrorCode::FENCED_MEMBER_EPOCH => Self::Gone,
            // A topic that was just created, or is being deleted.
            code if code.is_retriable() => Self::Retry,
            _ => Self::Refused,
        }
    }
}
