//! Typed readers.

use std::time::Duration;

use copart::admin::NewTopic;
use copart::serializers::{Int64, Utf8};
use copart::{Client, End, ErrorKind, Partitioning, Producer, ProducerRecord, Start};

use crate::support::{PATIENCE, TOPIC, broker, client};

const DEAD: &str = "events.dead";

fn producer(client: &Client, partitioning: Partitioning) -> Producer {
    let producer = client.producer().partitioner(partitioning);
    producer.build().expect("good")
}

/// Writes text values, and keys that are numbers unless they are negative, in one batch.
async fn write(client: &Client, keys: &[i64]) {
    let producer = producer(client, Partitioning::manual());
    for key in keys {
        let bytes = key.to_be_bytes();
        let bytes = if *key < 0 { &bytes[..3] } else { &bytes[..] };
        let value = format!("value {key}");
        let record = ProducerRecord::to(TOPIC)
            .partition(0)
            .key(bytes)
            .value(value);
        drop(producer.enqueue(record).await.expect("taken"));
    }
    producer.flush().await.expect("written");
}

macro_rules! soon {
    ($future:expr) => {
        tokio::time::timeout(PATIENCE, $future)
            .await
            .expect("in time")
    };
}

#[tokio::test]
async fn poison_stops_a_reader_which_ends_or_goes_on_behind_it() {
    let broker = broker().topic(TOPIC, 1).start().await.expect("starts");
    let client = client(&broker).await;
    write(&client, &[0, 1, -1, 3]).await;
    let reader = client.reader().topic(TOPIC).until(End::Latest).build();
    let mut reader = soon!(reader).expect("a reader").typed(Int64, Utf8);
    let batch = soon!(reader.recv()).expect("more").expect("a batch");
    let seen: Vec<_> = batch
        .records()
        .iter()
        .map(|it| (*it.key(), &**it.value()))
        .collect();
    assert_eq!(seen, [(0, "value 0"), (1, "value 1")]);
    let error = soon!(reader.recv()).expect("more").expect_err("poison");
    assert_eq!(error.kind(), ErrorKind::Decoding);
    assert_eq!(error.context().offset, Some(2), "{error}");
    assert_eq!(reader.position((TOPIC, 0)), Some(2));
    // Nothing else is left to read.
    assert!(soon!(reader.recv()).is_none());
    reader
        .seek((TOPIC, 0), Start::Offset(3))
        .expect("it is read");
    let batch = soon!(reader.recv()).expect("more").expect("a batch");
    assert_eq!(batch.records()[0].offset(), 3);
    assert!(soon!(reader.recv()).is_none());
}

#[tokio::test]
async fn records_one_by_one_and_the_rest_of_a_batch() {
    let broker = broker().topic(TOPIC, 1).start().await.expect("starts");
    let client = client(&broker).await;
    write(&client, &[-1, 1, 2, -3, 4]).await;
    let reader = client.reader().topic(TOPIC).until(End::Latest).build();
    let reader = soon!(reader).expect("a reader");
    let mut reader = reader.typed(Int64, Utf8).skip_poison();
    let first = soon!(reader.records().next()).expect("more");
    assert_eq!(*first.expect("a record").key(), 1);
    assert_eq!(reader.position((TOPIC, 0)), Some(2));
    let rest = soon!(reader.recv()).expect("more").expect("a batch");
    let keys: Vec<_> = rest
        .into_iter()
        .map(|record| record.into_parts().0)
        .collect();
    assert_eq!(keys, [2, 4]);
    assert!(soon!(reader.recv()).is_none());
}

#[tokio::test]
async fn a_reader_sets_aside() {
    let broker = broker().topic(TOPIC, 1).start().await.expect("starts");
    let client = client(&broker).await;
    let created = client.admin().create_topics([NewTopic::new(DEAD)]).await;
    assert!(created.iter().all(|(_, outcome)| outcome.is_ok()));
    write(&client, &[-1, 1, -2]).await;
    let reader = client.reader().topic(TOPIC).until(End::Latest).build();
    let reader = soon!(reader).expect("a reader").typed(Int64, Utf8);
    let by = producer(&client, Partitioning::uniform());
    let mut reader = reader.dead_letters(DEAD, &by);
    let batch = soon!(reader.recv()).expect("more").expect("a batch");
    assert_eq!(batch.len(), 1);
    assert_eq!(reader.position((TOPIC, 0)), Some(0), "not acknowledged yet");
    assert!(soon!(reader.recv()).is_none());
    assert_eq!(reader.position((TOPIC, 0)), Some(3));
    by.close(Duration::from_secs(10)).await;
    let dead = client.reader().topic(DEAD).until(End::Latest).build();
    let mut dead = soon!(dead).expect("a reader");
    let mut offsets = Vec::new();
    while let Some(batch) = soon!(dead.recv()) {
        for record in &batch.expect("a batch") {
            let header = record
                .headers()
                .last("__dlq.offset")
                .and_then(|it| it.value);
            offsets.push(header.expect("an offset").to_vec());
        }
    }
    offsets.sort_unstable();
    assert_eq!(offsets, [b"0", b"2"]);
}
