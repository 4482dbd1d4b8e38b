//! Producing to a real log: every codec, every order, nothing lost or doubled.

use std::collections::HashMap;
use std::time::Duration;

use copart::partitioners::{PartitionCount, catalogue};
use copart::{Acks, Client, Codec, ErrorKind, Guard, Partitioning, ProducerRecord};

use crate::{Failure, create_topic, read};

pub async fn all(client: &Client) -> Result<(), Failure> {
    for codec in Codec::ALL {
        in_order_and_once(client, codec).await?;
        println!("{codec}: in order, once, at the offsets that were told");
    }
    placements(client).await?;
    limits(client).await?;
    lone_sends_do_not_linger(client).await?;
    without_idempotence(client).await?;
    guards(client).await?;
    Ok(())
}

async fn in_order_and_once(client: &Client, codec: Codec) -> Result<(), Failure> {
    const RECORDS: usize = 50_000;
    let topic = format!("codec-{codec}");
    create_topic(client, &topic, 3).await?;
    let producer = client
        .producer()
        .partitioner(Partitioning::like("java")?)
        .compression(codec)
        .batch_size(32 << 10)
        .build()?;
    let mut deliveries = Vec::new();
    for number in 0..RECORDS {
        let key = format!("key-{}", number % 100);
        let value = format!("{number} {}", "x".repeat(number % 150));
        let record = ProducerRecord::to(&topic).key(&key).value(&value);
        deliveries.push(producer.enqueue(record).await?);
    }
    producer.flush().await?;
    let mut told = HashMap::new();
    for (number, delivery) in deliveries.into_iter().enumerate() {
        let receipt = delivery.await?;
        let offset = receipt.offset.ok_or("no offset was told")?;
        told.insert((receipt.partition, offset), number);
    }
    assert_eq!(told.len(), RECORDS, "no two records have one place");
    assert!(producer.close(Duration::from_secs(10)).await.is_complete());

    let records = read::topic(client, &topic).await?;
    assert_eq!(records.len(), RECORDS);
    let mut last = HashMap::new();
    for record in records {
        let value = record.value.ok_or("all have values")?;
        let number: usize = std::str::from_utf8(&value)?
            .split(' ')
            .next()
            .ok_or("empty")?
            .parse()?;
        assert_eq!(told.get(&(record.partition, record.offset)), Some(&number));
        let before = last.insert(record.key, number);
        assert!(
            before.is_none_or(|before| before < number),
            "{number} behind {before:?}"
        );
    }
    Ok(())
}

/// The partitions in the log are those that the catalogue computes.
async fn placements(client: &Client) -> Result<(), Failure> {
    create_topic(client, "placements", 12).await?;
    let count = PartitionCount::new(12).ok_or("twelve")?;
    let clients = [
        "java",
        "ruby-kafka",
        "librdkafka",
        "kafkajs",
        "sarama",
        "kafka-go/crc32",
    ];
    let mut expected = HashMap::new();
    for name in clients {
        let producer = client
            .producer()
            .partitioner(Partitioning::like(name)?)
            .build()?;
        let profile = catalogue::find(name)
            .map_err(|error| error.to_string())?
            .profile;
        for number in 0..200 {
            let key = format!("{name}-{number}");
            let place = profile.place(Some(key.as_bytes()), count);
            let partition = place.partition().ok_or("keys are pinned")?;
            // The flush below waits for all of them.
            drop(
                producer
                    .enqueue(ProducerRecord::to("placements").key(&key).value("v"))
                    .await?,
            );
            expected.insert(key.into_bytes(), partition);
        }
        producer.flush().await?;
    }
    let records = read::topic(client, "placements").await?;
    assert_eq!(records.len(), expected.len());
    for record in records {
        let key = record.key.ok_or("all have keys")?;
        assert_eq!(expected.get(&key[..]), Some(&record.partition), "{key:?}");
    }
    println!(
        "placements: {} clients, as the catalogue says",
        clients.len()
    );
    Ok(())
}

