//! FindCoordinator: nothing is coordinated here yet.
//!
//! It is served nevertheless: librdkafka takes its version 0 as the sign that a broker knows LZ4, and sends
//! uncompressed batches to one that does not list it (`rdkafka_feature.c`, up to 2.16 at least).

use copart_protocol::ErrorCode;
use copart_protocol::messages::find_coordinator::{
    Coordinator, FindCoordinatorRequest, FindCoordinatorResponse,
};

use super::Call;

/// Retriable: librdkafka looks for a coordinator as soon as `group.id` is set, which it wants also of consumers
/// that assign partitions themselves, and hands any other error to them as one of the consumer.
const ERROR: ErrorCode = ErrorCode::COORDINATOR_NOT_AVAILABLE;
const MESSAGE: &str = "this broker has no groups and no transactions yet";

pub(super) fn handle(call: &Call, request: FindCoordinatorRequest) -> FindCoordinatorResponse {
    if call.version < 4 {
        return FindCoordinatorResponse {
            error_code: ERROR,
            error_message: Some(MESSAGE.to_owned()),
            node_id: -1,
            port: -1,
            ..FindCoordinatorResponse::default()
        };
    }
    let nobody = |key| Coordinator {
        key,
        node_id: -1,
        port: -1,
        error_code: ERROR,
        error_message: Some(MESSAGE.to_owned()),
        ..Coordinator::default()
    };
    FindCoordinatorResponse {
        coordinators: request.coordinator_keys.into_iter().map(nobody).collect(),
        ..FindCoordinatorResponse::default()
    }
}
