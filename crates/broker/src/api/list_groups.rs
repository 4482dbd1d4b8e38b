//! ListGroups: the groups that this node coordinates.

use copart_protocol::messages::list_groups::{ListGroupsRequest, ListGroupsResponse};

use super::Call;
use super::groups::later;
use crate::server::Answer;

pub(super) fn handle(call: Call, request: ListGroupsRequest) -> Answer {
    later(async move {
        let mut response = ListGroupsResponse::default();
        let (broker, node) = (&call.broker, call.node.id);
        for partition in broker.groups.led_by(broker, node) {
            let listed = broker
                .groups
                .with_partition(broker, node, partition, |coordinator, _| {
                    coordinator.list(&request.states_filter, &request.types_filter)
                })
                .await;
            match listed {
                Ok(listed) => response.groups.extend(listed),
                Err(code) => {
                    // A list that lacks some would be taken for all.
                    response.error_code = code;
                    response.groups.clear();
                    break;
                }
            }
        }
        call.respond::<ListGroupsRequest>(&response)
    })
}
