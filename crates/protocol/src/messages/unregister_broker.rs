//! UnregisterBroker: removes a broker from the cluster.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for UnregisterBroker (key 64).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnregisterBrokerRequest {
    pub broker_id: i32,
}

plain!(UnregisterBrokerRequest, min 5, broker_id);

/// Answers [`UnregisterBrokerRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnregisterBrokerResponse {
    pub throttle_time_ms: i32,
    pub error_code: ErrorCode,
    pub error_message: Option<String>,
}

plain!(UnregisterBrokerResponse, min 8, throttle_time_ms, error_code, error_message);
