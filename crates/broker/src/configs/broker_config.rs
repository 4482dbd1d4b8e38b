//! A broker's effective settings, typed, as far as the broker itself reads
//! them.

use super::settings::BrokerSettings;
use super::topic_config::broker_number;

/// A broker's effective settings. Fields are named as Kafka's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BrokerConfig {
    pub(crate) num_partitions: i32,
    pub(crate) default_replication_factor: i16,
    pub(crate) auto_create_topics_enable: bool,
    pub(crate) delete_topic_enable: bool,
    /// The most partitions in one answer to DescribeTopicPartitions.
    pub(crate) max_request_partition_size_limit: i32,
    pub(crate) offsets_topic_num_partitions: i32,
    /// No more than there are nodes, unless it was set.
    pub(crate) offsets_topic_replication_factor: i16,
    pub(crate) offsets_topic_segment_bytes: i32,
    pub(crate) transaction_state_log_num_partitions: i32,
    /// No more than there are nodes, unless it was set.
    pub(crate) transaction_state_log_replication_factor: i16,
    pub(crate) transaction_state_log_min_isr: i32,
    pub(crate) transaction_state_log_segment_bytes: i32,
    pub(crate) transaction_max_timeout_ms: i32,
    pub(crate) transactional_id_expiration_ms: i32,
    pub(crate) producer_id_expiration_ms: i32,
    pub(crate) log_retention_check_interval_ms: i64,
    pub(crate) group_initial_rebalance_delay_ms: i32,
    pub(crate) group_min_session_timeout_ms: i32,
    pub(crate) group_max_session_timeout_ms: i32,
    pub(crate) group_max_size: i32,
    pub(crate) group_consumer_session_timeout_ms: i32,
    pub(crate) group_consumer_heartbeat_interval_ms: i32,
    pub(crate) group_consumer_max_size: i32,
    pub(crate) offset_metadata_max_bytes: i32,
    pub(crate) offsets_retention_minutes: i32,
    pub(crate) offsets_retention_check_interval_ms: i64,
}

impl BrokerConfig {
    /// What the settings come to. The error says which value cannot be read.
    pub(crate) fn resolve(broker: BrokerSettings<'_>) -> Result<Self, String> {
        let flag = |name| {
            let value = broker.value(name).unwrap_or_default();
            value.trim().eq_ignore_ascii_case("true")
        };
        Ok(Self {
            num_partitions: broker_number(broker, "num.partitions")?,
            default_replication_factor: broker_number(broker, "default.replication.factor")?,
            auto_create_topics_enable: flag("auto.create.topics.enable"),
            delete_topic_enable: flag("delete.topic.enable"),
            max_request_partition_size_limit: broker_number(
                broker,
                "max.request.partition.size.limit",
            )?,
            offsets_topic_num_partitions: broker_number(broker, "offsets.topic.num.partitions")?,
            offsets_topic_replication_factor: broker_number(
                broker,
                "offsets.topic.replication.factor",
            )?,
            offsets_topic_segment_bytes: broker_number(broker, "offsets.topic.segment.bytes")?,
            transaction_state_log_num_partitions: broker_number(
                broker,
                "transaction.state.log.num.partitions",
            )?,
            transaction_state_log_replication_factor: broker_number(
                broker,
                "transaction.state.log.replication.factor",
            )?,
            transaction_state_log_min_isr: broker_number(broker, "transaction.state.log.min.isr")?,
            transaction_state_log_segment_bytes: broker_number(
                broker,
                "transaction.state.log.segment.bytes",
            )?,
            transaction_max_timeout_ms: broker_number(broker, "transaction.max.timeout.ms")?,
            transactional_id_expiration_ms: broker_number(
                broker,
                "transactional.id.expiration.ms",
            )?,
            producer_id_expiration_ms: broker_number(broker, "producer.id.expiration.ms")?,
            log_retention_check_interval_ms: broker_number(
                broker,
                "log.retention.check.interval.ms",
            )?,
            group_initial_rebalance_delay_ms: broker_number(
                broker,
                "group.initial.rebalance.delay.ms",
            )?,
            group_min_session_timeout_ms: broker_number(broker, "group.min.session.timeout.ms")?,
            group_max_session_timeout_ms: broker_number(broker, "group.max.session.timeout.ms")?,
            group_max_size: broker_number(broker, "group.max.size")?,
            group_consumer_session_timeout_ms: broker_number(
                broker,
                "group.consumer.session.timeout.ms",
            )?,
            group_consumer_heartbeat_interval_ms: broker_number(
                broker,
                "group.consumer.heartbeat.interval.ms",
            )?,
            group_consumer_max_size: broker_number(broker, "group.consumer.max.size")?,
            offset_metadata_max_bytes: broker_number(broker, "offset.metadata.max.bytes")?,
            offsets_retention_minutes: broker_number(broker, "offsets.retention.minutes")?,
            offsets_retention_check_interval_ms: broker_number(
                broker,
                "offsets.retention.check.interval.ms",
            )?,
        })
    }
}
