//! Typed consumers: what comes out decoded, and what becomes of what can't be.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use copart::admin::NewTopic;
use copart::protocol::{ApiKey, ErrorCode};
use copart::serializers::{
    self, Context, Deserialize, Format, Int64, Optional, Part, Payload, Poison, Preparation, Utf8,
};
use copart::{
    Client, Commit, Error, ErrorKind, Partitioning, Producer, ProducerRecord, Start, TypedBatch,
    TypedConsumer,
};
use copart_broker::{Broker, Fault};

use crate::poll::poll_at_most;
use crate::support::{GROUP, PATIENCE, TOPIC, broker, client, committed, quick, soon};

const DEAD: &str = "orders.dead";
const PROTOCOL: copart::GroupProtocol = copart::GroupProtocol::Consumer;

type Texts = TypedConsumer<Int64, Optional<Utf8>>;
type Texted = TypedBatch<i64, Option<String>>;

async fn one_partition() -> (Broker, Client) {
    let broker = broker().topic(TOPIC, 1).start().await.expect("starts");
    let client = client(&broker).await;
    (broker, client)
}

fn producer(client: &Client) -> Producer {
    let producer = client.producer().partitioner(Partitioning::uniform());
    // No test waits for longer.
    let producer = producer
        .max_block(Duration::from_secs(2))
        .delivery_timeout(Duration::from_secs(2));
    producer.build().expect("good")
}

fn texts(client: &Client) -> Texts {
    let consumer = quick(client, PROTOCOL).build().expect("a consumer");
    consumer.typed(Int64, Optional(Utf8))
}

/// Writes these to a partition in one batch. A key that is no number is one that can't be read.
async fn write(client: &Client, partition: i32, records: &[(&[u8], Option<&[u8]>)]) {
    let producer = client.producer().partitioner(Partitioning::manual());
    let producer = producer.linger(Duration::from_secs(5)).build();
    let producer = producer.expect("good");
    for (key, value) in records {
        let record = ProducerRecord::to(TOPIC)
            .partition(partition)
            .timestamp(1_000)
            .key(*key)
            .value(value.map(<[u8]>::to_vec))
            .header("own", b"kept");
        drop(producer.enqueue(record).await.expect("taken"));
    }
    producer.flush().await.expect("written");
}

fn key(number: i64) -> [u8; 8] {
    number.to_be_bytes()
}

async fn next(consumer: &mut Texts) -> Texted {
    let next = soon("a batch", consumer.recv()).await;
    next.expect("more").expect("a batch")
}

async fn next_error(consumer: &mut Texts) -> Error {
    let next = soon("an error", consumer.recv()).await;
    next.expect("more").expect_err("an error")
}

fn offsets(batch: &Texted) -> Vec<i64> {
    batch
        .records()
        .iter()
        .map(|record| record.offset())
        .collect()
}

async fn committed_at(consumer: &Texts) -> Option<i64> {
    soon("committed", consumer.commit())
        .await
        .expect("committed");
    committed(consumer.consumer(), 0).await.map(|it| it.offset)
}

async fn close(consumer: Texts) {
    let closed = consumer.close(Duration::from_secs(30));
    soon("closed", closed).await.expect("closed in order");
}

/// The letters that are there, as key, value and headers.
async fn letters(
    client: &Client,
    count: usize,
) -> Vec<(Vec<u8>, Vec<u8>, HashMap<String, String>)> {
    let reader = client.reader().topic(DEAD).build();
    let mut reader = reader.await.expect("a reader");
    let mut letters = Vec::new();
    let mut records = reader.records();
    while letters.len() < count {
        let record = soon("a letter", records.next()).await;
        let record = record.expect("more").expect("a record");
        let headers = record.headers().into_iter().map(|header| {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
            (text(header.key), text(header.value.unwrap_or_default()))
        });
        letters.push((
            record.key().expect("a key").to_vec(),
            record.value().unwrap_or_default().to_vec(),
            headers.collect(),
        ));
    }
    let more = tokio::time::timeout(Duration::from_millis(300), records.next()).await;
    assert!(more.is_err(), "too many: {more:?}");
    letters
}

