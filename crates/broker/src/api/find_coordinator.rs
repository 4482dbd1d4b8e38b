//! FindCoordinator: which node coordinates a group. The first request makes the topic that groups are in.

use copart_protocol::ErrorCode;
use copart_protocol::messages::find_coordinator::{
    Coordinator, FindCoordinatorRequest, FindCoordinatorResponse,
};

use super::{Call, on_a_thread};
use crate::groups::{CONSUMER_OFFSETS, create_if_missing, partition_of};
use crate::server::Answer;

/// What coordinators are for, in the protocol's numbers.
const GROUP: i8 = 0;
const TRANSACTION: i8 = 1;

pub(super) fn handle(call: Call, mut request: FindCoordinatorRequest) -> Answer {
    // Before version 4 there is one key.
    if call.version < 4 {
        request.coordinator_keys = vec![std::mem::take(&mut request.key)];
    }
    let is_missing = call.broker.partitions.count(CONSUMER_OFFSETS) == 0;
    if request.key_type == GROUP && is_missing {
        return on_a_thread(move || {
            if let Err(error) = create_if_missing(&call.broker) {
                tracing::warn!("{CONSUMER_OFFSETS} cannot be made: {error}");
            }
            answer(&call, request)
        });
    }
    answer(&call, request)
}

fn answer(call: &Call, request: FindCoordinatorRequest) -> Answer {
    let keys = request.coordinator_keys.into_iter();
    let mut found: Vec<Coordinator> = keys.map(|key| find(call, request.key_type, key)).collect();
    let response = if call.version < 4 {
        let first = found.pop().unwrap_or_default();
        FindCoordinatorResponse {
            error_code: first.error_code,
            error_message: first.error_message,
            node_id: first.node_id,
            host: first.host,
            port: first.port,
            ..FindCoordinatorResponse::default()
        }
    } else {
        FindCoordinatorResponse {
            coordinators: found,
            ..FindCoordinatorResponse::default()
        }
    };
    call.respond::<FindCoordinatorRequest>(&response)
}

fn find(call: &Call, key_type: i8, key: String) -> Coordinator {
    let nobody = |error_code, message: &str| Coordinator {
        key: key.clone(),
        node_id: -1,
        port: -1,
        error_code,
        error_message: Some(message.to_owned()),
        ..Coordinator::default()
    };
    match key_type {
        GROUP => {}
        TRANSACTION => {
            let code = ErrorCode::COORDINATOR_NOT_AVAILABLE;
            return nobody(code, "this broker has no transactions yet");
        }
        _ => {
            return nobody(
                ErrorCode::INVALID_REQUEST,
                "coordinators are of groups or of transactions",
            );
        }
    }
    let leader = {
        let controller = call.broker.controller();
        controller.topic(CONSUMER_OFFSETS).and_then(|topic| {
            let index = partition_of(&key, topic.partitions.len() as i32);
            topic.partition(index)?.leader
        })
    };
    let node = leader.and_then(|leader| call.broker.node(leader));
    let Some(node) = node else {
        let code = ErrorCode::COORDINATOR_NOT_AVAILABLE;
        return nobody(
            code,
            "no node leads the group's partition of __consumer_offsets",
        );
    };
    Coordinator {
        node_id: node.id,
        host: node.address.host.clone(),
        port: node.address.port.into(),
        key,
        ..Coordinator::default()
    }
}
