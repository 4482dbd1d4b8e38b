//! A log with holes.

use std::time::Duration;

use copart::protocol::ErrorCode;
use copart::protocol::messages::create_topics::{
    CreatableTopic, CreatableTopicConfig, CreateTopicsRequest,
};
use copart::{End, Partitioning, ProducerRecord, Start};

use crate::support::{PATIENCE, TOPIC, broker, build, client, read_to_end};

#[tokio::test]
async fn holes_are_passed_over() {
    let broker = broker().start().await.expect("starts");
    let client = client(&broker).await;
    let configs = [
        ("cleanup.policy", "compact"),
        ("segment.ms", "100"),
        ("min.cleanable.dirty.ratio", "0.01"),
    ];
    let request = CreateTopicsRequest {
        topics: vec![CreatableTopic {
            name: TOPIC.to_owned(),
            num_partitions: 1,
            replication_factor: 1,
            configs: configs
                .map(|(name, value)| CreatableTopicConfig {
                    name: name.to_owned(),
                    value: Some(value.to_owned()),
                })
                .to_vec(),
            ..CreatableTopic::default()
        }],
        timeout_ms: 10_000,
        ..CreateTopicsRequest::default()
    };
    let response = client.request(request).controller().send().await;
    let created = response.expect("answered").topics[0].error_code;
    assert_eq!(created, ErrorCode::NONE);
    let producer = client
        .producer()
        .partitioner(Partitioning::manual())
        .build()
        .expect("good");
    // Each is in a segment of its own, as its time says; all have one of four keys.
    for number in 0..40i64 {
        let (key, value) = ((number % 4).to_string(), number.to_string());
        let record = ProducerRecord::to(TOPIC)
            .partition(0)
            .timestamp(number * 1000);
        let written = producer.send(record.key(&key).value(&value)).await;
        written.expect("written");
    }
    let from = |offset| {
        client
            .reader()
            .topic(TOPIC)
            .start(Start::Offset(offset))
            .until(End::Latest)
    };
    // The cleaner comes by after a while.
    let deadline = tokio::time::Instant::now() + PATIENCE;
    let left = loop {
        let left = read_to_end(&mut build(from(0)).await).await;
        if left.len() < 20 {
            break left;
        }
        assert!(tokio::time::Instant::now() < deadline, "{left:?}");
        tokio::time::sleep(Duration::from_millis(300)).await;
    };
    assert!(
        left.iter()
            .all(|&(_, offset, value)| offset == value as i64)
    );
    assert_eq!(left.last().map(|last| last.1), Some(39));
    // The newest record of each key is there.
    for key in 36..40 {
        assert!(left.iter().any(|read| read.1 == key), "{left:?}");
    }
    // From the middle of a hole, and to its middle.
    let mut reader = build(from(7)).await;
    let rest = read_to_end(&mut reader).await;
    let expected: Vec<_> = left.iter().copied().filter(|read| read.1 >= 7).collect();
    assert_eq!(rest, expected);
    assert_eq!(reader.position((TOPIC, 0)), Some(40));
    let mut reader = build(from(0).until_of((TOPIC, 0), End::Offset(9))).await;
    let rest = read_to_end(&mut reader).await;
    assert!(rest.iter().all(|read| read.1 < 9));
    assert_eq!(reader.position((TOPIC, 0)), Some(9));
}
