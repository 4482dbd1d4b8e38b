//! Reading from a real broker: to the end, from points in time, after deletes, and around transactions that
//! Apache Kafka's own client wrote.

use std::time::Duration;

use bytes::Bytes;
use copart::protocol::messages::delete_records::{
    DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic,
};
use copart::{
    Client, End, ErrorKind, Isolation, OffsetReset, Partitioning, ProducerRecord, Start,
    TopicPartition,
};

use crate::{Failure, create_topic, has, variable};

pub struct Record {
    pub partition: i32,
    pub offset: i64,
    pub key: Option<Bytes>,
    pub value: Option<Bytes>,
}

/// All records of a topic, in order within each partition.
pub async fn topic(client: &Client, name: &str) -> Result<Vec<Record>, Failure> {
    let mut reader = client
        .reader()
        .topic(name)
        .until(End::Latest)
        .build()
        .await?;
    let mut all = Vec::new();
    let mut records = reader.records();
    while let Some(record) = records.next().await {
        let record = record?;
        all.push(Record {
            partition: record.partition(),
            offset: record.offset(),
            key: record.key_bytes(),
            value: record.value_bytes(),
        });
    }
    Ok(all)
}

pub async fn all(client: &Client) -> Result<(), Failure> {
    starts(client).await?;
    deleted(client).await?;
    follows(client).await?;
    small_limits(client).await?;
    if has("transactions") {
        transactions(client).await?;
    }
    Ok(())
}

/// Twenty records whose times are their numbers in seconds.
async fn numbered(client: &Client, topic: &str) -> Result<(), Failure> {
    create_topic(client, topic, 2).await?;
    let producer = client
        .producer()
        .partitioner(Partitioning::manual())
        .build()?;
    for number in 0..20i64 {
        let value = number.to_string();
        let record = ProducerRecord::to(topic)
            .partition(0)
            .timestamp(number * 1000)
            .value(&value);
        producer.send(record).await?;
    }
    Ok(())
}

/// The offsets that a reader gives until its end.
async fn offsets(builder: copart::ReaderBuilder) -> Result<Vec<i64>, Failure> {
    let mut reader = builder.until(End::Latest).build().await?;
    let mut offsets = Vec::new();
    while let Some(batch) = reader.recv().await {
        offsets.extend(batch?.records().map(|record| record.offset()));
    }
    Ok(offsets)
}

async fn starts(client: &Client) -> Result<(), Failure> {
    numbered(client, "starts").await?;
    for (start, expected) in [
        (Start::Earliest, 0..20),
        (Start::Offset(7), 7..20),
        (Start::Timestamp(12_500), 13..20),
        (Start::Timestamp(99_000), 20..20),
        (Start::Latest, 20..20),
    ] {
        let read = offsets(client.reader().partition(("starts", 0)).start(start)).await?;
        assert_eq!(read, expected.collect::<Vec<_>>(), "{start:?}");
    }
    let reader = client.reader().topic("starts").build().await?;
    let first = TopicPartition::new("starts", 0);
    let second = TopicPartition::new("starts", 1);
    let ends = [(first.clone(), 20), (second.clone(), 0)];
    assert_eq!(reader.end_offsets().await?, ends);
    let found = reader
        .offsets_for_times([(first, 3_001), (second, 0)])
        .await?;
    assert_eq!(found[0].1.ok_or("there is one")?.offset, 4);
    assert_eq!(found[1].1, None);
    println!("reads from offsets, times and ends; offsets are told");
    Ok(())
}

async fn deleted(client: &Client) -> Result<(), Failure> {
    numbered(client, "deleted").await?;
    let request = DeleteRecordsRequest {
        topics: vec![DeleteRecordsTopic {
            name: "deleted".to_owned(),
            partitions: vec![DeleteRecordsPartition {
                partition_index: 0,
                offset: 8,
            }],
        }],
        timeout_ms: 10_000,
    };
    let response = client.request(request).leader("deleted", 0).send().await?;
    response.topics[0].partitions[0].error_code.ok()?;
    let builder = || {
        client
            .reader()
            .partition(("deleted", 0))
            .start(Start::Offset(3))
    };
    let reset = builder().on_out_of_range(OffsetReset::Earliest);
    assert_eq!(offsets(reset).await?, (8..20).collect::<Vec<_>>());
    let mut reader = builder().build().await?;
    let error = reader.recv().await.ok_or("an error")?;
    let error = error.expect_err("offset 3 is deleted");
    assert_eq!(error.kind(), ErrorKind::OffsetOutOfRange);
    reader.seek(("deleted", 0), Start::Offset(19))?;
    let batch = reader.recv().await.ok_or("a batch")??;
    assert_eq!(batch.first_offset(), 19);
    println!("deleted records: reset, and told: {error}");
    Ok(())
}

