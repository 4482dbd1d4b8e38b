//! Produce: appends record batches.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use copart_protocol::ErrorCode;
use copart_protocol::messages::produce::{
    BatchIndexAndErrorMessage, LeaderIdAndEpoch, NodeEndpoint, PartitionProduceResponse,
    ProduceRequest, ProduceResponse, TopicProduceResponse,
};
use copart_protocol::records::BatchHeader;
use tokio::time::{Instant, timeout_at};

use super::Call;
use crate::partitions::{Partition, Refusal, TopicKey, Watch};
use crate::server::Answer;

/// A batch that counts as stored only when its partition is, up to `offset`.
struct Waiting {
    /// Where its response is.
    at: (usize, usize),
    partition: Arc<Partition>,
    offset: i64,
}

pub(super) fn handle(call: Call, request: ProduceRequest) -> Answer {
    let acks = request.acks;
    let deadline =
        Instant::now() + Duration::from_millis(request.timeout_ms.max(0).unsigned_abs().into());
    let mut waiting = Vec::new();
    let mut responses = Vec::with_capacity(request.topic_data.len());
    for topic in request.topic_data {
        let key = TopicKey::new(&topic.name, topic.topic_id);
        let mut partition_responses = Vec::with_capacity(topic.partition_data.len());
        for partition in topic.partition_data {
            let appended = append(&call, acks, &key, partition.index, partition.records);
            partition_responses.push(match appended {
                Ok((response, None)) => response,
                Ok((response, Some((partition, offset)))) => {
                    waiting.push(Waiting {
                        at: (responses.len(), partition_responses.len()),
                        partition,
                        offset,
                    });
                    response
                }
                Err(refusal) => refused(partition.index, refusal),
            });
        }
        responses.push(TopicProduceResponse {
            name: topic.name,
            topic_id: topic.topic_id,
            partition_responses,
        });
    }
    let mut response = ProduceResponse {
        responses,
        ..ProduceResponse::default()
    };
    match acks {
        0 => without_answer(&response),
        -1 if !waiting.is_empty() => Answer::Later(Box::pin(async move {
            wait(&mut response, waiting, deadline).await;
            finish(&call, response)
        })),
        _ => finish(&call, response),
    }
}

type Appended = (PartitionProduceResponse, Option<(Arc<Partition>, i64)>);

fn append(
    call: &Call,
    acks: i16,
    topic: &TopicKey,
    index: i32,
    records: Bytes,
) -> Result<Appended, Refusal> {
    if !(-1..=1).contains(&acks) {
        return Err(Refusal {
            message: Some(format!("acks is {acks}, and may be -1, 0 or 1")),
            ..ErrorCode::INVALID_REQUIRED_ACKS.into()
        });
    }
    let partition = call.broker.partitions.find(topic, index)?;
    if call.broker.writes_alone(&partition.topic().name) {
        return Err(Refusal {
            message: Some("only the broker itself writes this topic".to_owned()),
            ..ErrorCode::INVALID_TOPIC_EXCEPTION.into()
        });
    }
    if BatchHeader::parse(&records).is_ok_and(|header| header.attributes.is_transactional()) {
        return Err(Refusal {
            message: Some("this broker has no transactions yet".to_owned()),
            ..ErrorCode::INVALID_TXN_STATE.into()
        });
    }
    // Alone in its frame it is edited where it is.
    let batch = records
        .try_into_mut()
        .unwrap_or_else(|shared| BytesMut::from(&shared[..]));
    let produced = partition.produce(call.node.id, batch, acks, call.broker.now_ms())?;
    call.broker.written(&partition);
    let response = PartitionProduceResponse {
        index,
        base_offset: produced.appended.base_offset,
        log_append_time_ms: produced.appended.log_append_time.unwrap_or(-1),
        log_start_offset: produced.log_start,
        ..PartitionProduceResponse::default()
    };
    let waits = produced.unsynced && acks == -1;
    let waiting = waits.then_some((partition, produced.appended.next_offset));
    Ok((response, waiting))
}

fn refused(index: i32, refusal: Refusal) -> PartitionProduceResponse {
    PartitionProduceResponse {
        index,
        error_code: refusal.code,
        base_offset: -1,
        record_errors: refusal
            .records
            .into_iter()
            .map(|record| BatchIndexAndErrorMessage {
                batch_index: record.index as i32,
                batch_index_error_message: Some(record.reason),
            })
            .collect(),
        error_message: refusal.message,
        current_leader: refusal
            .leader
            .map_or_else(LeaderIdAndEpoch::default, |leader| LeaderIdAndEpoch {
                leader_id: leader.id,
                leader_epoch: leader.epoch,
            }),
        ..PartitionProduceResponse::default()
    }
}

/// Waits until all batches are stored, and writes into the response which are not.
async fn wait(response: &mut ProduceResponse, mut waiting: Vec<Waiting>, deadline: Instant) {
    let watch = Watch::new(
        waiting
            .iter()
            .map(|waiting| waiting.partition.clone())
            .collect(),
    );
    let mut refuse = |(topic, partition): (usize, usize), refusal| {
        let response = &mut response.responses[topic].partition_responses[partition];
        *response = refused(response.index, refusal);
    };
    loop {
        waiting.retain(
            |waiting| match waiting.partition.is_stored(waiting.offset) {
                None => true,
                Some(Ok(())) => false,
                Some(Err(refusal)) => {
                    refuse(waiting.at, refusal);
                    false
                }
            },
        );
        if waiting.is_empty() {
            return;
        }
        if timeout_at(deadline, watch.changed()).await.is_err() {
            for late in waiting {
                refuse(
                    late.at,
                    Refusal {
                        message: Some("written, but not synced in time".to_owned()),
                        ..ErrorCode::REQUEST_TIMED_OUT.into()
                    },
                );
            }
            return;
        }
    }
}

/// KIP-951: says how to reach the leaders that the response names.
fn finish(call: &Call, mut response: ProduceResponse) -> Answer {
    let leaders: Vec<i32> = response
        .responses
        .iter()
        .flat_map(|topic| &topic.partition_responses)
        .map(|partition| partition.current_leader.leader_id)
        .filter(|&leader| leader >= 0)
        .collect();
    if call.version >= 10 && !leaders.is_empty() {
        response.node_endpoints = call
            .broker
            .endpoints(&leaders)
            .map(|node| NodeEndpoint {
                node_id: node.id,
                host: node.address.host.clone(),
                port: node.address.port.into(),
                rack: node.rack.clone(),
            })
            .collect();
    }
    if call.version < 10 {
        for topic in &mut response.responses {
            for partition in &mut topic.partition_responses {
                partition.current_leader = LeaderIdAndEpoch::default();
            }
        }
    }
    call.respond::<ProduceRequest>(&response)
}

/// With acks=0 the one way to tell of an error is to close the connection.
fn without_answer(response: &ProduceResponse) -> Answer {
    let failed = response
        .responses
        .iter()
        .flat_map(|topic| &topic.partition_responses)
        .find(|partition| !partition.error_code.is_none());
    match failed {
        None => Answer::Silence,
        Some(partition) => Answer::Close(format!(
            "a batch sent with acks=0 was refused with {}{}",
            partition.error_code,
            match &partition.error_message {
                Some(message) => format!(": {message}"),
                None => String::new(),
            }
        )),
    }
}
