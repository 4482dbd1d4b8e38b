//! A broker that acknowledges and forgets.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use bytes::{Bytes, BytesMut};
use copart::protocol::header::Incoming;
use copart::protocol::messages::api_versions::{ApiVersionsRequest, ApiVersionsResponse};
use copart::protocol::messages::init_producer_id::{InitProducerIdRequest, InitProducerIdResponse};
use copart::protocol::messages::metadata::{
    MetadataRequest, MetadataResponse, MetadataResponseBroker, MetadataResponsePartition,
    MetadataResponseTopic,
};
use copart::protocol::messages::produce::{
    PartitionProduceResponse, ProduceRequest, ProduceResponse, TopicProduceResponse,
};
use copart::protocol::{AnyRequest, ApiKey, Request, Uuid, frame, versions};

type Failure = Box<dyn std::error::Error>;

/// Prints where it listens, and serves until it is killed.
pub fn run(partitions: i32) -> Result<(), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    println!("127.0.0.1:{port}");
    for stream in listener.incoming() {
        let stream = stream?;
        std::thread::spawn(move || {
            // Ends with an error when the client hangs up.
            let _ = serve(stream, port, partitions);
        });
    }
    Ok(())
}

fn serve(mut stream: TcpStream, port: u16, partitions: i32) -> Result<(), Failure> {
    stream.set_nodelay(true)?;
    loop {
        let mut prefix = [0; 4];
        stream.read_exact(&mut prefix)?;
        let mut content = BytesMut::zeroed(frame::size(prefix, 200 << 20)?);
        stream.read_exact(&mut content)?;
        let Incoming::Known {
            api,
            header,
            mut body,
        } = Incoming::read(content.freeze())?
        else {
            return Err("an unknown request".into());
        };
        let (version, id) = (header.api_version, header.correlation_id);
        let answer = match AnyRequest::decode_from(api, version, &mut body)? {
            AnyRequest::ApiVersions(_) => encode::<ApiVersionsRequest>(version, id, &apis())?,
            AnyRequest::Metadata(_) => {
                encode::<MetadataRequest>(version, id, &metadata(port, partitions))?
            }
            AnyRequest::InitProducerId(_) => {
                let response = InitProducerIdResponse {
                    producer_id: 1,
                    ..InitProducerIdResponse::default()
                };
                encode::<InitProducerIdRequest>(version, id, &response)?
            }
            AnyRequest::Produce(request) => {
                encode::<ProduceRequest>(version, id, &acknowledge(&request))?
            }
            _ => return Err("an unexpected request".into()),
        };
        stream.write_all(&answer)?;
    }
}

fn encode<R: Request>(version: i16, id: i32, response: &R::Response) -> Result<Bytes, Failure> {
    Ok(frame::Frame::response::<R>(version, id, response)?.into_bytes())
}

fn apis() -> ApiVersionsResponse {
    let apis = [
        ApiKey::Produce,
        ApiKey::Metadata,
        ApiKey::ApiVersions,
        ApiKey::InitProducerId,
    ];
    ApiVersionsResponse {
        api_keys: apis.map(versions::listed).to_vec(),
        ..ApiVersionsResponse::default()
    }
}

fn metadata(port: u16, partitions: i32) -> MetadataResponse {
    MetadataResponse {
        brokers: vec![MetadataResponseBroker {
            node_id: 1,
            host: "127.0.0.1".to_owned(),
            port: i32::from(port),
            rack: None,
        }],
        topics: vec![MetadataResponseTopic {
            name: Some("bench".to_owned()),
            topic_id: Uuid([1; 16]),
            partitions: (0..partitions)
                .map(|partition_index| MetadataResponsePartition {
                    partition_index,
                    leader_id: 1,
                    leader_epoch: 0,
                    ..MetadataResponsePartition::default()
                })
                .collect(),
            ..MetadataResponseTopic::default()
        }],
        ..MetadataResponse::default()
    }
}

fn acknowledge(request: &ProduceRequest) -> ProduceResponse {
    let responses = request.topic_data.iter().map(|topic| TopicProduceResponse {
        topic_id: topic.topic_id,
        partition_responses: topic
            .partition_data
            .iter()
            .map(|data| PartitionProduceResponse {
                index: data.index,
                ..PartitionProduceResponse::default()
            })
            .collect(),
        ..TopicProduceResponse::default()
    });
    ProduceResponse {
        responses: responses.collect(),
        ..ProduceResponse::default()
    }
}
