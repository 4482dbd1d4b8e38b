//! The settings of topics, all that Kafka 4.4 knows.

use ConfigType::{Boolean, Double, Int, List, Long, String};

use super::ConfigType;
use super::definition::{Check, Definition, define, define_null};

pub(super) const COMPRESSION_TYPES: &[&str] =
    &["uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"];
pub(super) const CLEANUP_POLICIES: &[&str] = &["compact", "delete"];
pub(super) const TIMESTAMP_TYPES: &[&str] = &["CreateTime", "LogAppendTime"];
/// Kafka's is the largest array of Java. Ours says how much memory a stranger's
/// batch may take while it is looked at.
pub(super) const MAX_DECOMPRESSED: &str = "67108864";

/// In the order of their names.
#[rustfmt::skip]
pub(crate) static TOPIC: &[Definition] = &[
    define("cleanup.policy", List, "delete", Check::ListOf(CLEANUP_POLICIES), "Old segments are deleted, or compacted to the last record of each key, or both."),
    define("compression.gzip.level", Int, "-1", Check::GzipLevel, "The level, if the broker compresses with gzip."),
    define("compression.lz4.level", Int, "9", Check::Between(1, 17), "The level, if the broker compresses with lz4."),
    define("compression.type", String, "producer", Check::OneOf(COMPRESSION_TYPES), "Batches are stored as producers send them."),
    define("compression.zstd.level", Int, "3", Check::Between(-131_072, 22), "The level, if the broker compresses with zstd."),
    define("delete.retention.ms", Long, "86400000", Check::AtLeast(0), "How long tombstones stay in a compacted topic, in milliseconds."),
    define("errors.deadletterqueue.group.enable", Boolean, "false", Check::Any, "May share groups write their dead letters here?"),
    define("file.delete.delay.ms", Long, "60000", Check::AtLeast(0), "How long the files of deleted segments stay, in milliseconds. Here they go at once; readers that have them open go on."),
    define("flush.messages", Long, "9223372036854775807", Check::AtLeast(1), "After how many records to sync."),
    define("flush.ms", Long, "9223372036854775807", Check::AtLeast(0), "After how many milliseconds to sync."),
    define("follower.replication.throttled.replicas", List, "", Check::ThrottledReplicas, "Replicas whose followers are throttled. Nothing is replicated here, so nothing exceeds it."),
    define("index.interval.bytes", Int, "4096", Check::AtLeast(0), "How many bytes of batches lie between two index entries."),
    define_null("internal.segment.bytes", Int, Check::Any, "The size of a segment, also below the least of segment.bytes. For tests."),
    define("leader.replication.throttled.replicas", List, "", Check::ThrottledReplicas, "Replicas whose leaders are throttled. Nothing is replicated here, so nothing exceeds it."),
    define("local.retention.bytes", Long, "-2", Check::AtLeast(-2), "How many bytes stay here once they are in remote storage, which this broker does not have."),
    define("local.retention.ms", Long, "-2", Check::AtLeast(-2), "How long records stay here once they are in remote storage, which this broker does not have."),
    define("max.compaction.lag.ms", Long, "9223372036854775807", Check::AtLeast(1), "How long a record may stay uncompacted, in milliseconds."),
    define("max.decompressed.message.bytes", Int, MAX_DECOMPRESSED, Check::Between(1, 2_147_483_639), "The most bytes that one batch may decompress to."),
    define("max.message.bytes", Int, "1048588", Check::AtLeast(0), "The largest batch, as it is sent."),
    define("message.timestamp.after.max.ms", Long, "3600000", Check::AtLeast(0), "How far a record's timestamp may lie in the future, in milliseconds."),
    define("message.timestamp.before.max.ms", Long, "9223372036854775807", Check::AtLeast(0), "How far a record's timestamp may lie in the past, in milliseconds."),
    define("message.timestamp.type", String, "CreateTime", Check::OneOf(TIMESTAMP_TYPES), "Whose clock a record's timestamp is from: the producer's or the broker's."),
    define("min.cleanable.dirty.ratio", Double, "0.5", Check::Fraction, "How much of a log is uncompacted when compaction is worth it."),
    define("min.compaction.lag.ms", Long, "0", Check::AtLeast(0), "How long a record stays uncompacted at least, in milliseconds."),
    define("min.insync.replicas", Int, "1", Check::AtLeast(1), "How many replicas must be in sync for a write with acks=all."),
    define("preallocate", Boolean, "false", Check::Any, "Is a segment's space reserved when it begins?"),
    define("remote.copy.lag.bytes", Long, "-1", Check::AtLeast(-1), "How much may wait to be copied to remote storage, which this broker does not have."),
    define("remote.copy.lag.ms", Long, "0", Check::AtLeast(-1), "How long records may wait to be copied to remote storage, which this broker does not have."),
    define("remote.log.copy.disable", Boolean, "false", Check::Any, "Is nothing more copied to remote storage?"),
    define("remote.log.delete.on.disable", Boolean, "false", Check::Any, "Does what is in remote storage go when it is switched off?"),
    define("remote.storage.enable", Boolean, "false", Check::Any, "Are old segments kept in remote storage? This broker has none."),
    define("retention.bytes", Long, "-1", Check::Any, "How many bytes a partition may hold before its oldest segments go; -1 for no limit."),
    define("retention.ms", Long, "604800000", Check::AtLeast(-1), "How long records stay, in milliseconds; -1 for ever."),
    define("segment.bytes", Int, "1073741824", Check::AtLeast(1_048_576), "The size of a segment."),
    define("segment.index.bytes", Int, "10485760", Check::AtLeast(4), "The size of a segment's index. A segment whose index is full is full."),
    define("segment.jitter.ms", Long, "0", Check::AtLeast(0), "How much earlier than segment.ms a segment may end, at random."),
    define("segment.ms", Long, "604800000", Check::AtLeast(1), "After how many milliseconds a segment ends, even if it is not full."),
    define("unclean.leader.election.enable", Boolean, "false", Check::Any, "May a replica lead that does not have all records, if no other runs?"),
];

