//! A cluster of a few brokers that share one topic: logs, leaders, and the state of idempotent producers as
//! Kafka's brokers keep it.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use copart::protocol::header::Incoming;
use copart::protocol::messages::api_versions::{ApiVersionsRequest, ApiVersionsResponse};
use copart::protocol::messages::fetch::FetchRequest;
use copart::protocol::messages::init_producer_id::{InitProducerIdRequest, InitProducerIdResponse};
use copart::protocol::messages::list_offsets::ListOffsetsRequest;
use copart::protocol::messages::metadata::{
    MetadataRequest, MetadataResponse, MetadataResponseBroker, MetadataResponsePartition,
    MetadataResponseTopic,
};
use copart::protocol::messages::offset_for_leader_epoch::OffsetForLeaderEpochRequest;
use copart::protocol::messages::produce::{
    LeaderIdAndEpoch, PartitionProduceResponse, ProduceRequest, ProduceResponse,
    TopicProduceResponse,
};
use copart::protocol::records::{BatchEditor, Decompressor, Record, RecordBatch, sequence_after};
use copart::protocol::{AnyRequest, ApiKey, ErrorCode, Request, Uuid, frame, versions};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

use crate::faults::{Fate, Faults};
use crate::fetch::Sessions;

pub const TOPIC: &str = "events";
pub const TOPIC_ID: Uuid = Uuid([7; 16]);

pub struct SimCluster {
    pub faults: Faults,
    /// The largest batch in bytes that brokers take.
    pub max_message: AtomicUsize,
    /// How many topics the last request for metadata asked for.
    pub topics_asked: AtomicUsize,
    nodes: i32,
    pub(crate) state: Mutex<State>,
    pub(crate) sessions: Mutex<Sessions>,
    /// Wakes fetches that wait for records.
    pub(crate) appended: tokio::sync::Notify,
}

pub(crate) struct State {
    pub(crate) partitions: Vec<SimPartition>,
    next_producer_id: i64,
    random: fastrand::Rng,
}

#[derive(Default)]
pub(crate) struct SimPartition {
    pub(crate) leader: i32,
    pub(crate) epoch: i32,
    pub(crate) log: Vec<Record>,
    /// The same as batches, each with its first offset and the epoch of the leader that wrote it.
    pub(crate) batches: Vec<(i64, i32, Bytes)>,
    producers: HashMap<i64, ProducerState>,
}

/// The last batches of a producer, as brokers remember them.
struct ProducerState {
    epoch: i16,
    /// First sequence, last sequence, first offset.
    batches: VecDeque<(i32, i32, i64)>,
}

impl SimCluster {
    pub fn new(seed: u64, nodes: i32, partitions: usize, faults: Faults) -> Arc<Self> {
        let partitions = (0..partitions).map(|index| SimPartition {
            leader: index as i32 % nodes,
            ..SimPartition::default()
        });
        Arc::new(Self {
            faults,
            max_message: AtomicUsize::new(usize::MAX),
            topics_asked: AtomicUsize::new(0),
            nodes,
            sessions: Mutex::default(),
            appended: tokio::sync::Notify::new(),
            state: Mutex::new(State {
                partitions: partitions.collect(),
                next_producer_id: 100,
                random: fastrand::Rng::with_seed(seed ^ 0x5eed),
            }),
        })
    }

    /// Moves a leader now and then.
    pub async fn move_leaders(self: Arc<Self>, every: Duration) {
        loop {
            tokio::time::sleep(every).await;
            let mut state = self.state.lock().unwrap();
            let state = &mut *state;
            let partition = state.random.usize(..state.partitions.len());
            let partition = &mut state.partitions[partition];
            partition.leader = state.random.i32(0..self.nodes);
            partition.epoch += 1;
        }
    }

    /// The records in a partition's log.
    pub fn records(&self, partition: i32) -> Vec<Record> {
        self.state.lock().unwrap().partitions[partition as usize]
            .log
            .clone()
    }

    /// The values in a partition's log, in which no record is without.
    pub fn log(&self, partition: i32) -> Vec<Bytes> {
        let records = self.records(partition);
        let values = records.iter().map(|record| record.value_bytes());
        values.map(|value| value.expect("a value")).collect()
    }

    /// Gives the topic partitions, led by node 0.
    pub fn grow(&self, by: usize) {
        let mut state = self.state.lock().unwrap();
        let count = state.partitions.len() + by;
        state.partitions.resize_with(count, SimPartition::default);
    }

    pub fn partition_count(&self) -> usize {
        self.state.lock().unwrap().partitions.len()
    }

