//! Messages, beside `kafka-protocol` in the same run.
//! `cargo bench -p copart-protocol --bench messages`

use std::hint::black_box;

use bytes::{Bytes, BytesMut};
use copart_protocol::header::RequestHeader;
use copart_protocol::messages::fetch::{FetchResponse, FetchableTopicResponse, PartitionData};
use copart_protocol::messages::metadata::{
    MetadataResponse, MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use copart_protocol::messages::produce::{PartitionProduceData, ProduceRequest, TopicProduceData};
use copart_protocol::{Body, frame::Frame};
use criterion::{Criterion, criterion_group, criterion_main};
use kafka_protocol::protocol::{Decodable, Encodable};

fn metadata() -> MetadataResponse {
    let partition = |partition_index| MetadataResponsePartition {
        partition_index,
        leader_id: 1,
        leader_epoch: 3,
        replica_nodes: vec![1, 2, 3],
        isr_nodes: vec![1, 2, 3],
        ..Default::default()
    };
    MetadataResponse {
        brokers: (1..=5)
            .map(|node_id| MetadataResponseBroker {
                node_id,
                host: format!("broker-{node_id}.example.com"),
                port: 9092,
                ..Default::default()
            })
            .collect(),
        topics: (0..100)
            .map(|topic| MetadataResponseTopic {
                name: Some(format!("some-topic-name-{topic}")),
                partitions: (0..12).map(partition).collect(),
                ..Default::default()
            })
            .collect(),
        ..Default::default()
    }
}

fn produce(partitions: i32, size: usize) -> ProduceRequest {
    ProduceRequest {
        acks: -1,
        timeout_ms: 30_000,
        topic_data: vec![TopicProduceData {
            name: "some-topic-name".to_owned(),
            partition_data: (0..partitions)
                .map(|index| PartitionProduceData {
                    index,
                    records: Bytes::from(vec![7; size]),
                })
                .collect(),
            ..Default::default()
        }],
        ..Default::default()
    }
}

fn fetch(partitions: i32, size: usize) -> FetchResponse {
    FetchResponse {
        responses: vec![FetchableTopicResponse {
            topic: "some-topic-name".to_owned(),
            partitions: (0..partitions)
                .map(|partition_index| PartitionData {
                    partition_index,
                    records: Bytes::from(vec![7; size]),
                    ..Default::default()
                })
                .collect(),
            ..Default::default()
        }],
        ..Default::default()
    }
}

/// Both codecs on one message; theirs is decoded from our bytes.
fn compare<Ours: Body, Theirs: Encodable + Decodable>(
    criterion: &mut Criterion,
    name: &str,
    ours: &Ours,
    version: i16,
) {
    let mut group = criterion.benchmark_group(name);
    let bytes = ours.encode(version).expect("fits");
    let theirs = Theirs::decode(&mut bytes.clone(), version).expect("valid");
    group.bench_function("copart/encode", |bencher| {
        bencher.iter(|| ours.encode(version).expect("fits"));
    });
    let mut buffer = BytesMut::new();
    group.bench_function("kafka-protocol/encode", |bencher| {
        bencher.iter(|| {
            buffer.clear();
            theirs.encode(&mut buffer, version).expect("fits");
            black_box(&buffer);
        });
    });
    group.bench_function("copart/decode", |bencher| {
        bencher.iter(|| Ours::decode(version, bytes.clone()).expect("valid"));
    });
    group.bench_function("kafka-protocol/decode", |bencher| {
        bencher.iter(|| Theirs::decode(&mut bytes.clone(), version).expect("valid"));
    });
}

fn messages(criterion: &mut Criterion) {
    use kafka_protocol::messages as theirs;
    compare::<_, theirs::MetadataResponse>(criterion, "metadata 100x12", &metadata(), 12);
    compare::<_, theirs::ProduceRequest>(criterion, "produce 1x16k", &produce(1, 16 << 10), 9);
    compare::<_, theirs::FetchResponse>(criterion, "fetch 1x16k", &fetch(1, 16 << 10), 12);
    compare::<_, theirs::FetchResponse>(criterion, "fetch 100x16k", &fetch(100, 16 << 10), 12);

    // What a connection really does: the records stay where they are.
    let request = produce(100, 16 << 10);
    let header = RequestHeader::new::<ProduceRequest>(9, 1, Some("client".to_owned()));
    criterion.bench_function("produce 100x16k/copart/frame", |bencher| {
        bencher.iter(|| Frame::request(&header, &request).expect("fits"));
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(30);
    targets = messages
}
criterion_main!(benches);
