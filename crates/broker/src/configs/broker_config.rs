//! A broker's effective settings, typed, as far as the broker itself reads them.

/// A broker's effective settings. Fields are named as Kafka's.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BrokerConfig {
    pub(crate) num_partitions: i32,
    pub(crate) default_replication_factor: i16,
    pub(crate) auto_create_topics_enable: bool,
    pub(crate) delete_topic_enable: bool,
    pub(crate) message_max_bytes: usize,
    pub(crate) offsets_topic_num_partitions: i32,
    pub(crate) offsets_topic_replication_factor: i16,
    pub(crate) transaction_state_log_num_partitions: i32,
    pub(crate) transaction_state_log_replication_factor: i16,
    pub(crate) transaction_max_timeout_ms: i32,
    pub(crate) transactional_id_expiration_ms: i32,
    pub(crate) producer_id_expiration_ms: i64,
    pub(crate) log_retention_check_interval_ms: i64,
}
