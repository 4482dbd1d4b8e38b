//! Connections and metadata.

use super::PropertyClients::{Both, Java, Librdkafka};
use super::{PropertyKey, refused, taken, without_effect};

pub(super) const KEYS: &[PropertyKey] = &[
    taken(
        "allow.auto.create.topics",
        Both,
        "whether topics are created by asking for them",
    ),
    without_effect(
        "api.version.fallback.ms",
        Librdkafka,
        "brokers are always asked which versions they have",
    ),
    without_effect(
        "api.version.request",
        Librdkafka,
        "brokers are always asked which versions they have",
    ),
    without_effect(
        "api.version.request.timeout.ms",
        Librdkafka,
        "part of the time to connect",
    ),
    without_effect(
        "auto.include.jmx.reporter",
        Java,
        "figures go to the `metrics` facade",
    ),
    taken("bootstrap.servers", Both, "the addresses to begin with"),
    without_effect(
        "broker.address.family",
        Librdkafka,
        "all addresses of a name are tried",
    ),
    without_effect(
        "broker.address.ttl",
        Librdkafka,
        "the operating system caches addresses",
    ),
    without_effect(
        "broker.version.fallback",
        Librdkafka,
        "brokers are always asked which versions they have",
    ),
    without_effect(
        "builtin.features",
        Librdkafka,
        "says what a build of librdkafka can do",
    ),
    without_effect(
        "client.dns.lookup",
        Java,
        "all addresses of a name are tried, always",
    ),
    taken("client.id", Both, "what the client calls itself"),
    taken(
        "client.rack",
        Both,
        "the rack that the client stands in: readers read in it, and spreading can stay in it",
    ),
    without_effect(
        "client.software.name",
        Librdkafka,
        "the client says its own name",
    ),
    without_effect(
        "client.software.version",
        Librdkafka,
        "the client says its own version",
    ),
    refused(
        "config.providers",
        Java,
        "values are taken as they stand: put them in place before the file is read",
    ),
    without_effect(
        "connections.max.idle.ms",
        Java,
        "connections stay open while the client lives",
    ),
    without_effect(
        "debug",
        Librdkafka,
        "events go to `tracing`; its filter chooses",
    ),
    taken(
        "default.api.timeout.ms",
        Java,
        "how long consumers' commits may take; other calls have timeouts of their own in code",
    ),
    without_effect(
        "enable.metrics.push",
        Librdkafka,
        "figures go to the `metrics` facade",
    ),
    without_effect("enable.random.seed", Librdkafka, "there is nothing to seed"),
    refused(
        "interceptor.classes",
        Java,
        "classes of Java's cannot run here: leave it out",
    ),
    without_effect(
        "internal.termination.signal",
        Librdkafka,
        "there are no threads to wake",
    ),
    without_effect("log.connection.close", Librdkafka, "events go to `tracing`"),
    without_effect("log.queue", Librdkafka, "events go to `tracing`"),
    without_effect("log.thread.name", Librdkafka, "events go to `tracing`"),
    without_effect(
        "log_level",
        Librdkafka,
        "events go to `tracing`; its filter chooses",
    ),
    taken(
        "max.in.flight",
        Librdkafka,
        "the same as `max.in.flight.requests.per.connection`",
    ),
    taken(
        "metadata.broker.list",
        Librdkafka,
        "the same as `bootstrap.servers`",
    ),
    taken("metadata.max.age.ms", Both, "how old metadata may get"),
    taken(
        "metadata.max.idle.ms",
        Java,
        "how long metadata of a topic is kept that nobody uses",
    ),
    without_effect(
        "metadata.recovery.rebootstrap.trigger.ms",
        Java,
        "the client begins again as soon as no known broker answers",
    ),
    without_effect(
        "metadata.recovery.strategy",
        Java,
        "the client begins again from `bootstrap.servers` by itself (KIP-899)",
    ),
    without_effect(
        "metric.reporters",
        Java,
        "figures go to the `metrics` facade",
    ),
    without_effect(
        "metrics.num.samples",
        Java,
        "figures go to the `metrics` facade",
    ),
    without_effect(
        "metrics.recording.level",
        Java,
        "figures go to the `metrics` facade",
    ),
    without_effect(
        "metrics.sample.window.ms",
        Java,
        "figures go to the `metrics` facade",
    ),
    refused(
        "plugin.library.paths",
        Librdkafka,
        "librdkafka's plugins cannot run here: leave it out",
    ),
    without_effect(
        "receive.buffer.bytes",
        Java,
        "the operating system sizes socket buffers",
    ),
    taken(
        "receive.message.max.bytes",
        Librdkafka,
        "the largest answer that is read",
    ),
    taken(
        "reconnect.backoff.max.ms",
        Both,
        "the longest wait before a broker is dialled again",
    ),
    taken(
        "reconnect.backoff.ms",
        Both,
        "the first wait before a broker is dialled again",
    ),
    taken("request.timeout.ms", Java, "how long an answer may take"),
    taken(
        "retry.backoff.max.ms",
        Both,
        "the longest wait between tries",
    ),
    taken("retry.backoff.ms", Both, "the first wait between tries"),
    taken(
        "security.protocol",
        Both,
        "PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL",
    ),
    without_effect(
        "send.buffer.bytes",
        Java,
        "the operating system sizes socket buffers",
    ),
    without_effect(
        "socket.connection.setup.timeout.max.ms",
        Java,
        "the time to connect does not grow",
    ),
    taken(
        "socket.connection.setup.timeout.ms",
        Both,
        "how long opening a connection may take",
    ),
    without_effect(
        "socket.keepalive.enable",
        Librdkafka,
        "the client sees dead connections by the time an answer takes",
    ),
    without_effect(
        "socket.max.fails",
        Librdkafka,
        "a connection is given up at the first failure",
    ),
    without_effect(
        "socket.nagle.disable",
        Librdkafka,
        "Nagle's algorithm is off, always",
    ),
    without_effect(
        "socket.receive.buffer.bytes",
        Librdkafka,
        "the operating system sizes socket buffers",
    ),
    without_effect(
        "socket.send.buffer.bytes",
        Librdkafka,
        "the operating system sizes socket buffers",
    ),
    taken(
        "socket.timeout.ms",
        Librdkafka,
        "the same as Java's `request.timeout.ms`",
    ),
    without_effect(
        "statistics.interval.ms",
        Librdkafka,
        "figures go to the `metrics` facade",
    ),
    without_effect(
        "topic.blacklist",
        Librdkafka,
        "only topics in use are asked for",
    ),
    without_effect(
        "topic.metadata.propagation.max.ms",
        Librdkafka,
        "a topic counts as unknown after six answers in a row",
    ),
    without_effect(
        "topic.metadata.refresh.fast.interval.ms",
        Librdkafka,
        "`retry.backoff.ms` is the wait between tries",
    ),
    taken(
        "topic.metadata.refresh.interval.ms",
        Librdkafka,
        "the same as `metadata.max.age.ms`",
    ),
    without_effect(
        "topic.metadata.refresh.sparse",
        Librdkafka,
        "only topics in use are asked for, always",
    ),
];
