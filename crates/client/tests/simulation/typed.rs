//! Typed producers.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use copart::serializers::{
    Context, Error as SerdeError, ErrorKind as SerdeKind, Format, Int64, Optional, Payload,
    Preparation, Result as SerdeResult, Serialize, Sink, Utf8,
};
use copart::{ErrorKind, Partitioning, Producer, ProducerRecord};

use crate::cluster::{SimCluster, TOPIC};
use crate::faults::Faults;
use crate::workload::{client, runtime};

fn producer(cluster: &std::sync::Arc<SimCluster>) -> Producer {
    client(cluster)
        .producer()
        .partitioner(Partitioning::like("java").expect("known"))
        .max_block(Duration::from_secs(5))
        .build()
        .expect("the configuration is good")
}

fn cluster(partitions: usize) -> std::sync::Arc<SimCluster> {
    SimCluster::new(1, 1, partitions, Faults::new(1, 0, false))
}

#[test]
fn keys_are_bytes_before_they_are_placed() {
    runtime().block_on(async {
        let cluster = cluster(12);
        let producer = producer(&cluster);
        let numbers = producer.typed(Int64, Utf8);
        for number in [0, 1, -1, i64::MAX, i64::MIN] {
            let record = ProducerRecord::to(TOPIC).key(number).value("text");
            let typed = numbers.send(record).await.expect("written");
            let bytes = number.to_be_bytes();
            let record = ProducerRecord::to(TOPIC).key(bytes).value("text");
            let plain = producer.send(record).await.expect("written");
            assert_eq!(typed.partition, plain.partition);
            let written = &cluster.records(typed.partition)[typed.offset.expect("told") as usize];
            assert_eq!(written.key(), Some(&bytes[..]));
            assert_eq!(written.value(), Some(&b"text"[..]));
        }
    });
}

#[test]
fn null_is_written_where_it_is_asked_for() {
    runtime().block_on(async {
        let cluster = cluster(1);
        let typed = producer(&cluster).typed(Optional(Utf8), Optional(Utf8));
        let to = || ProducerRecord::to(TOPIC);
        let nothing = None::<&str>;
        typed
            .send(to().key(Some("")).value(nothing))
            .await
            .expect("written");
        typed
            .send(to().key(nothing).value(Some("")))
            .await
            .expect("written");
        typed.send(to().key(Some("k"))).await.expect("written");
        typed.send(to()).await.expect("written");
        let found: Vec<_> = cluster
            .records(0)
            .iter()
            .map(|record| (record.key_bytes(), record.value_bytes()))
            .collect();
        let text = |text: &'static str| Some(bytes::Bytes::from(text));
        assert_eq!(
            found,
            [
                (text(""), None),
                (None, text("")),
                (text("k"), None),
                (None, None)
            ]
        );
    });
}

/// What a serializer with a schema registry is: it fetches an id for each topic, and adds it as a header.
#[derive(Default)]
struct Registered {
    ids: Mutex<Vec<String>>,
    fetches: AtomicUsize,
    down: bool,
    hangs: bool,
}

impl Format for Registered {
    fn prepare<'a>(
        &'a self,
        context: &'a Context<'a>,
        _: Option<Payload<'a>>,
    ) -> Option<Preparation<'a>> {
        Some(Box::pin(async move {
            self.fetches.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(Duration::from_secs(if self.hangs { 60 } else { 1 })).await;
            if self.down {
                return Err(SerdeError::new(
                    SerdeKind::Unavailable,
                    context,
                    "no registry",
                ));
            }
            self.ids.lock().unwrap().push(context.topic().to_owned());
            Ok(())
        }))
    }
}

impl Serialize<&str> for Registered {
    fn serialize(
        &self,
        context: &Context<'_>,
        value: &&str,
        out: &mut Sink<'_>,
    ) -> SerdeResult<()> {
        if value.is_empty() {
            return Err(SerdeError::new(
                SerdeKind::Unserializable,
                context,
                "no text",
            ));
        }
        if !self
            .ids
            .lock()
            .unwrap()
            .iter()
            .any(|topic| topic == context.topic())
        {
            return Err(SerdeError::new(SerdeKind::Unprepared, context, "no id yet"));
        }
        let own = context.header("own").unwrap_or_default().to_vec();
        out.add_header(context, "schema-id", &own)?;
        out.put(value.as_bytes());
        Ok(())
    }
}

#[test]
fn what_has_to_be_fetched_is_fetched_once() {
    runtime().block_on(async {
        let cluster = cluster(1);
        let format = std::sync::Arc::new(Registered::default());
        let typed = producer(&cluster).typed(Utf8, std::sync::Arc::clone(&format));
        let record = || {
            ProducerRecord::to(TOPIC)
                .key("k")
                .value("text")
                .header("own", b"7")
        };
        typed.producer().prepare(TOPIC).await.expect("there");
        let rejected = typed.try_enqueue(record()).expect_err("not prepared");
        assert_eq!(rejected.error().kind(), ErrorKind::Full);
        let (record, _) = rejected.into_parts();
        typed.send(record).await.expect("written");
        for _ in 0..3 {
            let record = ProducerRecord::to(TOPIC).key("k").value("text");
            drop(typed.enqueue(record).await.expect("taken"));
        }
        typed.prepare(TOPIC).await.expect("prepared");
        typed.close(Duration::from_secs(10)).await;
        let log = cluster.records(0);
        assert_eq!(log.len(), 4);
        let headers: Vec<_> = log[0].headers().iter().map(|header| header.value).collect();
        // The serializer saw the record's header, and its own stands behind it.
        assert_eq!(headers, [Some(&b"7"[..]), Some(b"7")]);
        assert_eq!(log[1].headers().len(), 1);
        assert_eq!(format.fetches.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn what_cannot_be_written_says_why() {
    runtime().block_on(async {
        let cluster = cluster(1);
        let producer = producer(&cluster);
        let record = || ProducerRecord::to(TOPIC).key("k").value("text");
        let down = Registered {
            down: true,
            ..Registered::default()
        };
        let error = producer
            .typed(Utf8, down)
            .send(record())
            .await
            .expect_err("down");
        assert_eq!(
            (error.kind(), error.is_retriable()),
            (ErrorKind::Encoding, true)
        );
        assert!(error.to_string().contains("value: no registry"), "{error}");

        let hangs = Registered {
            hangs: true,
            ..Registered::default()
        };
        let error = producer
            .typed(Utf8, hangs)
            .send(record())
            .await
            .expect_err("hangs");
        assert_eq!(error.kind(), ErrorKind::Timeout);

        let typed = producer.typed(Utf8, Registered::default());
        let empty = ProducerRecord::to(TOPIC).key("k").value("");
        let error = typed.enqueue(empty).await.expect_err("no text");
        assert_eq!(
            (error.kind(), error.is_retriable()),
            (ErrorKind::Encoding, false)
        );
        assert!(cluster.records(0).is_empty());
    });
}
