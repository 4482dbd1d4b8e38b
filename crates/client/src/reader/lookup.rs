//! Asking leaders for offsets.

use std::collections::BTreeMap;
use std::sync::Arc;

use copart_protocol::messages::list_offsets::{
    ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic,
};
use copart_protocol::messages::offset_for_leader_epoch::{
    OffsetForLeaderEpochRequest, OffsetForLeaderPartition, OffsetForLeaderTopic,
};
use copart_protocol::{ApiKey, Body, ErrorCode, VersionRange};
use tokio::time::Instant;

use super::config::Isolation;
use super::core::{Position, Query, QueryKind, Reply};
use crate::cluster::{Cluster, Use};
use crate::{Error, ErrorKind, Result, TopicPartition};

/// The first version of OffsetForLeaderEpoch that asks for no more than a reader may (KIP-320).
const EPOCHS: i16 = 3;
/// The first version of ListOffsets that knows what a transaction is.
const ISOLATION: i16 = 2;

/// What one partition's leader is asked: its epoch as far as it is known, and a timestamp or one of the special
/// ones.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) partition: TopicPartition,
    pub(crate) leader_epoch: i32,
    pub(crate) timestamp: i64,
}

/// What it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) position: Position,
    /// Of the record that was found by its time; -1 otherwise.
    pub(crate) timestamp: i64,
}

/// Asks one node. The result has an answer for each question, in their order; `None` where the node left it out.
///
/// Cancel-safe.
async fn list_offsets(
    cluster: &Cluster,
    node: i32,
    isolation: Isolation,
    asked: &[Asked],
) -> Result<Vec<Option<Result<Told, ErrorCode>>>> {
    let connection = cluster.connection(node, Use::General).await?;
    let version = connection.negotiate(ApiKey::ListOffsets, ListOffsetsRequest::VERSIONS)?;
    let timeout = cluster.request_timeout();
    let mut topics: BTreeMap<&Arc<str>, Vec<ListOffsetsPartition>> = BTreeMap::new();
    for one in asked {
        let partitions = topics.entry(&one.partition.topic).or_default();
        partitions.push(ListOffsetsPartition {
            partition_index: one.partition.partition,
            current_leader_epoch: one.leader_epoch,
            timestamp: one.timestamp,
        });
    }
    let request = ListOffsetsRequest {
        // A consumer, not a follower.
        replica_id: -1,
        isolation_level: if version >= ISOLATION {
            isolation.level()
        } else {
            0
        },
        topics: topics
            .into_iter()
            .map(|(name, partitions)| ListOffsetsTopic {
                name: name.to_string(),
                partitions,
            })
            .collect(),
        timeout_ms: i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX),
    };
    let response = connection.send(version, &request, timeout)?.await?;
    let mut told: BTreeMap<(&str, i32), Result<Told, ErrorCode>> = BTreeMap::new();
    for topic in &response.topics {
        for answer in &topic.partitions {
            let found = Told {
                position: Position::new(answer.offset, answer.leader_epoch),
                timestamp: answer.timestamp,
            };
            let found = answer.error_code.ok().map(|()| found);
            told.insert((&topic.name, answer.partition_index), found);
        }
    }
    Ok(asked
        .iter()
        .map(|one| {
            told.get(&(&*one.partition.topic, one.partition.partition))
                .copied()
        })
        .collect())
}

/// Where epochs end, by what one node says; `None` where it left it out, and an error if it can't be asked.
async fn epoch_ends(
    cluster: &Cluster,
    node: i32,
    asked: &[(&Query, i32)],
) -> Result<Vec<Option<Result<Position, ErrorCode>>>> {
    let connection = cluster.connection(node, Use::General).await?;
    let versions = VersionRange::new(EPOCHS, OffsetForLeaderEpochRequest::VERSIONS.max);
    let version = connection.negotiate(ApiKey::OffsetForLeaderEpoch, versions)?;
    let mut topics: BTreeMap<&Arc<str>, Vec<OffsetForLeaderPartition>> = BTreeMap::new();
    for (query, epoch) in asked {
        let partitions = topics.entry(&query.partition.topic).or_default();
        partitions.push(OffsetForLeaderPartition {
            partition: query.partition.partition,
            current_leader_epoch: query.leader_epoch,
            leader_epoch: *epoch,
        });
    }
    let request = OffsetForLeaderEpochRequest {
        replica_id: -1,
        topics: topics
            .into_iter()
            .map(|(name, partitions)| OffsetForLeaderTopic {
                topic: name.to_string(),
                partitions,
            })
            .collect(),
    };
    let timeout = cluster.request_timeout();
    let response = connection.send(version, &request, timeout)?.await?;
    let mut told: BTreeMap<(&str, i32), Result<Position, ErrorCode>> = BTreeMap::new();
    for topic in &response.topics {
        for answer in &topic.partitions {
            let found = Position::new(answer.end_offset, answer.leader_epoch);
            let found = answer.error_code.ok().map(|()| found);
            told.insert((&topic.topic, answer.partition), found);
        }
    }
    Ok(asked
        .iter()
        .map(|(query, _)| {
            let TopicPartition { topic, partition } = &query.partition;
            told.get(&(&**topic, *partition)).copied()
        })
        .collect())
}

