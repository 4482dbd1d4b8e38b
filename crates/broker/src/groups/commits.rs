//! Offsets: committing, fetching, deleting, expiring.

use std::collections::HashSet;

use copart_protocol::messages::offset_commit_key::OffsetCommitKey;
use copart_protocol::messages::offset_commit_value::OffsetCommitValue;
use copart_protocol::{ErrorCode, Uuid};

use super::batches;
use super::classic::{ClassicGroup, State};
use super::consumer::ConsumerGroup;
use super::coordinator::{Coordinator, Group, Input};
use super::env::{GroupError, GroupResult};
use super::offsets::Committed;
use super::record::Record;

/// Who commits, or asks what was committed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Committer<'a> {
    /// `None` if the request says nothing about a member.
    pub(crate) member_id: Option<&'a str>,
    pub(crate) instance: Option<&'a str>,
    /// Generation or member epoch; negative for one that is in no group.
    pub(crate) epoch: i32,
    /// The version of the request.
    pub(crate) version: i16,
}

/// What is committed of a partition.
#[derive(Clone, Debug)]
pub(crate) struct Commit {
    pub(crate) topic: String,
    pub(crate) topic_id: Uuid,
    pub(crate) partition: i32,
    pub(crate) offset: i64,
    pub(crate) leader_epoch: i32,
    pub(crate) metadata: String,
}

/// A topic whose offsets are asked for.
#[derive(Clone, Debug)]
pub(crate) struct FetchTopic {
    pub(crate) name: String,
    /// Zero if the topic is not there.
    pub(crate) id: Uuid,
    pub(crate) partitions: Vec<i32>,
}

/// What a group has committed of a topic's partitions: nothing yet, or maybe another transaction soon.
#[derive(Clone, Debug)]
pub(crate) struct Fetched {
    pub(crate) name: String,
    pub(crate) partitions: Vec<(i32, Result<Option<Committed>, ErrorCode>)>,
}

impl Coordinator {
    /// OffsetCommit: a code for each commit. `retention_ms` is -1 unless the client says it. They are written in one
    /// batch: all of them or none.
    pub(crate) fn commit(
        &mut self,
        input: Input<'_>,
        group: &str,
        by: Committer<'_>,
        retention_ms: i64,
        commits: Vec<Commit>,
    ) -> GroupResult<Vec<ErrorCode>> {
        if group.is_empty() {
            return Err(ErrorCode::INVALID_GROUP_ID.into());
        }
        self.check_committer(input, group, by, &commits)?;
        let longest = usize::try_from(input.config.offset_metadata_max_bytes).unwrap_or(0);
        let mut codes = Vec::with_capacity(commits.len());
        let mut records = Vec::with_capacity(commits.len());
        for commit in commits {
            if commit.metadata.len() > longest {
                codes.push(ErrorCode::OFFSET_METADATA_TOO_LARGE);
                continue;
            }
            let key = OffsetCommitKey {
                group: group.to_owned(),
                topic: commit.topic,
                partition: commit.partition,
            };
            let value = OffsetCommitValue {
                offset: commit.offset,
                leader_epoch: commit.leader_epoch,
                metadata: commit.metadata,
                commit_timestamp: input.now.ms,
                expire_timestamp: match retention_ms {
                    -1 => -1,
                    retention => input.now.ms.saturating_add(retention),
                },
                topic_id: commit.topic_id,
            };
            records.push(Record::OffsetCommit(key, Some(value)));
            codes.push(ErrorCode::NONE);
        }
        // The code of Kafka since its coordinator of 4.0; before it was INVALID_COMMIT_OFFSET_SIZE.
        if batches::size(&records).map_or(true, |size| size > input.max_batch_bytes) {
            return Err(ErrorCode::UNKNOWN_SERVER_ERROR.into());
        }
        self.write_offsets(records);
        Ok(codes)
    }

    fn write_offset(&mut self, key: OffsetCommitKey, value: Option<OffsetCommitValue>) {
        self.offsets.apply(key.clone(), value.clone(), None);
        self.out.records.push(Record::OffsetCommit(key, value));
    }

