//! Metadata: the nodes, and topics with who leads their partitions.

use std::collections::HashSet;

use copart_protocol::ErrorCode;
use copart_protocol::messages::metadata::{
    MetadataRequest, MetadataRequestTopic, MetadataResponse, MetadataResponseBroker,
    MetadataResponsePartition, MetadataResponseTopic,
};

use super::{Call, on_a_thread};
use crate::cluster::{Controller, NewTopic, Topic};
use crate::server::Answer;

/// Without ACLs everybody may do everything that can be done to a topic, as bits by operation.
pub(super) const TOPIC_OPERATIONS: i32 = 0b1101_1111_1000;
/// The same for the cluster.
pub(super) const CLUSTER_OPERATIONS: i32 = 0b1_1111_1010_0000;

pub(super) fn handle(call: Call, request: MetadataRequest) -> Answer {
    let missing = missing(&call, &request);
    if missing.is_empty() {
        return call.respond::<MetadataRequest>(&describe(&call, &request, &[]));
    }
    on_a_thread(move || {
        let failed: Vec<(String, ErrorCode)> = missing
            .into_iter()
            .filter_map(|name| create(&call, name))
            .collect();
        call.respond::<MetadataRequest>(&describe(&call, &request, &failed))
    })
}

/// Topics that are to be created because somebody asks for them.
fn missing(call: &Call, request: &MetadataRequest) -> Vec<String> {
    if !request.allow_auto_topic_creation {
        return Vec::new();
    }
    let controller = call.broker.controller();
    if !controller.broker_config().auto_create_topics_enable {
        return Vec::new();
    }
    let named = request.topics.iter().flatten();
    named
        .filter(|topic| topic.topic_id.is_zero())
        .filter_map(|topic| topic.name.clone())
        .filter(|name| controller.topic(name).is_none())
        .collect()
}

fn create(call: &Call, name: String) -> Option<(String, ErrorCode)> {
    let new = NewTopic::named(name);
    let created = call
        .broker
        .change(|controller| controller.create_topic(&new, false));
    match created {
        Ok(_) => None,
        // Somebody else was quicker.
        Err(error) if error.code == ErrorCode::TOPIC_ALREADY_EXISTS => None,
        Err(error) => {
            tracing::info!(topic = new.name, "not created for Metadata: {error}");
            // Too few nodes for the replication factor: what Kafka says then (KAFKA-1507).
            let code = match error.code {
                ErrorCode::INVALID_TOPIC_EXCEPTION => error.code,
                _ => ErrorCode::LEADER_NOT_AVAILABLE,
            };
            Some((new.name, code))
        }
    }
}

fn describe(
    call: &Call,
    request: &MetadataRequest,
    failed: &[(String, ErrorCode)],
) -> MetadataResponse {
    let controller = call.broker.controller();
    let mut response = MetadataResponse {
        brokers: brokers(call, &controller),
        cluster_id: Some(controller.cluster_id().to_owned()),
        controller_id: controller.controller_id().unwrap_or(-1),
        topics: match &request.topics {
            None => all(&controller),
            Some(named) if named.is_empty() && call.version == 0 => all(&controller),
            Some(named) => {
                let mut seen = HashSet::new();
                named
                    .iter()
                    .filter(|topic| seen.insert((&topic.name, topic.topic_id)))
                    .map(|topic| named_topic(&controller, topic, failed))
                    .collect()
            }
        },
        ..MetadataResponse::default()
    };
    if request.include_cluster_authorized_operations {
        response.cluster_authorized_operations = CLUSTER_OPERATIONS;
    }
    if request.include_topic_authorized_operations {
        for topic in &mut response.topics {
            if topic.error_code.is_none() {
                topic.topic_authorized_operations = TOPIC_OPERATIONS;
            }
        }
    }
    response
}

/// The nodes that run.
fn brokers(call: &Call, controller: &Controller) -> Vec<MetadataResponseBroker> {
    let running = controller.nodes().iter().filter(|node| node.running);
    running
        .filter_map(|node| call.broker.node(node.id))
        .map(|node| MetadataResponseBroker {
            node_id: node.id,
            host: node.address.host.clone(),
            port: node.address.port.into(),
            rack: node.rack.clone(),
        })
        .collect()
}

fn all(controller: &Controller) -> Vec<MetadataResponseTopic> {
    let topics = controller.topics();
    topics.map(|topic| found(controller, topic)).collect()
}

fn named_topic(
    controller: &Controller,
    wanted: &MetadataRequestTopic,
    failed: &[(String, ErrorCode)],
) -> MetadataResponseTopic {
    let by_id = !wanted.topic_id.is_zero();
    let topic = if by_id {
        controller.topic_by_id(wanted.topic_id)
    } else {
        wanted
            .name
            .as_deref()
            .and_then(|name| controller.topic(name))
    };
    if let Some(topic) = topic {
        return found(controller, topic);
    }
    let failure = failed
        .iter()
        .find(|(name, _)| Some(name) == wanted.name.as_ref());
    let error_code = match failure {
        _ if by_id => ErrorCode::UNKNOWN_TOPIC_ID,
        Some((_, code)) => *code,
        None => match wanted.name.as_deref().map(crate::cluster::check_topic_name) {
            Some(Ok(())) => ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
            Some(Err(_)) => ErrorCode::INVALID_TOPIC_EXCEPTION,
            None => ErrorCode::INVALID_REQUEST,
        },
    };
    MetadataResponseTopic {
        error_code,
        // Versions without ids cannot say that there is no name.
        name: if by_id { None } else { wanted.name.clone() },
        topic_id: wanted.topic_id,
        ..MetadataResponseTopic::default()
    }
}

fn found(controller: &Controller, topic: &Topic) -> MetadataResponseTopic {
    MetadataResponseTopic {
        error_code: ErrorCode::NONE,
        name: Some(topic.name.clone()),
        topic_id: topic.id,
        is_internal: topic.internal(),
        partitions: topic
            .partitions
            .iter()
            .zip(0..)
            .map(|(partition, partition_index)| MetadataResponsePartition {
                error_code: match partition.leader {
                    Some(_) => ErrorCode::NONE,
                    None => ErrorCode::LEADER_NOT_AVAILABLE,
                },
                partition_index,
                leader_id: partition.leader.unwrap_or(-1),
                leader_epoch: partition.leader_epoch,
                replica_nodes: partition.replicas.clone(),
                isr_nodes: partition.isr.clone(),
                offline_replicas: partition.offline(controller.nodes()),
            })
            .collect(),
        ..MetadataResponseTopic::default()
    }
}
