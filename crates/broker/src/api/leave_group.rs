//! LeaveGroup: takes members out of a group.

use copart_protocol::ErrorCode;
use copart_protocol::messages::leave_group::{
    LeaveGroupRequest, LeaveGroupResponse, MemberIdentity,
};

use super::Call;
use super::groups::later;
use crate::server::Answer;

pub(super) fn handle(call: Call, mut request: LeaveGroupRequest) -> Answer {
    // Before version 3 there is one member, and its error is that of the whole.
    let single = call.version < 3;
    if single {
        request.members = vec![MemberIdentity {
            member_id: std::mem::take(&mut request.member_id),
            ..MemberIdentity::default()
        }];
    }
    later(async move {
        let left = call
            .coordinate(&request.group_id, |coordinator, input| {
                coordinator.leave(input, &request)
            })
            .await
            .and_then(|left| left);
        let mut response = LeaveGroupResponse::default();
        match left {
            Ok(members) if single => {
                let code = members.first().map(|member| member.error_code);
                response.error_code = code.unwrap_or(ErrorCode::NONE);
            }
            Ok(members) => response.members = members,
            Err(code) => response.error_code = code,
        }
        call.respond::<LeaveGroupRequest>(&response)
    })
}