#[tokio::test]
async fn keys_values_and_tombstones_come_decoded_and_are_committed() {
    let (_broker, client) = one_partition().await;
    write(
        &client,
        0,
        &[
            (&key(7), Some(b"seven")),
            (&key(-8), None),
            (&key(9), Some(b"")),
        ],
    )
    .await;
    let mut consumer = texts(&client);
    let batch = next(&mut consumer).await;
    let seen: Vec<_> = batch.into_iter().collect();
    let told: Vec<_> = seen.iter().map(|r| (*r.key(), r.value().clone())).collect();
    assert_eq!(
        told,
        [
            (7, Some("seven".into())),
            (-8, None),
            (9, Some(String::new()))
        ]
    );
    let first = &seen[0];
    assert_eq!(
        (&**first.topic(), first.partition(), first.offset()),
        (TOPIC, 0, 0)
    );
    assert_eq!(first.timestamp(), 1_000);
    assert_eq!(
        first.headers().last("own").and_then(|h| h.value),
        Some(&b"kept"[..])
    );
    assert_eq!(first.raw().value(), Some(&b"seven"[..]));
    // One by one: those that are done in any order, up to the first that is not.
    let mut seen = seen.into_iter();
    let (first, second, third) = (seen.next(), seen.next(), seen.next());
    first.expect("three").done();
    third.expect("three").done();
    assert_eq!(committed_at(&consumer).await, Some(1));
    drop(second);
    // It comes again, and one by one this time.
    let mut records = consumer.records();
    let again = soon("again", records.next())
        .await
        .expect("more")
        .expect("a record");
    assert_eq!((again.offset(), again.key()), (1, &-8));
    again.done();
    assert_eq!(committed_at(&consumer).await, Some(3));
    close(consumer).await;
}

#[tokio::test]
async fn a_null_is_poison_where_it_is_not_expected() {
    let (_broker, client) = one_partition().await;
    write(&client, 0, &[(&key(7), None)]).await;
    let consumer = quick(&client, PROTOCOL).build().expect("a consumer");
    let mut consumer = consumer.typed(Int64, Utf8);
    let error = soon("an error", consumer.recv()).await.expect("more");
    let error = error.expect_err("a tombstone");
    assert!(error.to_string().contains("tombstone"), "{error}");
    drop(consumer);
}

#[tokio::test]
async fn poison_stops_its_partition_and_says_where_and_why() {
    let broker = broker().topic(TOPIC, 2).start().await.expect("starts");
    let client = client(&broker).await;
    write(
        &client,
        0,
        &[
            (&key(0), Some(b"a")),
            (&key(1), Some(b"b")),
            (b"short", Some(b"c")),
            (&key(3), Some(b"d")),
        ],
    )
    .await;
    let mut consumer = texts(&client);
    assert_eq!(*consumer.poison(), Poison::Fail);
    let batch = next(&mut consumer).await;
    assert_eq!(offsets(&batch), [0, 1]);
    batch.done();
    let error = next_error(&mut consumer).await;
    assert_eq!(error.kind(), ErrorKind::Decoding);
    assert!(!error.is_retriable());
    let context = error.context();
    assert_eq!(context.topic.as_deref(), Some(TOPIC));
    assert_eq!((context.partition, context.offset), (Some(0), Some(2)));
    assert_eq!(context.group.as_deref(), Some(GROUP));
    let text = error.to_string();
    assert!(text.contains("key: Int64 takes 8 bytes, found 5"), "{text}");
    let source = std::error::Error::source(&error).expect("a source");
    let source = source.downcast_ref::<serializers::Error>().expect("ours");
    assert_eq!(source.part(), Part::Key);
    // Nothing behind it comes, and nothing is committed; the other partition goes on.
    assert_eq!(consumer.position((TOPIC, 0)), Some(2));
    write(&client, 1, &[(&key(9), Some(b"e"))]).await;
    let batch = next(&mut consumer).await;
    assert_eq!(batch.records()[0].partition(), 1);
    batch.done();
    let more = tokio::time::timeout(Duration::from_millis(500), consumer.recv()).await;
    assert!(more.is_err(), "{more:?}");
    assert_eq!(committed_at(&consumer).await, Some(2));
    // Tried again, it is told again.
    consumer.seek((TOPIC, 0), Start::Offset(2)).expect("ours");
    let error = next_error(&mut consumer).await;
    assert_eq!(error.context().offset, Some(2));
    // Behind it, it goes on.
    consumer.seek((TOPIC, 0), Start::Offset(3)).expect("ours");
    let batch = next(&mut consumer).await;
    assert_eq!(offsets(&batch), [3]);
    soon("committed", batch.commit()).await.expect("committed");
    assert_eq!(committed_at(&consumer).await, Some(4));
    close(consumer).await;
}

