//! AddOffsetsToTxn: adds a group's offsets to an open transaction.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for AddOffsetsToTxn (key 25).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AddOffsetsToTxnRequest {
    pub transactional_id: String,
    pub producer_id: i64,
    pub producer_epoch: i16,
    pub group_id: String,
}

plain!(AddOffsetsToTxnRequest, min 13, transactional_id, producer_id, producer_epoch, group_id);

/// Answers [`AddOffsetsToTxnRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AddOffsetsToTxnResponse {
    pub throttle_time_ms: i32,
    pub error_code: ErrorCode,
}

plain!(AddOffsetsToTxnResponse, min 6, throttle_time_ms, error_code);
