//! DescribeProducers: the producers that a partition's log knows (KIP-664).

use copart_protocol::ErrorCode;
use copart_protocol::messages::describe_producers::{
    DescribeProducersRequest, DescribeProducersResponse, PartitionResponse, ProducerState,
    TopicResponse,
};

use super::Call;
use crate::partitions::{Refusal, TopicKey};

pub(super) fn handle(call: &Call, request: DescribeProducersRequest) -> DescribeProducersResponse {
    let topics = request.topics.into_iter().map(|topic| {
        let key = TopicKey::Name(topic.name.clone());
        let partitions =
            topic.partition_indexes.into_iter().map(|partition_index| {
                match producers(call, &key, partition_index) {
                    Ok(active_producers) => PartitionResponse {
                        partition_index,
                        active_producers,
                        ..PartitionResponse::default()
                    },
                    Err(refusal) => PartitionResponse {
                        partition_index,
                        error_code: refusal.code,
                        error_message: refusal.message.or_else(|| message(refusal.code)),
                        ..PartitionResponse::default()
                    },
                }
            });
        TopicResponse {
            partitions: partitions.collect(),
            name: topic.name,
        }
    });
    DescribeProducersResponse {
        topics: topics.collect(),
        ..DescribeProducersResponse::default()
    }
}

fn message(code: ErrorCode) -> Option<String> {
    Some(match code {
        ErrorCode::NOT_LEADER_OR_FOLLOWER => "another node leads the partition".to_owned(),
        ErrorCode::UNKNOWN_TOPIC_OR_PARTITION => "there is no such partition".to_owned(),
        _ => return None,
    })
}

fn producers(call: &Call, topic: &TopicKey, index: i32) -> Result<Vec<ProducerState>, Refusal> {
    let partition = call.broker.partitions.find(topic, index)?;
    let mut state = partition.state();
    state.check_leader(call.node.id, -1)?;
    let producers = state.log()?.producers();
    Ok(producers
        .map(|producer| ProducerState {
            producer_id: producer.id,
            producer_epoch: producer.epoch.into(),
            last_sequence: producer.last_sequence(),
            last_timestamp: producer.last_timestamp,
            coordinator_epoch: producer.coordinator_epoch,
            current_txn_start_offset: producer.transaction_start.unwrap_or(-1),
        })
        .collect())
}