    fn check_committer(
        &mut self,
        input: Input<'_>,
        id: &str,
        by: Committer<'_>,
        commits: &[Commit],
    ) -> GroupResult<()> {
        let room = self.check_room();
        let (groups, _, mut env) = self.split(input);
        match groups.get_mut(id) {
            None if by.epoch < 0 => {
                room?;
                // A consumer that assigns to itself, and keeps its offsets here.
                let group = ClassicGroup::new(id, input.now);
                groups.insert(id.to_owned(), Group::Classic(Box::new(group)));
                Ok(())
            }
            None if by.version >= 9 => Err(GroupError::new(
                ErrorCode::GROUP_ID_NOT_FOUND,
                format!("Group {id} not found."),
            )),
            None => Err(ErrorCode::ILLEGAL_GENERATION.into()),
            Some(Group::Classic(group)) => {
                check_classic(group, by)?;
                // Whoever commits is alive.
                group.alive(by.member_id.unwrap_or_default(), &mut env);
                Ok(())
            }
            Some(Group::Consumer(group)) => check_consumer(group, by, commits),
        }
    }

    /// OffsetFetch: all that a group has committed, or what is asked for. Of a group that is not there it is nothing.
    pub(crate) fn fetch(
        &self,
        group: &str,
        by: Committer<'_>,
        topics: Option<&[FetchTopic]>,
        require_stable: bool,
    ) -> GroupResult<Vec<Fetched>> {
        if let Some(Group::Consumer(group)) = self.groups.get(group)
            && (by.member_id.is_some() || by.epoch >= 0)
        {
            let member_id = by.member_id.unwrap_or_default();
            let Some(member) = group.members.get(member_id) else {
                return Err(ErrorCode::UNKNOWN_MEMBER_ID.into());
            };
            if by.epoch != member.epoch {
                return Err(stale(member.classic.is_some()).into());
            }
        }
        let one = |name: &str, partition: i32, topic_id: Uuid| {
            if require_stable && self.offsets.is_open(group, name, partition) {
                return Err(ErrorCode::UNSTABLE_OFFSET_COMMIT);
            }
            let committed = self.offsets.get(group, name, partition);
            Ok(committed.filter(|it| it.is_of(topic_id)).cloned())
        };
        if let Some(topics) = topics {
            let fetched = topics.iter().map(|topic| Fetched {
                name: topic.name.clone(),
                partitions: topic
                    .partitions
                    .iter()
                    .map(|&partition| (partition, one(&topic.name, partition, topic.id)))
                    .collect(),
            });
            return Ok(fetched.collect());
        }
        let all = self.offsets.of(group).into_iter().flatten();
        let fetched = all.map(|(name, partitions)| Fetched {
            name: name.clone(),
            partitions: partitions
                .keys()
                .map(|&partition| (partition, one(name, partition, Uuid::ZERO)))
                .collect(),
        });
        Ok(fetched.collect())
    }

    /// OffsetDelete: a code for each partition.
    pub(crate) fn delete_offsets(
        &mut self,
        group: &str,
        topics: &[(String, Vec<i32>)],
    ) -> GroupResult<Vec<Vec<ErrorCode>>> {
        if group.is_empty() {
            return Err(ErrorCode::INVALID_GROUP_ID.into());
        }
        let subscribed = match self.groups.get(group) {
            None => return Err(ErrorCode::GROUP_ID_NOT_FOUND.into()),
            Some(Group::Classic(it)) if it.state == State::Empty => HashSet::new(),
            Some(Group::Classic(it)) => match it.subscribed_topics() {
                Some(topics) => topics,
                // Nobody knows what members of another kind still need.
                None => return Err(ErrorCode::NON_EMPTY_GROUP.into()),
            },
            Some(Group::Consumer(it)) => it.all_wanted().into_iter().collect(),
        };
        let mut codes = Vec::with_capacity(topics.len());
        for (topic, partitions) in topics {
            let code = match subscribed.contains(topic) {
                true => ErrorCode::GROUP_SUBSCRIBED_TO_TOPIC,
                false => ErrorCode::NONE,
            };
            for &partition in partitions {
                let there = self.offsets.get(group, topic, partition).is_some()
                    || self.offsets.is_open(group, topic, partition);
                if code.is_none() && there {
                    let key = OffsetCommitKey {
                        group: group.to_owned(),
                        topic: topic.clone(),
                        partition,
                    };
                    self.write_offset(key, None);
                }
            }
            codes.push(vec![code; partitions.len()]);
        }
        Ok(codes)
    }

