//! AlterConfigs: replaces all of a resource's settings. Clients since 2.3 use IncrementalAlterConfigs, where two
//! of them do not undo each other's changes.

use copart_protocol::ErrorCode;
use copart_protocol::messages::alter_configs::{
    AlterConfigsRequest, AlterConfigsResource, AlterConfigsResourceResponse, AlterConfigsResponse,
};

use super::Call;
use crate::cluster::{ApiError, ApiResult, ConfigResource};

pub(super) fn handle(call: &Call, request: AlterConfigsRequest) -> AlterConfigsResponse {
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
    AlterConfigsResponse {
        responses: responses.collect(),
        ..AlterConfigsResponse::default()
    }
}

fn alter(call: &Call, wanted: &AlterConfigsResource, validate_only: bool) -> ApiResult<()> {
    let resource = ConfigResource::read(wanted.resource_type, &wanted.resource_name)
        .map_err(|reason| ApiError::new(ErrorCode::INVALID_REQUEST, reason))?;
    let configs = wanted.configs.iter();
    let configs: Vec<(String, Option<String>)> = configs
        .map(|config| (config.name.clone(), config.value.clone()))
        .collect();
    call.broker.change(|controller| {
        let changes = controller.alter_configs(&resource, &configs, validate_only)?;
        Ok(((), changes))
    })
}
