//! What the group's leader assigns to a classic consumer.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// What the group's leader assigns to a classic consumer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConsumerProtocolAssignment {
    pub assigned_partitions: Vec<TopicPartition>,
    pub user_data: Option<Bytes>,
}

plain!(ConsumerProtocolAssignment, min 8, assigned_partitions, user_data);

/// In [`ConsumerProtocolAssignment`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopicPartition {
    pub topic: String,
    pub partitions: Vec<i32>,
}

plain!(TopicPartition, min 6, topic, partitions);

impl Body for ConsumerProtocolAssignment {
    const NAME: &'static str = "ConsumerProtocolAssignment";
    const VERSIONS: VersionRange = VersionRange::new(0, 3);
    const FLEXIBLE_FROM: i16 = i16::MAX;
}