    /// One broker's end of a connection. It goes on after the client has hung up, as a real one does with
    /// what has arrived already.
    pub async fn serve(self: Arc<Self>, node: i32, mut stream: DuplexStream) {
        let mut buffer = BytesMut::new();
        loop {
            let content = loop {
                match frame::take(&mut buffer, 10 << 20).expect("the client frames well") {
                    Some(content) => break content,
                    None => match stream.read_buf(&mut buffer).await {
                        Ok(1..) => {}
                        _ => return,
                    },
                }
            };
            tokio::time::sleep(self.faults.latency()).await;
            let Incoming::Known {
                api,
                header,
                mut body,
            } = Incoming::read(content).expect("the client's headers are right")
            else {
                panic!("the client sent what this broker does not list");
            };
            let version = header.api_version;
            let request =
                AnyRequest::decode_from(api, version, &mut body).expect("the client encodes well");
            let fate = match api {
                ApiKey::ApiVersions => Fate::Pass,
                ApiKey::Produce => self.faults.of_produce(),
                ApiKey::Fetch => self.faults.of_fetch(),
                _ => self.faults.of_other(),
            };
            match fate {
                Fate::DisconnectBefore => return,
                // Longer than the client waits for an answer.
                Fate::Stall => tokio::time::sleep(Duration::from_secs(3)).await,
                _ => {}
            }
            let id = header.correlation_id;
            let answer = match request {
                AnyRequest::ApiVersions(_) => {
                    encode::<ApiVersionsRequest>(version, id, &self.api_versions())
                }
                AnyRequest::Metadata(request) => {
                    encode::<MetadataRequest>(version, id, &self.metadata(&request))
                }
                AnyRequest::InitProducerId(_) => {
                    encode::<InitProducerIdRequest>(version, id, &self.init_producer_id())
                }
                AnyRequest::Produce(request) => {
                    let unanswered = request.acks == 0;
                    let answer = self.produce(node, &request, fate);
                    self.appended.notify_waiters();
                    if unanswered {
                        continue;
                    }
                    encode::<ProduceRequest>(version, id, &answer)
                }
                AnyRequest::Fetch(request) => {
                    let answer = self.fetch(node, &request, fate).await;
                    encode::<FetchRequest>(version, id, &answer)
                }
                AnyRequest::ListOffsets(request) => {
                    encode::<ListOffsetsRequest>(version, id, &self.list_offsets(node, &request))
                }
                AnyRequest::OffsetForLeaderEpoch(request) => {
                    let answer = self.epoch_ends(node, &request);
                    encode::<OffsetForLeaderEpochRequest>(version, id, &answer)
                }
                other => panic!("{} was not expected", other.api()),
            };
            if fate == Fate::DisconnectAfter {
                return;
            }
            tokio::time::sleep(self.faults.latency()).await;
            if stream.write_all(&answer).await.is_err() {
                // The client hung up. What it had sent before still counts.
                continue;
            }
        }
    }

    fn api_versions(&self) -> ApiVersionsResponse {
        let apis = [
            ApiKey::Produce,
            ApiKey::Metadata,
            ApiKey::ApiVersions,
            ApiKey::InitProducerId,
            ApiKey::Fetch,
            ApiKey::ListOffsets,
            ApiKey::OffsetForLeaderEpoch,
        ];
        ApiVersionsResponse {
            api_keys: apis.map(versions::listed).to_vec(),
            ..ApiVersionsResponse::default()
        }
    }

    fn metadata(&self, request: &MetadataRequest) -> MetadataResponse {
        let state = self.state.lock().unwrap();
        let partitions =
            state
                .partitions
                .iter()
                .zip(0..)
                .map(|(partition, index)| MetadataResponsePartition {
                    partition_index: index,
                    leader_id: partition.leader,
                    leader_epoch: partition.epoch,
                    ..MetadataResponsePartition::default()
                });
        let topic = MetadataResponseTopic {
            name: Some(TOPIC.to_owned()),
            topic_id: TOPIC_ID,
            partitions: partitions.collect(),
            ..MetadataResponseTopic::default()
        };
        let asked = request.topics.iter().flatten();
        self.topics_asked
            .store(asked.clone().count(), Ordering::Relaxed);
        MetadataResponse {
            brokers: (0..self.nodes)
                .map(|node_id| MetadataResponseBroker {
                    node_id,
                    host: format!("b{node_id}"),
                    port: 9092,
                    rack: None,
                })
                .collect(),
            controller_id: 0,
            topics: asked
                .filter(|asked| asked.name.as_deref() == Some(TOPIC))
                .map(|_| topic.clone())
                .collect(),
            ..MetadataResponse::default()
        }
    }

