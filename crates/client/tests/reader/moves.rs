//! Brokers that stop, leaders that move, records that are deleted while a reader is at them.

use std::time::Duration;

use copart::protocol::messages::delete_records::{
    DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic,
};
use copart::protocol::{ApiKey, ErrorCode};
use copart::{Client, End, ErrorKind, OffsetReset, Start};
use copart_broker::Fault;

use crate::support::{
    PATIENCE, TOPIC, broker, build, client, next, number, read_to_end, take, write, write_fast,
};

#[tokio::test]
async fn a_node_that_is_restarted_is_read_from_again() {
    let mut broker = broker().topic(TOPIC, 2).start().await.expect("starts");
    let client = client(&broker).await;
    write(&client, 0, 0..5).await;
    let mut reader = build(client.reader().topic(TOPIC)).await;
    assert_eq!(take(&mut reader, 5).await, [0, 1, 2, 3, 4]);
    broker.stop_node(1).await.expect("stops");
    let nothing = tokio::time::timeout(Duration::from_millis(500), reader.recv()).await;
    assert!(nothing.is_err());
    assert!(reader.trouble().is_some(), "it says what keeps it");
    broker.start_node(1).await.expect("starts");
    write(&client, 0, 5..8).await;
    assert_eq!(take(&mut reader, 3).await, [5, 6, 7]);
    assert!(reader.trouble().is_none());
}

#[tokio::test]
async fn leaders_move_under_a_reader() {
    let broker = broker()
        .nodes(3)
        .replicated_topic(TOPIC, 2, 3)
        .start()
        .await
        .expect("starts");
    let client = client(&broker).await;
    write(&client, 0, 0..3).await;
    let mut reader = build(client.reader().topic(TOPIC)).await;
    assert_eq!(take(&mut reader, 3).await, [0, 1, 2]);
    let mut expected = 3;
    for leader in [1, 2, 3, 1, 3] {
        broker.set_leader(TOPIC, 0, leader).await.expect("moves");
        write(&client, 0, expected..expected + 2).await;
        assert_eq!(take(&mut reader, 2).await, [expected, expected + 1]);
        expected += 2;
    }
    // Also when the leader stops.
    broker.stop_node(3).await.expect("stops");
    write(&client, 0, expected..expected + 2).await;
    assert_eq!(take(&mut reader, 2).await, [expected, expected + 1]);
}

async fn delete_before(client: &Client, offset: i64) {
    let request = DeleteRecordsRequest {
        topics: vec![DeleteRecordsTopic {
            name: TOPIC.to_owned(),
            partitions: vec![DeleteRecordsPartition {
                partition_index: 0,
                offset,
            }],
        }],
        timeout_ms: 5000,
    };
    let response = client.request(request).leader(TOPIC, 0).send().await;
    let response = response.expect("answered");
    assert_eq!(response.topics[0].partitions[0].error_code, ErrorCode::NONE);
}

#[tokio::test]
async fn records_that_are_deleted_under_a_reader() {
    let broker = broker().topic(TOPIC, 1).start().await.expect("starts");
    let client = client(&broker).await;
    write(&client, 0, 0..20).await;
    delete_before(&client, 10).await;
    let from_zero = || {
        client
            .reader()
            .topic(TOPIC)
            .start(Start::Offset(2))
            .until(End::Latest)
    };

    let mut reader = build(from_zero().on_out_of_range(OffsetReset::Earliest)).await;
    let values: Vec<u64> = read_to_end(&mut reader)
        .await
        .iter()
        .map(|read| read.2)
        .collect();
    assert_eq!(values, (10..20).collect::<Vec<_>>());

    let mut reader = build(from_zero().on_out_of_range(OffsetReset::Latest)).await;
    assert!(read_to_end(&mut reader).await.is_empty());

    let mut reader = build(from_zero()).await;
    let error = reader
        .recv()
        .await
        .expect("an error")
        .expect_err("out of range");
    assert_eq!(
        (error.kind(), error.context().offset),
        (ErrorKind::OffsetOutOfRange, Some(2))
    );
    assert!(reader.recv().await.is_none());
}

#[tokio::test]
async fn memory_is_bounded_while_nobody_reads() {
    let broker = broker().topic(TOPIC, 4).start().await.expect("starts");
    let client = client(&broker).await;
    const EACH: u64 = 2000;
    for partition in 0..4 {
        write_fast(&client, partition, 0..EACH, 1000).await;
    }
    let reader = client
        .reader()
        .topic(TOPIC)
        .memory(256 << 10)
        .partition_max_bytes(64 << 10)
        .fetch_max_bytes(256 << 10)
        .until(End::Latest);
    let mut reader = build(reader).await;
    // Eight megabytes are there, and a slow application.
    let mut counts = [0; 4];
    let mut batches = 0;
    loop {
        let batch = tokio::time::timeout(PATIENCE, reader.recv())
            .await
            .expect("in time");
        let Some(batch) = batch else { break };
        let batch = batch.expect("a batch");
        for record in &batch {
            let partition = record.partition() as usize;
            assert_eq!(number(record.value()), counts[partition], "in order");
            counts[partition] += 1;
        }
        batches += 1;
        if batches < 20 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // All partitions move on.
        let (least, most) = (counts.iter().min(), counts.iter().max());
        assert!(
            most.copied().unwrap_or(0) - least.copied().unwrap_or(0) <= 400,
            "{counts:?}"
        );
    }
    assert_eq!(counts, [EACH; 4]);
}

