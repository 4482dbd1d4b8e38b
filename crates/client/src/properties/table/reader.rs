//! Readers and consumers.

use super::PropertyClients::{Both, Java, Librdkafka};
use super::{PropertyKey, taken, without_effect};

pub(super) const KEYS: &[PropertyKey] = &[
    taken(
        "auto.commit.interval.ms",
        Both,
        "how often consumers commit; 0: only when the program says so",
    ),
    taken(
        "auto.offset.reset",
        Both,
        "where to begin if nothing is committed, and to read on if an offset is gone: earliest, latest, none or `by_duration:PT…`",
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
        "the coordinator is looked for when it is gone",
    ),
    taken(
        "enable.auto.commit",
        Both,
        "true: consumers commit what was processed; false: only when the program says so",
    ),
    without_effect(
        "enable.auto.offset.store",
        Librdkafka,
        "what is said to be done is processed",
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
    taken("group.id", Both, "the group; `Properties::group` has it"),
    taken(
        "group.instance.id",
        Both,
        "makes a consumer a static member",
    ),
    taken(
        "group.protocol",
        Both,
        "classic or consumer; without it, consumer where the broker has it",
    ),
    without_effect(
        "group.protocol.type",
        Librdkafka,
        "groups of consumers are of the type `consumer`",
    ),
    taken(
        "group.remote.assignor",
        Both,
        "how the broker assigns in the consumer protocol",
    ),
    taken(
        "heartbeat.interval.ms",
        Both,
        "how often a classic member shows that it is there",
    ),
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
    taken(
        "max.poll.interval.ms",
        Both,
        "how long processing a batch may take, and a rebalance",
    ),
    without_effect("max.poll.records", Java, "a batch comes as it was written"),
    without_effect(
        "offset.store.method",
        Librdkafka,
        "offsets are kept by the broker",
    ),
    taken(
        "partition.assignment.strategy",
        Both,
        "names of assignors, or Java's classes",
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
    taken(
        "session.timeout.ms",
        Both,
        "after so long a silence a classic member is out",
    ),
    without_effect("value.deserializer", Java, "the types in code decide"),
];
