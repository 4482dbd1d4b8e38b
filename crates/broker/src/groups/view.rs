//! The cluster's state, as coordinators see it.

use copart_protocol::Uuid;

use super::env::{Cluster, ConsumerGroupConfig, TopicInfo};
use crate::cluster::Controller;

/// Looks things up in the controller.
pub(super) struct View<'a>(pub(super) &'a Controller);

impl Cluster for View<'_> {
    fn topic(&self, name: &str) -> Option<TopicInfo> {
        let topic = self.0.topic(name)?;
        Some(TopicInfo {
            id: topic.id,
            partitions: i32::try_from(topic.partitions.len()).unwrap_or(i32::MAX),
        })
    }

    fn topic_name(&self, id: Uuid) -> Option<String> {
        self.0.topic_by_id(id).map(|topic| topic.name.clone())
    }

    fn each_topic(&self, visit: &mut dyn FnMut(&str)) {
        for topic in self.0.topics() {
            visit(&topic.name);
        }
    }

    fn version(&self) -> i64 {
        self.0.metadata_end_offset()
    }

    fn group_config(&self, group: &str) -> ConsumerGroupConfig {
        let broker = self.0.broker_config();
        let setting = |name, default| {
            let value = self.0.group_setting(group, name);
            value
                .and_then(|value| value.trim().parse().ok())
                .unwrap_or(default)
        };
        ConsumerGroupConfig {
            session_timeout_ms: setting(
                "consumer.session.timeout.ms",
                broker.group_consumer_session_timeout_ms,
            ),
            heartbeat_interval_ms: setting(
                "consumer.heartbeat.interval.ms",
                broker.group_consumer_heartbeat_interval_ms,
            ),
        }
    }
}
