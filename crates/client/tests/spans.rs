//! Spans with OpenTelemetry's names. One test in a process of its own: `tracing` remembers for each place in the
//! code whether anybody listens, and other tests run without a listener.

#![allow(dead_code, unreachable_pub, reason = "modules of another test")]

#[path = "simulation/cluster.rs"]
mod cluster;
#[path = "simulation/faults.rs"]
mod faults;
#[path = "simulation/fetch.rs"]
mod fetch;
#[path = "simulation/network.rs"]
mod network;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use copart::{Client, Partitioning, ProducerRecord};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

use cluster::{SimCluster, TOPIC};
use faults::Faults;
use network::Network;

/// Writes down each span that begins and ends, with its fields.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Vec<String>>>);

struct Fields(String);

impl tracing::field::Visit for Fields {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        use std::fmt::Write;
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

impl<S> Layer<S> for Spans
where
    S: tracing::Subscriber + for<'a> tracing_subscriber::registry::LookupSpan<'a>,
{
    fn on_new_span(
        &self,
        attributes: &tracing::span::Attributes<'_>,
        id: &tracing::span::Id,
        context: Context<'_, S>,
    ) {
        let parent = context
            .span(id)
            .and_then(|span| span.parent().map(|p| p.name()));
        let mut fields = Fields(format!("+ {} in {parent:?}", attributes.metadata().name()));
        attributes.record(&mut fields);
        self.0.lock().unwrap().push(fields.0);
    }

    fn on_record(
        &self,
        id: &tracing::span::Id,
        values: &tracing::span::Record<'_>,
        context: Context<'_, S>,
    ) {
        let name = context.span(id).map_or("?", |span| span.name());
        let mut fields = Fields(format!("= {name}"));
        values.record(&mut fields);
        self.0.lock().unwrap().push(fields.0);
    }

    fn on_follows_from(
        &self,
        span: &tracing::span::Id,
        follows: &tracing::span::Id,
        context: Context<'_, S>,
    ) {
        let name = |id| context.span(id).map_or("?", |span| span.name());
        let line = format!("{} follows {}", name(span), name(follows));
        self.0.lock().unwrap().push(line);
    }

    fn on_close(&self, id: tracing::span::Id, context: Context<'_, S>) {
        let name = context.span(&id).map_or("?", |span| span.name());
        self.0.lock().unwrap().push(format!("- {name}"));
    }
}

#[test]
fn spans_have_opentelemetrys_names() {
    let spans = Spans::default();
    let subscriber = tracing_subscriber::registry().with(spans.clone());
    let _guard = tracing::subscriber::set_default(subscriber);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let cluster = SimCluster::new(1, 1, 1, Faults::new(1, 0, false));
        let producer = Client::builder("b0:9092")
            .transport(Network(cluster))
            .connect_lazily()
            .expect("the configuration is good")
            .producer()
            .partitioner(Partitioning::like("java").expect("known"))
            .build()
            .expect("the configuration is good");
        producer.prepare(TOPIC).await.expect("there");
        spans.0.lock().unwrap().clear();
        let outer = tracing::info_span!("outer");
        let deliveries: Vec<_> = outer.in_scope(|| {
            (0..3)
                .map(|_| {
                    let record = ProducerRecord::to(TOPIC).key("k").value("v");
                    producer.try_enqueue(record).expect("taken")
                })
                .collect()
        });
        drop(outer);
        for delivery in deliveries {
            delivery.await.expect("written");
        }
        producer.close(Duration::from_secs(10)).await;
    });
    let seen = spans.0.lock().unwrap();
    let size = 61 + 3 * 9;
    let common = r#"messaging.system="kafka""#;
    let place = r#"messaging.destination.name="events" messaging.destination.partition.id=0"#;
    let expected = [
        "+ outer in None".to_owned(),
        format!(
            "+ create in Some(\"outer\") otel.name=create events otel.kind=\"producer\" {common} \
             messaging.operation.name=\"create\" messaging.operation.type=\"create\" {place}"
        ),
        "= create messaging.batch.message_count=3".to_owned(),
        format!(
            "+ send in None otel.name=send events otel.kind=\"client\" {common} \
             messaging.operation.name=\"send\" messaging.operation.type=\"send\" {place} \
             messaging.batch.message_count=3 messaging.message.body.size={size} \
             server.address=\"b0:9092 (node 0)\""
        ),
        "send follows create".to_owned(),
        "- create".to_owned(),
        "- outer".to_owned(),
        "= send messaging.kafka.offset=0".to_owned(),
        "- send".to_owned(),
    ];
    assert_eq!(*seen, expected);
}
