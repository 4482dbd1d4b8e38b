//! Spans of producing and consuming, with the names of OpenTelemetry's conventions for messaging.
//!
//! <https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/>: `create` for what makes messages,
//! `send` for what hands them to the broker, `receive` for what gets them, `process` for what the program does with
//! them, `settle` for what says that they are processed; Kafka's names for two of these are `poll` and `commit`. All are
//! of a batch or a request, never of a record: who does not listen to them pays a load for each.

use tracing::{Span, field};

use crate::consumer::Committed;
use crate::{Error, TopicPartition};

/// From a batch's first record until it goes out for the first time. Its parent is the span of whoever sent
/// that record.
pub(crate) fn create(topic: &str, partition: i32) -> Span {
    tracing::info_span!(
        target: "copart::producer",
        "create",
        otel.name = format_args!("create {topic}"),
        otel.kind = "producer",
        messaging.system = "kafka",
        messaging.operation.name = "create",
        messaging.operation.type = "create",
        messaging.destination.name = topic,
        messaging.destination.partition.id = partition,
        messaging.batch.message_count = field::Empty,
    )
}

/// From when a batch is put on a connection until the answer: one for each attempt. It follows from `create`.
pub(crate) fn send(
    topic: &str,
    partition: i32,
    records: u32,
    bytes: usize,
    broker: &str,
    create: &Span,
) -> Span {
    let span = tracing::info_span!(
        target: "copart::producer",
        parent: None,
        "send",
        otel.name = format_args!("send {topic}"),
        otel.kind = "client",
        otel.status_code = field::Empty,
        messaging.system = "kafka",
        messaging.operation.name = "send",
        messaging.operation.type = "send",
        messaging.destination.name = topic,
        messaging.destination.partition.id = partition,
        messaging.batch.message_count = records,
        messaging.message.body.size = bytes,
        messaging.kafka.offset = field::Empty,
        server.address = broker,
        error.type = field::Empty,
    );
    span.follows_from(create);
    span
}

/// The broker has the batch.
pub(crate) fn written(span: &Span, base_offset: Option<i64>) {
    if let Some(offset) = base_offset {
        span.record("messaging.kafka.offset", offset);
    }
}

/// It does not, or does not say so.
pub(crate) fn failed(span: &Span, reason: &dyn std::fmt::Display) {
    if !span.is_disabled() {
        span.record("otel.status_code", "ERROR");
        span.record("error.type", field::display(reason));
    }
}

/// From when a consumer hands a batch out until it is let go.
pub(crate) fn process(
    group: &str,
    topic: &str,
    partition: i32,
    offset: i64,
    records: usize,
) -> Span {
    tracing::info_span!(
        target: "copart::consumer",
        parent: None,
        "process",
        otel.name = format_args!("process {topic}"),
        otel.kind = "consumer",
        messaging.system = "kafka",
        messaging.operation.name = "process",
        messaging.operation.type = "process",
        messaging.destination.name = topic,
        messaging.destination.partition.id = partition,
        messaging.consumer.group.name = group,
        messaging.kafka.offset = offset,
        messaging.batch.message_count = records,
    )
}

/// A fetch, of all partitions that are read from a broker: until the answer. It is for those who look closely, as
/// it waits for records and may bring none.
pub(crate) fn poll(group: Option<&str>, broker: &str, partitions: usize) -> Span {
    tracing::debug_span!(
        target: "copart::consumer",
        parent: None,
        "poll",
        otel.name = "poll",
        otel.kind = "client",
        otel.status_code = field::Empty,
        messaging.system = "kafka",
        messaging.operation.name = "poll",
        messaging.operation.type = "receive",
        messaging.consumer.group.name = group,
        messaging.message.body.size = field::Empty,
        messaging.kafka.partitions = partitions,
        server.address = broker,
        error.type = field::Empty,
    )
}

/// A fetch has brought so many bytes of batches.
pub(crate) fn received(span: &Span, bytes: usize) {
    span.record("messaging.message.body.size", bytes);
}

/// A request that commits offsets, until the answer: one for each attempt. Where all are of one topic, or of one
/// partition, it names it.
pub(crate) fn commit<'a>(
    group: &str,
    broker: &str,
    mut offsets: impl Iterator<Item = (&'a TopicPartition, &'a Committed)>,
    count: usize,
) -> Span {
    let span = tracing::info_span!(
        target: "copart::consumer",
        parent: None,
        "commit",
        otel.name = field::Empty,
        otel.kind = "client",
        otel.status_code = field::Empty,
        messaging.system = "kafka",
        messaging.operation.name = "commit",
        messaging.operation.type = "settle",
        messaging.destination.name = field::Empty,
        messaging.destination.partition.id = field::Empty,
        messaging.consumer.group.name = group,
        messaging.kafka.offset = field::Empty,
        messaging.kafka.partitions = count,
        server.address = broker,
        error.type = field::Empty,
    );
    if span.is_disabled() {
        return span;
    }
    let first = offsets.next();
    let topic = first.map(|(partition, _)| &partition.topic);
    match topic.filter(|topic| offsets.all(|(partition, _)| partition.topic == **topic)) {
        Some(topic) => {
            span.record("otel.name", field::display(format_args!("commit {topic}")));
            span.record("messaging.destination.name", &**topic);
        }
        None => {
            span.record("otel.name", "commit");
        }
    }
    if let Some((partition, offset)) = first.filter(|_| count == 1) {
        span.record("messaging.destination.partition.id", partition.partition);
        span.record("messaging.kafka.offset", offset.offset);
    }
    span
}

/// A request of a consumer was not carried out.
pub(crate) fn unanswered(span: &Span, error: &Error) {
    failed(span, &error.kind());
}
