//! Heartbeat: keeps a member of a classic group alive, and tells it of rebalances.

use copart_protocol::messages::heartbeat::{HeartbeatRequest, HeartbeatResponse};

use super::Call;
use super::groups::later;
use crate::server::Answer;

pub(super) fn handle(call: Call, request: HeartbeatRequest) -> Answer {
    later(async move {
        let beat = call
            .coordinate(&request.group_id, |coordinator, input| {
                coordinator.heartbeat(input, &request)
            })
            .await;
        call.respond::<HeartbeatRequest>(&HeartbeatResponse {
            error_code: beat.unwrap_or_else(|code| code),
            ..HeartbeatResponse::default()
        })
    })
}
