//! In __consumer_offsets: the partitions that a member of a consumer group is to have.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// In __consumer_offsets: the partitions that a member of a consumer group is to have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConsumerGroupTargetAssignmentMemberValue {
    pub topic_partitions: Vec<TopicPartition>,
}

plain!(ConsumerGroupTargetAssignmentMemberValue, min 2, topic_partitions);

/// In [`ConsumerGroupTargetAssignmentMemberValue`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopicPartition {
    pub topic_id: Uuid,
    pub partitions: Vec<i32>,
}

plain!(TopicPartition, min 18, topic_id, partitions);

impl Body for ConsumerGroupTargetAssignmentMemberValue {
    const NAME: &'static str = "ConsumerGroupTargetAssignmentMemberValue";
    const VERSIONS: VersionRange = VersionRange::new(0, 0);
    const FLEXIBLE_FROM: i16 = 0;
}
