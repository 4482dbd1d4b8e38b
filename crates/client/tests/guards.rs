//! `verify_topic`, against the reference broker.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "the example has a main function of its own"
)]

#[path = "../examples/event_counter.rs"]
mod event_counter;

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use copart::protocol::messages::create_partitions::{
    CreatePartitionsRequest, CreatePartitionsTopic,
};
use copart::protocol::{ApiKey, ErrorCode};
use copart::{Client, Error, ErrorKind, Guard, Partitioning, Producer, ProducerRecord};
use copart_broker::{Broker, Fault};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

use event_counter::{count, producer, split_users, write_events};

/// Warnings of all tests in this process; each has a topic of its own.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>);

struct Fields(String);

impl tracing::field::Visit for Fields {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        use std::fmt::Write;
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

impl<S: tracing::Subscriber> Layer<S> for Warnings {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        if *event.metadata().level() <= tracing::Level::WARN {
            let mut fields = Fields(String::new());
            event.record(&mut fields);
            self.0.lock().unwrap().push(fields.0);
        }
    }
}

fn warnings_about(topic: &str) -> Vec<String> {
    let all = listening().0.lock().unwrap();
    let about = all.iter().filter(|line| {
        line.contains(&format!("topic={topic} ")) || line.ends_with(&format!("topic={topic}"))
    });
    about.cloned().collect()
}

fn listening() -> &'static Warnings {
    static WARNINGS: OnceLock<Warnings> = OnceLock::new();
    WARNINGS.get_or_init(|| {
        let warnings = Warnings::default();
        let subscriber = tracing_subscriber::registry().with(warnings.clone());
        tracing::subscriber::set_global_default(subscriber).expect("the only one");
        warnings
    })
}

async fn start(topic: &str, partitions: i32) -> (Broker, Client) {
    listening();
    let broker = Broker::builder().topic(topic, partitions).start().await;
    let broker = broker.expect("a broker");
    let client = Client::builder(broker.bootstrap()).connect().await;
    (broker, client.expect("connected"))
}

async fn refused(producer: &Producer, topic: &str) -> Error {
    let error = write_events(producer, topic, 1).await;
    error.expect_err("the guard refuses")
}

