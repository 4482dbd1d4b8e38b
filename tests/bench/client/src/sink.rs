//! A broker that costs next to nothing: it acknowledges and forgets what is produced, and gives consumers batches that
//! were made before they came. What a client costs against it is what the client costs.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use copart::protocol::frame::{self, Frame};
use copart::protocol::header::Incoming;
use copart::protocol::messages::api_versions::{ApiVersionsRequest, ApiVersionsResponse};
use copart::protocol::messages::fetch::{
    FetchRequest, FetchResponse, FetchableTopicResponse, PartitionData,
};
use copart::protocol::messages::init_producer_id::{InitProducerIdRequest, InitProducerIdResponse};
use copart::protocol::messages::list_offsets::{
    ListOffsetsPartitionResponse, ListOffsetsRequest, ListOffsetsResponse, ListOffsetsTopicResponse,
};
use copart::protocol::messages::metadata::{
    MetadataRequest, MetadataResponse, MetadataResponseBroker, MetadataResponsePartition,
    MetadataResponseTopic,
};
use copart::protocol::messages::produce::{
    PartitionProduceResponse, ProduceRequest, ProduceResponse, TopicProduceResponse,
};
use copart::protocol::records::{BatchBuilder, Codec, Compressor, Seal};
use copart::protocol::{AnyRequest, ApiKey, Request, Uuid, versions};

use crate::Outcome;
use crate::workload::{BATCH, Workload, key};

const TOPIC_ID: Uuid = Uuid([1; 16]);

struct Sink {
    port: u16,
    topic: String,
    partitions: i32,
    log: Log,
}

/// What every partition holds.
struct Log {
    bytes: Bytes,
    /// First offset and position of each batch, and of the end.
    batches: Vec<(i64, usize)>,
}

pub fn run(workload: &Workload) -> Outcome<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    let sink = Arc::new(Sink {
        port,
        topic: workload.topic.clone(),
        partitions: workload.partitions,
        log: Log::make(workload)?,
    });
    println!("127.0.0.1:{port}");
    for stream in listener.incoming() {
        let (stream, sink) = (stream?, sink.clone());
        std::thread::spawn(move || {
            // A client that hangs up ends it.
            let _ = sink.serve(stream);
        });
    }
    Ok(())
}

impl Log {
    /// As a producer would have written it.
    fn make(workload: &Workload) -> Outcome<Self> {
        let codec: Codec = workload.codec.parse()?;
        let values = workload.values();
        let share = workload.records.div_ceil(workload.partitions as usize);
        let mut compressor = Compressor::new();
        let (mut bytes, mut batches) = (BytesMut::new(), Vec::new());
        let mut number = 0;
        while number < share {
            batches.push((number as i64, bytes.len()));
            let seal = Seal {
                compression: codec.into(),
                base_offset: number as i64,
                partition_leader_epoch: 0,
                ..Seal::default()
            };
            let mut builder = BatchBuilder::new();
            while number < share && builder.size() + workload.size + 40 < BATCH {
                let value = &values[number % values.len()];
                let time = 1_700_000_000_000 + number as i64;
                builder.append(time, Some(&key(number)), Some(value), &[])?;
                number += 1;
            }
            bytes.extend_from_slice(&builder.seal(&seal, &mut compressor)?.into_bytes());
        }
        batches.push((number as i64, bytes.len()));
        Ok(Self {
            bytes: bytes.freeze(),
            batches,
        })
    }

    fn end(&self) -> i64 {
        self.batches.last().map_or(0, |&(offset, _)| offset)
    }

    /// Whole batches from the one with `offset` on: one at least.
    fn read(&self, offset: i64, max: usize) -> Bytes {
        if offset >= self.end() {
            return Bytes::new();
        }
        let first = self.batches.partition_point(|&(base, _)| base <= offset) - 1;
        let from = self.batches[first].1;
        let behind = self
            .batches
            .partition_point(|&(_, position)| position <= from + max);
        self.bytes
            .slice(from..self.batches[(behind - 1).max(first + 1)].1)
    }
}

impl Sink {
    fn serve(&self, mut stream: TcpStream) -> Outcome<()> {
        stream.set_nodelay(true)?;
        let mut content = BytesMut::new();
        loop {
            let mut prefix = [0; 4];
            stream.read_exact(&mut prefix)?;
            content.resize(frame::size(prefix, 200 << 20)?, 0);
            stream.read_exact(&mut content)?;
            let whole = content.split().freeze();
            for piece in self.answer(whole.clone())?.segments() {
                stream.write_all(piece)?;
            }
            // The same memory for the next request.
            content = whole.try_into_mut().unwrap_or_default();
        }
    }

