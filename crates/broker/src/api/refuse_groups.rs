//! Answers of the APIs of groups that consist of an error: for faults on request.

use copart_protocol::messages as m;
use copart_protocol::{AnyRequest, AnyResponse, ErrorCode};

use crate::groups::{join_error, sync_error};

/// As [`super::refuse::with`], for the APIs of groups. The version decides how an answer says that something is not
/// there.
pub(super) fn with(version: i16, request: &AnyRequest, code: ErrorCode) -> Option<AnyResponse> {
    Some(match request {
        AnyRequest::JoinGroup(request) => join_error(version, code, &request.member_id).into(),
        AnyRequest::SyncGroup(_) => sync_error(code).into(),
        AnyRequest::Heartbeat(_) => m::heartbeat::HeartbeatResponse {
            error_code: code,
            ..Default::default()
        }
        .into(),
        AnyRequest::LeaveGroup(_) => m::leave_group::LeaveGroupResponse {
            error_code: code,
            ..Default::default()
        }
        .into(),
        AnyRequest::OffsetCommit(request) => offset_commit(request, code).into(),
        AnyRequest::OffsetFetch(request) => offset_fetch(request, code).into(),
        AnyRequest::OffsetDelete(_) => m::offset_delete::OffsetDeleteResponse {
            error_code: code,
            ..Default::default()
        }
        .into(),
        AnyRequest::ListGroups(_) => m::list_groups::ListGroupsResponse {
            error_code: code,
            ..Default::default()
        }
        .into(),
        AnyRequest::DescribeGroups(request) => describe_groups(request, code).into(),
        AnyRequest::DeleteGroups(request) => delete_groups(request, code).into(),
        AnyRequest::ConsumerGroupHeartbeat(_) => {
            m::consumer_group_heartbeat::ConsumerGroupHeartbeatResponse {
                error_code: code,
                ..Default::default()
            }
            .into()
        }
        AnyRequest::ConsumerGroupDescribe(request) => consumer_group_describe(request, code).into(),
        _ => return None,
    })
}

fn offset_commit(
    request: &m::offset_commit::OffsetCommitRequest,
    error_code: ErrorCode,
) -> m::offset_commit::OffsetCommitResponse {
    use m::offset_commit::{
        OffsetCommitResponse, OffsetCommitResponsePartition, OffsetCommitResponseTopic,
    };
    let topics = request
        .topics
        .iter()
        .map(|topic| OffsetCommitResponseTopic {
            name: topic.name.clone(),
            topic_id: topic.topic_id,
            partitions: topic
                .partitions
                .iter()
                .map(|partition| OffsetCommitResponsePartition {
                    partition_index: partition.partition_index,
                    error_code,
                })
                .collect(),
        });
    OffsetCommitResponse {
        topics: topics.collect(),
        ..Default::default()
    }
}

/// Versions before 8 ask for one group, and version 1 has errors of partitions only.
fn offset_fetch(
    request: &m::offset_fetch::OffsetFetchRequest,
    error_code: ErrorCode,
) -> m::offset_fetch::OffsetFetchResponse {
    use m::offset_fetch::{
        OffsetFetchResponse, OffsetFetchResponseGroup, OffsetFetchResponsePartition,
        OffsetFetchResponseTopic,
    };
    let topics = request
        .topics
        .iter()
        .flatten()
        .map(|topic| OffsetFetchResponseTopic {
            name: topic.name.clone(),
            partitions: topic
                .partition_indexes
                .iter()
                .map(|&partition_index| OffsetFetchResponsePartition {
                    partition_index,
                    committed_offset: -1,
                    error_code,
                    ..Default::default()
                })
                .collect(),
        });
    let groups = request.groups.iter().map(|group| OffsetFetchResponseGroup {
        group_id: group.group_id.clone(),
        error_code,
        ..Default::default()
    });
    let groups: Vec<OffsetFetchResponseGroup> = groups.collect();
    OffsetFetchResponse {
        topics: topics.collect(),
        error_code: match groups.is_empty() {
            true => error_code,
            false => ErrorCode::NONE,
        },
        groups,
        ..Default::default()
    }
}

fn describe_groups(
    request: &m::describe_groups::DescribeGroupsRequest,
    error_code: ErrorCode,
) -> m::describe_groups::DescribeGroupsResponse {
    use m::describe_groups::{DescribeGroupsResponse, DescribedGroup};
    let groups = request.groups.iter().map(|group_id| DescribedGroup {
        error_code,
        group_id: group_id.clone(),
        ..Default::default()
    });
    DescribeGroupsResponse {
        groups: groups.collect(),
        ..Default::default()
    }
}

fn delete_groups(
    request: &m::delete_groups::DeleteGroupsRequest,
    error_code: ErrorCode,
) -> m::delete_groups::DeleteGroupsResponse {
    use m::delete_groups::{DeletableGroupResult, DeleteGroupsResponse};
    let results = request
        .groups_names
        .iter()
        .map(|group_id| DeletableGroupResult {
            group_id: group_id.clone(),
            error_code,
            ..Default::default()
        });
    DeleteGroupsResponse {
        results: results.collect(),
        ..Default::default()
    }
}

fn consumer_group_describe(
    request: &m::consumer_group_describe::ConsumerGroupDescribeRequest,
    error_code: ErrorCode,
) -> m::consumer_group_describe::ConsumerGroupDescribeResponse {
    use m::consumer_group_describe::{ConsumerGroupDescribeResponse, DescribedGroup};
    let groups = request.group_ids.iter().map(|group_id| DescribedGroup {
        error_code,
        group_id: group_id.clone(),
        ..Default::default()
    });
    ConsumerGroupDescribeResponse {
        groups: groups.collect(),
        ..Default::default()
    }
}
