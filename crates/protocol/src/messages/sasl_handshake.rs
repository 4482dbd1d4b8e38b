//! SaslHandshake: agrees on a SASL mechanism.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for SaslHandshake (key 17).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SaslHandshakeRequest {
    pub mechanism: String,
}

plain!(SaslHandshakeRequest, min 2, mechanism);

/// Answers [`SaslHandshakeRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SaslHandshakeResponse {
    pub error_code: ErrorCode,
    pub mechanisms: Vec<String>,
}

plain!(SaslHandshakeResponse, min 6, error_code, mechanisms);
