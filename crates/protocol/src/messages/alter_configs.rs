//! AlterConfigs: replaces all of a resource's settings.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for AlterConfigs (key 33).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlterConfigsRequest {
    pub resources: Vec<AlterConfigsResource>,
    pub validate_only: bool,
}

plain!(AlterConfigsRequest, min 3, resources, validate_only);

/// In [`AlterConfigsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlterConfigsResource {
    pub resource_type: i8,
    pub resource_name: String,
    pub configs: Vec<AlterableConfig>,
}

plain!(AlterConfigsResource, min 4, resource_type, resource_name, configs);

/// In [`AlterConfigsRequest`].
#[derive(Clone, Debug, PartialEq)]
pub struct AlterableConfig {
    pub name: String,
    pub value: Option<String>,
}

impl Default for AlterableConfig {
    fn default() -> Self {
        Self {
            name: String::new(),
            value: Some(String::new()),
        }
    }
}

plain!(AlterableConfig, min 3, name, value);

/// Answers [`AlterConfigsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlterConfigsResponse {
    pub throttle_time_ms: i32,
    pub responses: Vec<AlterConfigsResourceResponse>,
}

plain!(AlterConfigsResponse, min 6, throttle_time_ms, responses);

/// In [`AlterConfigsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlterConfigsResourceResponse {
    pub error_code: ErrorCode,
    pub error_message: Option<String>,
    pub resource_type: i8,
    pub resource_name: String,
}

plain!(AlterConfigsResourceResponse, min 6, error_code, error_message, resource_type, resource_name);
