//! DescribeConfigs: settings, with where they come from.

use copart_protocol::ErrorCode;
use copart_protocol::messages::describe_configs::{
    DescribeConfigsRequest, DescribeConfigsResource, DescribeConfigsResourceResult,
    DescribeConfigsResponse, DescribeConfigsResult, DescribeConfigsSynonym,
};

use super::Call;
use crate::cluster::{ApiError, ApiResult, ConfigResource, check_topic_name};
use crate::configs::ConfigEntry;

pub(super) fn handle(call: &Call, request: DescribeConfigsRequest) -> DescribeConfigsResponse {
    let results = request.resources.iter().map(|resource| {
        let (entries, error_code, error_message) = match describe(call, resource) {
            Ok(entries) => (entries, ErrorCode::NONE, None),
            Err(error) => (Vec::new(), error.code, Some(error.message)),
        };
        // No names are all names, null or not.
        let wanted = resource.configuration_keys.as_deref().unwrap_or_default();
        let entries = entries
            .into_iter()
            .filter(|entry| wanted.is_empty() || wanted.iter().any(|name| name == entry.name));
        DescribeConfigsResult {
            error_code,
            error_message,
            resource_type: resource.resource_type,
            resource_name: resource.resource_name.clone(),
            configs: entries.map(|entry| show(&request, entry)).collect(),
        }
    });
    DescribeConfigsResponse {
        results: results.collect(),
        ..DescribeConfigsResponse::default()
    }
}

fn describe(call: &Call, wanted: &DescribeConfigsResource) -> ApiResult<Vec<ConfigEntry>> {
    let controller = call.broker.controller();
    let invalid = |reason| ApiError::new(ErrorCode::INVALID_REQUEST, reason);
    let (resource_type, name) = (wanted.resource_type, &wanted.resource_name);
    if resource_type == ConfigResource::BROKER_LOGGER {
        // A broker that is there, and has none.
        return match name.parse().ok().and_then(|id| controller.node(id)) {
            Some(_) => Ok(Vec::new()),
            None => Err(invalid(format!("there is no broker {name:?}"))),
        };
    }
    let resource = ConfigResource::read(resource_type, name).map_err(invalid)?;
    if let ConfigResource::Topic(name) = &resource {
        check_topic_name(name)
            .map_err(|reason| ApiError::new(ErrorCode::INVALID_TOPIC_EXCEPTION, reason))?;
    }
    controller.describe_configs(&resource)
}

fn show(request: &DescribeConfigsRequest, entry: ConfigEntry) -> DescribeConfigsResourceResult {
    let synonyms = match request.include_synonyms {
        true => entry.synonyms,
        false => Vec::new(),
    };
    let visible = |value: Option<String>| value.filter(|_| !entry.sensitive);
    DescribeConfigsResourceResult {
        name: entry.name.to_owned(),
        value: visible(entry.value),
        read_only: entry.read_only,
        config_source: entry.source as i8,
        is_sensitive: entry.sensitive,
        synonyms: synonyms
            .into_iter()
            .map(|synonym| DescribeConfigsSynonym {
                name: synonym.name.to_owned(),
                value: visible(synonym.value),
                source: synonym.source as i8,
            })
            .collect(),
        config_type: entry.config_type as i8,
        documentation: request
            .include_documentation
            .then(|| entry.documentation.to_owned()),
    }
}
