//! DescribeGroups: state and members of classic groups.

use copart_protocol::ErrorCode;
use copart_protocol::messages::describe_groups::{
    DescribeGroupsRequest, DescribeGroupsResponse, DescribedGroup,
};

use super::Call;
use super::groups::{GROUP_OPERATIONS, later};
use crate::groups::GroupError;
use crate::server::Answer;

pub(super) fn handle(call: Call, request: DescribeGroupsRequest) -> Answer {
    later(async move {
        let mut response = DescribeGroupsResponse::default();
        for id in request.groups {
            let described = call
                .coordinate(&id, |coordinator, _| coordinator.describe(&id))
                .await;
            let mut group = match described {
                Ok(Ok(group)) => group,
                Ok(Err(error)) => missing(call.version, id, error),
                Err(error_code) => DescribedGroup {
                    group_id: id,
                    error_code,
                    ..DescribedGroup::default()
                },
            };
            if request.include_authorized_operations && group.error_code.is_none() {
                group.authorized_operations = GROUP_OPERATIONS;
            }
            response.groups.push(group);
        }
        call.respond::<DescribeGroupsRequest>(&response)
    })
}

/// Before version 6, a group that is not there is dead, and no error (KIP-1043).
fn missing(version: i16, group_id: String, error: GroupError) -> DescribedGroup {
    let (error_code, error_message) = match version {
        ..6 => (ErrorCode::NONE, None),
        6.. => (error.code, error.message),
    };
    DescribedGroup {
        group_id,
        group_state: "Dead".to_owned(),
        error_code,
        error_message,
        ..DescribedGroup::default()
    }
}
