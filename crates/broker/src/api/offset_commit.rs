//! OffsetCommit: stores how far a group has come.

use copart_protocol::ErrorCode;
use copart_protocol::messages::offset_commit::{
    OffsetCommitRequest, OffsetCommitResponse, OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
};

use super::Call;
use super::groups::later;
use crate::groups::{Commit, Committer};
use crate::server::Answer;

pub(super) fn handle(call: Call, mut request: OffsetCommitRequest) -> Answer {
    let (commits, places, mut response) = resolve(&call, &mut request);
    later(async move {
        let by = Committer {
            member_id: Some(&request.member_id),
            instance: request.group_instance_id.as_deref(),
            epoch: request.generation_id_or_member_epoch,
            version: call.version,
        };
        let committed = call
            .coordinate(&request.group_id, |coordinator, input| {
                let retention_ms = request.retention_time_ms;
                coordinator.commit(input, &request.group_id, by, retention_ms, commits)
            })
            .await;
        let codes = match committed {
            Ok(Ok(codes)) => codes,
            Ok(Err(error)) => vec![error.code; places.len()],
            Err(code) => vec![code; places.len()],
        };
        for ((topic, partition), code) in places.into_iter().zip(codes) {
            response.topics[topic].partitions[partition].error_code = code;
        }
        call.respond::<OffsetCommitRequest>(&response)
    })
}

/// What is to be committed, where its response is, and the response. Partitions that are not there are answered.
fn resolve(
    call: &Call,
    request: &mut OffsetCommitRequest,
) -> (Vec<Commit>, Vec<(usize, usize)>, OffsetCommitResponse) {
    let controller = call.broker.controller();
    let mut commits = Vec::new();
    let mut places = Vec::new();
    let mut topics = Vec::with_capacity(request.topics.len());
    for topic in &mut request.topics {
        let (found, missing) = match call.version {
            ..10 => (
                controller.topic(&topic.name),
                ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
            ),
            10.. => (
                controller.topic_by_id(topic.topic_id),
                ErrorCode::UNKNOWN_TOPIC_ID,
            ),
        };
        let mut partitions = Vec::with_capacity(topic.partitions.len());
        for partition in &mut topic.partitions {
            let index = partition.partition_index;
            let error_code = match found {
                None => missing,
                Some(topic) if topic.partition(index).is_none() => {
                    ErrorCode::UNKNOWN_TOPIC_OR_PARTITION
                }
                Some(topic) => {
                    places.push((topics.len(), partitions.len()));
                    commits.push(Commit {
                        topic: topic.name.clone(),
                        topic_id: topic.id,
                        partition: index,
                        offset: partition.committed_offset,
                        leader_epoch: partition.committed_leader_epoch,
                        metadata: partition.committed_metadata.take().unwrap_or_default(),
                    });
                    ErrorCode::NONE
                }
            };
            partitions.push(OffsetCommitResponsePartition {
                partition_index: index,
                error_code,
            });
        }
        topics.push(OffsetCommitResponseTopic {
            name: std::mem::take(&mut topic.name),
            topic_id: topic.topic_id,
            partitions,
        });
    }
    let response = OffsetCommitResponse {
        topics,
        ..OffsetCommitResponse::default()
    };
    (commits, places, response)
}