#[tokio::test]
async fn poison_is_never_delivered() {
    let (_broker, client) = one_partition().await;
    let good: (&[u8], Option<&[u8]>) = (&key(0), Some(b"a"));
    write(&client, 0, &[good, (b"poison", None), good]).await;
    let delivered = Commit::Delivered {
        every: Duration::from_millis(100),
    };
    let consumer = quick(&client, PROTOCOL).commit(delivered).build();
    let mut consumer = consumer.expect("a consumer").typed(Int64, Optional(Utf8));
    drop(next(&mut consumer).await);
    let error = next_error(&mut consumer).await;
    assert_eq!(error.context().offset, Some(1));
    assert_eq!(committed_at(&consumer).await, Some(1));
    close(consumer).await;
}

/// Counts what is counted, by name and outcome.
#[derive(Default)]
struct Counts(Mutex<HashMap<String, Arc<AtomicU64>>>);

impl metrics::Recorder for Counts {
    fn describe_counter(
        &self,
        _: metrics::KeyName,
        _: Option<metrics::Unit>,
        _: metrics::SharedString,
    ) {
    }

    fn describe_gauge(
        &self,
        _: metrics::KeyName,
        _: Option<metrics::Unit>,
        _: metrics::SharedString,
    ) {
    }

    fn describe_histogram(
        &self,
        _: metrics::KeyName,
        _: Option<metrics::Unit>,
        _: metrics::SharedString,
    ) {
    }

    fn register_counter(&self, key: &metrics::Key, _: &metrics::Metadata<'_>) -> metrics::Counter {
        let labels = key.labels().map(metrics::Label::value);
        let name: Vec<_> = std::iter::once(key.name()).chain(labels).collect();
        let mut counts = self.0.lock().expect("no panic");
        metrics::Counter::from_arc(Arc::clone(counts.entry(name.join(" ")).or_default()))
    }

    fn register_gauge(&self, _: &metrics::Key, _: &metrics::Metadata<'_>) -> metrics::Gauge {
        metrics::Gauge::noop()
    }

    fn register_histogram(
        &self,
        _: &metrics::Key,
        _: &metrics::Metadata<'_>,
    ) -> metrics::Histogram {
        metrics::Histogram::noop()
    }
}

