//! DescribeTopicPartitions: topics with their partitions, page by page (KIP-966).

use std::collections::BTreeSet;

use copart_protocol::messages::describe_topic_partitions::{
    Cursor, DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition, DescribeTopicPartitionsResponseTopic,
};
use copart_protocol::{ErrorCode, Uuid};

use super::Call;
use super::metadata::TOPIC_OPERATIONS;
use crate::cluster::{Controller, Partition, Topic, check_topic_name};

pub(super) fn handle(
    call: &Call,
    request: DescribeTopicPartitionsRequest,
) -> DescribeTopicPartitionsResponse {
    let controller = call.broker.controller();
    // In the order of their names, which is what the cursor counts on.
    let mut names: BTreeSet<&str> = match request.topics.is_empty() {
        true => controller
            .topics()
            .map(|topic| topic.name.as_str())
            .collect(),
        false => request.topics.iter().map(|it| it.name.as_str()).collect(),
    };
    let mut first = 0;
    if let Some(cursor) = &request.cursor {
        if cursor.partition_index < 0 {
            let refused = names
                .iter()
                .map(|name| failed(name, ErrorCode::INVALID_REQUEST));
            return DescribeTopicPartitionsResponse {
                topics: refused.collect(),
                ..DescribeTopicPartitionsResponse::default()
            };
        }
        names = names.split_off(cursor.topic_name.as_str());
        if names.first() == Some(&cursor.topic_name.as_str()) {
            first = cursor.partition_index as usize;
        }
    }
    let most = controller.broker_config().max_request_partition_size_limit;
    let mut room = request.response_partition_limit.min(most).max(1) as usize;
    let mut response = DescribeTopicPartitionsResponse::default();
    for name in names {
        let begin = std::mem::take(&mut first);
        let Some(topic) = controller.topic(name) else {
            let code = match check_topic_name(name) {
                Ok(()) => ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
                Err(_) => ErrorCode::INVALID_TOPIC_EXCEPTION,
            };
            response.topics.push(failed(name, code));
            continue;
        };
        if room == 0 {
            response.next_cursor = Some(cursor(name, begin));
            break;
        }
        let partitions = topic.partitions.iter().enumerate().skip(begin).take(room);
        let shown: Vec<_> = partitions
            .map(|(index, it)| partition(&controller, index, it))
            .collect();
        room -= shown.len();
        let next = begin + shown.len();
        response.topics.push(found(topic, shown));
        if next < topic.partitions.len() {
            response.next_cursor = Some(cursor(name, next));
            break;
        }
    }
    response
}

fn cursor(topic: &str, partition: usize) -> Cursor {
    Cursor {
        topic_name: topic.to_owned(),
        partition_index: partition as i32,
    }
}

fn failed(name: &str, error_code: ErrorCode) -> DescribeTopicPartitionsResponseTopic {
    DescribeTopicPartitionsResponseTopic {
        error_code,
        name: Some(name.to_owned()),
        topic_id: Uuid::ZERO,
        ..DescribeTopicPartitionsResponseTopic::default()
    }
}

fn found(
    topic: &Topic,
    partitions: Vec<DescribeTopicPartitionsResponsePartition>,
) -> DescribeTopicPartitionsResponseTopic {
    DescribeTopicPartitionsResponseTopic {
        error_code: ErrorCode::NONE,
        name: Some(topic.name.clone()),
        topic_id: topic.id,
        is_internal: topic.internal(),
        partitions,
        topic_authorized_operations: TOPIC_OPERATIONS,
    }
}

fn partition(
    controller: &Controller,
    index: usize,
    partition: &Partition,
) -> DescribeTopicPartitionsResponsePartition {
    DescribeTopicPartitionsResponsePartition {
        error_code: match partition.leader {
            Some(_) => ErrorCode::NONE,
            None => ErrorCode::LEADER_NOT_AVAILABLE,
        },
        partition_index: index as i32,
        leader_id: partition.leader.unwrap_or(-1),
        leader_epoch: partition.leader_epoch,
        replica_nodes: partition.replicas.clone(),
        isr_nodes: partition.isr.clone(),
        // There are none, which is not null: Java's admin client fails on that.
        eligible_leader_replicas: Some(Vec::new()),
        last_known_elr: Some(Vec::new()),
        offline_replicas: partition.offline(controller.nodes()),
    }
}
