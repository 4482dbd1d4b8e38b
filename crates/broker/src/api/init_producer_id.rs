//! InitProducerId: an identity for an idempotent producer.

use copart_protocol::ErrorCode;
use copart_protocol::messages::init_producer_id::{InitProducerIdRequest, InitProducerIdResponse};

use super::Call;

pub(super) fn handle(call: &Call, request: InitProducerIdRequest) -> InitProducerIdResponse {
    match identity(call, &request) {
        Ok((producer_id, producer_epoch)) => InitProducerIdResponse {
            producer_id,
            producer_epoch,
            ..InitProducerIdResponse::default()
        },
        Err(error_code) => InitProducerIdResponse {
            error_code,
            producer_id: -1,
            producer_epoch: -1,
            ..InitProducerIdResponse::default()
        },
    }
}

fn identity(call: &Call, request: &InitProducerIdRequest) -> Result<(i64, i16), ErrorCode> {
    match request.transactional_id.as_deref() {
        None => {}
        Some("") => return Err(ErrorCode::INVALID_REQUEST),
        // Clients that ask for the coordinator first learn from ApiVersions that there are no transactions.
        Some(_) => return Err(ErrorCode::COORDINATOR_NOT_AVAILABLE),
    }
    // Without a transactional id every call gets a new identity, also one that names an old one (KIP-360).
    match call.broker.next_producer_id() {
        Ok(id) => Ok((id, 0)),
        Err(error) => {
            tracing::error!("no producer id: {error}");
            Err(error.error_code())
        }
    }
}
