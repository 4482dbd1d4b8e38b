//! Readers.

use super::PropertyClients::{Both, Java, Librdkafka};
use super::{PropertyKey, taken, without_effect};

pub(super) const KEYS: &[PropertyKey] = &[
    without_effect("auto.commit.interval.ms", Both, "groups are not there yet"),
    taken(
        "auto.offset.reset",
        Both,
        "where to read on if an offset is gone: earliest, latest, none or `by_duration:PT…`",
    ),
    without_effect("check.crcs", Both, "checksums are compared, always"),
    without_effect(
        "consume.callback.max.messages",
        Librdkafka,
        "there are no callbacks",
    ),
    without_effect(
        "coordinator.query.interval.ms",
        Librdkafka,
        "groups are not there yet",
    ),
    without_effect("enable.auto.commit", Both, "groups are not there yet"),
    without_effect(
        "enable.auto.offset.store",
        Librdkafka,
        "groups are not there yet",
    ),
    without_effect(
        "enable.partition.eof",
        Librdkafka,
        "readers know where partitions end",
    ),
    without_effect("exclude.internal.topics", Java, "topics are named in code"),
    without_effect(
        "fetch.error.backoff.ms",
        Librdkafka,
        "`retry.backoff.ms` is the wait between tries",
    ),
    taken("fetch.max.bytes", Both, "the most bytes of one answer"),
    taken(
        "fetch.max.wait.ms",
        Java,
        "how long a broker waits for them",
    ),
    taken(
        "fetch.message.max.bytes",
        Librdkafka,
        "the same as `max.partition.fetch.bytes`",
    ),
    taken("fetch.min.bytes", Both, "bytes that a broker waits for"),
    without_effect(
        "fetch.queue.backoff.ms",
        Librdkafka,
        "fetching goes on as soon as there is room",
    ),
    taken(
        "fetch.wait.max.ms",
        Librdkafka,
        "the same as `fetch.max.wait.ms`",
    ),
    without_effect(
        "group.id",
        Both,
        "readers have no group; groups are not there yet",
    ),
    without_effect("group.instance.id", Both, "groups are not there yet"),
    without_effect("group.protocol", Both, "groups are not there yet"),
    without_effect(
        "group.protocol.type",
        Librdkafka,
        "groups are not there yet",
    ),
    without_effect("group.remote.assignor", Both, "groups are not there yet"),
    without_effect("heartbeat.interval.ms", Both, "groups are not there yet"),
    taken(
        "isolation.level",
        Both,
        "read_committed or read_uncommitted",
    ),
    without_effect("key.deserializer", Java, "the types in code decide"),
    taken(
        "max.partition.fetch.bytes",
        Java,
        "the most bytes of one partition in an answer",
    ),
    without_effect("max.poll.interval.ms", Both, "groups are not there yet"),
    without_effect("max.poll.records", Java, "a batch comes as it was written"),
    without_effect(
        "offset.store.method",
        Librdkafka,
        "groups are not there yet",
    ),
    without_effect(
        "partition.assignment.strategy",
        Both,
        "groups are not there yet",
    ),
    taken(
        "queued.max.messages.kbytes",
        Librdkafka,
        "KiB of records that are held ahead of the reader",
    ),
    without_effect(
        "queued.min.messages",
        Librdkafka,
        "bytes are counted, not records",
    ),
    without_effect("session.timeout.ms", Both, "groups are not there yet"),
    without_effect("value.deserializer", Java, "the types in code decide"),
];
