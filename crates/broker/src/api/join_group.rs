//! JoinGroup: enters a classic group, or its next generation.

use copart_protocol::messages::join_group::JoinGroupRequest;

use super::Call;
use super::groups::later;
use crate::groups::{Reply, join_error};
use crate::server::Answer;

pub(super) fn handle(call: Call, request: JoinGroupRequest) -> Answer {
    later(async move {
        let id = request.member_id.clone();
        let joined = call
            .ask_coordinator(&request.group_id, |coordinator, input, caller, token| {
                coordinator.join(input, caller, token, &request);
            })
            .await;
        let response = match joined {
            Ok(Reply::Join(response)) => response,
            Ok(Reply::Sync(_)) => {
                return Answer::Close("a join was answered with a sync".to_owned());
            }
            Err(code) => join_error(call.version, code, &id),
        };
        call.respond::<JoinGroupRequest>(&response)
    })
}
