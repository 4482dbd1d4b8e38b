//! Spans of producing and consuming, with the names of OpenTelemetry's conventions for messaging.
//!
//! <https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/>: `create` for what makes messages,
//! `send` for what hands them to the broker. Both are of a batch, never of a record: who does not listen to
//! them pays a load for each batch.

use tracing::{Span, field};

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
