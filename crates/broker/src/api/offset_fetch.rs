//! OffsetFetch: reads what groups have committed.

use copart_protocol::messages::offset_fetch::{
    OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopics, OffsetFetchResponse,
    OffsetFetchResponseGroup, OffsetFetchResponsePartition, OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic, OffsetFetchResponseTopics,
};
use copart_protocol::{ErrorCode, Uuid};

use super::Call;
use super::groups::later;
use crate::groups::{Committed, Committer, FetchTopic, Fetched};
use crate::server::Answer;

pub(super) fn handle(call: Call, request: OffsetFetchRequest) -> Answer {
    let stable = request.require_stable;
    later(async move {
        let mut response = OffsetFetchResponse::default();
        if call.version >= 8 {
            for group in request.groups {
                response.groups.push(of_group(&call, group, stable).await);
            }
        } else {
            let group = of_group(&call, single(request), stable).await;
            response = to_single(call.version, group);
        }
        call.respond::<OffsetFetchRequest>(&response)
    })
}

/// Before version 8 there is one group.
fn single(request: OffsetFetchRequest) -> OffsetFetchRequestGroup {
    let topics = request.topics.map(|topics| {
        let topics = topics.into_iter().map(|topic| OffsetFetchRequestTopics {
            name: topic.name,
            partition_indexes: topic.partition_indexes,
            ..OffsetFetchRequestTopics::default()
        });
        topics.collect()
    });
    OffsetFetchRequestGroup {
        group_id: request.group_id,
        topics,
        ..OffsetFetchRequestGroup::default()
    }
}

fn to_single(version: i16, group: OffsetFetchResponseGroup) -> OffsetFetchResponse {
    // Version 1 has no other place for an error.
    let spread = (version < 2).then_some(group.error_code);
    let topics = group.topics.into_iter().map(|topic| {
        let partitions = topic
            .partitions
            .into_iter()
            .map(|it| OffsetFetchResponsePartition {
                partition_index: it.partition_index,
                committed_offset: it.committed_offset,
                committed_leader_epoch: it.committed_leader_epoch,
                metadata: it.metadata,
                error_code: spread
                    .filter(|code| !code.is_none())
                    .unwrap_or(it.error_code),
            });
        OffsetFetchResponseTopic {
            name: topic.name,
            partitions: partitions.collect(),
        }
    });
    OffsetFetchResponse {
        topics: topics.collect(),
        error_code: group.error_code,
        ..OffsetFetchResponse::default()
    }
}

async fn of_group(
    call: &Call,
    group: OffsetFetchRequestGroup,
    require_stable: bool,
) -> OffsetFetchResponseGroup {
    let by = Committer {
        member_id: group.member_id.as_deref(),
        instance: None,
        epoch: group.member_epoch,
        version: call.version,
    };
    let asked = group.topics.as_ref().map(|topics| resolve(call, topics));
    let fetched = call
        .coordinate(&group.group_id, |coordinator, _| {
            coordinator.fetch(&group.group_id, by, asked.as_deref(), require_stable)
        })
        .await;
    let (topics, error_code) = match fetched {
        Ok(Ok(fetched)) => (
            respond(call, group.topics.as_deref(), fetched),
            ErrorCode::NONE,
        ),
        Ok(Err(error)) => (nothing(call.version, group.topics.as_deref()), error.code),
        Err(code) => (nothing(call.version, group.topics.as_deref()), code),
    };
    OffsetFetchResponseGroup {
        group_id: group.group_id,
        topics,
        error_code,
    }
}

/// The topics with their names and ids, one of which the request has.
fn resolve(call: &Call, topics: &[OffsetFetchRequestTopics]) -> Vec<FetchTopic> {
    let controller = call.broker.controller();
    let resolved = topics.iter().map(|topic| {
        let found = match call.version {
            ..10 => controller.topic(&topic.name),
            10.. => controller.topic_by_id(topic.topic_id),
        };
        FetchTopic {
            name: found.map_or_else(|| topic.name.clone(), |it| it.name.clone()),
            id: found.map_or(topic.topic_id, |it| it.id),
            partitions: topic.partition_indexes.clone(),
        }
    });
    resolved.collect()
}

fn respond(
    call: &Call,
    asked: Option<&[OffsetFetchRequestTopics]>,
    fetched: Vec<Fetched>,
) -> Vec<OffsetFetchResponseTopics> {
    let controller = call.broker.controller();
    let mut topics = Vec::with_capacity(fetched.len());
    for (index, topic) in fetched.into_iter().enumerate() {
        let asked = asked.map(|asked| &asked[index]);
        let known = controller.topic(&topic.name).map(|it| it.id);
        // By id, of a topic that is not there: nothing can be said of it.
        let lost =
            call.version >= 10 && known.is_none_or(|id| asked.is_some_and(|it| it.topic_id != id));
        if lost && asked.is_none() {
            continue;
        }
        let partitions = topic
            .partitions
            .into_iter()
            .map(|(index, fetched)| match fetched {
                _ if lost => failed(index, ErrorCode::UNKNOWN_TOPIC_ID),
                Ok(committed) => to_response(index, committed),
                Err(code) => failed(index, code),
            });
        topics.push(OffsetFetchResponseTopics {
            topic_id: match asked {
                Some(asked) => asked.topic_id,
                None => known.unwrap_or(Uuid::ZERO),
            },
            name: topic.name,
            partitions: partitions.collect(),
        });
    }
    topics
}

/// With an error, version 1 still names the partitions.
fn nothing(
    version: i16,
    asked: Option<&[OffsetFetchRequestTopics]>,
) -> Vec<OffsetFetchResponseTopics> {
    let asked = asked.filter(|_| version < 2).into_iter().flatten();
    let topics = asked.map(|topic| OffsetFetchResponseTopics {
        name: topic.name.clone(),
        topic_id: topic.topic_id,
        partitions: topic
            .partition_indexes
            .iter()
            .map(|&index| failed(index, ErrorCode::NONE))
            .collect(),
    });
    topics.collect()
}

/// Nothing committed is no error, and -1.
fn to_response(
    partition_index: i32,
    committed: Option<Committed>,
) -> OffsetFetchResponsePartitions {
    let Some(committed) = committed else {
        return failed(partition_index, ErrorCode::NONE);
    };
    OffsetFetchResponsePartitions {
        partition_index,
        committed_offset: committed.offset,
        committed_leader_epoch: committed.leader_epoch,
        metadata: Some(committed.metadata),
        error_code: ErrorCode::NONE,
    }
}

fn failed(partition_index: i32, error_code: ErrorCode) -> OffsetFetchResponsePartitions {
    OffsetFetchResponsePartitions {
        partition_index,
        committed_offset: -1,
        committed_leader_epoch: -1,
        metadata: Some(String::new()),
        error_code,
    }
}
