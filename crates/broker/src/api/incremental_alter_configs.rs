//! IncrementalAlterConfigs: changes single settings (KIP-339).

use copart_protocol::ErrorCode;
use copart_protocol::messages::incremental_alter_configs::{
    AlterConfigsResource, AlterConfigsResourceResponse, AlterableConfig,
    IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse,
};

use super::Call;
use crate::cluster::{ApiError, ApiResult, ConfigResource};
use crate::configs::ConfigOp;

pub(super) fn handle(
    call: &Call,
    request: IncrementalAlterConfigsRequest,
) -> IncrementalAlterConfigsResponse {
    let key =
        |resource: &AlterConfigsResource| (resource.resource_type, resource.resource_name.clone());
    let repeated = super::repeated(request.resources.iter().map(key));
    let responses = request.resources.iter().map(|resource| {
        let altered = match repeated.contains(&key(resource)) {
            false => alter(call, resource, request.validate_only),
            true => Err(ApiError::new(
                ErrorCode::INVALID_REQUEST,
                "the resource is there more than once",
            )),
        };
        let (error_code, error_message) = super::outcome(altered);
        AlterConfigsResourceResponse {
            error_code,
            error_message,
            resource_type: resource.resource_type,
            resource_name: resource.resource_name.clone(),
        }
    });
    IncrementalAlterConfigsResponse {
        responses: responses.collect(),
        ..IncrementalAlterConfigsResponse::default()
    }
}

fn alter(call: &Call, wanted: &AlterConfigsResource, validate_only: bool) -> ApiResult<()> {
    let invalid = |reason| ApiError::new(ErrorCode::INVALID_REQUEST, reason);
    let resource =
        ConfigResource::read(wanted.resource_type, &wanted.resource_name).map_err(invalid)?;
    let ops = wanted
        .configs
        .iter()
        .map(|config| Ok((config.name.clone(), op(config).map_err(invalid)?)))
        .collect::<ApiResult<Vec<(String, ConfigOp)>>>()?;
    call.broker.change(|controller| {
        let changes = controller.incremental_alter_configs(&resource, &ops, validate_only)?;
        Ok(((), changes))
    })
}

fn op(config: &AlterableConfig) -> Result<ConfigOp, String> {
    let value = || {
        let value = config.value.clone();
        value.ok_or_else(|| format!("{} has no value", config.name))
    };
    match config.config_operation {
        0 => value().map(ConfigOp::Set),
        1 => Ok(ConfigOp::Delete),
        2 => value().map(ConfigOp::Append),
        3 => value().map(ConfigOp::Subtract),
        other => Err(format!(
            "{}: {other} is no operation; there are 0 to set, 1 to delete, 2 to append and 3 to \
             subtract",
            config.name
        )),
    }
}
