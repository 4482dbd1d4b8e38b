//! Fetch: reads record batches, and waits for them.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use copart_protocol::messages::fetch::{
    AbortedTransaction, EpochEndOffset, FetchRequest, FetchResponse, FetchableTopicResponse,
    LeaderIdAndEpoch, NodeEndpoint, PartitionData,
};
use copart_protocol::{ErrorCode, Uuid};
use tokio::time::{Instant, timeout_at};

use super::Call;
use crate::Error;
use crate::fetch::{Begun, Key, Wanted};
use crate::log::{PartitionLog, PendingRead};
use crate::partitions::{Partition, Refusal, TopicKey, Watch};
use crate::server::{Answer, Parts, Share};

/// What a look at a partition found.
struct Found {
    data: PartitionData,
    offset: i64,
    read: Option<PendingRead>,
}

/// What a look at all partitions found.
struct Look {
    found: Vec<(Key, Found)>,
    /// At most so many bytes can be read.
    bytes: usize,
    /// So many of them come into memory.
    in_memory: usize,
    /// Is there something that the consumer should know at once?
    urgent: bool,
}

pub(super) fn handle(call: Call, request: FetchRequest) -> Answer {
    Answer::Later(Box::pin(fetch(call, request)))
}

async fn fetch(call: Call, request: FetchRequest) -> Answer {
    if request.replica_id >= 0 || request.replica_state.replica_id >= 0 {
        // Only followers have an id, and this broker's nodes do not fetch (compare CVE-2018-1288).
        return failed(&call, &request, ErrorCode::INVALID_REQUEST);
    }
    let begun = {
        let now_ms = call.broker.now_ms();
        call.node.sessions().begin(&request, call.version, now_ms)
    };
    let begun = match begun {
        Ok(begun) => begun,
        Err(code) => return failed(&call, &request, code),
    };
    let look = wait(&call, &request, &begun).await;
    let mut share = Share::default();
    if look.in_memory > 0 {
        call.broker.responses.take(&mut share, look.in_memory).await;
    }
    let mut parts = Parts::default();
    let mut answer = read(&call, look, &mut parts);
    call.node.sessions().answered(begun.kind, &mut answer);
    match respond(&call, begun.kind.id(), answer) {
        Answer::Send(outgoing, _) => Answer::Send(outgoing.with_parts(parts), share),
        other => other,
    }
}

/// Looks until there is enough, or the consumer's patience is over.
async fn wait(call: &Call, request: &FetchRequest, begun: &Begun) -> Look {
    let first = look(call, request, begun);
    let wanted = request.min_bytes.max(0) as usize;
    if request.max_wait_ms <= 0 || enough(&first, wanted, begun) {
        return first;
    }
    let patience = Duration::from_millis(request.max_wait_ms.unsigned_abs().into());
    let deadline = Instant::now() + patience;
    let keys = begun.partitions.iter().map(|(key, _)| key);
    let watch = Watch::new(
        keys.filter_map(|(topic, index)| call.broker.partitions.find(topic, *index).ok())
            .collect(),
    );
    loop {
        let found = look(call, request, begun);
        if enough(&found, wanted, begun) || timeout_at(deadline, watch.changed()).await.is_err() {
            return found;
        }
    }
}

fn enough(look: &Look, wanted: usize, begun: &Begun) -> bool {
    look.urgent || look.bytes >= wanted || begun.partitions.is_empty()
}

