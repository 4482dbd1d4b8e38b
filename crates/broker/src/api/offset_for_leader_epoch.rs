//! OffsetForLeaderEpoch: where leader epochs end, so that consumers notice what was truncated (KIP-320).

use copart_protocol::messages::offset_for_leader_epoch::{
    EpochEndOffset, OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition, OffsetForLeaderTopicResult,
};

use super::Call;
use crate::partitions::{Refusal, TopicKey};

pub(super) fn handle(
    call: &Call,
    request: OffsetForLeaderEpochRequest,
) -> OffsetForLeaderEpochResponse {
    let topics = request.topics.into_iter().map(|topic| {
        let key = TopicKey::Name(topic.topic.clone());
        let partitions = topic.partitions.iter().map(|partition| {
            let (leader_epoch, end_offset, error_code) = match end(call, &key, partition) {
                Ok((epoch, end)) => (epoch, end, copart_protocol::ErrorCode::NONE),
                Err(refusal) => (-1, -1, refusal.code),
            };
            EpochEndOffset {
                error_code,
                partition: partition.partition,
                leader_epoch,
                end_offset,
            }
        });
        OffsetForLeaderTopicResult {
            partitions: partitions.collect(),
            topic: topic.topic,
        }
    });
    OffsetForLeaderEpochResponse {
        topics: topics.collect(),
        ..OffsetForLeaderEpochResponse::default()
    }
}

/// The largest epoch up to the one asked for, and where it ends.
fn end(
    call: &Call,
    topic: &TopicKey,
    wanted: &OffsetForLeaderPartition,
) -> Result<(i32, i64), Refusal> {
    let partition = call.broker.partitions.find(topic, wanted.partition)?;
    let mut state = partition.state();
    state.check_leader(call.node.id, wanted.current_leader_epoch)?;
    let current = state.leadership.epoch;
    let log = state.log()?;
    // The epoch that the leader is in has no end yet. It ends no earlier than what consumers have read
    // (redpanda#5435).
    if wanted.leader_epoch == current {
        return Ok((current, log.log_end_offset()));
    }
    Ok(log
        .end_offset_for_epoch(wanted.leader_epoch)
        .unwrap_or((-1, -1)))
}