/// A setting of brokers that stands for a topic's, and how many of the topic's
/// units one of its units is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Synonym {
    pub(crate) name: &'static str,
    pub(super) factor: i64,
}

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

const fn same(name: &'static str) -> Synonym {
    Synonym { name, factor: 1 }
}

const fn times(name: &'static str, factor: i64) -> Synonym {
    Synonym { name, factor }
}

/// Which settings of brokers are a topic's defaults, the strongest first.
#[rustfmt::skip]
pub(crate) static SYNONYMS: &[(&str, &[Synonym])] = &[
    ("cleanup.policy", &[same("log.cleanup.policy")]),
    ("compression.gzip.level", &[same("compression.gzip.level")]),
    ("compression.lz4.level", &[same("compression.lz4.level")]),
    ("compression.type", &[same("compression.type")]),
    ("compression.zstd.level", &[same("compression.zstd.level")]),
    ("delete.retention.ms", &[same("log.cleaner.delete.retention.ms")]),
    ("file.delete.delay.ms", &[same("log.segment.delete.delay.ms")]),
    ("flush.messages", &[same("log.flush.interval.messages")]),
    ("flush.ms", &[same("log.flush.interval.ms"), same("log.flush.scheduler.interval.ms")]),
    ("index.interval.bytes", &[same("log.index.interval.bytes")]),
    ("local.retention.bytes", &[same("log.local.retention.bytes")]),
    ("local.retention.ms", &[same("log.local.retention.ms")]),
    ("max.compaction.lag.ms", &[same("log.cleaner.max.compaction.lag.ms")]),
    ("max.decompressed.message.bytes", &[same("max.decompressed.message.bytes")]),
    ("max.message.bytes", &[same("message.max.bytes")]),
    ("message.timestamp.after.max.ms", &[same("log.message.timestamp.after.max.ms")]),
    ("message.timestamp.before.max.ms", &[same("log.message.timestamp.before.max.ms")]),
    ("message.timestamp.type", &[same("log.message.timestamp.type")]),
    ("min.cleanable.dirty.ratio", &[same("log.cleaner.min.cleanable.ratio")]),
    ("min.compaction.lag.ms", &[same("log.cleaner.min.compaction.lag.ms")]),
    ("min.insync.replicas", &[same("min.insync.replicas")]),
    ("preallocate", &[same("log.preallocate")]),
    ("remote.copy.lag.bytes", &[same("log.remote.copy.lag.bytes")]),
    ("remote.copy.lag.ms", &[same("log.remote.copy.lag.ms")]),
    ("retention.bytes", &[same("log.retention.bytes")]),
    ("retention.ms", &[same("log.retention.ms"), times("log.retention.minutes", MINUTE), times("log.retention.hours", HOUR)]),
    ("segment.bytes", &[same("log.segment.bytes")]),
    ("segment.index.bytes", &[same("log.index.size.max.bytes")]),
    ("segment.jitter.ms", &[same("log.roll.jitter.ms"), times("log.roll.jitter.hours", HOUR)]),
    ("segment.ms", &[same("log.roll.ms"), times("log.roll.hours", HOUR)]),
    ("unclean.leader.election.enable", &[same("unclean.leader.election.enable")]),
];

/// The brokers' settings that are the defaults of a topic's setting.
pub(crate) fn synonyms(name: &str) -> &'static [Synonym] {
    SYNONYMS
        .iter()
        .find(|(topic, _)| *topic == name)
        .map_or(&[], |(_, synonyms)| synonyms)
}

impl Synonym {
    /// The value in the topic's unit.
    pub(super) fn convert(&self, value: &str) -> std::string::String {
        match value.trim().parse::<i64>() {
            // No limit is no limit in any unit.
            Ok(number) if self.factor > 1 && number > 0 => {
                number.saturating_mul(self.factor).to_string()
            }
            _ => value.to_owned(),
        }
    }
}