/// Asks a node all that the core wants to know of it.
///
/// Cancel-safe.
pub(crate) async fn ask(
    cluster: &Cluster,
    node: i32,
    isolation: Isolation,
    queries: Vec<Query>,
) -> (Vec<(Query, Reply)>, Option<Error>) {
    let mut offsets = Vec::new();
    let mut epochs = Vec::new();
    for query in &queries {
        match query.kind {
            QueryKind::Start(anchor) | QueryKind::End(anchor) => offsets.push((query, anchor)),
            QueryKind::Epoch(epoch) => epochs.push((query, epoch)),
        }
    }
    let mut replies = Vec::with_capacity(queries.len());
    let mut trouble = None;
    if !offsets.is_empty() {
        let asked: Vec<Asked> = offsets
            .iter()
            .map(|(query, anchor)| Asked {
                partition: query.partition.clone(),
                leader_epoch: query.leader_epoch,
                timestamp: anchor.timestamp(),
            })
            .collect();
        let told = list_offsets(cluster, node, isolation, &asked).await;
        let told = told.map(|told| {
            told.into_iter()
                .map(|told| told.map(|told| told.map(|told| told.position)))
                .collect()
        });
        let asked = offsets.iter().map(|(query, _)| *query);
        trouble = collect(&mut replies, asked, told);
    }
    if !epochs.is_empty() {
        let told = epoch_ends(cluster, node, &epochs).await;
        let asked = epochs.iter().map(|(query, _)| *query);
        trouble = collect(&mut replies, asked, told).or(trouble);
    }
    (replies, trouble)
}

fn collect<'a>(
    replies: &mut Vec<(Query, Reply)>,
    asked: impl Iterator<Item = &'a Query>,
    told: Result<Vec<Option<Result<Position, ErrorCode>>>>,
) -> Option<Error> {
    match told {
        Ok(told) => {
            let told = asked.zip(told).map(|(query, told)| {
                let reply = match told {
                    Some(Ok(position)) => Reply::Found(position),
                    Some(Err(code)) => Reply::Refused(code),
                    None => Reply::Lost,
                };
                (query.clone(), reply)
            });
            replies.extend(told);
            None
        }
        Err(error) => {
            let reply = match error.kind() {
                ErrorKind::UnsupportedVersion => Reply::Unsupported,
                _ => Reply::Lost,
            };
            replies.extend(asked.map(|query| (query.clone(), reply)));
            Some(error)
        }
    }
}

/// Asks the leaders of many partitions, until all have answered or time is up. Answers are in the order of the
/// questions.
///
/// Cancel-safe.
pub(crate) async fn of_times(
    cluster: &Cluster,
    isolation: Isolation,
    mut asked: Vec<Asked>,
    deadline: Instant,
    pause: crate::Backoff,
) -> Result<Vec<(TopicPartition, Told)>> {
    let mut told: Vec<Option<Told>> = vec![None; asked.len()];
    let mut tries = 0;
    loop {
        let mut trouble = None;
        let mut by_node: BTreeMap<i32, Vec<usize>> = BTreeMap::new();
        for (place, one) in asked.iter_mut().enumerate() {
            if told[place].is_some() {
                continue;
            }
            let TopicPartition { topic, partition } = &one.partition;
            let known = cluster.topic(topic, deadline).await?;
            let index = usize::try_from(*partition).unwrap_or(usize::MAX);
            let Some(known) = known.partitions.get(index) else {
                return Err(
                    Error::new(ErrorKind::UnknownTopic, "the topic has no such partition")
                        .in_partition(topic.clone(), *partition),
                );
            };
            one.leader_epoch = known.leader_epoch;
            match known.leader {
                Some(leader) => by_node.entry(leader).or_default().push(place),
                None => {
                    let error = Error::from_code(ErrorCode::LEADER_NOT_AVAILABLE, None);
                    trouble = Some(error.in_partition(topic.clone(), *partition));
                }
            }
        }
        for (node, places) in by_node {
            let questions: Vec<Asked> = places.iter().map(|&place| asked[place].clone()).collect();
            let answers = list_offsets(cluster, node, isolation, &questions);
            let answers = tokio::time::timeout_at(deadline, answers).await;
            let answers = match answers {
                Ok(Ok(answers)) => answers,
                Ok(Err(error)) if error.is_retriable() => {
                    trouble = Some(error);
                    continue;
                }
                Ok(Err(error)) => return Err(error),
                Err(_) => break,
            };
            for (place, answer) in places.into_iter().zip(answers) {
                match answer {
                    Some(Ok(found)) => told[place] = Some(found),
                    Some(Err(code)) => {
                        let TopicPartition { topic, partition } = asked[place].partition.clone();
                        let error = Error::from_code(code, None).in_partition(topic, partition);
                        if !code.is_retriable() {
                            return Err(error);
                        }
                        trouble = Some(error);
                    }
                    None => {}
                }
            }
        }
        if told.iter().all(Option::is_some) {
            let partitions = asked.into_iter().map(|one| one.partition);
            return Ok(partitions.zip(told.into_iter().flatten()).collect());
        }
        tries += 1;
        cluster.refresh_soon();
        let next = Instant::now() + pause.after(tries);
        if next >= deadline {
            let error = match trouble {
                Some(cause) => Error::new(
                    ErrorKind::Timeout,
                    format!("offsets are not known in time; the last try: {cause}"),
                )
                .caused_by(cause),
                None => Error::new(ErrorKind::Timeout, "offsets are not known in time"),
            };
            return Err(error);
        }
        tokio::time::sleep_until(next).await;
    }
}