fn look(call: &Call, request: &FetchRequest, begun: &Begun) -> Look {
    let committed = request.isolation_level == 1;
    let mut left = usize::try_from(request.max_bytes)
        .unwrap_or(0)
        .min(call.broker.limits.max_fetch_bytes);
    let mut all = Look {
        found: Vec::with_capacity(begun.partitions.len()),
        bytes: 0,
        in_memory: 0,
        urgent: false,
    };
    for (key, wanted) in &begun.partitions {
        let partition = call.broker.partitions.find(&key.0, key.1);
        let found = partition
            .map_err(Refusal::from)
            .and_then(|partition| look_at(call, request, &partition, wanted, committed, left));
        let found = match found {
            Ok(mut found) => {
                if let Some(read) = &found.read {
                    // KIP-74: the first batch is sent however large it is, if it is the first of the answer.
                    if all.bytes == 0 || read.smallest() <= left.min(max_bytes(wanted)) {
                        let size = read.largest();
                        all.bytes += size;
                        if !(read.is_in_system_file() && Parts::default().fit(size)) {
                            all.in_memory += size;
                        }
                        left = left.saturating_sub(size);
                    } else {
                        found.read = None;
                    }
                }
                all.urgent |=
                    found.data.diverging_epoch.epoch >= 0 || found.data.preferred_read_replica >= 0;
                found
            }
            Err(refusal) => {
                all.urgent = true;
                Found {
                    data: refused(call.version, key.1, refusal),
                    offset: wanted.offset,
                    read: None,
                }
            }
        };
        all.found.push((key.clone(), found));
    }
    all
}

fn max_bytes(wanted: &Wanted) -> usize {
    usize::try_from(wanted.max_bytes).unwrap_or(0)
}

fn look_at(
    call: &Call,
    request: &FetchRequest,
    partition: &Arc<Partition>,
    wanted: &Wanted,
    committed: bool,
    left: usize,
) -> Result<Found, Refusal> {
    let mut state = partition.state();
    // Consumers learned to fetch from followers with version 11.
    if call.version >= 11 {
        state.check_replica(call.node.id, wanted.leader_epoch)?;
    } else {
        state.check_leader(call.node.id, wanted.leader_epoch)?;
    }
    let nearer = nearer_replica(call, request, &state.leadership);
    let log = state.log()?;
    let high_watermark = log.stored_offset();
    let last_stable_offset = log.last_stable_offset();
    let up_to = if committed {
        last_stable_offset
    } else {
        high_watermark
    };
    let mut data = PartitionData {
        partition_index: partition.index(),
        high_watermark,
        last_stable_offset,
        log_start_offset: log.log_start_offset(),
        aborted_transactions: committed.then(|| {
            let aborted = log.aborted_transactions(wanted.offset, up_to).into_iter();
            aborted
                .map(|transaction| AbortedTransaction {
                    producer_id: transaction.producer_id,
                    first_offset: transaction.first_offset,
                })
                .collect()
        }),
        preferred_read_replica: nearer.unwrap_or(-1),
        ..PartitionData::default()
    };
    let found = |data, read| Found {
        data,
        offset: wanted.offset,
        read,
    };
    if let Some(diverging) = diverging(log, wanted) {
        data.diverging_epoch = diverging;
        return Ok(found(data, None));
    }
    if wanted.offset > high_watermark && wanted.offset <= log.log_end_offset() {
        // What was read before a sync failed, or is not synced yet.
        return Ok(found(data, None));
    }
    let max_bytes = max_bytes(wanted).min(left.max(1));
    let read = log.begin_read(wanted.offset, up_to, max_bytes)?;
    let read = read.filter(|_| nearer.is_none());
    Ok(found(data, read))
}

/// KIP-392: the in-sync replica in the consumer's rack, if the leader is in another one.
fn nearer_replica(
    call: &Call,
    request: &FetchRequest,
    leadership: &crate::partitions::Leadership,
) -> Option<i32> {
    if request.rack_id.is_empty() || leadership.leader != Some(call.node.id) {
        return None;
    }
    let in_rack = |id: i32| {
        let node = call.broker.node(id);
        node.is_some_and(|node| node.rack.as_deref() == Some(request.rack_id.as_str()))
    };
    if in_rack(call.node.id) {
        return None;
    }
    leadership.isr.iter().copied().find(|&id| in_rack(id))
}

/// The consumer's last record is of an epoch that the log ended earlier, or never had (KIP-595).
fn diverging(log: &PartitionLog, wanted: &Wanted) -> Option<EpochEndOffset> {
    if wanted.last_fetched_epoch < 0 {
        return None;
    }
    let (epoch, end_offset) = log.end_offset_for_epoch(wanted.last_fetched_epoch)?;
    (epoch < wanted.last_fetched_epoch || end_offset < wanted.offset)
        .then_some(EpochEndOffset { epoch, end_offset })
}

