//! DeleteAcls: removes access rules that match filters.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for DeleteAcls (key 31).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeleteAclsRequest {
    pub filters: Vec<DeleteAclsFilter>,
}

plain!(DeleteAclsRequest, min 2, filters);

/// In [`DeleteAclsRequest`].
#[derive(Clone, Debug, PartialEq)]
pub struct DeleteAclsFilter {
    pub resource_type_filter: i8,
    pub resource_name_filter: Option<String>,
    pub pattern_type_filter: i8,
    pub principal_filter: Option<String>,
    pub host_filter: Option<String>,
    pub operation: i8,
    pub permission_type: i8,
}

impl Default for DeleteAclsFilter {
    fn default() -> Self {
        Self {
            resource_type_filter: 0,
            resource_name_filter: Some(String::new()),
            pattern_type_filter: 3,
            principal_filter: Some(String::new()),
            host_filter: Some(String::new()),
            operation: 0,
            permission_type: 0,
        }
    }
}

plain!(DeleteAclsFilter, min 8, resource_type_filter, resource_name_filter, pattern_type_filter, principal_filter, host_filter, operation, permission_type);

/// Answers [`DeleteAclsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeleteAclsResponse {
    pub throttle_time_ms: i32,
    pub filter_results: Vec<DeleteAclsFilterResult>,
}

plain!(DeleteAclsResponse, min 6, throttle_time_ms, filter_results);

/// In [`DeleteAclsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeleteAclsFilterResult {
    pub error_code: ErrorCode,
    pub error_message: Option<String>,
    pub matching_acls: Vec<DeleteAclsMatchingAcl>,
}

plain!(DeleteAclsFilterResult, min 5, error_code, error_message, matching_acls);

/// In [`DeleteAclsResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct DeleteAclsMatchingAcl {
    pub error_code: ErrorCode,
    pub error_message: Option<String>,
    pub resource_type: i8,
    pub resource_name: String,
    pub pattern_type: i8,
    pub principal: String,
    pub host: String,
    pub operation: i8,
    pub permission_type: i8,
}

impl Default for DeleteAclsMatchingAcl {
    fn default() -> Self {
        Self {
            error_code: ErrorCode::NONE,
            error_message: None,
            resource_type: 0,
            resource_name: String::new(),
            pattern_type: 3,
            principal: String::new(),
            host: String::new(),
            operation: 0,
            permission_type: 0,
        }
    }
}

plain!(DeleteAclsMatchingAcl, min 11, error_code, error_message, resource_type, resource_name, pattern_type, principal, host, operation, permission_type);