#[tokio::test]
async fn what_is_skipped_is_counted_and_committed() {
    let counts = Counts::default();
    let _recording = metrics::set_default_local_recorder(&counts);
    let (_broker, client) = one_partition().await;
    let good: (&[u8], Option<&[u8]>) = (&key(0), Some(b"a"));
    let bad_key: (&[u8], Option<&[u8]>) = (b"poison", None);
    let bad_value: (&[u8], Option<&[u8]>) = (&key(1), Some(b"\xff"));
    write(&client, 0, &[bad_key, good, bad_value, good, bad_key]).await;
    write(&client, 0, &[bad_value, bad_value]).await;
    write(&client, 0, &[good]).await;
    let mut consumer = texts(&client).skip_poison();
    assert_eq!(*consumer.poison(), Poison::Skip);
    let batch = next(&mut consumer).await;
    assert_eq!(offsets(&batch), [1, 3]);
    batch.done();
    let batch = next(&mut consumer).await;
    assert_eq!(offsets(&batch), [7]);
    // All before it is done, whether it could be read or not.
    assert_eq!(committed_at(&consumer).await, Some(7));
    batch.done();
    assert_eq!(committed_at(&consumer).await, Some(8));
    close(consumer).await;
    let counts = counts.0.lock().expect("no panic");
    let count = |part: &str| {
        let name = format!("copart.consumer.poison {TOPIC} {part} skipped");
        counts.get(&name).map(|count| count.load(Ordering::Relaxed))
    };
    assert_eq!((count("key"), count("value")), (Some(2), Some(3)));
}

#[tokio::test]
async fn what_is_set_aside_says_where_it_came_from_and_counts_then() {
    let (broker, client) = one_partition().await;
    let created = client.admin().create_topics([NewTopic::new(DEAD)]).await;
    assert!(created.iter().all(|(_, outcome)| outcome.is_ok()));
    write(
        &client,
        0,
        &[
            (b"poison", Some(b"value")),
            (&key(1), Some(b"good")),
            (&key(2), Some(b"\xff\xfe")),
        ],
    )
    .await;
    let mut consumer = texts(&client).dead_letters(DEAD, &producer(&client));
    assert_eq!(*consumer.poison(), Poison::dead_letter(DEAD));
    let batch = next(&mut consumer).await;
    assert_eq!(offsets(&batch), [1]);
    batch.done();
    // The first one is not acknowledged, as nobody asked for more.
    assert_eq!(consumer.position((TOPIC, 0)), Some(0));
    assert_eq!(committed_at(&consumer).await, Some(0));
    let more = tokio::time::timeout(Duration::from_secs(1), consumer.recv()).await;
    assert!(more.is_err(), "{more:?}");
    assert_eq!(committed_at(&consumer).await, Some(3));
    close(consumer).await;
    let letters = letters(&client, 2).await;
    let (key_bytes, value, headers) = &letters[0];
    assert_eq!(
        (key_bytes.as_slice(), value.as_slice()),
        (&b"poison"[..], &b"value"[..])
    );
    for (name, expected) in [
        ("own", "kept"),
        ("__dlq.topic", TOPIC),
        ("__dlq.partition", "0"),
        ("__dlq.offset", "0"),
        ("__dlq.timestamp", "1000"),
        ("__dlq.part", "key"),
        ("__dlq.kind", "malformed"),
    ] {
        assert_eq!(
            headers.get(name).map(String::as_str),
            Some(expected),
            "{name}"
        );
    }
    assert!(headers["__dlq.message"].contains("Int64 takes 8 bytes, found 6"));
    let (key_bytes, value, headers) = &letters[1];
    assert_eq!(
        (key_bytes.as_slice(), value.as_slice()),
        (&key(2)[..], &b"\xff\xfe"[..])
    );
    assert_eq!(
        (&*headers["__dlq.offset"], &*headers["__dlq.part"]),
        ("2", "value")
    );
    drop(broker);
}

