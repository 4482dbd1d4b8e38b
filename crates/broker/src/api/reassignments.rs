//! AlterPartitionReassignments and ListPartitionReassignments: partitions that move to other nodes (KIP-455).

use std::collections::HashSet;

use copart_protocol::messages::alter_partition_reassignments::{
    AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse, ReassignableTopicResponse,
};
use copart_protocol::messages::list_partition_reassignments::{
    ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment, OngoingTopicReassignment,
};

use super::Call;
use crate::cluster::Reassignment;

pub(super) fn alter(
    call: &Call,
    request: AlterPartitionReassignmentsRequest,
) -> AlterPartitionReassignmentsResponse {
    let wishes: Vec<Reassignment> = request
        .topics
        .iter()
        .flat_map(|topic| {
            topic.partitions.iter().map(|partition| Reassignment {
                topic: topic.name.clone(),
                partition: partition.partition_index,
                replicas: partition.replicas.clone(),
            })
        })
        .collect();
    // Before version 1 the number of replicas may always change (KIP-860).
    let allow = request.allow_replication_factor_change;
    let results = call
        .broker
        .change(|controller| controller.reassign(&wishes, allow));
    let mut response = AlterPartitionReassignmentsResponse {
        allow_replication_factor_change: allow,
        ..AlterPartitionReassignmentsResponse::default()
    };
    let mut results = match results {
        Ok(results) => results.into_iter(),
        Err(error) => {
            response.error_code = error.code;
            response.error_message = Some(error.message);
            return response;
        }
    };
    for topic in request.topics {
        let partitions = topic.partitions.iter().zip(results.by_ref());
        let partitions = partitions.map(|(partition, result)| {
            let (error_code, error_message) = super::outcome(result);
            ReassignablePartitionResponse {
                partition_index: partition.partition_index,
                error_code,
                error_message,
            }
        });
        response.responses.push(ReassignableTopicResponse {
            partitions: partitions.collect(),
            name: topic.name,
        });
    }
    response
}

pub(super) fn list(
    call: &Call,
    request: ListPartitionReassignmentsRequest,
) -> ListPartitionReassignmentsResponse {
    let named: Option<HashSet<(&str, i32)>> = request.topics.as_ref().map(|topics| {
        let named = topics.iter().flat_map(|it| {
            let indexes = it.partition_indexes.iter();
            indexes.map(|index| (it.name.as_str(), *index))
        });
        named.collect()
    });
    let wanted = |topic: &str, index: i32| {
        named
            .as_ref()
            .is_none_or(|named| named.contains(&(topic, index)))
    };
    let controller = call.broker.controller();
    let mut topics: Vec<OngoingTopicReassignment> = Vec::new();
    for (topic, index, partition) in controller.reassigning() {
        if !wanted(&topic.name, index) {
            continue;
        }
        let ongoing = OngoingPartitionReassignment {
            partition_index: index,
            replicas: partition.replicas.clone(),
            adding_replicas: partition.adding.clone(),
            removing_replicas: partition.removing.clone(),
        };
        match topics.last_mut().filter(|last| last.name == topic.name) {
            Some(last) => last.partitions.push(ongoing),
            None => topics.push(OngoingTopicReassignment {
                name: topic.name.clone(),
                partitions: vec![ongoing],
            }),
        }
    }
    ListPartitionReassignmentsResponse {
        topics,
        ..ListPartitionReassignmentsResponse::default()
    }
}
