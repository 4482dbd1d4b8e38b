//! Produce requests: batches in, answers out.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use copart_protocol::messages::produce::{
    PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData,
};
use copart_protocol::records::RecordBatch;
use copart_protocol::{ApiKey, ErrorCode, Uuid, VersionRange};
use metrics::Label;
use tracing::Span;

use super::config::{Acks, min_produce_version};
use super::core::{Answered, Sending};
use super::shared::Shared;
use super::topic::PartitionHandle;
use crate::cluster::Cluster;
use crate::net::{Address, Answer, Connection};
use crate::telemetry::{names, spans};
use crate::{Error, ErrorKind, Result};

/// A batch in a request.
pub(crate) struct Sent {
    pub(crate) partition: Arc<PartitionHandle>,
    pub(crate) order: u64,
    topic_id: Uuid,
    /// Ends with the answer.
    pub(crate) span: Span,
}

/// A request that is being put together.
#[derive(Default)]
pub(crate) struct Draft {
    batches: Vec<(Sent, RecordBatch)>,
    size: usize,
}

impl Draft {
    pub(crate) fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// Whether a batch of that many bytes still fits. The first always does.
    pub(crate) fn fits(&self, bytes: usize, limit: usize) -> bool {
        self.batches.is_empty() || self.size + bytes <= limit
    }

    /// Adds a batch that goes to `broker`.
    pub(crate) fn add(
        &mut self,
        partition: Arc<PartitionHandle>,
        topic_id: Uuid,
        sending: Sending,
        broker: &str,
    ) {
        let Sending {
            order,
            batch,
            created,
            trace,
        } = sending;
        let (records, bytes) = (batch.header().record_count, batch.bytes().len());
        self.size += bytes;
        let labels = [Label::new("topic", Arc::clone(&partition.topic))];
        metrics::counter!(names::RECORDS, labels.iter()).increment(u64::from(records));
        metrics::counter!(names::BYTES, labels.iter()).increment(bytes as u64);
        if let Some(created) = created {
            metrics::histogram!(names::BATCH_RECORDS, labels.iter()).record(f64::from(records));
            metrics::histogram!(names::BATCH_BYTES, labels.iter()).record(bytes as f64);
            metrics::histogram!(names::QUEUE_TIME, labels.iter())
                .record(created.elapsed().as_secs_f64());
        }
        let (topic, index) = (&partition.topic, partition.index);
        let sent = Sent {
            span: spans::send(topic, index, records, bytes, broker, &trace),
            partition,
            order,
            topic_id,
        };
        self.batches.push((sent, batch));
    }

    /// Puts it on the connection. The batches come back with the answer to come, or with why there is none.
    pub(crate) fn send(
        self,
        connection: &Connection,
        shared: &Shared,
    ) -> (Vec<Sent>, Result<Answer<ProduceRequest>>) {
        metrics::counter!(names::REQUESTS).increment(1);
        tracing::trace!(
            broker = %connection.broker(), batches = self.batches.len(), bytes = self.size,
            "produce"
        );
        let result = self.enqueue(connection, shared);
        let sent = self.batches.into_iter().map(|(sent, _)| sent).collect();
        (sent, result)
    }

    fn enqueue(&self, connection: &Connection, shared: &Shared) -> Result<Answer<ProduceRequest>> {
        let versions = ApiKey::Produce.versions();
        // Topic ids are for brokers that gave us one for each topic.
        let by_id = self
            .batches
            .iter()
            .all(|(sent, _)| !sent.topic_id.is_zero());
        let wanted = VersionRange::new(
            min_produce_version(shared.core_config.compression),
            if by_id { versions.max } else { 12 },
        );
        let version = connection.negotiate(ApiKey::Produce, wanted)?;
        let timeout = shared.cluster.request_timeout();
        let request = ProduceRequest {
            transactional_id: None,
            acks: shared.config.acks.wire(),
            timeout_ms: i32::try_from(broker_timeout(timeout).as_millis()).unwrap_or(i32::MAX),
            topic_data: self.by_topic(version >= 13),
        };
        if shared.config.acks == Acks::None {
            connection.send_unanswered(version, &request, timeout)
        } else {
            connection.send(version, &request, timeout)
        }
    }

    fn by_topic(&self, by_id: bool) -> Vec<TopicProduceData> {
        let mut topics: Vec<TopicProduceData> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (sent, batch) in &self.batches {
            let place = *places.entry(&sent.partition.topic).or_insert_with(|| {
                topics.push(if by_id {
                    TopicProduceData {
                        topic_id: sent.topic_id,
                        ..TopicProduceData::default()
                    }
                } else {
                    TopicProduceData {
                        name: sent.partition.topic.to_string(),
                        ..TopicProduceData::default()
                    }
                });
                topics.len() - 1
            });
            topics[place].partition_data.push(PartitionProduceData {
                index: sent.partition.index,
                records: batch.bytes().clone(),
            });
        }
        topics
    }
}

/// How long the broker may wait for replicas: less than we wait for it, so that it says itself that they
/// took too long.
fn broker_timeout(request_timeout: Duration) -> Duration {
    request_timeout - (request_timeout / 4).min(Duration::from_secs(5))
}

/// What the answer says of each batch, and what it says of the cluster (KIP-951).
pub(crate) fn read_answer(
    sent: &[Sent],
    response: ProduceResponse,
    cluster: &Cluster,
) -> Vec<Answered> {
    for endpoint in &response.node_endpoints {
        if let Some(address) = Address::advertised(&endpoint.host, endpoint.port) {
            cluster.learn_broker(endpoint.node_id, address, endpoint.rack.as_deref());
        }
    }
    let mut answers: Vec<Option<Answered>> = vec![None; sent.len()];
    // Brokers answer in the order of the request, most of the time.
    let mut expected = 0;
    for topic in response.responses {
        for partition in topic.partition_responses {
            let is_it = |one: &Sent| {
                one.partition.index == partition.index
                    && if topic.topic_id.is_zero() {
                        *one.partition.topic == *topic.name
                    } else {
                        one.topic_id == topic.topic_id
                    }
            };
            let place = match sent.get(expected) {
                Some(one) if is_it(one) => expected,
                _ => match sent.iter().position(is_it) {
                    Some(place) => place,
                    // Not something that we sent.
                    None => continue,
                },
            };
            expected = place + 1;
            let leader = &partition.current_leader;
            if leader.leader_id >= 0 {
                let topic = &sent[place].partition.topic;
                cluster.learn_leader(
                    topic,
                    partition.index,
                    leader.leader_id,
                    leader.leader_epoch,
                );
            }
            answers[place] = Some(match partition.error_code {
                ErrorCode::NONE => Answered::Written {
                    base_offset: (partition.base_offset >= 0).then_some(partition.base_offset),
                    append_time: (partition.log_append_time_ms >= 0)
                        .then_some(partition.log_append_time_ms),
                },
                code => {
                    let detail = partition.record_errors.iter().find_map(|record| {
                        let message = record.batch_index_error_message.as_deref()?;
                        Some(format!("record {}: {message}", record.batch_index))
                    });
                    let message = match (partition.error_message, detail) {
                        (Some(message), Some(detail)) => Some(format!("{message}; {detail}")),
                        (message, detail) => message.or(detail),
                    };
                    Answered::Refused(code, message.map(Arc::from))
                }
            });
        }
    }
    answers
        .into_iter()
        .map(|answer| {
            answer.unwrap_or_else(|| {
                let reason = "the broker's answer leaves the partition out";
                Answered::Failed(Error::new(ErrorKind::Protocol, reason).maybe_written(true))
            })
        })
        .collect()
}
