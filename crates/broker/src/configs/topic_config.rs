//! A topic's effective settings, typed.

use std::str::FromStr;

use copart_protocol::records::TimestampType;

use super::definition::list;
use super::settings::{BrokerSettings, Values};
use crate::log::LogConfig;

/// A topic's effective settings. Fields are named as Kafka's.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TopicConfig {
    /// `min.insync.replicas`
    pub(crate) min_insync_replicas: usize,
    /// `unclean.leader.election.enable`
    pub(crate) unclean_leader_election: bool,
    /// `min.cleanable.dirty.ratio`: when compaction is worth it.
    pub(crate) min_cleanable_dirty_ratio: f64,
    /// `max.compaction.lag.ms`: when compaction must come at the latest.
    pub(crate) max_compaction_lag_ms: i64,
    /// What goes to the log. Durability and reads are not a topic's matter.
    log: LogConfig,
}

impl TopicConfig {
    /// What the settings come to. The error says which value cannot be read.
    pub(crate) fn resolve(overrides: &Values, broker: BrokerSettings<'_>) -> Result<Self, String> {
        let read = Reader { overrides, broker };
        let policies = read.text("cleanup.policy")?;
        let policies = list(&policies);
        let segment_bytes = match read.find("internal.segment.bytes") {
            Some(_) => read.number::<i64>("internal.segment.bytes")?,
            None => read.number::<i64>("segment.bytes")?,
        };
        let segment_bytes = u64::try_from(segment_bytes).unwrap_or(0).max(1);
        let preallocate = read.flag("preallocate")?;
        let log = LogConfig {
            segment_bytes,
            segment_ms: read.number("segment.ms")?,
            segment_index_bytes: read.number("segment.index.bytes")?,
            index_interval_bytes: read.number("index.interval.bytes")?,
            retention_ms: read.number("retention.ms")?,
            retention_bytes: read.number("retention.bytes")?,
            deletes: policies.contains(&"delete"),
            compacts: policies.contains(&"compact"),
            delete_retention_ms: read.number("delete.retention.ms")?,
            min_compaction_lag_ms: read.number("min.compaction.lag.ms")?,
            max_message_bytes: read.number("max.message.bytes")?,
            message_timestamp_type: match read.text("message.timestamp.type")?.as_str() {
                "LogAppendTime" => TimestampType::LogAppendTime,
                _ => TimestampType::CreateTime,
            },
            message_timestamp_before_max_ms: read.number("message.timestamp.before.max.ms")?,
            message_timestamp_after_max_ms: read.number("message.timestamp.after.max.ms")?,
            producer_id_expiration_ms: read.broker_number("producer.id.expiration.ms")?,
            preallocate_bytes: if preallocate { segment_bytes } else { 0 },
            max_decompressed_bytes: read.number("max.decompressed.message.bytes")?,
            ..LogConfig::default()
        };
        let max_compaction_lag_ms = read.number("max.compaction.lag.ms")?;
        if log.min_compaction_lag_ms > max_compaction_lag_ms {
            return Err(format!(
                "min.compaction.lag.ms={} is more than max.compaction.lag.ms={max_compaction_lag_ms}",
                log.min_compaction_lag_ms
            ));
        }
        Ok(Self {
            min_insync_replicas: read.number("min.insync.replicas")?,
            unclean_leader_election: read.flag("unclean.leader.election.enable")?,
            min_cleanable_dirty_ratio: read.number("min.cleanable.dirty.ratio")?,
            max_compaction_lag_ms,
            log,
        })
    }

    /// What the topic's logs are told. `base` has what no topic setting says:
    /// durability, whether reads are verified, and how far ahead space is
    /// reserved unless the topic has its segments reserved as a whole.
    pub(crate) fn log_config(&self, base: &LogConfig) -> LogConfig {
        LogConfig {
            durability: base.durability,
            verify_reads: base.verify_reads,
            preallocate_bytes: match self.log.preallocate_bytes {
                0 => base.preallocate_bytes,
                whole => whole,
            },
            ..self.log.clone()
        }
    }
}

struct Reader<'a> {
    overrides: &'a Values,
    broker: BrokerSettings<'a>,
}

impl Reader<'_> {
    fn find(&self, name: &'static str) -> Option<String> {
        self.broker.topic_value(self.overrides, name)
    }

    fn text(&self, name: &'static str) -> Result<String, String> {
        let value = self.find(name);
        value
            .map(|value| value.trim().to_owned())
            .ok_or_else(|| format!("{name} has no value"))
    }

    fn number<T: FromStr>(&self, name: &'static str) -> Result<T, String> {
        parse(name, &self.text(name)?)
    }

    fn broker_number<T: FromStr>(&self, name: &'static str) -> Result<T, String> {
        broker_number(self.broker, name)
    }

    fn flag(&self, name: &'static str) -> Result<bool, String> {
        Ok(self.text(name)?.eq_ignore_ascii_case("true"))
    }
}

/// The value of a broker's setting that is a number.
pub(super) fn broker_number<T: FromStr>(
    broker: BrokerSettings<'_>,
    name: &'static str,
) -> Result<T, String> {
    let value = broker.value(name);
    parse(name, &value.ok_or_else(|| format!("{name} has no value"))?)
}

fn parse<T: FromStr>(name: &str, value: &str) -> Result<T, String> {
    let parsed = value.trim().parse();
    parsed.map_err(|_| format!("{name} cannot be {value:?}"))
}
