//! ElectLeaders: gives leadership back to preferred replicas, or has a replica lead that may lack records
//! (KIP-460).

use copart_protocol::ErrorCode;
use copart_protocol::messages::elect_leaders::{
    ElectLeadersRequest, ElectLeadersResponse, PartitionResult, ReplicaElectionResult,
    TopicPartitions,
};

use super::Call;
use crate::cluster::Election;

pub(super) fn handle(call: &Call, request: ElectLeadersRequest) -> ElectLeadersResponse {
    let election = match request.election_type {
        0 => Election::Preferred,
        1 => Election::Unclean,
        _ => {
            return ElectLeadersResponse {
                error_code: ErrorCode::INVALID_REQUEST,
                ..ElectLeadersResponse::default()
            };
        }
    };
    let named = request.topic_partitions.as_ref().map(|topics| {
        let partitions = topics.iter().flat_map(|it| {
            let indexes = it.partitions.iter();
            indexes.map(|index| (it.topic.clone(), *index))
        });
        partitions.collect::<Vec<(String, i32)>>()
    });
    let elected = call
        .broker
        .change(|controller| controller.elect_leaders(election, named.as_deref()));
    let elected = match elected {
        Ok(elected) => elected,
        Err(error) => return failed(request.topic_partitions.as_deref(), error.code),
    };
    let mut results: Vec<ReplicaElectionResult> = Vec::new();
    for (topic, partition_id, result) in elected {
        let (error_code, error_message) = super::outcome(result);
        let result = PartitionResult {
            partition_id,
            error_code,
            error_message,
        };
        match results.last_mut().filter(|last| last.topic == topic) {
            Some(last) => last.partition_result.push(result),
            None => results.push(ReplicaElectionResult {
                topic,
                partition_result: vec![result],
            }),
        }
    }
    ElectLeadersResponse {
        replica_election_results: results,
        ..ElectLeadersResponse::default()
    }
}

/// Nothing was elected. Version 0 has no error but those of partitions.
pub(super) fn failed(
    partitions: Option<&[TopicPartitions]>,
    error_code: ErrorCode,
) -> ElectLeadersResponse {
    let Some(topics) = partitions else {
        return ElectLeadersResponse {
            error_code,
            ..ElectLeadersResponse::default()
        };
    };
    let topics = topics.iter().map(|it| ReplicaElectionResult {
        topic: it.topic.clone(),
        partition_result: it
            .partitions
            .iter()
            .map(|&partition_id| PartitionResult {
                partition_id,
                error_code,
                ..PartitionResult::default()
            })
            .collect(),
    });
    ElectLeadersResponse {
        replica_election_results: topics.collect(),
        ..ElectLeadersResponse::default()
    }
}