    /// A topic is deleted, and what was committed of it.
    pub(crate) fn topic_deleted(&mut self, name: &str, id: Uuid) {
        let groups: Vec<String> = self.offsets.groups().cloned().collect();
        for group in groups {
            let gone = |topic: &str, _, committed: &Committed| topic == name && committed.is_of(id);
            self.write_offsets(self.offsets.tombstones(&group, gone));
        }
    }

    fn write_offsets(&mut self, records: Vec<Record>) {
        for record in records {
            if let Record::OffsetCommit(key, value) = record {
                self.write_offset(key, value);
            }
        }
    }

    /// Drops what `offsets.retention.minutes` are over for, and groups that nothing is left of.
    pub(super) fn expire(&mut self, input: Input<'_>) {
        let retention_ms = i64::from(input.config.offsets_retention_minutes) * 60_000;
        let ids: Vec<String> = self.groups.keys().cloned().collect();
        for id in ids {
            let Some(group) = self.groups.get(&id) else {
                continue;
            };
            let Some((since, subscribed)) = expiry_of(group) else {
                continue;
            };
            let gone = |topic: &str, partition: i32, committed: &Committed| {
                let ends = match committed.expire_ms {
                    -1 => since
                        .unwrap_or(committed.commit_ms)
                        .saturating_add(retention_ms),
                    expires => expires,
                };
                input.now.ms >= ends
                    && !subscribed.contains(topic)
                    && !self.offsets.is_open(&id, topic, partition)
            };
            let records = self.offsets.tombstones(&id, gone);
            self.write_offsets(records);
            let nothing_left = self.offsets.of(&id).is_none() && !self.offsets.has_open(&id);
            let group = &self.groups[&id];
            if nothing_left && group.is_empty() {
                self.out.records.extend(group.tombstones());
                self.groups.remove(&id);
            }
        }
    }
}

/// Since when a group's offsets may expire, if that is not since they were committed; and the topics that they stay of.
/// `None` if they may not.
fn expiry_of(group: &Group) -> Option<(Option<i64>, HashSet<String>)> {
    match group {
        Group::Consumer(group) => Some((None, group.all_wanted().into_iter().collect())),
        Group::Classic(group) => match (group.state, &group.protocol_type) {
            (State::Empty, Some(_)) => Some((Some(group.since_ms), HashSet::new())),
            (State::Empty, None) => Some((None, HashSet::new())),
            (State::Stable, _) => Some((None, group.subscribed_topics()?)),
            _ => None,
        },
    }
}

fn stale(classic: bool) -> ErrorCode {
    match classic {
        true => ErrorCode::ILLEGAL_GENERATION,
        false => ErrorCode::STALE_MEMBER_EPOCH,
    }
}

fn check_classic(group: &ClassicGroup, by: Committer<'_>) -> GroupResult<()> {
    if by.epoch < 0 && group.state == State::Empty {
        return Ok(());
    }
    let member_id = by.member_id.unwrap_or_default();
    if by.epoch < 0 && member_id.is_empty() && by.instance.is_none() {
        return Err(ErrorCode::UNKNOWN_MEMBER_ID.into());
    }
    group.check_member(member_id, by.instance)?;
    if by.epoch != group.generation {
        return Err(ErrorCode::ILLEGAL_GENERATION.into());
    }
    match group.state {
        // It knows of the generation, and may have to give up what it commits.
        State::CompletingRebalance => Err(ErrorCode::REBALANCE_IN_PROGRESS.into()),
        _ => Ok(()),
    }
}

fn check_consumer(group: &ConsumerGroup, by: Committer<'_>, commits: &[Commit]) -> GroupResult<()> {
    if by.epoch < 0 && group.members.is_empty() {
        return Ok(());
    }
    let member_id = by.member_id.unwrap_or_default();
    let Some(member) = group.members.get(member_id) else {
        return Err(ErrorCode::UNKNOWN_MEMBER_ID.into());
    };
    let classic = member.classic.is_some();
    if !classic && by.version < 9 {
        return Err(ErrorCode::UNSUPPORTED_VERSION.into());
    }
    if by.epoch == member.epoch {
        return Ok(());
    }
    // An older epoch will do for what the member had already then: the commit may have crossed an answer.
    let had = |commit: &Commit| {
        let partitions = member.assigned.get(&commit.topic_id);
        let since = partitions.and_then(|it| it.get(&commit.partition));
        since.is_some_and(|since| by.epoch >= *since)
    };
    match by.epoch < member.epoch && commits.iter().all(had) {
        true => Ok(()),
        false => Err(stale(classic).into()),
    }
}
