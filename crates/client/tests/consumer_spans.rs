//! Spans of a consumer with OpenTelemetry's names. One test in a process of its own: `tracing` remembers for each place
//! in the code whether anybody listens, and other tests run without a listener.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use copart::protocol::{ApiKey, ErrorCode};
use copart::{Client, GroupProtocol, Partitioning, ProducerRecord};
use copart_broker::{Broker, Fault};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

type Fields = BTreeMap<&'static str, String>;

/// Writes down each span of a consumer that ends, with its fields.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Vec<(&'static str, Fields)>>>);

struct Open(Fields);

impl tracing::field::Visit for Open {
    fn record_str(&mut self, field: &tracing::field::Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

impl<S> Layer<S> for Spans
where
    S: tracing::Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(
        &self,
        attributes: &tracing::span::Attributes<'_>,
        id: &tracing::span::Id,
        context: Context<'_, S>,
    ) {
        let mut open = Open(Fields::new());
        attributes.record(&mut open);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(open);
        }
    }

    fn on_record(
        &self,
        id: &tracing::span::Id,
        values: &tracing::span::Record<'_>,
        context: Context<'_, S>,
    ) {
        if let Some(span) = context.span(id)
            && let Some(open) = span.extensions_mut().get_mut::<Open>()
        {
            values.record(open);
        }
    }

    fn on_close(&self, id: tracing::span::Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else {
            return;
        };
        if span.metadata().target() == "copart::consumer"
            && let Some(open) = span.extensions_mut().remove::<Open>()
        {
            let mut seen = self.0.lock().expect("no panic");
            seen.push((span.name(), open.0));
        }
    }
}

impl Spans {
    fn of(&self, name: &str) -> Vec<Fields> {
        let seen = self.0.lock().expect("no panic");
        let of = seen.iter().filter(|(known, _)| *known == name);
        of.map(|(_, fields)| fields.clone()).collect()
    }
}

#[tokio::test]
async fn spans_of_a_consumer_have_opentelemetrys_names() {
    let spans = Spans::default();
    let subscriber = tracing_subscriber::registry().with(spans.clone());
    let _guard = tracing::subscriber::set_default(subscriber);
    let broker = Broker::builder().topic("orders", 2).start().await;
    let broker = broker.expect("starts");
    let client = Client::builder(broker.bootstrap()).connect().await;
    let client = client.expect("a broker");
    let producer = client.producer().partitioner(Partitioning::manual());
    let producer = producer.build().expect("good");
    let record = ProducerRecord::to("orders")
        .partition(1)
        .key("k")
        .value("v");
    producer.send(record).await.expect("written");
    let consumer = client.consumer("billing").topic("orders");
    let consumer = consumer.protocol(GroupProtocol::Consumer).build();
    let mut consumer = consumer.expect("a consumer");
    let batch = tokio::time::timeout(Duration::from_secs(60), consumer.recv()).await;
    let batch = batch.expect("in time").expect("more").expect("a batch");
    // The first try is refused.
    let refusal = Fault::Error(ErrorCode::COORDINATOR_LOAD_IN_PROGRESS);
    broker.inject(ApiKey::OffsetCommit, None, 1, refusal);
    batch.commit().await.expect("committed");
    consumer
        .close(Duration::from_secs(30))
        .await
        .expect("closed");

    let common = |fields: &Fields, operation: &str, kind: &str, span: &str| {
        assert_eq!(fields["messaging.system"], "kafka", "{fields:?}");
        assert_eq!(fields["messaging.operation.name"], operation);
        assert_eq!(fields["messaging.operation.type"], kind);
        assert_eq!(fields["otel.kind"], span);
        assert_eq!(fields["messaging.consumer.group.name"], "billing");
    };
    let polls = spans.of("poll");
    assert!(!polls.is_empty());
    for poll in &polls {
        common(poll, "poll", "receive", "client");
        assert!(poll["server.address"].contains("node"), "{poll:?}");
    }
    let sizes = polls
        .iter()
        .filter_map(|poll| poll.get("messaging.message.body.size"));
    let total: usize = sizes
        .map(|size| size.parse::<usize>().expect("a number"))
        .sum();
    assert_eq!(total, 61 + 9, "one batch with one record");

    let [process] = spans.of("process").try_into().expect("one batch");
    common(&process, "process", "process", "consumer");
    assert_eq!(process["messaging.destination.name"], "orders");
    assert_eq!(process["messaging.destination.partition.id"], "1");

    let of_record: Vec<_> = spans
        .of("commit")
        .into_iter()
        .filter(|commit| {
            commit
                .get("messaging.kafka.offset")
                .is_some_and(|at| at == "1")
        })
        .collect();
    let [refused, accepted] = of_record.as_slice() else {
        panic!("two tries: {of_record:?}");
    };
    for commit in [refused, accepted] {
        common(commit, "commit", "settle", "client");
        assert_eq!(commit["otel.name"], "commit orders");
        assert_eq!(commit["messaging.destination.name"], "orders");
        assert_eq!(commit["messaging.destination.partition.id"], "1");
        assert_eq!(commit["messaging.kafka.partitions"], "1");
    }
    assert_eq!(refused["otel.status_code"], "ERROR");
    assert!(
        refused["error.type"].contains("COORDINATOR_LOAD_IN_PROGRESS"),
        "{refused:?}"
    );
    assert!(!accepted.contains_key("error.type"), "{accepted:?}");
}
