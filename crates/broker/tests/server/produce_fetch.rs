//! Producing, fetching and finding offsets.

use std::time::{Duration, Instant};

use copart_broker::{Broker, Fault};
use copart_protocol::messages::api_versions::ApiVersionsRequest;
use copart_protocol::messages::delete_records::{
    DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic,
};
use copart_protocol::messages::fetch::FetchRequest;
use copart_protocol::messages::list_offsets::{
    ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic,
};
use copart_protocol::messages::metadata::{MetadataRequest, MetadataRequestTopic};
use copart_protocol::messages::offset_for_leader_epoch::{
    OffsetForLeaderEpochRequest, OffsetForLeaderPartition, OffsetForLeaderTopic,
};
use copart_protocol::messages::produce::ProduceRequest;
use copart_protocol::records::{Codec, Compression};
use copart_protocol::{ApiKey, ErrorCode, Request, Uuid};

use super::client::{
    Client, TIME, batch, fetch_request, init_producer_id, produce_request, sealed, values,
};

async fn broker() -> (Broker, Client) {
    let broker = Broker::builder()
        .topic("t", 3)
        .start()
        .await
        .expect("starts");
    let client = Client::to(&broker, 1).await;
    (broker, client)
}

#[tokio::test]
async fn what_is_produced_is_fetched() {
    let (_broker, mut client) = broker().await;
    let first = client.produce("t", 1, batch(&["a", "b"])).await;
    assert_eq!((first.error_code, first.base_offset), (ErrorCode::NONE, 0));
    let second = client.produce("t", 1, batch(&["c"])).await;
    assert_eq!(second.base_offset, 2);
    let expected: Vec<(i64, String)> = (0..).zip(["a", "b", "c"].map(str::to_owned)).collect();
    assert_eq!(client.values("t", 1, 0).await, expected);
    // From inside a batch: the whole batch comes.
    let middle = client.fetch("t", 1, 1).await;
    assert_eq!(values(&middle.records)[0].0, 0);
    assert_eq!((middle.high_watermark, middle.log_start_offset), (3, 0));
    assert_eq!(client.fetch("t", 0, 0).await.records.len(), 0);
    let beyond = client.fetch("t", 1, 4).await;
    assert_eq!(beyond.error_code, ErrorCode::OFFSET_OUT_OF_RANGE);
    let nowhere = client.fetch("t", 3, 0).await;
    assert_eq!(nowhere.error_code, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

#[tokio::test]
async fn every_version_of_every_api_has_an_answer() {
    let (broker, mut client) = broker().await;
    let topic_id = broker.topic_id("t").expect("there");
    for version in ProduceRequest::API.versions().min..=ProduceRequest::API.versions().max {
        let mut request = produce_request("t", 1, &[(0, batch(&["v"]))]);
        if version >= 13 {
            request.topic_data[0].name.clear();
            request.topic_data[0].topic_id = topic_id;
        }
        let response = client.call(version, &request).await;
        let partition = &response.responses[0].partition_responses[0];
        assert_eq!(partition.error_code, ErrorCode::NONE, "Produce v{version}");
    }
    for version in FetchRequest::API.versions().min..=FetchRequest::API.versions().max {
        let mut request = fetch_request("t", &[(0, 0)], 0);
        if version >= 13 {
            request.topics[0].topic.clear();
            request.topics[0].topic_id = topic_id;
        }
        let response = client.call(version, &request).await;
        let partition = &response.responses[0].partitions[0];
        assert_eq!(partition.error_code, ErrorCode::NONE, "Fetch v{version}");
        assert_eq!(values(&partition.records).len(), 11, "Fetch v{version}");
    }
    for version in 1..=ListOffsetsRequest::API.listed().max {
        let found = list(&mut client, version, -1).await;
        assert_eq!(found.0, 11, "ListOffsets v{version}");
    }
    for version in MetadataRequest::API.versions().min..=MetadataRequest::API.versions().max {
        let request = MetadataRequest {
            topics: Some(vec![MetadataRequestTopic {
                name: Some("t".to_owned()),
                ..Default::default()
            }]),
            allow_auto_topic_creation: true,
            ..Default::default()
        };
        let response = client.call(version, &request).await;
        assert_eq!(
            response.topics[0].partitions.len(),
            3,
            "Metadata v{version}"
        );
        assert_eq!(response.brokers[0].node_id, 1);
    }
    for version in 0..=5 {
        let request = ApiVersionsRequest {
            client_software_name: "test".to_owned(),
            client_software_version: "1.0".to_owned(),
            ..Default::default()
        };
        let response = client.call(version, &request).await;
        let produce = response
            .api_keys
            .iter()
            .find(|api| api.api_key == ApiKey::Produce as i16)
            .expect("listed");
        // librdkafka before 2.11.1 compresses only if 0 is in the range (KAFKA-18659).
        assert_eq!((produce.min_version, produce.max_version), (0, 13));
    }
    for version in 0..=5 {
        let response = client.call(version, &init_producer_id()).await;
        assert_eq!(response.error_code, ErrorCode::NONE);
        assert!(response.producer_id >= 0);
    }
    for version in 2..=4 {
        let request = OffsetForLeaderEpochRequest {
            topics: vec![OffsetForLeaderTopic {
                topic: "t".to_owned(),
                partitions: vec![OffsetForLeaderPartition {
                    partition: 0,
                    current_leader_epoch: -1,
                    leader_epoch: 0,
                }],
            }],
            ..Default::default()
        };
        let response = client.call(version, &request).await;
        let end = &response.topics[0].partitions[0];
        assert_eq!((end.leader_epoch, end.end_offset), (0, 11));
    }
}

/// Offset and timestamp of what ListOffsets finds in partition 0.
async fn list(client: &mut Client, version: i16, timestamp: i64) -> (i64, i64) {
    let request = ListOffsetsRequest {
        replica_id: -1,
        topics: vec![ListOffsetsTopic {
            name: "t".to_owned(),
            partitions: vec![ListOffsetsPartition {
                timestamp,
                ..Default::default()
            }],
        }],
        ..Default::default()
    };
    let response = client.call(version, &request).await;
    let found = &response.topics[0].partitions[0];
    assert_eq!(found.error_code, ErrorCode::NONE);
    (found.offset, found.timestamp)
}

#[tokio::test]
async fn offsets_by_time_are_found_inside_batches() {
    let (_broker, mut client) = broker().await;
    client.produce("t", 0, batch(&["a", "b", "c"])).await;
    client.produce("t", 0, batch(&["d", "e"])).await;
    for (timestamp, expected) in [
        (-1, (5, -1)),
        (-2, (0, -1)),
        (-3, (2, TIME + 2)),
        (-4, (0, -1)),
        (-5, (-1, -1)),
        (0, (0, TIME)),
        (TIME + 1, (1, TIME + 1)),
        (TIME + 2, (2, TIME + 2)),
        (TIME + 3, (-1, -1)),
    ] {
        assert_eq!(
            list(&mut client, 10, timestamp).await,
            expected,
            "{timestamp}"
        );
    }
}

#[tokio::test]
async fn a_fetch_waits_for_records_and_no_longer() {
    let (broker, mut consumer) = broker().await;
    let mut producer = Client::to(&broker, 1).await;
    let begun = Instant::now();
    consumer
        .send(12, &fetch_request("t", &[(0, 0), (2, 0)], 60_000))
        .await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    producer.produce("t", 2, batch(&["x"])).await;
    let response = consumer.receive::<FetchRequest>(12).await;
    assert_eq!(
        values(&response.responses[0].partitions[1].records).len(),
        1
    );
    assert!(
        begun.elapsed() < Duration::from_secs(30),
        "woken by the append"
    );
    let response = consumer.call(12, &fetch_request("t", &[(0, 0)], 20)).await;
    assert!(response.responses[0].partitions[0].records.is_empty());
}

#[tokio::test]
async fn min_bytes_are_waited_for() {
    let (broker, mut consumer) = broker().await;
    let mut producer = Client::to(&broker, 1).await;
    let small = batch(&["x"]);
    let request = FetchRequest {
        min_bytes: small.len() as i32 * 3,
        ..fetch_request("t", &[(0, 0)], 60_000)
    };
    consumer.send(12, &request).await;
    for _ in 0..3 {
        producer.produce("t", 0, small.clone()).await;
    }
    let response = consumer.receive::<FetchRequest>(12).await;
    assert_eq!(
        values(&response.responses[0].partitions[0].records).len(),
        3
    );
}

#[tokio::test]
async fn the_first_batch_comes_however_large_it_is() {
    let (_broker, mut client) = broker().await;
    for partition in 0..2 {
        client
            .produce("t", partition, batch(&["long enough"]))
            .await;
        client.produce("t", partition, batch(&["second"])).await;
    }
    let mut request = fetch_request("t", &[(0, 0), (1, 0)], 0);
    request.max_bytes = 1;
    let response = client.call(12, &request).await;
    let counts: Vec<usize> = response.responses[0]
        .partitions
        .iter()
        .map(|partition| values(&partition.records).len())
        .collect();
    assert_eq!(counts, [1, 0]);
    request.max_bytes = 1 << 20;
    for partition in &mut request.topics[0].partitions {
        partition.partition_max_bytes = 1;
    }
    let response = client.call(12, &request).await;
    assert_eq!(
        values(&response.responses[0].partitions[0].records).len(),
        1
    );
}

#[tokio::test]
async fn answers_come_in_the_order_of_requests() {
    let (_broker, mut client) = broker().await;
    client.send(12, &fetch_request("t", &[(0, 0)], 100)).await;
    client
        .send(9, &produce_request("t", -1, &[(0, batch(&["x"]))]))
        .await;
    client
        .send(9, &produce_request("t", 0, &[(0, batch(&["y"]))]))
        .await;
    client.send(12, &fetch_request("t", &[(0, 0)], 0)).await;
    client.receive::<FetchRequest>(12).await;
    let produced = client.receive::<ProduceRequest>(9).await;
    assert_eq!(produced.responses[0].partition_responses[0].base_offset, 0);
    let fetched = client.receive::<FetchRequest>(12).await;
    assert_eq!(values(&fetched.responses[0].partitions[0].records).len(), 2);
}

#[tokio::test]
async fn acks_0_has_no_answer_and_an_error_closes() {
    let (_broker, mut client) = broker().await;
    client
        .send(9, &produce_request("t", 0, &[(0, batch(&["x"]))]))
        .await;
    assert_eq!(client.values("t", 0, 0).await.len(), 1);
    client
        .send(9, &produce_request("nowhere", 0, &[(0, batch(&["x"]))]))
        .await;
    assert!(client.receive_frame().await.is_none(), "closed");
}

#[tokio::test]
async fn bad_batches_are_refused_and_the_others_are_not() {
    let (_broker, mut client) = broker().await;
    let good = batch(&["good"]);
    let mut flipped = good.to_vec();
    *flipped.last_mut().expect("not empty") ^= 1;
    let two = [&good[..], &good[..]].concat();
    let request = produce_request(
        "t",
        1,
        &[
            (0, flipped.into()),
            (1, good.clone()),
            (2, two.into()),
            (9, good.clone()),
        ],
    );
    let response = client.call(9, &request).await;
    let codes: Vec<ErrorCode> = response.responses[0]
        .partition_responses
        .iter()
        .map(|partition| partition.error_code)
        .collect();
    assert_eq!(codes[0], ErrorCode::CORRUPT_MESSAGE);
    assert_eq!(codes[1], ErrorCode::NONE);
    assert_ne!(codes[2], ErrorCode::NONE);
    assert_eq!(codes[3], ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    let acks = client.call(9, &produce_request("t", 2, &[(0, good)])).await;
    let code = acks.responses[0].partition_responses[0].error_code;
    assert_eq!(code, ErrorCode::INVALID_REQUIRED_ACKS);
}

#[tokio::test]
async fn an_idempotent_producer_writes_once() {
    let (_broker, mut client) = broker().await;
    let identity = client.call(4, &init_producer_id()).await;
    let other = client.call(4, &init_producer_id()).await;
    assert_ne!(identity.producer_id, other.producer_id);
    let send = |sequence, value| {
        sealed(
            &[value],
            Compression::default(),
            Some((identity.producer_id, 0, sequence)),
        )
    };
    assert_eq!(client.produce("t", 0, send(0, "a")).await.base_offset, 0);
    assert_eq!(client.produce("t", 0, send(1, "b")).await.base_offset, 1);
    let again = client.produce("t", 0, send(0, "a")).await;
    assert_eq!((again.error_code, again.base_offset), (ErrorCode::NONE, 0));
    let gap = client.produce("t", 0, send(5, "f")).await;
    assert_eq!(gap.error_code, ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
    assert_eq!(client.values("t", 0, 0).await.len(), 2);
}

#[tokio::test]
async fn compressed_batches_are_stored_as_sent() {
    let (_broker, mut client) = broker().await;
    let codecs = [Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd];
    for (index, codec) in codecs.into_iter().enumerate() {
        let sent = sealed(&["a"; 100], Compression::from(codec), None);
        client.produce("t", 0, sent.clone()).await;
        let data = client.fetch("t", 0, index as i64 * 100).await;
        assert_eq!(
            data.records[21..],
            sent[21..],
            "{codec:?}: all that the checksum covers"
        );
    }
}

#[tokio::test]
async fn incremental_fetch_sessions_send_what_is_new() {
    let (_broker, mut client) = broker().await;
    let mut request = fetch_request("t", &[(0, 0), (1, 0), (2, 0)], 0);
    request.session_epoch = 0;
    let full = client.call(12, &request).await;
    assert_ne!(full.session_id, 0);
    assert_eq!(full.responses[0].partitions.len(), 3);
    client.produce("t", 1, batch(&["x"])).await;
    let incremental = FetchRequest {
        session_id: full.session_id,
        session_epoch: 1,
        topics: Vec::new(),
        ..request.clone()
    };
    let news = client.call(12, &incremental).await;
    assert_eq!(news.responses[0].partitions.len(), 1);
    assert_eq!(news.responses[0].partitions[0].partition_index, 1);
    let stale = client.call(12, &incremental).await;
    assert_eq!(stale.error_code, ErrorCode::INVALID_FETCH_SESSION_EPOCH);
    let unknown = FetchRequest {
        session_id: full.session_id.wrapping_add(1),
        ..incremental
    };
    let unknown = client.call(12, &unknown).await;
    assert_eq!(unknown.error_code, ErrorCode::FETCH_SESSION_ID_NOT_FOUND);
}

#[tokio::test]
async fn topics_are_created_when_somebody_asks_for_them() {
    let (broker, mut client) = broker().await;
    let mut request = MetadataRequest {
        topics: Some(vec![MetadataRequestTopic {
            name: Some("new".to_owned()),
            ..Default::default()
        }]),
        allow_auto_topic_creation: false,
        ..Default::default()
    };
    let response = client.call(12, &request).await;
    assert_eq!(
        response.topics[0].error_code,
        ErrorCode::UNKNOWN_TOPIC_OR_PARTITION
    );
    request.allow_auto_topic_creation = true;
    let response = client.call(12, &request).await;
    assert_eq!(response.topics[0].error_code, ErrorCode::NONE);
    assert_eq!(Some(response.topics[0].topic_id), broker.topic_id("new"));
    assert_eq!(
        client.produce("new", 0, batch(&["x"])).await.error_code,
        ErrorCode::NONE
    );
    request.topics.as_mut().expect("named")[0].name = Some("no/such name".to_owned());
    let response = client.call(12, &request).await;
    assert_eq!(
        response.topics[0].error_code,
        ErrorCode::INVALID_TOPIC_EXCEPTION
    );
    let by_id = MetadataRequest {
        topics: Some(vec![MetadataRequestTopic {
            topic_id: "AAAAAAAAAAAAAAAAAAAAZA".parse::<Uuid>().expect("an id"),
            name: None,
        }]),
        ..request
    };
    let response = client.call(12, &by_id).await;
    assert_eq!(response.topics[0].error_code, ErrorCode::UNKNOWN_TOPIC_ID);
}

#[tokio::test]
async fn records_are_deleted_up_to_an_offset() {
    let (_broker, mut client) = broker().await;
    client.produce("t", 0, batch(&["a", "b", "c"])).await;
    let request = |offset| DeleteRecordsRequest {
        topics: vec![DeleteRecordsTopic {
            name: "t".to_owned(),
            partitions: vec![DeleteRecordsPartition {
                partition_index: 0,
                offset,
            }],
        }],
        timeout_ms: 1000,
    };
    let deleted = client.call(2, &request(2)).await;
    assert_eq!(deleted.topics[0].partitions[0].low_watermark, 2);
    assert_eq!(
        client.fetch("t", 0, 1).await.error_code,
        ErrorCode::OFFSET_OUT_OF_RANGE
    );
    assert_eq!(client.values("t", 0, 2).await.len(), 1);
    let deleted = client.call(2, &request(-1)).await;
    assert_eq!(deleted.topics[0].partitions[0].low_watermark, 3);
    let beyond = client.call(2, &request(9)).await;
    assert_eq!(
        beyond.topics[0].partitions[0].error_code,
        ErrorCode::OFFSET_OUT_OF_RANGE
    );
}

#[tokio::test]
async fn api_versions_above_ours_are_answered_in_the_oldest_layout() {
    let (_broker, mut client) = broker().await;
    // A header of the version, and a body of the future.
    let mut bytes = vec![0, 0, 0, 12, 0, 18, 0, 99, 0, 0, 0, 7];
    bytes.extend_from_slice(&[0xff, 0xff, 0xde, 0xad]);
    tokio::io::AsyncWriteExt::write_all(&mut client.stream, &bytes)
        .await
        .expect("open");
    let frame = client.receive_frame().await.expect("an answer");
    assert_eq!(
        frame[..],
        [0, 0, 0, 7, 0, 35, 0, 0, 0, 1, 0, 18, 0, 0, 0, 5]
    );
    let request = |cluster_id: Option<&str>, node_id| ApiVersionsRequest {
        client_software_name: "test".to_owned(),
        client_software_version: "1".to_owned(),
        cluster_id: cluster_id.map(str::to_owned),
        node_id,
    };
    let cluster_id = _broker.cluster_id();
    for (request, code) in [
        (request(None, -1), ErrorCode::NONE),
        (request(Some(&cluster_id), 1), ErrorCode::NONE),
        (
            request(Some(&cluster_id), 2),
            ErrorCode::REBOOTSTRAP_REQUIRED,
        ),
        (request(Some("another"), 1), ErrorCode::REBOOTSTRAP_REQUIRED),
    ] {
        assert_eq!(
            client.call(5, &request).await.error_code,
            code,
            "{request:?}"
        );
    }
}

#[tokio::test]
async fn faults_happen_when_they_are_asked_for() {
    let (broker, mut client) = broker().await;
    let refused = Fault::Error(ErrorCode::NOT_ENOUGH_REPLICAS);
    broker.inject(ApiKey::Produce, Some(1), 1, refused);
    let response = client.produce("t", 0, batch(&["x"])).await;
    assert_eq!(response.error_code, ErrorCode::NOT_ENOUGH_REPLICAS);
    assert_eq!(client.produce("t", 0, batch(&["y"])).await.base_offset, 0);
    broker.inject(ApiKey::Produce, None, 1, Fault::ApplyThenDisconnect);
    client
        .send(9, &produce_request("t", -1, &[(0, batch(&["z"]))]))
        .await;
    assert!(client.receive_frame().await.is_none());
    let mut client = Client::to(&broker, 1).await;
    assert_eq!(client.values("t", 0, 0).await.len(), 2, "applied");
    broker.judge_requests(|request| match request.api {
        ApiKey::Metadata => Fault::Disconnect,
        _ => Fault::Pass,
    });
    client.send(12, &MetadataRequest::default()).await;
    assert!(client.receive_frame().await.is_none());
    broker.clear_faults();
    let mut client = Client::to(&broker, 1).await;
    client.call(12, &MetadataRequest::default()).await;
}