/// Records that come while the reader waits, and one that is larger than all limits.
async fn follows(client: &Client) -> Result<(), Failure> {
    create_topic(client, "follows", 3).await?;
    let mut reader = client
        .reader()
        .topic("follows")
        .start(Start::Latest)
        .partition_max_bytes(8 << 10)
        .fetch_max_bytes(16 << 10)
        .memory(32 << 10)
        .build()
        .await?;
    // Its positions are found when the first answers have come.
    while reader
        .partitions()
        .into_iter()
        .any(|p| reader.position(p).is_none())
    {
        let _ = tokio::time::timeout(Duration::from_millis(50), reader.recv()).await;
    }
    let producer = client
        .producer()
        .partitioner(Partitioning::round_robin())
        .build()?;
    let large = vec![b'x'; 900_000];
    for number in 0..50 {
        let value = if number == 25 { &large[..] } else { b"small" };
        producer
            .send(ProducerRecord::to("follows").value(value))
            .await?;
        let batch = tokio::time::timeout(Duration::from_secs(30), reader.recv()).await?;
        let batch = batch.ok_or("no end")??;
        assert_eq!(batch.get(0).and_then(|record| record.value()), Some(value));
    }
    println!("follows a topic, with a batch above all limits");
    Ok(())
}

/// Much more than the budget, in each partition.
async fn small_limits(client: &Client) -> Result<(), Failure> {
    create_topic(client, "many", 6).await?;
    let producer = client
        .producer()
        .partitioner(Partitioning::round_robin())
        .batch_size(16 << 10)
        .build()?;
    const RECORDS: usize = 30_000;
    for _ in 0..RECORDS {
        drop(
            producer
                .enqueue(ProducerRecord::to("many").value(vec![b'x'; 300]))
                .await?,
        );
    }
    producer.flush().await?;
    let mut reader = client
        .reader()
        .topic("many")
        .partition_max_bytes(20 << 10)
        .fetch_max_bytes(64 << 10)
        .memory(64 << 10)
        .until(End::Latest)
        .build()
        .await?;
    let mut next = [0; 6];
    while let Some(batch) = reader.recv().await {
        for record in &batch? {
            let next = &mut next[record.partition() as usize];
            assert_eq!(record.offset(), *next, "once and in order");
            *next += 1;
        }
    }
    assert_eq!(next.iter().sum::<i64>() as usize, RECORDS);
    println!("9 MB through a budget of 64 KiB: all, once, in order");
    Ok(())
}

/// What `Transactions.java` beside this has written: committed and aborted transactions, interleaved, and one
/// that is open.
async fn transactions(client: &Client) -> Result<(), Failure> {
    let topic = variable("COPART_TRANSACTIONS")?;
    let mut seen = Vec::new();
    for isolation in [Isolation::ReadCommitted, Isolation::ReadUncommitted] {
        let mut reader = client
            .reader()
            .topic(topic.as_str())
            .isolation(isolation)
            // Several answers, so that transactions go across them.
            .partition_max_bytes(2048)
            .until(End::Latest)
            .build()
            .await?;
        let mut counts = std::collections::BTreeMap::new();
        while let Some(batch) = reader.recv().await {
            for record in &batch? {
                let value = String::from_utf8_lossy(record.value().ok_or("a value")?);
                let kind = value.split(' ').next().unwrap_or_default().to_owned();
                *counts.entry(kind).or_insert(0) += 1;
            }
        }
        seen.push(counts);
    }
    let counts = |list: &[(&str, i32)]| {
        let list = list.iter().map(|&(kind, count)| (kind.to_owned(), count));
        list.collect::<std::collections::BTreeMap<_, _>>()
    };
    assert_eq!(seen[0], counts(&[("committed", 400), ("plain", 100)]));
    let all = [
        ("aborted", 400),
        ("committed", 400),
        ("open", 10),
        ("plain", 101),
    ];
    assert_eq!(seen[1], counts(&all));
    println!(
        "transactions of Kafka's own client: committed ones are read, aborted and open ones are not"
    );
    Ok(())
}