    fn answer(&self, content: Bytes) -> Outcome<Frame> {
        let Incoming::Known {
            api,
            header,
            mut body,
        } = Incoming::read(content)?
        else {
            return Err("an unknown request".into());
        };
        let (version, id) = (header.api_version, header.correlation_id);
        Ok(match AnyRequest::decode_from(api, version, &mut body)? {
            AnyRequest::ApiVersions(_) => respond::<ApiVersionsRequest>(version, id, &apis())?,
            AnyRequest::Metadata(_) => respond::<MetadataRequest>(version, id, &self.metadata())?,
            AnyRequest::InitProducerId(_) => {
                let response = InitProducerIdResponse {
                    producer_id: 1,
                    ..InitProducerIdResponse::default()
                };
                respond::<InitProducerIdRequest>(version, id, &response)?
            }
            AnyRequest::Produce(request) => {
                respond::<ProduceRequest>(version, id, &acknowledge(&request))?
            }
            AnyRequest::ListOffsets(request) => {
                respond::<ListOffsetsRequest>(version, id, &self.offsets(&request))?
            }
            AnyRequest::Fetch(request) => {
                respond::<FetchRequest>(version, id, &self.fetch(&request))?
            }
            _ => return Err("an unexpected request".into()),
        })
    }

    fn metadata(&self) -> MetadataResponse {
        let partition = |partition_index| MetadataResponsePartition {
            partition_index,
            leader_id: 1,
            leader_epoch: 0,
            replica_nodes: vec![1],
            isr_nodes: vec![1],
            ..MetadataResponsePartition::default()
        };
        MetadataResponse {
            brokers: vec![MetadataResponseBroker {
                node_id: 1,
                host: "127.0.0.1".to_owned(),
                port: i32::from(self.port),
                rack: None,
            }],
            controller_id: 1,
            topics: vec![MetadataResponseTopic {
                name: Some(self.topic.clone()),
                topic_id: TOPIC_ID,
                partitions: (0..self.partitions).map(partition).collect(),
                ..MetadataResponseTopic::default()
            }],
            ..MetadataResponse::default()
        }
    }

    fn offsets(&self, request: &ListOffsetsRequest) -> ListOffsetsResponse {
        let topics = request.topics.iter().map(|topic| ListOffsetsTopicResponse {
            name: topic.name.clone(),
            partitions: topic
                .partitions
                .iter()
                .map(|asked| ListOffsetsPartitionResponse {
                    partition_index: asked.partition_index,
                    offset: if asked.timestamp == -1 {
                        self.log.end()
                    } else {
                        0
                    },
                    leader_epoch: 0,
                    ..ListOffsetsPartitionResponse::default()
                })
                .collect(),
        });
        ListOffsetsResponse {
            topics: topics.collect(),
            ..ListOffsetsResponse::default()
        }
    }

    fn fetch(&self, request: &FetchRequest) -> FetchResponse {
        let mut left = usize::try_from(request.max_bytes).unwrap_or(0);
        let mut empty = true;
        let responses: Vec<_> = request
            .topics
            .iter()
            .map(|topic| FetchableTopicResponse {
                topic: topic.topic.clone(),
                topic_id: topic.topic_id,
                partitions: topic
                    .partitions
                    .iter()
                    .map(|asked| {
                        let max = usize::try_from(asked.partition_max_bytes)
                            .unwrap_or(0)
                            .min(left);
                        let records = match max {
                            0 => Bytes::new(),
                            max => self.log.read(asked.fetch_offset, max),
                        };
                        left = left.saturating_sub(records.len());
                        empty &= records.is_empty();
                        PartitionData {
                            partition_index: asked.partition,
                            high_watermark: self.log.end(),
                            last_stable_offset: self.log.end(),
                            log_start_offset: 0,
                            records,
                            ..PartitionData::default()
                        }
                    })
                    .collect(),
            })
            .collect();
        if empty {
            let wait = request.max_wait_ms.clamp(0, 1000).unsigned_abs();
            std::thread::sleep(std::time::Duration::from_millis(wait.into()));
        }
        FetchResponse {
            responses,
            ..FetchResponse::default()
        }
    }
}

fn respond<R: Request>(version: i16, id: i32, response: &R::Response) -> Outcome<Frame> {
    Ok(Frame::response::<R>(version, id, response)?)
}

/// No fetch sessions: a response without one tells a client to name all its partitions each time.
fn apis() -> ApiVersionsResponse {
    let apis = [
        ApiKey::Produce,
        ApiKey::Fetch,
        ApiKey::ListOffsets,
        ApiKey::Metadata,
        ApiKey::ApiVersions,
        ApiKey::InitProducerId,
    ];
    ApiVersionsResponse {
        api_keys: apis.map(versions::listed).to_vec(),
        ..ApiVersionsResponse::default()
    }
}

fn acknowledge(request: &ProduceRequest) -> ProduceResponse {
    let responses = request.topic_data.iter().map(|topic| TopicProduceResponse {
        name: topic.name.clone(),
        topic_id: topic.topic_id,
        partition_responses: topic
            .partition_data
            .iter()
            .map(|data| PartitionProduceResponse {
                index: data.index,
                ..PartitionProduceResponse::default()
            })
            .collect(),
    });
    ProduceResponse {
        responses: responses.collect(),
        ..ProduceResponse::default()
    }
}
