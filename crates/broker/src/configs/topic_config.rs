//! A topic's effective settings, typed.

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
    log: LogConfig,
}

impl TopicConfig {
    /// What the topic's logs are told. `base` has what no topic setting says.
    pub(crate) fn log_config(&self, base: &LogConfig) -> LogConfig {
        unimplemented!()
    }
}
