//! DescribeQuorum: the controllers (KIP-595, KIP-836). Each node is one, and they share one metadata log.

use copart_protocol::messages::describe_quorum::{
    DescribeQuorumRequest, DescribeQuorumResponse, Listener, Node, PartitionDataResponse,
    ReplicaState, TopicDataResponse,
};
use copart_protocol::{ErrorCode, Uuid};

use super::Call;
use crate::cluster::{CLUSTER_METADATA_TOPIC, Controller};

pub(super) fn handle(call: &Call, request: DescribeQuorumRequest) -> DescribeQuorumResponse {
    let controller = call.broker.controller();
    let topics = request.topics.into_iter().map(|topic| {
        let partitions = topic.partitions.iter().map(|partition| {
            let index = partition.partition_index;
            match topic.topic_name == CLUSTER_METADATA_TOPIC && index == 0 {
                true => quorum(call, &controller),
                false => PartitionDataResponse {
                    partition_index: index,
                    error_code: ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
                    error_message: Some(format!("a quorum has {CLUSTER_METADATA_TOPIC}-0 only")),
                    leader_id: -1,
                    ..PartitionDataResponse::default()
                },
            }
        });
        TopicDataResponse {
            partitions: partitions.collect(),
            topic_name: topic.topic_name,
        }
    });
    // Before version 2 neither nodes nor directories can be told.
    let told = call.broker.nodes.iter().filter(|_| call.version >= 2);
    let nodes = told.map(|node| Node {
        node_id: node.id,
        listeners: vec![Listener {
            name: "PLAINTEXT".to_owned(),
            host: node.address.host.clone(),
            port: node.address.port,
        }],
    });
    DescribeQuorumResponse {
        topics: topics.collect(),
        nodes: nodes.collect(),
        ..DescribeQuorumResponse::default()
    }
}

fn quorum(call: &Call, controller: &Controller) -> PartitionDataResponse {
    let end = controller.metadata_end_offset();
    let now = call.broker.now_ms();
    let voters = controller.nodes().iter().map(|node| {
        // Those that do not run have not fetched for a time that nobody took.
        let seen = if node.running { now } else { -1 };
        ReplicaState {
            replica_id: node.id,
            replica_directory_id: match call.version {
                0 | 1 => Uuid::ZERO,
                _ => controller.directory_id(),
            },
            log_end_offset: end,
            last_fetch_timestamp: seen,
            last_caught_up_timestamp: seen,
        }
    });
    PartitionDataResponse {
        partition_index: 0,
        leader_id: controller.controller_id().unwrap_or(-1),
        leader_epoch: controller.metadata_epoch(),
        high_watermark: end,
        current_voters: voters.collect(),
        ..PartitionDataResponse::default()
    }
}
