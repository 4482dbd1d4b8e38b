//! DescribeAcls: lists access rules.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for DescribeAcls (key 29).
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeAclsRequest {
    pub resource_type_filter: i8,
    pub resource_name_filter: Option<String>,
    pub pattern_type_filter: i8,
    pub principal_filter: Option<String>,
    pub host_filter: Option<String>,
    pub operation: i8,
    pub permission_type: i8,
}

impl Default for DescribeAclsRequest {
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

plain!(DescribeAclsRequest, min 8, resource_type_filter, resource_name_filter, pattern_type_filter, principal_filter, host_filter, operation, permission_type);

/// Answers [`DescribeAclsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescribeAclsResponse {
    pub throttle_time_ms: i32,
    pub error_code: ErrorCode,
    pub error_message: Option<String>,
    pub resources: Vec<DescribeAclsResource>,
}

plain!(DescribeAclsResponse, min 9, throttle_time_ms, error_code, error_message, resources);

/// In [`DescribeAclsResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeAclsResource {
    pub resource_type: i8,
    pub resource_name: String,
    pub pattern_type: i8,
    pub acls: Vec<AclDescription>,
}

impl Default for DescribeAclsResource {
    fn default() -> Self {
        Self {
            resource_type: 0,
            resource_name: String::new(),
            pattern_type: 3,
            acls: Vec::new(),
        }
    }
}

plain!(DescribeAclsResource, min 5, resource_type, resource_name, pattern_type, acls);

/// In [`DescribeAclsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AclDescription {
    pub principal: String,
    pub host: String,
    pub operation: i8,
    pub permission_type: i8,
}

plain!(AclDescription, min 5, principal, host, operation, permission_type);