async fn total(client: &Client, topic: &str) -> u64 {
    let counters = count(client, topic).await.expect("read");
    counters.values().flat_map(|one| one.values()).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_counter_per_user_stays_right() {
    let (broker, client) = start("events", 12).await;
    let site = producer(&client, "ruby-kafka", Guard::Refuse).expect("good");
    // Nothing is there yet, so nothing speaks against it.
    write_events(&site, "events", 3).await.expect("written");
    let other = producer(&client, "java", Guard::Refuse).expect("good");
    let error = refused(&other, "events").await;
    assert_eq!(error.kind(), ErrorKind::Guard);
    assert_eq!(error.context().topic.as_deref(), Some("events"));
    let text = error.to_string();
    for part in [
        "java/default",
        "of 50 distinct keys",
        "50 of 50 distinct keys are where",
        "ruby-kafka/crc32",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // It stays refused, whichever way it is asked.
    assert!(other.prepare("events").await.is_err());
    let record = ProducerRecord::to("events").key("user-1").value("event");
    assert!(other.try_enqueue(record).is_err());
    assert_eq!(total(&client, "events").await, 150);

    let mended = producer(&client, "ruby-kafka", Guard::Refuse).expect("good");
    write_events(&mended, "events", 2).await.expect("written");
    let counters = count(&client, "events").await.expect("read");
    assert_eq!(split_users(&counters), 0);
    assert_eq!(total(&client, "events").await, 250);

    // Off, the users are split in silence.
    let careless = producer(&client, "java", Guard::Off).expect("good");
    write_events(&careless, "events", 1).await.expect("written");
    let counters = count(&client, "events").await.expect("read");
    assert!(split_users(&counters) > 30);
    broker.stop().await.expect("stopped");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_warning_comes_once_and_records_go_on() {
    let (broker, client) = start("warned", 12).await;
    let site = producer(&client, "ruby-kafka", Guard::Off).expect("good");
    write_events(&site, "warned", 1).await.expect("written");
    let other = producer(&client, "java", Guard::Warn).expect("good");
    // Many at once wait for one look.
    let sends = (0..20).map(|number| {
        let other = other.clone();
        tokio::spawn(async move {
            let key = format!("user-{number}");
            let record = ProducerRecord::to("warned").key(&key).value("event");
            other.send(record).await.map(drop)
        })
    });
    for send in sends.collect::<Vec<_>>() {
        send.await.expect("no panic").expect("written");
    }
    let warnings = warnings_about("warned");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("ruby-kafka/crc32"), "{warnings:?}");
    assert_eq!(total(&client, "warned").await, 70);
    broker.stop().await.expect("stopped");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn records_from_before_an_expansion_are_no_disagreement() {
    let (broker, client) = start("grown", 7).await;
    let first = producer(&client, "java", Guard::Off).expect("good");
    write_events(&first, "grown", 2).await.expect("written");
    let grow = CreatePartitionsRequest {
        topics: vec![CreatePartitionsTopic {
            name: "grown".into(),
            count: 12,
            assignments: None,
        }],
        timeout_ms: 10_000,
        ..CreatePartitionsRequest::default()
    };
    let answer = client
        .request(grow)
        .controller()
        .send()
        .await
        .expect("answered");
    assert_eq!(answer.results[0].error_code, ErrorCode::NONE);
    client.refresh().await.expect("refreshed");
    let second = producer(&client, "java", Guard::Refuse).expect("good");
    write_events(&second, "grown", 1).await.expect("only older");
    let other = producer(&client, "ruby-kafka", Guard::Refuse).expect("good");
    assert_eq!(refused(&other, "grown").await.kind(), ErrorKind::Guard);
    broker.stop().await.expect("stopped");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_permission_to_read_refuse_refuses_and_warn_warns() {
    let (broker, client) = start("secret", 12).await;
    let site = producer(&client, "java", Guard::Off).expect("good");
    write_events(&site, "secret", 1).await.expect("written");
    let denied = Fault::Error(ErrorCode::TOPIC_AUTHORIZATION_FAILED);
    broker.inject(ApiKey::Fetch, None, 10_000, denied);
    let strict = producer(&client, "java", Guard::Refuse).expect("good");
    let error = refused(&strict, "secret").await;
    assert_eq!(error.kind(), ErrorKind::Guard, "{error}");
    assert_eq!(error.code(), Some(ErrorCode::TOPIC_AUTHORIZATION_FAILED));
    assert!(error.to_string().contains("READ"), "{error}");
    let lenient = producer(&client, "java", Guard::Warn).expect("good");
    write_events(&lenient, "secret", 1).await.expect("written");
    let warnings = warnings_about("secret");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("READ"), "{warnings:?}");
    // Granted: nothing of the refusal is remembered.
    broker.clear_faults();
    write_events(&strict, "secret", 1).await.expect("written");
    broker.stop().await.expect("stopped");
}

#[tokio::test]
async fn dropped_at_any_point_it_is_as_if_nobody_had_asked() {
    let (broker, client) = start("dropped", 12).await;
    let site = producer(&client, "ruby-kafka", Guard::Off).expect("good");
    write_events(&site, "dropped", 1).await.expect("written");
    let mut completed = false;
    for polls in 0..200 {
        let other = producer(&client, "java", Guard::Refuse).expect("good");
        let mut left = polls;
        let mut preparing = Box::pin(other.prepare("dropped"));
        let outcome = std::future::poll_fn(|cx| {
            if left == 0 {
                return std::task::Poll::Ready(None);
            }
            left -= 1;
            preparing.as_mut().poll(cx).map(Some)
        });
        let outcome = outcome.await;
        drop(preparing);
        completed = outcome.is_some();
        if let Some(outcome) = outcome {
            assert_eq!(outcome.expect_err("refused").kind(), ErrorKind::Guard);
        }
        let error = other.prepare("dropped").await.expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Guard);
        if completed {
            break;
        }
    }
    assert!(completed, "it never ends");
    assert_eq!(total(&client, "dropped").await, 50);
    broker.stop().await.expect("stopped");
}

#[tokio::test]
async fn what_pins_no_keys_is_not_verified() {
    let (broker, client) = start("spread", 12).await;
    let site = producer(&client, "ruby-kafka", Guard::Off).expect("good");
    write_events(&site, "spread", 1).await.expect("written");
    // No broker is asked for records.
    broker.inject(ApiKey::Fetch, None, 100, Fault::Disconnect);
    for partitioning in [Partitioning::uniform(), Partitioning::least_backlog()] {
        let spreading = client
            .producer()
            .partitioner(partitioning)
            .verify_topic("spread", Guard::Refuse)
            .max_block(Duration::from_secs(5))
            .build()
            .expect("good");
        spreading
            .prepare("spread")
            .await
            .expect("nothing to verify");
    }
    broker.stop().await.expect("stopped");
}
