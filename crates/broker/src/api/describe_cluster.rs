//! DescribeCluster: the nodes, and which one is the controller (KIP-700).

use copart_protocol::ErrorCode;
use copart_protocol::messages::describe_cluster::{
    DescribeClusterBroker, DescribeClusterRequest, DescribeClusterResponse,
};

use super::Call;
use super::metadata::CLUSTER_OPERATIONS;

const BROKERS: i8 = 1;
const CONTROLLERS: i8 = 2;

pub(super) fn handle(call: &Call, request: DescribeClusterRequest) -> DescribeClusterResponse {
    if request.endpoint_type != BROKERS {
        let (error_code, message) = match request.endpoint_type {
            CONTROLLERS => (
                ErrorCode::MISMATCHED_ENDPOINT_TYPE,
                "this is a broker's listener; controllers have none of their own here",
            ),
            _ => (
                ErrorCode::UNSUPPORTED_ENDPOINT_TYPE,
                "there are endpoints of type 1, brokers, and 2, controllers",
            ),
        };
        return DescribeClusterResponse {
            error_code,
            error_message: Some(message.to_owned()),
            endpoint_type: request.endpoint_type,
            ..DescribeClusterResponse::default()
        };
    }
    let controller = call.broker.controller();
    let shown = controller
        .nodes()
        .iter()
        .filter(|node| node.running || request.include_fenced_brokers);
    let brokers = shown.filter_map(|node| {
        let known = call.broker.node(node.id)?;
        Some(DescribeClusterBroker {
            broker_id: node.id,
            host: known.address.host.clone(),
            port: known.address.port.into(),
            rack: node.rack.clone(),
            is_fenced: !node.running,
        })
    });
    DescribeClusterResponse {
        cluster_id: controller.cluster_id().to_owned(),
        controller_id: controller.controller_id().unwrap_or(-1),
        brokers: brokers.collect(),
        cluster_authorized_operations: match request.include_cluster_authorized_operations {
            true => CLUSTER_OPERATIONS,
            false => i32::MIN,
        },
        ..DescribeClusterResponse::default()
    }
}
