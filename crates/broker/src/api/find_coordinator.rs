//! FindCoordinator: nothing is coordinated here yet.
//!
//! It is served nevertheless: librdkafka takes its version 0 as the sign that a broker knows LZ4, and sends
//! uncompressed batches to one that does not list it (`rdkafka_feature.c`, up to 2.16 at least).

use copart_protocol::ErrorCode;
use copart_protocol::messages::find_coordinator::{
    Coordinator, FindCoordinatorRequest, FindCoordinatorResponse,
};

use super::Call;

/// Clients give up at an error that is not retriable. They would ask for ever for a coordinator that is merely
/// not available.
const ERROR: ErrorCode = ErrorCode::UNSUPPORTED_VERSION;
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