/// What a broker refuses comes back with the reason, and what follows is written.
async fn limits(client: &Client) -> Result<(), Failure> {
    create_topic(client, "limits", 1).await?;
    let producer = client
        .producer()
        .partitioner(Partitioning::uniform())
        .max_request_size(4 << 20)
        .build()?;
    // The broker's limit is two million.
    let large = vec![b'x'; 3_000_000];
    let mut deliveries = Vec::new();
    for value in [&b"before"[..], &large, b"after", b"and after"] {
        deliveries.push(
            producer
                .enqueue(ProducerRecord::to("limits").value(value))
                .await?,
        );
        tokio::time::sleep(Duration::from_millis(7)).await;
    }
    let mut outcomes = Vec::new();
    for delivery in deliveries {
        outcomes.push(delivery.await);
    }
    let error = outcomes.remove(1).expect_err("over the broker's limit");
    assert_eq!(
        (error.kind(), error.possibly_written()),
        (ErrorKind::TooLarge, false)
    );
    for outcome in outcomes {
        outcome?;
    }
    let values: Vec<_> = read::topic(client, "limits").await?;
    let values: Vec<_> = values
        .iter()
        .map(|record| record.value.as_deref())
        .collect();
    assert_eq!(
        values,
        [Some(&b"before"[..]), Some(b"after"), Some(b"and after")]
    );
    let unknown = producer
        .send(ProducerRecord::to("no-such-topic").value("v"))
        .await;
    let unknown = unknown.expect_err("no such topic");
    assert_eq!(unknown.kind(), ErrorKind::UnknownTopic, "{unknown}");
    println!("limits: refused, told, and the next ones written: {error}");
    Ok(())
}

async fn lone_sends_do_not_linger(client: &Client) -> Result<(), Failure> {
    create_topic(client, "lone", 1).await?;
    let producer = client
        .producer()
        .partitioner(Partitioning::uniform())
        .linger(Duration::from_secs(2))
        .build()?;
    producer
        .send(ProducerRecord::to("lone").value("warm"))
        .await?;
    let start = std::time::Instant::now();
    for _ in 0..20 {
        producer.send(ProducerRecord::to("lone").value("v")).await?;
    }
    let each = start.elapsed() / 20;
    assert!(each < Duration::from_millis(200), "{each:?}");
    println!("lone sends: {each:?} each, with a linger of two seconds");
    Ok(())
}

async fn without_idempotence(client: &Client) -> Result<(), Failure> {
    create_topic(client, "plain", 2).await?;
    // Without acknowledgements last: a broker that does not know yet that it leads drops what it is sent.
    for (acks, has_offset) in [(Acks::Leader, true), (Acks::All, true), (Acks::None, false)] {
        let producer = client
            .producer()
            .partitioner(Partitioning::round_robin())
            .idempotence(false)
            .acks(acks)
            .build()?;
        for _ in 0..10 {
            let receipt = producer
                .send(ProducerRecord::to("plain").value("v"))
                .await?;
            assert_eq!(receipt.offset.is_some(), has_offset, "{acks:?}");
        }
        assert!(producer.close(Duration::from_secs(5)).await.is_complete());
    }
    // Those without an answer are on their way.
    let deadline = std::time::Instant::now() + Duration::from_secs(10);
    loop {
        let records = read::topic(client, "plain").await?;
        if records.len() == 30 {
            let first = records
                .iter()
                .filter(|record| record.partition == 0)
                .count();
            assert_eq!(first, 15, "round-robin");
            break;
        }
        assert!(
            std::time::Instant::now() < deadline,
            "{} records",
            records.len()
        );
    }
    println!("acks none, leader and all, without idempotence");
    Ok(())
}

async fn guards(client: &Client) -> Result<(), Failure> {
    create_topic(client, "guarded", 8).await?;
    let producer = client
        .producer()
        .partitioner(Partitioning::like("java")?)
        .expect_partitions("guarded", 12, Guard::Refuse)
        .build()?;
    let refused = producer
        .send(ProducerRecord::to("guarded").key("k").value("v"))
        .await;
    let refused = refused.expect_err("eight are not twelve");
    assert_eq!(refused.kind(), ErrorKind::Guard);
    println!("guard: {refused}");
    Ok(())
}
