//! Answers that consist of an error: for faults on request.

use copart_protocol::messages as m;
use copart_protocol::{AnyRequest, AnyResponse, ErrorCode};

/// The answer to a request with this error wherever the response can have one. `None` for an API that cannot be
/// answered so.
pub(super) fn with(version: i16, request: &AnyRequest, code: ErrorCode) -> Option<AnyResponse> {
    Some(match request {
        AnyRequest::Produce(request) => produce(request, code).into(),
        AnyRequest::Fetch(_) => m::fetch::FetchResponse {
            error_code: code,
            ..Default::default()
        }
        .into(),
        AnyRequest::ListOffsets(request) => list_offsets(request, code).into(),
        AnyRequest::Metadata(request) => metadata(request, code).into(),
        AnyRequest::ApiVersions(_) => m::api_versions::ApiVersionsResponse {
            error_code: code,
            ..Default::default()
        }
        .into(),
        AnyRequest::DeleteRecords(request) => delete_records(request, code).into(),
        AnyRequest::InitProducerId(_) => m::init_producer_id::InitProducerIdResponse {
            error_code: code,
            producer_id: -1,
            producer_epoch: -1,
            ..Default::default()
        }
        .into(),
        AnyRequest::FindCoordinator(request) => find_coordinator(version, request, code).into(),
        AnyRequest::OffsetForLeaderEpoch(request) => offset_for_leader_epoch(request, code).into(),
        other => {
            let of_groups = super::refuse_groups::with(version, other, code);
            return of_groups.or_else(|| super::refuse_admin::with(other, code));
        }
    })
}

fn produce(
    request: &m::produce::ProduceRequest,
    error_code: ErrorCode,
) -> m::produce::ProduceResponse {
    use m::produce::{PartitionProduceResponse, ProduceResponse, TopicProduceResponse};
    let topics = request.topic_data.iter().map(|topic| TopicProduceResponse {
        name: topic.name.clone(),
        topic_id: topic.topic_id,
        partition_responses: topic
            .partition_data
            .iter()
            .map(|partition| PartitionProduceResponse {
                index: partition.index,
                error_code,
                base_offset: -1,
                ..Default::default()
            })
            .collect(),
    });
    ProduceResponse {
        responses: topics.collect(),
        ..Default::default()
    }
}

fn list_offsets(
    request: &m::list_offsets::ListOffsetsRequest,
    error_code: ErrorCode,
) -> m::list_offsets::ListOffsetsResponse {
    use m::list_offsets::{
        ListOffsetsPartitionResponse, ListOffsetsResponse, ListOffsetsTopicResponse,
    };
    let topics = request.topics.iter().map(|topic| ListOffsetsTopicResponse {
        name: topic.name.clone(),
        partitions: topic
            .partitions
            .iter()
            .map(|partition| ListOffsetsPartitionResponse {
                partition_index: partition.partition_index,
                error_code,
                ..Default::default()
            })
            .collect(),
    });
    ListOffsetsResponse {
        topics: topics.collect(),
        ..Default::default()
    }
}

fn metadata(
    request: &m::metadata::MetadataRequest,
    error_code: ErrorCode,
) -> m::metadata::MetadataResponse {
    use m::metadata::{MetadataResponse, MetadataResponseTopic};
    let named = request.topics.iter().flatten();
    let topics = named.map(|topic| MetadataResponseTopic {
        error_code,
        name: topic.name.clone().or(Some(String::new())),
        topic_id: topic.topic_id,
        ..Default::default()
    });
    MetadataResponse {
        topics: topics.collect(),
        ..Default::default()
    }
}

fn delete_records(
    request: &m::delete_records::DeleteRecordsRequest,
    error_code: ErrorCode,
) -> m::delete_records::DeleteRecordsResponse {
    use m::delete_records::{
        DeleteRecordsPartitionResult, DeleteRecordsResponse, DeleteRecordsTopicResult,
    };
    let topics = request.topics.iter().map(|topic| DeleteRecordsTopicResult {
        name: topic.name.clone(),
        partitions: topic
            .partitions
            .iter()
            .map(|partition| DeleteRecordsPartitionResult {
                partition_index: partition.partition_index,
                low_watermark: -1,
                error_code,
            })
            .collect(),
    });
    DeleteRecordsResponse {
        topics: topics.collect(),
        ..Default::default()
    }
}

fn offset_for_leader_epoch(
    request: &m::offset_for_leader_epoch::OffsetForLeaderEpochRequest,
    error_code: ErrorCode,
) -> m::offset_for_leader_epoch::OffsetForLeaderEpochResponse {
    use m::offset_for_leader_epoch::{
        EpochEndOffset, OffsetForLeaderEpochResponse, OffsetForLeaderTopicResult,
    };
    let topics = request
        .topics
        .iter()
        .map(|topic| OffsetForLeaderTopicResult {
            topic: topic.topic.clone(),
            partitions: topic
                .partitions
                .iter()
                .map(|partition| EpochEndOffset {
                    error_code,
                    partition: partition.partition,
                    leader_epoch: -1,
                    end_offset: -1,
                })
                .collect(),
        });
    OffsetForLeaderEpochResponse {
        topics: topics.collect(),
        ..Default::default()
    }
}

/// Versions before 4 ask for one coordinator, the later ones for a list of them.
fn find_coordinator(
    version: i16,
    request: &m::find_coordinator::FindCoordinatorRequest,
    error_code: ErrorCode,
) -> m::find_coordinator::FindCoordinatorResponse {
    use m::find_coordinator::{Coordinator, FindCoordinatorResponse};
    if version < 4 {
        return FindCoordinatorResponse {
            error_code,
            node_id: -1,
            port: -1,
            ..Default::default()
        };
    }
    let coordinators = request.coordinator_keys.iter().map(|key| Coordinator {
        key: key.clone(),
        node_id: -1,
        port: -1,
        error_code,
        ..Default::default()
    });
    FindCoordinatorResponse {
        coordinators: coordinators.collect(),
        ..Default::default()
    }
}
