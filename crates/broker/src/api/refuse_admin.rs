//! Answers of the admin APIs that consist of an error: for faults on request.

use copart_protocol::messages as m;
use copart_protocol::{AnyRequest, AnyResponse, ErrorCode};

/// As [`super::refuse::with`], for the admin APIs.
pub(super) fn with(request: &AnyRequest, code: ErrorCode) -> Option<AnyResponse> {
    Some(match request {
        AnyRequest::CreateTopics(request) => create_topics(request, code).into(),
        AnyRequest::DeleteTopics(request) => delete_topics(request, code).into(),
        AnyRequest::CreatePartitions(request) => create_partitions(request, code).into(),
        AnyRequest::DescribeConfigs(request) => describe_configs(request, code).into(),
        AnyRequest::AlterConfigs(request) => alter_configs(request, code).into(),
        AnyRequest::IncrementalAlterConfigs(request) => {
            incremental_alter_configs(request, code).into()
        }
        AnyRequest::DescribeTopicPartitions(request) => {
            describe_topic_partitions(request, code).into()
        }
        AnyRequest::DescribeProducers(request) => describe_producers(request, code).into(),
        AnyRequest::DescribeCluster(_) => m::describe_cluster::DescribeClusterResponse {
            error_code: code,
            ..Default::default()
        }
        .into(),
        AnyRequest::DescribeLogDirs(_) => m::describe_log_dirs::DescribeLogDirsResponse {
            error_code: code,
            ..Default::default()
        }
        .into(),
        AnyRequest::ElectLeaders(request) => {
            super::elect_leaders::failed(request.topic_partitions.as_deref(), code).into()
        }
        AnyRequest::AlterPartitionReassignments(_) => {
            m::alter_partition_reassignments::AlterPartitionReassignmentsResponse {
                error_code: code,
                ..Default::default()
            }
            .into()
        }
        AnyRequest::ListPartitionReassignments(_) => {
            m::list_partition_reassignments::ListPartitionReassignmentsResponse {
                error_code: code,
                ..Default::default()
            }
            .into()
        }
        AnyRequest::ListConfigResources(_) => {
            m::list_config_resources::ListConfigResourcesResponse {
                error_code: code,
                ..Default::default()
            }
            .into()
        }
        AnyRequest::DescribeQuorum(_) => m::describe_quorum::DescribeQuorumResponse {
            error_code: code,
            ..Default::default()
        }
        .into(),
        _ => return None,
    })
}

fn create_topics(
    request: &m::create_topics::CreateTopicsRequest,
    error_code: ErrorCode,
) -> m::create_topics::CreateTopicsResponse {
    let topics = request.topics.iter();
    m::create_topics::CreateTopicsResponse {
        topics: topics
            .map(|topic| m::create_topics::CreatableTopicResult {
                name: topic.name.clone(),
                error_code,
                configs: Some(Vec::new()),
                ..Default::default()
            })
            .collect(),
        ..Default::default()
    }
}

fn delete_topics(
    request: &m::delete_topics::DeleteTopicsRequest,
    error_code: ErrorCode,
) -> m::delete_topics::DeleteTopicsResponse {
    use m::delete_topics::{DeletableTopicResult, DeleteTopicsResponse};
    let named = request.topic_names.iter().map(|name| DeletableTopicResult {
        name: Some(name.clone()),
        error_code,
        ..Default::default()
    });
    let states = request.topics.iter().map(|topic| DeletableTopicResult {
        name: topic.name.clone(),
        topic_id: topic.topic_id,
        error_code,
        ..Default::default()
    });
    DeleteTopicsResponse {
        responses: named.chain(states).collect(),
        ..Default::default()
    }
}

fn create_partitions(
    request: &m::create_partitions::CreatePartitionsRequest,
    error_code: ErrorCode,
) -> m::create_partitions::CreatePartitionsResponse {
    let topics = request.topics.iter();
    m::create_partitions::CreatePartitionsResponse {
        results: topics
            .map(|topic| m::create_partitions::CreatePartitionsTopicResult {
                name: topic.name.clone(),
                error_code,
                ..Default::default()
            })
            .collect(),
        ..Default::default()
    }
}

fn describe_configs(
    request: &m::describe_configs::DescribeConfigsRequest,
    error_code: ErrorCode,
) -> m::describe_configs::DescribeConfigsResponse {
    let resources = request.resources.iter();
    m::describe_configs::DescribeConfigsResponse {
        results: resources
            .map(|resource| m::describe_configs::DescribeConfigsResult {
                error_code,
                resource_type: resource.resource_type,
                resource_name: resource.resource_name.clone(),
                ..Default::default()
            })
            .collect(),
        ..Default::default()
    }
}

fn alter_configs(
    request: &m::alter_configs::AlterConfigsRequest,
    error_code: ErrorCode,
) -> m::alter_configs::AlterConfigsResponse {
    let resources = request.resources.iter();
    m::alter_configs::AlterConfigsResponse {
        responses: resources
            .map(|resource| m::alter_configs::AlterConfigsResourceResponse {
                error_code,
                resource_type: resource.resource_type,
                resource_name: resource.resource_name.clone(),
                ..Default::default()
            })
            .collect(),
        ..Default::default()
    }
}

