//! A client as small as can be: one connection, any request in any version.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use copart_broker::Broker;
use copart_protocol::frame::{self, Frame};
use copart_protocol::header::RequestHeader;
use copart_protocol::messages::create_topics::{
    CreatableTopic, CreatableTopicConfig, CreateTopicsRequest,
};
use copart_protocol::messages::fetch::{
    FetchPartition, FetchRequest, FetchResponse, FetchTopic, PartitionData,
};
use copart_protocol::messages::init_producer_id::InitProducerIdRequest;
use copart_protocol::messages::produce::{
    PartitionProduceData, PartitionProduceResponse, ProduceRequest, TopicProduceData,
};
use copart_protocol::records::{
    BatchBuilder, Batches, Compression, Compressor, Decompressor, Producer, Seal,
};
use copart_protocol::{ErrorCode, Request};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Longer than anything here should take, on a machine that is busy with other things.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    buffer: BytesMut,
    next_id: i32,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        Self {
            stream: TcpStream::connect(address).await.expect("a listener"),
            buffer: BytesMut::new(),
            next_id: 0,
        }
    }

    /// To a node.
    pub(crate) async fn to(broker: &Broker, node: i32) -> Self {
        Self::connect(broker.address(node).expect("a node")).await
    }

    pub(crate) async fn send<R: Request>(&mut self, version: i16, request: &R) {
        self.next_id += 1;
        let header = RequestHeader::new::<R>(version, self.next_id, Some("test".to_owned()));
        let mut frame = Frame::request(&header, request).expect("can be encoded");
        self.stream
            .write_all_buf(&mut frame)
            .await
            .expect("an open connection");
    }

    /// The next answer's content, or `None` when the broker has closed the connection.
    pub(crate) async fn receive_frame(&mut self) -> Option<Bytes> {
        loop {
            if let Some(frame) = frame::take(&mut self.buffer, 1 << 30).expect("a frame") {
                return Some(frame);
            }
            let read = timeout(PATIENCE, self.stream.read_buf(&mut self.buffer));
            match read.await.expect("an answer in time") {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    pub(crate) async fn receive<R: Request>(&mut self, version: i16) -> R::Response {
        let frame = self.receive_frame().await.expect("an answer");
        let (_, response) = frame::read_response::<R>(version, frame).expect("valid");
        response
    }

    pub(crate) async fn call<R: Request>(&mut self, version: i16, request: &R) -> R::Response {
        self.send(version, request).await;
        self.receive::<R>(version).await
    }

    pub(crate) async fn create_topic(
        &mut self,
        name: &str,
        partitions: i32,
        configs: &[(&str, &str)],
    ) {
        let request = CreateTopicsRequest {
            topics: vec![CreatableTopic {
                name: name.to_owned(),
                num_partitions: partitions,
                replication_factor: -1,
                configs: configs
                    .iter()
                    .map(|(name, value)| CreatableTopicConfig {
                        name: (*name).to_owned(),
                        value: Some((*value).to_owned()),
                    })
                    .collect(),
                ..Default::default()
            }],
            ..Default::default()
        };
        let response = self.call(7, &request).await;
        assert_eq!(
            response.topics[0].error_code,
            ErrorCode::NONE,
            "{response:?}"
        );
    }

    pub(crate) async fn produce(
        &mut self,
        topic: &str,
        partition: i32,
        batch: Bytes,
    ) -> PartitionProduceResponse {
        let request = produce_request(topic, -1, &[(partition, batch)]);
        let mut response = self.call(9, &request).await;
        response.responses.remove(0).partition_responses.remove(0)
    }

    pub(crate) async fn fetch(
        &mut self,
        topic: &str,
        partition: i32,
        offset: i64,
    ) -> PartitionData {
        let request = fetch_request(topic, &[(partition, offset)], 0);
        let mut response: FetchResponse = self.call(12, &request).await;
        assert_eq!(response.error_code, ErrorCode::NONE);
        response.responses.remove(0).partitions.remove(0)
    }

    /// All values from an offset on.
    pub(crate) async fn values(
        &mut self,
        topic: &str,
        partition: i32,
        from: i64,
    ) -> Vec<(i64, String)> {
        let mut all = Vec::new();
        let mut offset = from;
        loop {
            let data = self.fetch(topic, partition, offset).await;
            assert_eq!(data.error_code, ErrorCode::NONE, "{data:?}");
            let records = values(&data.records);
            let Some((last, _)) = records.last() else {
                return all;
            };
            offset = last + 1;
            all.extend(records.into_iter().filter(|(offset, _)| *offset >= from));
        }
    }
}

/// The timestamp of a batch's first record.
pub(crate) const TIME: i64 = 1_700_000_000_000;

/// A batch as a producer without an identity sends it.
pub(crate) fn batch(values: &[&str]) -> Bytes {
    sealed(values, Compression::default(), None)
}

pub(crate) fn sealed(
    values: &[&str],
    compression: Compression,
    producer: Option<(i64, i16, i32)>,
) -> Bytes {
    let mut builder = BatchBuilder::new();
    for (index, value) in values.iter().enumerate() {
        builder
            .append(
                TIME + index as i64,
                Some(format!("key-{value}").as_bytes()),
                Some(value.as_bytes()),
                &[],
            )
            .expect("fits");
    }
    let mut seal = Seal {
        compression,
        ..Seal::default()
    };
    if let Some((id, epoch, base_sequence)) = producer {
        seal.producer = Producer {
            id,
            epoch,
            base_sequence,
        };
    }
    let sealed = builder.seal(&seal, &mut Compressor::new());
    sealed.expect("seals").into_bytes()
}

/// The records of a fetch, with their offsets.
pub(crate) fn values(records: &Bytes) -> Vec<(i64, String)> {
    let mut decompressor = Decompressor::new(1 << 20);
    let mut all = Vec::new();
    for batch in Batches::new(records.clone()) {
        let batch = batch.expect("whole and intact");
        let records = batch.records(&mut decompressor).expect("readable");
        for record in records.iter() {
            let record = record.expect("readable");
            let value = String::from_utf8(record.value.expect("a value").to_vec());
            all.push((record.offset, value.expect("text")));
        }
    }
    all
}

pub(crate) fn produce_request(topic: &str, acks: i16, batches: &[(i32, Bytes)]) -> ProduceRequest {
    ProduceRequest {
        acks,
        timeout_ms: 30_000,
        topic_data: vec![TopicProduceData {
            name: topic.to_owned(),
            partition_data: batches
                .iter()
                .map(|(index, records)| PartitionProduceData {
                    index: *index,
                    records: records.clone(),
                })
                .collect(),
            ..Default::default()
        }],
        ..Default::default()
    }
}

pub(crate) fn fetch_request(
    topic: &str,
    partitions: &[(i32, i64)],
    max_wait_ms: i32,
) -> FetchRequest {
    FetchRequest {
        max_wait_ms,
        min_bytes: 1,
        max_bytes: 50 << 20,
        topics: vec![FetchTopic {
            topic: topic.to_owned(),
            partitions: partitions
                .iter()
                .map(|&(partition, fetch_offset)| FetchPartition {
                    partition,
                    fetch_offset,
                    partition_max_bytes: 1 << 20,
                    ..Default::default()
                })
                .collect(),
            ..Default::default()
        }],
        ..Default::default()
    }
}

/// For a producer without transactions.
pub(crate) fn init_producer_id() -> InitProducerIdRequest {
    InitProducerIdRequest {
        transactional_id: None,
        ..Default::default()
    }
}