#[tokio::test]
async fn faults_of_every_kind_are_got_over() {
    let broker = broker().topic(TOPIC, 1).start().await.expect("starts");
    let client = client(&broker).await;
    write(&client, 0, 0..3).await;
    for fault in [
        Fault::Disconnect,
        Fault::ApplyThenDisconnect,
        Fault::Error(ErrorCode::NOT_LEADER_OR_FOLLOWER),
        Fault::Error(ErrorCode::FETCH_SESSION_ID_NOT_FOUND),
        Fault::Error(ErrorCode::INVALID_FETCH_SESSION_EPOCH),
        Fault::Error(ErrorCode::UNKNOWN_SERVER_ERROR),
        Fault::Delay(Duration::from_millis(100)),
    ] {
        broker.inject(ApiKey::Fetch, None, 2, fault);
        broker.inject(ApiKey::ListOffsets, None, 1, fault);
        let mut reader = build(client.reader().topic(TOPIC).until(End::Latest)).await;
        let values = read_to_end(&mut reader).await;
        assert_eq!(values.len(), 3, "{fault:?}");
        broker.clear_faults();
    }
    // One that waiting does not mend is told.
    broker.judge_requests(|request| match request.api {
        ApiKey::Fetch => Fault::Error(ErrorCode::TOPIC_AUTHORIZATION_FAILED),
        _ => Fault::Pass,
    });
    let mut reader = build(client.reader().topic(TOPIC)).await;
    let error = reader.recv().await.expect("an error").expect_err("refused");
    assert_eq!(error.kind(), ErrorKind::Authorization);
    broker.clear_faults();
    reader.seek((TOPIC, 0), Start::Earliest).expect("read");
    assert_eq!(next(&mut reader).await.first_offset(), 0);
}

#[tokio::test]
async fn a_replica_in_the_same_rack_is_read_from() {
    let broker = broker()
        .racks(["a", "b"])
        .replicated_topic(TOPIC, 1, 2)
        .start()
        .await
        .expect("starts");
    broker.set_leader(TOPIC, 0, 1).await.expect("moves");
    let client = client(&broker).await;
    write(&client, 0, 0..3).await;
    let fetches = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = std::sync::Arc::clone(&fetches);
    broker.judge_requests(move |request| {
        if request.api == ApiKey::Fetch {
            seen.lock().expect("no panic").push(request.node);
        }
        Fault::Pass
    });
    let mut reader = build(client.reader().topic(TOPIC).rack("b").until(End::Latest)).await;
    assert_eq!(read_to_end(&mut reader).await.len(), 3);
    // The leader is asked once, and sends us to the other one.
    let fetches = fetches.lock().expect("no panic").clone();
    assert_eq!(fetches[..2], [1, 2], "{fetches:?}");
}

#[tokio::test]
async fn partitions_that_are_added_are_read() {
    use copart::protocol::messages::create_partitions::{
        CreatePartitionsRequest, CreatePartitionsTopic,
    };
    let broker = broker().topic(TOPIC, 1).start().await.expect("starts");
    let client = Client::builder(broker.bootstrap())
        .metadata_max_age(Duration::from_millis(200))
        .connect()
        .await
        .expect("a broker");
    write(&client, 0, 0..2).await;
    let mut reader = build(client.reader().topic(TOPIC).start(Start::Latest)).await;
    let request = CreatePartitionsRequest {
        topics: vec![CreatePartitionsTopic {
            name: TOPIC.to_owned(),
            count: 2,
            assignments: None,
        }],
        timeout_ms: 5000,
        ..CreatePartitionsRequest::default()
    };
    let response = client.request(request).controller().send().await;
    assert_eq!(
        response.expect("answered").results[0].error_code,
        ErrorCode::NONE
    );
    // A producer of its own, that knows both partitions.
    let other = Client::builder(broker.bootstrap())
        .connect()
        .await
        .expect("a broker");
    write(&other, 1, 7..9).await;
    // The new one is read from its first record on, whatever the start of the others was.
    assert_eq!(take(&mut reader, 2).await, [7, 8]);
    assert_eq!(reader.partitions().len(), 2);
}