fn incremental_alter_configs(
    request: &m::incremental_alter_configs::IncrementalAlterConfigsRequest,
    error_code: ErrorCode,
) -> m::incremental_alter_configs::IncrementalAlterConfigsResponse {
    use m::incremental_alter_configs::{
        AlterConfigsResourceResponse, IncrementalAlterConfigsResponse,
    };
    let resources = request.resources.iter();
    IncrementalAlterConfigsResponse {
        responses: resources
            .map(|resource| AlterConfigsResourceResponse {
                error_code,
                resource_type: resource.resource_type,
                resource_name: resource.resource_name.clone(),
                ..Default::default()
            })
            .collect(),
        ..Default::default()
    }
}

fn describe_topic_partitions(
    request: &m::describe_topic_partitions::DescribeTopicPartitionsRequest,
    error_code: ErrorCode,
) -> m::describe_topic_partitions::DescribeTopicPartitionsResponse {
    use m::describe_topic_partitions::{
        DescribeTopicPartitionsResponse, DescribeTopicPartitionsResponseTopic,
    };
    let topics = request.topics.iter();
    DescribeTopicPartitionsResponse {
        topics: topics
            .map(|topic| DescribeTopicPartitionsResponseTopic {
                error_code,
                name: Some(topic.name.clone()),
                ..Default::default()
            })
            .collect(),
        ..Default::default()
    }
}

fn describe_producers(
    request: &m::describe_producers::DescribeProducersRequest,
    error_code: ErrorCode,
) -> m::describe_producers::DescribeProducersResponse {
    use m::describe_producers::{DescribeProducersResponse, PartitionResponse, TopicResponse};
    let topics = request.topics.iter().map(|topic| TopicResponse {
        name: topic.name.clone(),
        partitions: topic
            .partition_indexes
            .iter()
            .map(|&partition_index| PartitionResponse {
                partition_index,
                error_code,
                ..Default::default()
            })
            .collect(),
    });
    DescribeProducersResponse {
        topics: topics.collect(),
        ..Default::default()
    }
}

#[cfg(test)]
mod tests {
    use copart_protocol::frame::Frame;

    use super::super::{SERVED, refuse};
    use super::*;

    macro_rules! requests {
        ($($module:ident::$request:ident),+ $(,)?) => {
            [$(AnyRequest::from(m::$module::$request::default())),+]
        };
    }

    /// A fault can be asked for on every API that is served.
    #[test]
    fn every_api_can_be_refused() {
        let requests = requests![
            alter_configs::AlterConfigsRequest,
            alter_partition_reassignments::AlterPartitionReassignmentsRequest,
            api_versions::ApiVersionsRequest,
            consumer_group_describe::ConsumerGroupDescribeRequest,
            consumer_group_heartbeat::ConsumerGroupHeartbeatRequest,
            create_partitions::CreatePartitionsRequest,
            create_topics::CreateTopicsRequest,
            delete_groups::DeleteGroupsRequest,
            delete_records::DeleteRecordsRequest,
            delete_topics::DeleteTopicsRequest,
            describe_cluster::DescribeClusterRequest,
            describe_configs::DescribeConfigsRequest,
            describe_groups::DescribeGroupsRequest,
            describe_log_dirs::DescribeLogDirsRequest,
            describe_producers::DescribeProducersRequest,
            describe_quorum::DescribeQuorumRequest,
            describe_topic_partitions::DescribeTopicPartitionsRequest,
            elect_leaders::ElectLeadersRequest,
            fetch::FetchRequest,
            find_coordinator::FindCoordinatorRequest,
            heartbeat::HeartbeatRequest,
            incremental_alter_configs::IncrementalAlterConfigsRequest,
            init_producer_id::InitProducerIdRequest,
            join_group::JoinGroupRequest,
            leave_group::LeaveGroupRequest,
            list_config_resources::ListConfigResourcesRequest,
            list_groups::ListGroupsRequest,
            list_offsets::ListOffsetsRequest,
            list_partition_reassignments::ListPartitionReassignmentsRequest,
            metadata::MetadataRequest,
            offset_commit::OffsetCommitRequest,
            offset_delete::OffsetDeleteRequest,
            offset_fetch::OffsetFetchRequest,
            offset_for_leader_epoch::OffsetForLeaderEpochRequest,
            produce::ProduceRequest,
            sync_group::SyncGroupRequest,
        ];
        for &api in SERVED {
            let request = requests.iter().find(|request| request.api() == api);
            let request = request.unwrap_or_else(|| panic!("{api} is not in the list"));
            let versions = api.versions();
            for version in versions.min..=versions.max {
                let response = refuse::with(version, request, ErrorCode::REQUEST_TIMED_OUT);
                let response = response.unwrap_or_else(|| panic!("{api} has no refusal"));
                assert_eq!(response.api(), api);
                // A version without a topic's name or id cannot be asked with neither.
                let frame = Frame::any_response(version, 1, &response);
                assert!(frame.is_ok(), "{api} version {version}: {frame:?}");
            }
        }
    }
}