/// Reads what was found. Large reads are checked only, and added to `parts`: the kernel sends them.
fn read(call: &Call, look: Look, parts: &mut Parts) -> Vec<(Key, PartitionData)> {
    let mut answer = Vec::with_capacity(look.found.len());
    for (key, found) in look.found {
        let mut data = found.data;
        match found
            .read
            .map_or(Ok(Bytes::new()), |read| records(&read, parts))
        {
            Ok(records) => data.records = records,
            Err(error) => {
                tracing::error!(
                    topic = ?key.0,
                    partition = key.1,
                    "records cannot be read: {error}"
                );
                if let Ok(partition) = call.broker.partitions.find(&key.0, key.1)
                    && let Ok(log) = partition.state().log()
                {
                    log.quarantine(found.offset, &error);
                }
                data = refused(call.version, key.1, error.into());
            }
        }
        answer.push((key, data));
    }
    answer
}

/// The records, or what stands for them in the answer.
fn records(read: &PendingRead, parts: &mut Parts) -> Result<Bytes, Error> {
    if !(read.is_in_system_file() && parts.fit(read.largest())) {
        return read.run();
    }
    let part = read.locate()?;
    if !parts.fit(part.len) {
        // Fewer batches fit than looked like it.
        return part.read();
    }
    Ok(parts.add(part))
}

fn refused(version: i16, partition_index: i32, refusal: Refusal) -> PartitionData {
    PartitionData {
        partition_index,
        error_code: refusal.code,
        high_watermark: -1,
        last_stable_offset: -1,
        log_start_offset: -1,
        current_leader: match refusal.leader {
            Some(leader) if version >= 12 => LeaderIdAndEpoch {
                leader_id: leader.id,
                leader_epoch: leader.epoch,
            },
            _ => LeaderIdAndEpoch::default(),
        },
        ..PartitionData::default()
    }
}

fn respond(call: &Call, session_id: i32, answer: Vec<(Key, PartitionData)>) -> Answer {
    let leaders: Vec<i32> = answer
        .iter()
        .map(|(_, data)| data.current_leader.leader_id)
        .filter(|&leader| leader >= 0)
        .collect();
    let mut responses: Vec<FetchableTopicResponse> = Vec::new();
    let mut last = None;
    for ((topic, _), data) in answer {
        if last.as_ref() != Some(&topic) {
            let (name, topic_id) = match &topic {
                TopicKey::Name(name) => (name.clone(), Uuid::default()),
                TopicKey::Id(id) => (String::new(), *id),
            };
            responses.push(FetchableTopicResponse {
                topic: name,
                topic_id,
                partitions: Vec::new(),
            });
            last = Some(topic);
        }
        let response = responses.last_mut().expect("pushed with the first one");
        response.partitions.push(data);
    }
    let node_endpoints = if call.version >= 16 && !leaders.is_empty() {
        call.broker
            .endpoints(&leaders)
            .map(|node| NodeEndpoint {
                node_id: node.id,
                host: node.address.host.clone(),
                port: node.address.port.into(),
                rack: node.rack.clone(),
            })
            .collect()
    } else {
        Vec::new()
    };
    call.respond::<FetchRequest>(&FetchResponse {
        session_id,
        responses,
        node_endpoints,
        ..FetchResponse::default()
    })
}

/// An error of the request as a whole. Versions before 7 can say it of each partition only.
fn failed(call: &Call, request: &FetchRequest, code: ErrorCode) -> Answer {
    if call.version >= 7 {
        return call.respond::<FetchRequest>(&FetchResponse {
            error_code: code,
            ..FetchResponse::default()
        });
    }
    let topics = request.topics.iter();
    let refused = topics.flat_map(|topic| {
        let key = TopicKey::new(&topic.topic, topic.topic_id);
        topic.partitions.iter().map(move |partition| {
            let index = partition.partition;
            let data = refused(0, index, code.into());
            ((key.clone(), index), data)
        })
    });
    respond(call, 0, refused.collect())
}
