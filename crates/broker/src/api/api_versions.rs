//! ApiVersions: what this broker supports.

use copart_protocol::ErrorCode;
use copart_protocol::messages::api_versions::{
    ApiVersionsRequest, ApiVersionsResponse, FinalizedFeatureKey, SupportedFeatureKey,
};
use copart_protocol::versions::listed;

use super::{Call, SERVED};

/// Features that clients ask for, with the levels that this broker can have, and the one that it has.
const FEATURES: &[Feature] = &[
    // Consumer groups (KIP-848).
    Feature {
        name: "group.version",
        max: 1,
        level: 1,
    },
    Feature {
        name: "transaction.version",
        max: 2,
        level: 0,
    },
];

struct Feature {
    name: &'static str,
    max: i16,
    /// 0 is off.
    level: i16,
}

pub(super) fn handle(call: &Call, request: ApiVersionsRequest) -> ApiVersionsResponse {
    let error_code = check(call, &request);
    // With an error other than UNSUPPORTED_VERSION Kafka sends no list.
    if !error_code.is_none() {
        return ApiVersionsResponse {
            error_code,
            ..ApiVersionsResponse::default()
        };
    }
    ApiVersionsResponse {
        api_keys: SERVED.iter().map(|&api| listed(api)).collect(),
        // Clients before version 4 take a lowest level of 0 for an error (KAFKA-17011).
        supported_features: FEATURES
            .iter()
            .filter(|_| call.version >= 4)
            .map(|feature| SupportedFeatureKey {
                name: feature.name.to_owned(),
                min_version: 0,
                max_version: feature.max,
            })
            .collect(),
        finalized_features: FEATURES
            .iter()
            .filter(|feature| feature.level > 0)
            .map(|feature| FinalizedFeatureKey {
                name: feature.name.to_owned(),
                max_version_level: feature.level,
                min_version_level: feature.level,
            })
            .collect(),
        // Left out, librdkafka before 2.2.0 would misread the tags (librdkafka#4278).
        finalized_features_epoch: 0,
        ..ApiVersionsResponse::default()
    }
}

fn check(call: &Call, request: &ApiVersionsRequest) -> ErrorCode {
    if call.version >= 3
        && !(is_software_name(&request.client_software_name)
            && is_software_name(&request.client_software_version))
    {
        return ErrorCode::INVALID_REQUEST;
    }
    // KIP-1242: a client that was led here by an outdated address must begin anew.
    let elsewhere = request.cluster_id.as_ref().is_some_and(|cluster_id| {
        cluster_id != call.broker.controller().cluster_id()
            || request.node_id >= 0 && request.node_id != call.node.id
    });
    if elsewhere {
        return ErrorCode::REBOOTSTRAP_REQUIRED;
    }
    ErrorCode::NONE
}

/// KIP-511: letters, digits, dots and hyphens, the latter two not at the ends.
fn is_software_name(name: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'-';
    let outer = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = name.as_bytes();
    outer(bytes.first()) && outer(bytes.last()) && bytes.iter().all(|&byte| inner(byte))
}
