//! Interceptors, trace headers and metrics.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use copart::{
    Acknowledgement, Client, Interceptor, OutgoingRecord, Partitioning, ProducerBuilder,
    ProducerRecord, TraceContext, TraceInjector,
};

use crate::cluster::{SimCluster, TOPIC};
use crate::faults::Faults;
use crate::workload::{client, runtime};

fn cluster() -> Arc<SimCluster> {
    SimCluster::new(1, 1, 1, Faults::new(1, 0, false))
}

fn builder(client: &Client) -> ProducerBuilder<copart::NamedPartitioner> {
    client
        .producer()
        .partitioner(Partitioning::like("java").expect("known"))
}

#[derive(Clone, Default)]
struct Watching(Arc<Mutex<Vec<String>>>);

impl Interceptor for Watching {
    fn on_send(&self, record: &mut OutgoingRecord<'_>) {
        let names: Vec<_> = record
            .headers()
            .map(|header| String::from_utf8_lossy(header.key).into_owned())
            .collect();
        record.set_header("seen", b"yes");
        self.0.lock().unwrap().push(names.join(","));
    }

    fn on_acknowledged(&self, batch: &Acknowledgement<'_>) {
        self.0.lock().unwrap().push(format!(
            "{}-{}: {} from {:?}, {}",
            batch.topic,
            batch.partition,
            batch.records,
            batch.base_offset,
            batch
                .error
                .map_or("no error".into(), |error| error.kind().to_string())
        ));
    }
}

const CONTEXT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

#[test]
fn interceptors_see_each_record_and_each_outcome() {
    runtime().block_on(async {
        let cluster = cluster();
        let client = client(&cluster);
        let watching = Watching::default();
        let producer = builder(&client)
            .interceptor(TraceInjector::new(|| {
                TraceContext::parse(CONTEXT, Some("v=1"))
            }))
            .interceptor(watching.clone())
            .build()
            .expect("the configuration is good");
        let record = ProducerRecord::to(TOPIC)
            .key("k")
            .value("v")
            .header("own", b"1");
        producer.send(record).await.expect("written");
        // A context of the record's own stays.
        let own = ProducerRecord::to(TOPIC)
            .key("k")
            .value("v")
            .header("traceparent", b"x");
        drop(producer.try_enqueue(own).expect("taken"));
        producer.close(Duration::from_secs(10)).await;
        assert_eq!(
            *watching.0.lock().unwrap(),
            [
                "own,traceparent,tracestate",
                "events-0: 1 from Some(0), no error",
                "traceparent",
                "events-0: 1 from Some(1), no error",
            ]
        );
        let log = cluster.records(0);
        let header = |at: usize, name| log[at].headers().last(name).and_then(|h| h.value);
        assert_eq!(header(0, "traceparent"), Some(CONTEXT.as_bytes()));
        assert_eq!(header(0, "tracestate"), Some(&b"v=1"[..]));
        assert_eq!(header(0, "seen"), Some(&b"yes"[..]));
        assert_eq!(header(1, "traceparent"), Some(&b"x"[..]));
        assert_eq!(header(1, "tracestate"), None);
    });
}

#[test]
fn a_failure_is_told_to_interceptors() {
    runtime().block_on(async {
        let cluster = cluster();
        cluster
            .max_message
            .store(70, std::sync::atomic::Ordering::Relaxed);
        let client = client(&cluster);
        let watching = Watching::default();
        let producer = builder(&client)
            .interceptor(watching.clone())
            .build()
            .expect("the configuration is good");
        let record = ProducerRecord::to(TOPIC).key("k").value("much too large");
        let error = producer.send(record).await.expect_err("too large");
        assert_eq!(error.kind(), copart::ErrorKind::TooLarge);
        let seen = watching.0.lock().unwrap();
        assert_eq!(seen[1], "events-0: 1 from None, too large");
    });
}

/// Writes down the names of all metrics.
#[derive(Default)]
struct Names(Mutex<BTreeSet<String>>);

impl Names {
    fn add(&self, name: &str) {
        self.0.lock().unwrap().insert(name.to_owned());
    }
}

impl metrics::Recorder for Names {
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
        self.add(key.name());
        metrics::Counter::noop()
    }

    fn register_gauge(&self, key: &metrics::Key, _: &metrics::Metadata<'_>) -> metrics::Gauge {
        self.add(key.name());
        metrics::Gauge::noop()
    }

    fn register_histogram(
        &self,
        key: &metrics::Key,
        _: &metrics::Metadata<'_>,
    ) -> metrics::Histogram {
        self.add(key.name());
        metrics::Histogram::noop()
    }
}

#[test]
fn every_metric_is_in_the_book() {
    let book = include_str!("../../../../docs/src/client.md");
    let names = Names::default();
    metrics::with_local_recorder(&names, || {
        for seed in 0..5 {
            let scenario = crate::workload::Scenario::small_brokers(seed);
            crate::workload::run(seed, scenario);
        }
    });
    let names = names.0.lock().unwrap();
    assert!(names.len() > 8, "{names:?}");
    let absent: Vec<_> = names
        .iter()
        .filter(|name| !book.contains(&format!("`{name}`")))
        .collect();
    assert!(absent.is_empty(), "not in docs/src/client.md: {absent:?}");
}
