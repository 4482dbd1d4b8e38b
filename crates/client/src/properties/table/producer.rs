//! Producers.

use super::PropertyClients::{Both, Java, Librdkafka};
use super::{PropertyKey, refused, taken, without_effect};

pub(super) const KEYS: &[PropertyKey] = &[
    taken("acks", Both, "how many replicas must have a record"),
    without_effect(
        "batch.num.messages",
        Librdkafka,
        "batches are closed by size and linger",
    ),
    taken("batch.size", Both, "bytes after which a batch is closed"),
    taken(
        "buffer.memory",
        Java,
        "bytes that are held until they are delivered",
    ),
    taken(
        "compression.codec",
        Librdkafka,
        "the same as `compression.type`",
    ),
    taken("compression.gzip.level", Java, "gzip's level"),
    taken(
        "compression.level",
        Librdkafka,
        "the codec's level; -1 for its default",
    ),
    taken("compression.lz4.level", Java, "lz4's level"),
    taken("compression.type", Both, "none, gzip, snappy, lz4 or zstd"),
    taken("compression.zstd.level", Java, "zstd's level"),
    without_effect(
        "delivery.report.only.error",
        Librdkafka,
        "deliveries are awaited in code",
    ),
    taken(
        "delivery.timeout.ms",
        Java,
        "how long delivery may take, retries included",
    ),
    without_effect("dr_cb", Librdkafka, "deliveries are awaited in code"),
    without_effect(
        "enable.gapless.guarantee",
        Librdkafka,
        "a batch that fails fails alone, and its error says so",
    ),
    taken(
        "enable.idempotence",
        Both,
        "whether brokers recognise retries",
    ),
    without_effect("key.serializer", Java, "the types in code decide"),
    taken("linger.ms", Both, "how long a batch waits for more"),
    taken(
        "max.block.ms",
        Java,
        "how long a record may wait for metadata and memory",
    ),
    taken(
        "max.in.flight.requests.per.connection",
        Both,
        "requests to one broker without an answer",
    ),
    taken("max.request.size", Java, "the largest request, and record"),
    without_effect(
        "message.copy.max.bytes",
        Librdkafka,
        "records are encoded straight into the batch that is sent",
    ),
    taken("message.max.bytes", Both, "the same as `max.request.size`"),
    taken(
        "message.send.max.retries",
        Librdkafka,
        "the same as `retries`",
    ),
    taken(
        "message.timeout.ms",
        Librdkafka,
        "the same as `delivery.timeout.ms`",
    ),
    taken(
        "partitioner",
        Librdkafka,
        "whose rule places keys: see below",
    ),
    taken(
        "partitioner.adaptive.partitioning.enable",
        Java,
        "whether spreading looks at the queues",
    ),
    taken(
        "partitioner.availability.timeout.ms",
        Java,
        "when a broker that takes nothing gets no more",
    ),
    taken(
        "partitioner.class",
        Java,
        "whose rule places keys: see below",
    ),
    taken("partitioner.ignore.keys", Java, "true spreads all records"),
    taken(
        "partitioner.rack.aware",
        Java,
        "whether spreading stays in `client.rack`",
    ),
    without_effect(
        "queue.buffering.backpressure.threshold",
        Librdkafka,
        "batches are closed by size and linger",
    ),
    taken("queue.buffering.max.kbytes", Librdkafka, "the same in KiB"),
    without_effect(
        "queue.buffering.max.messages",
        Librdkafka,
        "bytes are counted, not records",
    ),
    taken(
        "queue.buffering.max.ms",
        Librdkafka,
        "the same as `linger.ms`",
    ),
    without_effect("queuing.strategy", Librdkafka, "first in, first out"),
    taken("request.required.acks", Librdkafka, "the same as `acks`"),
    taken(
        "retries",
        Both,
        "above 0; 0 is refused: `delivery.timeout.ms` bounds retries",
    ),
    without_effect(
        "sticky.partitioning.linger.ms",
        Librdkafka,
        "records without keys move on when a batch is full",
    ),
    without_effect(
        "transaction.timeout.ms",
        Java,
        "transactions are not there yet",
    ),
    without_effect(
        "transaction.two.phase.commit.enable",
        Java,
        "transactions are not there yet",
    ),
    refused(
        "transactional.id",
        Java,
        "transactions are not there yet: leave it out, or keep this producer where it is",
    ),
    without_effect("value.serializer", Java, "the types in code decide"),
];
