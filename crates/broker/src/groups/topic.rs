//! The topic that groups and offsets are in.

use crate::broker::Shared;
use crate::cluster::{ApiResult, NewTopic};
use copart_protocol::ErrorCode;

/// Its name.
pub(crate) const CONSUMER_OFFSETS: &str = "__consumer_offsets";

/// Which of its partitions a group is in: whose leader coordinates the group.
pub(crate) fn partition_of(group: &str, partitions: i32) -> i32 {
    // Java's String.hashCode, and Kafka's Utils.abs, in which the smallest number becomes 0.
    let hash = group.encode_utf16().fold(0_i32, |hash, unit| {
        hash.wrapping_mul(31).wrapping_add(i32::from(unit))
    });
    let positive = hash.checked_abs().unwrap_or(0);
    positive.checked_rem(partitions).unwrap_or(0)
}

/// Makes the topic if it is not there, with Kafka's settings. Waits for the disk.
pub(crate) fn create_if_missing(broker: &Shared) -> ApiResult<()> {
    // By its logs: the controller knows of it earlier, and whoever asks a second time has to wait for the first.
    if broker.partitions.count(CONSUMER_OFFSETS) > 0 {
        return Ok(());
    }
    let config = broker.controller().broker_config().clone();
    let setting = |name: &str, value: &str| (name.to_owned(), Some(value.to_owned()));
    let new = NewTopic {
        partitions: config.offsets_topic_num_partitions,
        replication_factor: config.offsets_topic_replication_factor,
        configs: vec![
            setting("cleanup.policy", "compact"),
            setting("compression.type", "producer"),
            setting(
                "segment.bytes",
                &config.offsets_topic_segment_bytes.to_string(),
            ),
        ],
        ..NewTopic::named(CONSUMER_OFFSETS)
    };
    match broker.change(|controller| controller.create_topic(&new, false)) {
        Err(error) if error.code != ErrorCode::TOPIC_ALREADY_EXISTS => Err(error),
        // Somebody else may have been quicker.
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Java computes them.
    #[test]
    fn groups_are_where_kafka_has_them() {
        for (group, partition) in [
            ("", 0),
            ("g", 3),
            ("group", 47),
            ("my-group", 12),
            ("Aa", 12),
            ("BB", 12),
            ("h\u{e9}llo", 34),
            // Its hash is the smallest number.
            ("polygenelubricants", 0),
        ] {
            assert_eq!(partition_of(group, 50), partition, "{group}");
        }
        assert_eq!(partition_of("g", 0), 0);
    }
}