    fn init_producer_id(&self) -> InitProducerIdResponse {
        let mut state = self.state.lock().unwrap();
        state.next_producer_id += 1;
        InitProducerIdResponse {
            producer_id: state.next_producer_id,
            producer_epoch: 0,
            ..InitProducerIdResponse::default()
        }
    }

    fn produce(&self, node: i32, request: &ProduceRequest, fate: Fate) -> ProduceResponse {
        let mut state = self.state.lock().unwrap();
        let responses = request.topic_data.iter().map(|topic| {
            assert_eq!(topic.topic_id, TOPIC_ID);
            let partitions = topic.partition_data.iter().map(|data| {
                let partition = &mut state.partitions[data.index as usize];
                let fate = match fate {
                    // As brokers do, they look at the size before they look for doubles.
                    Fate::Pass | Fate::DisconnectAfter | Fate::Stall | Fate::ApplyThenRefuse(_)
                        if data.records.len() > self.max_message.load(Ordering::Relaxed) =>
                    {
                        Fate::Refuse(ErrorCode::MESSAGE_TOO_LARGE)
                    }
                    fate => fate,
                };
                partition.answer(node, data.index, data.records.clone(), fate)
            });
            TopicProduceResponse {
                topic_id: TOPIC_ID,
                partition_responses: partitions.collect(),
                ..TopicProduceResponse::default()
            }
        });
        ProduceResponse {
            responses: responses.collect(),
            ..ProduceResponse::default()
        }
    }
}

impl SimPartition {
    fn answer(
        &mut self,
        node: i32,
        index: i32,
        records: Bytes,
        fate: Fate,
    ) -> PartitionProduceResponse {
        let mut answer = PartitionProduceResponse {
            index,
            base_offset: -1,
            ..PartitionProduceResponse::default()
        };
        if self.leader != node {
            answer.error_code = ErrorCode::NOT_LEADER_OR_FOLLOWER;
            answer.current_leader = LeaderIdAndEpoch {
                leader_id: self.leader,
                leader_epoch: self.epoch,
            };
            return answer;
        }
        if let Fate::Refuse(code) = fate {
            answer.error_code = code;
            return answer;
        }
        match self.append(records) {
            Ok(offset) => answer.base_offset = offset,
            Err(code) => answer.error_code = code,
        }
        if let Fate::ApplyThenRefuse(code) = fate
            && answer.error_code.is_none()
        {
            answer.error_code = code;
            answer.base_offset = -1;
        }
        answer
    }

    fn append(&mut self, records: Bytes) -> Result<i64, ErrorCode> {
        let batch = RecordBatch::decode(records).expect("one whole batch");
        batch.verify_crc().expect("the checksum is right");
        batch
            .header()
            .check_produced()
            .expect("what a producer may send");
        let producer = batch.header().producer;
        let offset = self.log.len() as i64;
        if producer.id >= 0 {
            let first = producer.base_sequence;
            let last = batch.header().last_sequence();
            match self.producers.get(&producer.id) {
                Some(state) if producer.epoch < state.epoch => {
                    return Err(ErrorCode::INVALID_PRODUCER_EPOCH);
                }
                Some(state) if producer.epoch == state.epoch => {
                    let known = state.batches.iter().find(|b| (b.0, b.1) == (first, last));
                    if let Some(known) = known {
                        return Ok(known.2);
                    }
                    let expected = state.batches.back().map(|b| sequence_after(b.1, 1));
                    if expected != Some(first) {
                        return Err(ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
                    }
                }
                Some(_) if first != 0 => return Err(ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER),
                // Kafka takes whatever sequence a producer comes with that it does not know.
                Some(_) | None => {}
            }
            let state = self.producers.entry(producer.id).or_insert(ProducerState {
                epoch: producer.epoch,
                batches: VecDeque::new(),
            });
            if state.epoch != producer.epoch {
                state.epoch = producer.epoch;
                state.batches.clear();
            }
            state.batches.push_back((first, last, offset));
            if state.batches.len() > 5 {
                state.batches.pop_front();
            }
        }
        let mut stored = batch.bytes().to_vec();
        let mut editor = BatchEditor::new(&mut stored).expect("a batch");
        editor.set_base_offset(offset).expect("an offset");
        editor.set_partition_leader_epoch(self.epoch);
        self.batches.push((offset, self.epoch, stored.into()));
        let records = batch
            .records(&mut Decompressor::new(10 << 20))
            .expect("readable");
        for record in records.iter() {
            let record = record.expect("readable");
            self.log.push(record.detach());
        }
        Ok(offset)
    }
}

fn encode<R: Request>(version: i16, id: i32, response: &R::Response) -> Bytes {
    let frame = frame::Frame::response::<R>(version, id, response);
    frame.expect("answers fit").into_bytes()
}
