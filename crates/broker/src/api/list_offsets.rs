//! ListOffsets: finds offsets by time, or the first, the last and other special ones.

use copart_protocol::ErrorCode;
use copart_protocol::messages::list_offsets::{
    ListOffsetsPartition, ListOffsetsPartitionResponse, ListOffsetsRequest, ListOffsetsResponse,
    ListOffsetsTopicResponse,
};

use super::Call;
use crate::log::PartitionLog;
use crate::partitions::{Refusal, TopicKey};

const LATEST: i64 = -1;
const EARLIEST: i64 = -2;
/// The record with the largest timestamp (KIP-734).
const MAX_TIMESTAMP: i64 = -3;
/// The first offset on the broker's own disk (KIP-405). Here everything is.
const EARLIEST_LOCAL: i64 = -4;
/// The last offset in tiered storage (KIP-1005), and the first one that is to go there (KIP-1023). There is no
/// tiered storage.
const LATEST_TIERED: i64 = -5;
const EARLIEST_PENDING_UPLOAD: i64 = -6;

struct Offset {
    offset: i64,
    timestamp: i64,
    leader_epoch: i32,
}

const NOT_FOUND: Offset = Offset {
    offset: -1,
    timestamp: -1,
    leader_epoch: -1,
};

pub(super) fn handle(call: &Call, request: ListOffsetsRequest) -> ListOffsetsResponse {
    let committed = request.isolation_level == 1;
    let topics = request.topics.into_iter().map(|topic| {
        let key = TopicKey::Name(topic.name);
        let partitions = topic.partitions.iter().map(|partition| {
            match find(call, &key, partition, request.replica_id, committed) {
                Ok(found) => ListOffsetsPartitionResponse {
                    partition_index: partition.partition_index,
                    timestamp: found.timestamp,
                    offset: found.offset,
                    // Version 4 brought it (KIP-320).
                    leader_epoch: if call.version >= 4 {
                        found.leader_epoch
                    } else {
                        -1
                    },
                    ..ListOffsetsPartitionResponse::default()
                },
                Err(refusal) => ListOffsetsPartitionResponse {
                    partition_index: partition.partition_index,
                    error_code: refusal.code,
                    ..ListOffsetsPartitionResponse::default()
                },
            }
        });
        let partitions = partitions.collect();
        let TopicKey::Name(name) = key else {
            unreachable!("made of a name above")
        };
        ListOffsetsTopicResponse { name, partitions }
    });
    ListOffsetsResponse {
        topics: topics.collect(),
        ..ListOffsetsResponse::default()
    }
}

fn find(
    call: &Call,
    topic: &TopicKey,
    wanted: &ListOffsetsPartition,
    replica_id: i32,
    committed: bool,
) -> Result<Offset, Refusal> {
    let partition = call.broker.partitions.find(topic, wanted.partition_index)?;
    let mut state = partition.state();
    // -2 is a debugging consumer, which may ask any replica.
    if replica_id != -2 {
        state.check_leader(call.node.id, wanted.current_leader_epoch)?;
    }
    let epoch = state.leadership.epoch;
    let log = state.log()?;
    let up_to = if committed {
        log.last_stable_offset()
    } else {
        log.stored_offset()
    };
    let at = |log: &PartitionLog, offset: i64| Offset {
        offset,
        timestamp: -1,
        leader_epoch: log.epoch_of(offset).unwrap_or(epoch),
    };
    let found = match wanted.timestamp {
        LATEST => return Ok(at(log, up_to)),
        EARLIEST | EARLIEST_LOCAL => return Ok(at(log, log.log_start_offset())),
        LATEST_TIERED | EARLIEST_PENDING_UPLOAD => return Ok(NOT_FOUND),
        MAX_TIMESTAMP => log.find_max_timestamp(up_to)?,
        timestamp if timestamp >= 0 => log.find_time(timestamp, up_to)?,
        other => {
            return Err(Refusal {
                message: Some(format!("the timestamp {other} means nothing")),
                ..ErrorCode::UNSUPPORTED_VERSION.into()
            });
        }
    };
    Ok(found.map_or(NOT_FOUND, |record| Offset {
        offset: record.offset,
        timestamp: record.timestamp,
        leader_epoch: record.leader_epoch,
    }))
}
