//! DeleteRecords: moves the start of partitions' logs.

use copart_protocol::ErrorCode;
use copart_protocol::messages::delete_records::{
    DeleteRecordsPartition, DeleteRecordsPartitionResult, DeleteRecordsRequest,
    DeleteRecordsResponse, DeleteRecordsTopicResult,
};

use super::Call;
use crate::partitions::{Refusal, TopicKey};

/// Everything that consumers can read.
const HIGH_WATERMARK: i64 = -1;

pub(super) fn handle(call: &Call, request: DeleteRecordsRequest) -> DeleteRecordsResponse {
    let topics = request.topics.into_iter().map(|topic| {
        let key = TopicKey::Name(topic.name.clone());
        let partitions = topic.partitions.iter().map(|partition| {
            let (low_watermark, error_code) = match delete(call, &key, partition) {
                Ok(low_watermark) => (low_watermark, ErrorCode::NONE),
                Err(refusal) => (-1, refusal.code),
            };
            DeleteRecordsPartitionResult {
                partition_index: partition.partition_index,
                low_watermark,
                error_code,
            }
        });
        DeleteRecordsTopicResult {
            partitions: partitions.collect(),
            name: topic.name,
        }
    });
    DeleteRecordsResponse {
        topics: topics.collect(),
        ..DeleteRecordsResponse::default()
    }
}

fn delete(call: &Call, topic: &TopicKey, wanted: &DeleteRecordsPartition) -> Result<i64, Refusal> {
    let partition = call.broker.partitions.find(topic, wanted.partition_index)?;
    if call.broker.writes_alone(&partition.topic().name) {
        return Err(ErrorCode::INVALID_TOPIC_EXCEPTION.into());
    }
    let start = {
        let mut state = partition.state();
        state.check_leader(call.node.id, -1)?;
        let log = state.log()?;
        if !log.config().deletes {
            return Err(Refusal {
                message: Some("cleanup.policy does not contain delete".to_owned()),
                ..ErrorCode::POLICY_VIOLATION.into()
            });
        }
        let offset = match wanted.offset {
            HIGH_WATERMARK => log.stored_offset(),
            offset => offset,
        };
        log.delete_records(offset)?
    };
    partition.waiters().wake();
    Ok(start)
}
