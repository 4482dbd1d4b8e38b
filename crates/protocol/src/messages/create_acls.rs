//! CreateAcls: adds access rules.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for CreateAcls (key 30).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CreateAclsRequest {
    pub creations: Vec<AclCreation>,
}

plain!(CreateAclsRequest, min 2, creations);

/// In [`CreateAclsRequest`].
#[derive(Clone, Debug, PartialEq)]
pub struct AclCreation {
    pub resource_type: i8,
    pub resource_name: String,
    pub resource_pattern_type: i8,
    pub principal: String,
    pub host: String,
    pub operation: i8,
    pub permission_type: i8,
}

impl Default for AclCreation {
    fn default() -> Self {
        Self {
            resource_type: 0,
            resource_name: String::new(),
            resource_pattern_type: 3,
            principal: String::new(),
            host: String::new(),
            operation: 0,
            permission_type: 0,
        }
    }
}

plain!(AclCreation, min 8, resource_type, resource_name, resource_pattern_type, principal, host, operation, permission_type);

/// Answers [`CreateAclsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CreateAclsResponse {
    pub throttle_time_ms: i32,
    pub results: Vec<AclCreationResult>,
}

plain!(CreateAclsResponse, min 6, throttle_time_ms, results);

/// In [`CreateAclsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AclCreationResult {
    pub error_code: ErrorCode,
    pub error_message: Option<String>,
}

plain!(AclCreationResult, min 4, error_code, error_message);