#[tokio::test]
async fn while_the_dead_letter_topic_is_missing_or_down_nothing_is_lost() {
    let (broker, client) = one_partition().await;
    write(
        &client,
        0,
        &[(b"poison", Some(b"value")), (&key(1), Some(b"good"))],
    )
    .await;
    let mut consumer = texts(&client).dead_letters(DEAD, &producer(&client));
    let batch = next(&mut consumer).await;
    assert_eq!(offsets(&batch), [1]);
    batch.done();
    // Missing.
    for _ in 0..2 {
        let error = next_error(&mut consumer).await;
        assert_eq!(error.kind(), ErrorKind::UnknownTopic, "{error}");
        let context = error.context();
        assert_eq!((context.partition, context.offset), (Some(0), Some(0)));
        assert!(error.to_string().contains("dead-letter topic"), "{error}");
        assert_eq!(committed_at(&consumer).await, Some(0));
    }
    let created = client.admin().create_topics([NewTopic::new(DEAD)]).await;
    assert!(created.iter().all(|(_, outcome)| outcome.is_ok()));
    // Down.
    broker.inject(ApiKey::Produce, None, usize::MAX, Fault::Disconnect);
    let error = next_error(&mut consumer).await;
    assert_ne!(error.kind(), ErrorKind::Decoding, "{error}");
    assert_eq!(committed_at(&consumer).await, Some(0));
    broker.clear_faults();
    // Refused.
    let refusal = Fault::Error(ErrorCode::TOPIC_AUTHORIZATION_FAILED);
    broker.inject(ApiKey::Produce, None, 1, refusal);
    let error = next_error(&mut consumer).await;
    assert_eq!(error.kind(), ErrorKind::Authorization, "{error}");
    assert_eq!(committed_at(&consumer).await, Some(0));
    broker.clear_faults();
    // Another member, after this one has given up, finds it again.
    close(consumer).await;
    let mut consumer = texts(&client).dead_letters(DEAD, &producer(&client));
    let batch = next(&mut consumer).await;
    assert_eq!(offsets(&batch), [1]);
    batch.done();
    let all = async {
        while committed_at(&consumer).await != Some(2) {
            let more = tokio::time::timeout(Duration::from_millis(100), consumer.recv()).await;
            assert!(more.is_err(), "{more:?}");
        }
    };
    soon("set aside", all).await;
    close(consumer).await;
    letters(&client, 1).await;
}

#[tokio::test]
async fn poison_in_the_dead_letter_topic_itself_does_not_go_round() {
    let (_broker, client) = one_partition().await;
    write(&client, 0, &[(b"poison", None)]).await;
    let mut consumer = texts(&client).dead_letters(TOPIC, &producer(&client));
    let error = next_error(&mut consumer).await;
    assert_eq!(error.kind(), ErrorKind::Decoding, "{error}");
    close(consumer).await;
}

