//! ConsumerGroupHeartbeat: joins, stays in and leaves a consumer group (KIP-848).

use copart_protocol::messages::consumer_group_heartbeat::{
    ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse,
};

use super::Call;
use super::groups::later;
use crate::groups::{Caller, GroupError};
use crate::server::Answer;

pub(super) fn handle(call: Call, mut request: ConsumerGroupHeartbeatRequest) -> Answer {
    later(async move {
        let host = call.host();
        let caller = Caller {
            client_id: &call.client_id,
            host: &host,
            version: call.version,
        };
        let group = request.group_id.clone();
        let beat = call
            .coordinate(&group, |coordinator, input| {
                coordinator.consumer_heartbeat(input, caller, &mut request)
            })
            .await;
        let response = beat
            .map_err(GroupError::from)
            .and_then(|beat| beat)
            .unwrap_or_else(|error| ConsumerGroupHeartbeatResponse {
                error_code: error.code,
                error_message: error.message,
                ..ConsumerGroupHeartbeatResponse::default()
            });
        call.respond::<ConsumerGroupHeartbeatRequest>(&response)
    })
}
