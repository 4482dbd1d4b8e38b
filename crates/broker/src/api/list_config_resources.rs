//! ListConfigResources: what there is that has settings (KIP-1142). Version 0 asks for client metrics
//! subscriptions only, of which there are none.

use copart_protocol::ErrorCode;
use copart_protocol::messages::list_config_resources::{
    ConfigResource as Listed, ListConfigResourcesRequest, ListConfigResourcesResponse,
};

use super::Call;
use crate::cluster::{ConfigResource, Controller};

const ALL: &[i8] = &[
    ConfigResource::TOPIC,
    ConfigResource::BROKER,
    ConfigResource::BROKER_LOGGER,
    ConfigResource::CLIENT_METRICS,
    ConfigResource::GROUP,
];

pub(super) fn handle(
    call: &Call,
    request: ListConfigResourcesRequest,
) -> ListConfigResourcesResponse {
    let types: Vec<i8> = match (call.version, request.resource_types.is_empty()) {
        (0, _) => vec![ConfigResource::CLIENT_METRICS],
        (_, true) => ALL.to_vec(),
        (_, false) => request.resource_types,
    };
    if types.iter().any(|wanted| !ALL.contains(wanted)) {
        return ListConfigResourcesResponse {
            error_code: ErrorCode::UNSUPPORTED_VERSION,
            ..ListConfigResourcesResponse::default()
        };
    }
    let controller = call.broker.controller();
    let listed = ALL.iter().filter(|wanted| types.contains(wanted));
    ListConfigResourcesResponse {
        config_resources: listed
            .flat_map(|wanted| {
                names(&controller, *wanted)
                    .into_iter()
                    .map(|resource_name| Listed {
                        resource_name,
                        resource_type: *wanted,
                    })
            })
            .collect(),
        ..ListConfigResourcesResponse::default()
    }
}

fn names(controller: &Controller, resource_type: i8) -> Vec<String> {
    match resource_type {
        ConfigResource::TOPIC => controller.topics().map(|it| it.name.clone()).collect(),
        ConfigResource::BROKER | ConfigResource::BROKER_LOGGER => {
            let nodes = controller.nodes().iter();
            nodes.map(|node| node.id.to_string()).collect()
        }
        ConfigResource::GROUP => controller
            .configured()
            .filter_map(|resource| match resource {
                ConfigResource::Group(name) => Some(name.clone()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}
