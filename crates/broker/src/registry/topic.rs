//! The topic that schemas are in.

use copart_protocol::ErrorCode;

use crate::broker::Shared;
use crate::cluster::{ApiResult, NewTopic};

/// Its name: `kafkastore.topic` of Confluent's registry, as it is by default.
pub(crate) const SCHEMAS: &str = "_schemas";

/// `kafkastore.topic.replication.factor`, as it is by default.
const REPLICATION: usize = 3;

/// Makes the topic if it is not there, with the settings of Confluent's registry. Waits for the disk.
pub(crate) fn create_if_missing(broker: &Shared) -> ApiResult<()> {
    if broker.partitions.count(SCHEMAS) > 0 {
        return Ok(());
    }
    let new = NewTopic {
        partitions: 1,
        replication_factor: broker.nodes.len().clamp(1, REPLICATION) as i16,
        configs: vec![("cleanup.policy".to_owned(), Some("compact".to_owned()))],
        ..NewTopic::named(SCHEMAS)
    };
    match broker.change(|controller| controller.create_topic(&new, false)) {
        Err(error) if error.code != ErrorCode::TOPIC_ALREADY_EXISTS => Err(error),
        // Somebody else may have been quicker.
        _ => Ok(()),
    }
}