#[tokio::test]
async fn a_recv_that_is_dropped_loses_nothing_and_sets_nothing_aside_twice() {
    let (_broker, client) = one_partition().await;
    let created = client.admin().create_topics([NewTopic::new(DEAD)]).await;
    assert!(created.iter().all(|(_, outcome)| outcome.is_ok()));
    let mut consumer = texts(&client).dead_letters(DEAD, &producer(&client));
    const ROUNDS: i64 = 10;
    let mut seen = Vec::new();
    for round in 0..ROUNDS {
        let good = key(round);
        write(&client, 0, &[(b"poison", None), (&good, None)]).await;
        let settled = async {
            while consumer.consumer().processed((TOPIC, 0)) != Some(2 * round + 2) {
                if let Some(batch) = poll_at_most(consumer.recv(), 1 + round as usize % 4).await {
                    let batch = batch.expect("more").expect("a batch");
                    seen.extend(batch.records().iter().map(|record| *record.key()));
                    batch.done();
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(PATIENCE, settled)
            .await
            .expect("in time");
    }
    assert_eq!(seen, (0..ROUNDS).collect::<Vec<_>>());
    assert_eq!(committed_at(&consumer).await, Some(2 * ROUNDS));
    close(consumer).await;
    letters(&client, ROUNDS as usize).await;
}

#[tokio::test]
async fn concurrent_handlers_finish_what_is_before_poison() {
    let (_broker, client) = one_partition().await;
    let keys: Vec<_> = (0..20).map(key).collect();
    let mut records: Vec<(&[u8], Option<&[u8]>)> =
        keys.iter().map(|key| (&key[..], Some(&b"x"[..]))).collect();
    records.insert(12, (b"poison", None));
    write(&client, 0, &records).await;
    let mut consumer = texts(&client);
    let done = Arc::new(Mutex::new(Vec::new()));
    let handler = |record: Arc<copart::TypedRecord<i64, Option<String>>>| {
        let done = Arc::clone(&done);
        async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            done.lock().expect("no panic").push(*record.key());
            Ok::<_, Error>(())
        }
    };
    let limit = NonZeroUsize::new(4).expect("some");
    let run = consumer.for_each_concurrent(limit, handler);
    let error = soon("an error", run).await.expect_err("poison");
    assert_eq!(error.context().offset, Some(12), "{error}");
    assert_eq!(done.lock().expect("no panic").len(), 12);
    assert_eq!(committed_at(&consumer).await, Some(12));
    consumer.seek((TOPIC, 0), Start::Offset(13)).expect("ours");
    let rest = async {
        tokio::select! {
            outcome = consumer.for_each_concurrent(limit, handler) => panic!("{outcome:?}"),
            () = async {
                while done.lock().expect("no panic").len() < 20 {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                // The last ones are marked as done by whoever polls.
                tokio::time::sleep(Duration::from_millis(50)).await;
            } => {}
        }
    };
    soon("the rest", rest).await;
    assert_eq!(committed_at(&consumer).await, Some(21));
    close(consumer).await;
}

/// Reads numbers once it was prepared, which fails for the first few times.
struct Fetched {
    failures: AtomicU64,
    is_there: AtomicU64,
}

impl Format for Fetched {
    fn prepare<'a>(
        &'a self,
        context: &'a Context<'a>,
        payload: Option<Payload<'a>>,
    ) -> Option<Preparation<'a>> {
        assert!(payload.is_some());
        Some(Box::pin(async move {
            tokio::task::yield_now().await;
            let left = self.failures.load(Ordering::Relaxed);
            if left > 0 {
                self.failures.store(left - 1, Ordering::Relaxed);
                let kind = serializers::ErrorKind::Unavailable;
                return Err(serializers::Error::new(kind, context, "no answer"));
            }
            self.is_there.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }))
    }
}

impl Deserialize for Fetched {
    type Value = i64;

    fn deserialize(&self, context: &Context<'_>, payload: Payload<'_>) -> serializers::Result<i64> {
        if self.is_there.load(Ordering::Relaxed) == 0 {
            let kind = serializers::ErrorKind::Unprepared;
            return Err(serializers::Error::new(kind, context, "not there"));
        }
        Int64.deserialize(context, payload)
    }
}

#[tokio::test]
async fn what_a_deserializer_needs_is_fetched_and_its_absence_is_not_poison() {
    let (_broker, client) = one_partition().await;
    write(
        &client,
        0,
        &[(b"key", Some(&key(5))), (b"key", Some(&key(6)))],
    )
    .await;
    let value = Arc::new(Fetched {
        failures: AtomicU64::new(2),
        is_there: AtomicU64::new(0),
    });
    let consumer = quick(&client, PROTOCOL).build().expect("a consumer");
    // Even where poison is skipped.
    let mut consumer = consumer.typed(Utf8, Arc::clone(&value)).skip_poison();
    for _ in 0..2 {
        let next = soon("an error", consumer.recv()).await.expect("more");
        let error = next.expect_err("not there");
        assert_eq!(error.kind(), ErrorKind::Decoding);
        assert!(error.is_retriable(), "{error}");
        assert_eq!(error.context().offset, Some(0));
    }
    let batch = soon("a batch", consumer.recv()).await.expect("more");
    let batch = batch.expect("a batch");
    let values: Vec<_> = batch
        .records()
        .iter()
        .map(|record| *record.value())
        .collect();
    assert_eq!(values, [5, 6]);
    assert_eq!(value.is_there.load(Ordering::Relaxed), 1, "fetched once");
    batch.done();
}
