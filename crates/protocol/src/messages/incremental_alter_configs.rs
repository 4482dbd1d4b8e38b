//! IncrementalAlterConfigs: changes single settings.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for IncrementalAlterConfigs (key 44).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IncrementalAlterConfigsRequest {
    pub resources: Vec<AlterConfigsResource>,
    pub validate_only: bool,
}

plain!(IncrementalAlterConfigsRequest, min 3, resources, validate_only);

/// In [`IncrementalAlterConfigsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlterConfigsResource {
    pub resource_type: i8,
    pub resource_name: String,
    pub configs: Vec<AlterableConfig>,
}

plain!(AlterConfigsResource, min 4, resource_type, resource_name, configs);

/// In [`IncrementalAlterConfigsRequest`].
#[derive(Clone, Debug, PartialEq)]
pub struct AlterableConfig {
    pub name: String,
    pub config_operation: i8,
    pub value: Option<String>,
}

impl Default for AlterableConfig {
    fn default() -> Self {
        Self {
            name: String::new(),
            config_operation: 0,
            value: Some(String::new()),
        }
    }
}

plain!(AlterableConfig, min 4, name, config_operation, value);

/// Answers [`IncrementalAlterConfigsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IncrementalAlterConfigsResponse {
    pub throttle_time_ms: i32,
    pub responses: Vec<AlterConfigsResourceResponse>,
}

plain!(IncrementalAlterConfigsResponse, min 6, throttle_time_ms, responses);

/// In [`IncrementalAlterConfigsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlterConfigsResourceResponse {
    pub error_code: ErrorCode,
    pub error_message: Option<String>,
    pub resource_type: i8,
    pub resource_name: String,
}

plain!(AlterConfigsResourceResponse, min 6, error_code, error_message, resource_type, resource_name);
