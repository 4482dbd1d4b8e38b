//! SyncGroup: hands the leader's assignment in, and each member's out.

use copart_protocol::messages::sync_group::SyncGroupRequest;

use super::Call;
use super::groups::later;
use crate::groups::{Reply, sync_error};
use crate::server::Answer;

pub(super) fn handle(call: Call, request: SyncGroupRequest) -> Answer {
    later(async move {
        let group = request.group_id.clone();
        let synced = call
            .ask_coordinator(&group, |coordinator, input, _, token| {
                coordinator.sync(input, token, request);
            })
            .await;
        let response = match synced {
            Ok(Reply::Sync(response)) => response,
            Ok(Reply::Join(_)) => {
                return Answer::Close("a sync was answered with a join".to_owned());
            }
            Err(code) => sync_error(code),
        };
        call.respond::<SyncGroupRequest>(&response)
    })
}
