//! ConsumerGroupDescribe: state and members of consumer groups (KIP-848).

use copart_protocol::messages::consumer_group_describe::{
    ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, DescribedGroup,
};

use super::Call;
use super::groups::{GROUP_OPERATIONS, later};
use crate::groups::GroupError;
use crate::server::Answer;

pub(super) fn handle(call: Call, request: ConsumerGroupDescribeRequest) -> Answer {
    later(async move {
        let mut response = ConsumerGroupDescribeResponse::default();
        for id in request.group_ids {
            let described = call
                .coordinate(&id, |coordinator, input| {
                    coordinator.describe_consumer(&id, input.cluster)
                })
                .await;
            let mut group = described
                .map_err(GroupError::from)
                .and_then(|described| described)
                .unwrap_or_else(|error| DescribedGroup {
                    error_code: error.code,
                    error_message: error.message,
                    group_id: id.clone(),
                    ..DescribedGroup::default()
                });
            if call.version < 1 {
                for member in &mut group.members {
                    member.member_type = -1;
                }
            }
            if request.include_authorized_operations && group.error_code.is_none() {
                group.authorized_operations = GROUP_OPERATIONS;
            }
            response.groups.push(group);
        }
        call.respond::<ConsumerGroupDescribeRequest>(&response)
    })
}
