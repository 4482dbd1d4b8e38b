//! The settings of brokers that this one has: those that it honours, and facts
//! that clients look up.

use ConfigType::{Boolean, Double, Int, List, Long, Short, String};
use Update::{Dynamic, Fact, Static};

use super::ConfigType;
use super::definition::{Check, Definition, define, define_null};
use super::topic::{CLEANUP_POLICIES, COMPRESSION_TYPES, MAX_DECOMPRESSED, TIMESTAMP_TYPES};

/// A setting of brokers.
#[derive(Debug)]
pub(crate) struct BrokerDefinition {
    pub(crate) definition: Definition,
    pub(crate) update: Update,
}

/// Who sets it, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Update {
    /// Clients, while the broker runs; and whoever starts it.
    Dynamic,
    /// Whoever starts the broker.
    Static,
    /// Nobody: the broker says how it is.
    Fact,
}

const fn row(definition: Definition, update: Update) -> BrokerDefinition {
    BrokerDefinition { definition, update }
}

const ANY: Check = Check::Any;
const POSITIVE: Check = Check::AtLeast(1);
const NOT_NEGATIVE: Check = Check::AtLeast(0);

/// In the order of their names. Defaults that are not Kafka's are listed, with
/// reasons, in the test that compares the table with Kafka's.
#[rustfmt::skip]
pub(crate) static BROKER: &[BrokerDefinition] = &[
    row(define_null("advertised.listeners", List, ANY, "Where clients find this node."), Fact),
    row(define("authorizer.class.name", String, "", ANY, "Who decides what clients may do. Empty: they may do all."), Fact),
    row(define("auto.create.topics.enable", Boolean, "true", ANY, "Is a topic made when a client asks for it and it is not there?"), Static),
    row(define("auto.leader.rebalance.enable", Boolean, "false", ANY, "Does leadership return to preferred replicas by itself? Here only when a client has them elected."), Fact),
    row(define("broker.id", Int, "-1", ANY, "The node's id; node.id is the newer name."), Fact),
    row(define_null("broker.rack", String, ANY, "The node's rack."), Fact),
    row(define("compression.gzip.level", Int, "-1", Check::GzipLevel, "The default of the topic setting of this name."), Dynamic),
    row(define("compression.lz4.level", Int, "9", Check::Between(1, 17), "The default of the topic setting of this name."), Dynamic),
    row(define("compression.type", String, "producer", Check::OneOf(COMPRESSION_TYPES), "The default of the topic setting of this name."), Dynamic),
    row(define("compression.zstd.level", Int, "3", Check::Between(-131_072, 22), "The default of the topic setting of this name."), Dynamic),
    row(define("connections.max.idle.ms", Long, "600000", ANY, "After how many idle milliseconds a connection is closed."), Fact),
    row(define("copart.replication.simulated", Boolean, "true", ANY, "Nodes of this broker share one durable copy of each partition: replicas, ISRs and elections are shown, and lose nothing, but a lost disk is lost."), Fact),
    row(define("default.replication.factor", Int, "1", ANY, "How many replicas a topic has if nobody says."), Static),
    row(define("delete.topic.enable", Boolean, "true", ANY, "May topics be deleted?"), Static),
    row(define("fetch.max.bytes", Int, "57671680", Check::AtLeast(1024), "The most bytes that one fetch answers."), Fact),
    row(define("follower.replication.throttled.rate", Long, "9223372036854775807", NOT_NEGATIVE, "How fast followers may catch up. Nothing is replicated here, so nothing exceeds it."), Dynamic),
    row(define("group.consumer.assignors", List, "uniform,range", ANY, "The assignors of consumer groups, the default first."), Fact),
    row(define("group.consumer.heartbeat.interval.ms", Int, "500", POSITIVE, "How often members of consumer groups send heartbeats."), Static),
    row(define("group.consumer.max.heartbeat.interval.ms", Int, "15000", POSITIVE, "The largest heartbeat interval of a consumer group."), Static),
    row(define("group.consumer.max.session.timeout.ms", Int, "60000", POSITIVE, "The longest session of a consumer group."), Static),
    row(define("group.consumer.max.size", Int, "2147483647", POSITIVE, "The most members of a consumer group."), Static),
    row(define("group.consumer.min.heartbeat.interval.ms", Int, "100", POSITIVE, "The smallest heartbeat interval of a consumer group."), Static),
    row(define("group.consumer.min.session.timeout.ms", Int, "45000", POSITIVE, "The shortest session of a consumer group."), Static),
    row(define("group.consumer.session.timeout.ms", Int, "45000", POSITIVE, "After how many milliseconds without a heartbeat a member is gone."), Static),
    row(define("group.coordinator.rebalance.protocols", List, "classic,consumer", ANY, "The kinds of groups that there are."), Fact),
    row(define("group.initial.rebalance.delay.ms", Int, "0", ANY, "How long the first member of a classic group waits for more."), Static),
    row(define("group.max.session.timeout.ms", Int, "1800000", ANY, "The longest session of a classic group."), Static),
    row(define("group.max.size", Int, "2147483647", POSITIVE, "The most members of a classic group."), Static),
    row(define("group.min.session.timeout.ms", Int, "6000", ANY, "The shortest session of a classic group."), Static),
    row(define_null("inter.broker.listener.name", String, ANY, "The listener between brokers. There is none."), Fact),
    row(define("leader.replication.throttled.rate", Long, "9223372036854775807", NOT_NEGATIVE, "How fast leaders may serve followers. Nothing is replicated here, so nothing exceeds it."), Dynamic),
    row(define("listener.security.protocol.map", String, "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT", ANY, "Which protocol each listener speaks."), Fact),
    row(define("listeners", List, "PLAINTEXT://:9092", ANY, "Where this node listens."), Fact),
    row(define("log.cleaner.delete.retention.ms", Long, "86400000", NOT_NEGATIVE, "The default of delete.retention.ms."), Dynamic),
    row(define("log.cleaner.enable", Boolean, "true", ANY, "Are logs compacted at all?"), Fact),
    row(define("log.cleaner.max.compaction.lag.ms", Long, "9223372036854775807", POSITIVE, "The default of max.compaction.lag.ms."), Dynamic),
    row(define("log.cleaner.min.cleanable.ratio", Double, "0.5", Check::Fraction, "The default of min.cleanable.dirty.ratio."), Dynamic),
    row(define("log.cleaner.min.compaction.lag.ms", Long, "0", NOT_NEGATIVE, "The default of min.compaction.lag.ms."), Dynamic),
    row(define("log.cleanup.policy", List, "delete", Check::ListOf(CLEANUP_POLICIES), "The default of cleanup.policy."), Dynamic),
    row(define("log.dir", List, "/tmp/kafka-logs", ANY, "The data directory; log.dirs is the newer name."), Fact),
    row(define_null("log.dirs", List, ANY, "The data directory."), Fact),
    row(define("log.flush.interval.messages", Long, "9223372036854775807", POSITIVE, "The default of flush.messages."), Dynamic),
    row(define_null("log.flush.interval.ms", Long, ANY, "The default of flush.ms."), Dynamic),
    row(define("log.flush.scheduler.interval.ms", Long, "9223372036854775807", ANY, "The default of flush.ms, if log.flush.interval.ms is not set."), Static),
    row(define("log.index.interval.bytes", Int, "4096", NOT_NEGATIVE, "The default of index.interval.bytes."), Dynamic),
    row(define("log.index.size.max.bytes", Int, "10485760", Check::AtLeast(4), "The default of segment.index.bytes."), Dynamic),
    row(define("log.local.retention.bytes", Long, "-2", Check::AtLeast(-2), "The default of local.retention.bytes."), Dynamic),
    row(define("log.local.retention.ms", Long, "-2", Check::AtLeast(-2), "The default of local.retention.ms."), Dynamic),
    row(define("log.message.timestamp.after.max.ms", Long, "3600000", NOT_NEGATIVE, "The default of message.timestamp.after.max.ms."), Dynamic),
    row(define("log.message.timestamp.before.max.ms", Long, "9223372036854775807", NOT_NEGATIVE, "The default of message.timestamp.before.max.ms."), Dynamic),
    row(define("log.message.timestamp.type", String, "CreateTime", Check::OneOf(TIMESTAMP_TYPES), "The default of message.timestamp.type."), Dynamic),
    row(define("log.preallocate", Boolean, "false", ANY, "The default of preallocate."), Dynamic),
    row(define("log.remote.copy.lag.bytes", Long, "-1", Check::AtLeast(-1), "The default of remote.copy.lag.bytes."), Dynamic),
    row(define("log.remote.copy.lag.ms", Long, "0", Check::AtLeast(-1), "The default of remote.copy.lag.ms."), Dynamic),
    row(define("log.retention.bytes", Long, "-1", ANY, "The default of retention.bytes."), Dynamic),
    row(define("log.retention.check.interval.ms", Long, "300000", POSITIVE, "How often old segments are looked for."), Static),
    row(define("log.retention.hours", Int, "168", ANY, "The default of retention.ms, in hours."), Static),
    row(define_null("log.retention.minutes", Int, ANY, "The default of retention.ms, in minutes; stronger than hours."), Static),
    row(define_null("log.retention.ms", Long, ANY, "The default of retention.ms; stronger than minutes."), Dynamic),
    row(define("log.roll.hours", Int, "168", POSITIVE, "The default of segment.ms, in hours."), Static),
    row(define("log.roll.jitter.hours", Int, "0", NOT_NEGATIVE, "The default of segment.jitter.ms, in hours."), Static),
    row(define_null("log.roll.jitter.ms", Long, ANY, "The default of segment.jitter.ms; stronger than hours."), Dynamic),
    row(define_null("log.roll.ms", Long, ANY, "The default of segment.ms; stronger than hours."), Dynamic),
    row(define("log.segment.bytes", Int, "1073741824", Check::AtLeast(1_048_576), "The default of segment.bytes."), Dynamic),
    row(define("log.segment.delete.delay.ms", Long, "60000", NOT_NEGATIVE, "The default of file.delete.delay.ms."), Dynamic),
    row(define("max.decompressed.message.bytes", Int, MAX_DECOMPRESSED, Check::Between(1, 2_147_483_639), "The default of the topic setting of this name."), Dynamic),
    row(define("max.incremental.fetch.session.cache.slots", Int, "1000", NOT_NEGATIVE, "How many fetch sessions are remembered."), Fact),
    row(define("max.request.partition.size.limit", Int, "2000", POSITIVE, "The most partitions in one answer to DescribeTopicPartitions."), Static),
    row(define("message.max.bytes", Int, "1048588", NOT_NEGATIVE, "The default of max.message.bytes."), Dynamic),
    row(define("min.insync.replicas", Int, "1", POSITIVE, "The default of the topic setting of this name."), Dynamic),
    row(define_null("node.id", Int, NOT_NEGATIVE, "The node's id."), Fact),
    row(define("num.partitions", Int, "1", POSITIVE, "How many partitions a topic has if nobody says."), Static),
    row(define("offset.metadata.max.bytes", Int, "4096", ANY, "The longest metadata of a committed offset."), Static),
    row(define("offsets.retention.check.interval.ms", Long, "600000", POSITIVE, "How often offsets are looked through for those that expired."), Static),
    row(define("offsets.retention.minutes", Int, "10080", POSITIVE, "How long the offsets of a group without members stay."), Static),
    row(define("offsets.topic.num.partitions", Int, "50", POSITIVE, "The partitions of __consumer_offsets."), Static),
    row(define("offsets.topic.replication.factor", Short, "3", POSITIVE, "The replicas of __consumer_offsets, or as many as there are nodes."), Static),
    row(define("offsets.topic.segment.bytes", Int, "104857600", POSITIVE, "The size of a segment of __consumer_offsets."), Static),
    row(define("process.roles", List, "broker,controller", ANY, "What the process is."), Fact),
    row(define("producer.id.expiration.ms", Int, "86400000", POSITIVE, "After how many silent milliseconds a producer is forgotten."), Dynamic),
    row(define("remote.log.storage.system.enable", Boolean, "false", ANY, "Is there remote storage?"), Fact),
    row(define("replica.alter.log.dirs.io.max.bytes.per.second", Long, "9223372036854775807", NOT_NEGATIVE, "How fast replicas may move to other directories. There is one, so none moves."), Dynamic),
    row(define("replica.lag.time.max.ms", Long, "30000", ANY, "How long a replica may lag in the ISR. None ever lags here."), Fact),
    row(define("security.inter.broker.protocol", String, "PLAINTEXT", ANY, "The protocol between brokers. There is none."), Fact),
    row(define("socket.request.max.bytes", Int, "104857600", POSITIVE, "The largest request."), Fact),
    row(define("transaction.max.timeout.ms", Int, "900000", POSITIVE, "The longest timeout of a transaction."), Static),
    row(define("transaction.state.log.min.isr", Int, "2", POSITIVE, "min.insync.replicas of __transaction_state, or as many as it has replicas."), Static),
    row(define("transaction.state.log.num.partitions", Int, "50", POSITIVE, "The partitions of __transaction_state."), Static),
    row(define("transaction.state.log.replication.factor", Short, "3", POSITIVE, "The replicas of __transaction_state, or as many as there are nodes."), Static),
    row(define("transaction.state.log.segment.bytes", Int, "104857600", POSITIVE, "The size of a segment of __transaction_state."), Static),
    row(define("transactional.id.expiration.ms", Int, "604800000", POSITIVE, "After how many silent milliseconds a transactional id is forgotten."), Static),
    row(define("unclean.leader.election.enable", Boolean, "false", ANY, "The default of the topic setting of this name."), Dynamic),
];

/// The setting of this name, if this broker has it.
pub(crate) fn broker(name: &str) -> Option<&'static BrokerDefinition> {
    let index = BROKER.binary_search_by(|row| row.definition.name.cmp(name));
    Some(&BROKER[index.ok()?])
}
