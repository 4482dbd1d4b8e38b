//! DeleteGroups: forgets groups without members, and what they have committed.

use copart_protocol::messages::delete_groups::{
    DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse,
};

use super::Call;
use super::groups::later;
use crate::groups::GroupError;
use crate::server::Answer;

pub(super) fn handle(call: Call, request: DeleteGroupsRequest) -> Answer {
    later(async move {
        let mut response = DeleteGroupsResponse::default();
        for group_id in request.groups_names {
            let deleted = call
                .coordinate(&group_id, |coordinator, _| coordinator.delete(&group_id))
                .await;
            let error = deleted
                .map_err(GroupError::from)
                .and_then(|deleted| deleted)
                .err();
            let (error_code, error_message) = match error {
                None => Default::default(),
                Some(error) => (error.code, error.message),
            };
            response.results.push(DeletableGroupResult {
                group_id,
                error_code,
                error_message,
            });
        }
        call.respond::<DeleteGroupsRequest>(&response)
    })
}
