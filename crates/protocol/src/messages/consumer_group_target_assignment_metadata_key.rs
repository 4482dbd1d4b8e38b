//! In __consumer_offsets: the assignment that a consumer group is to reach (type 6).
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// In __consumer_offsets: the assignment that a consumer group is to reach (type 6).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConsumerGroupTargetAssignmentMetadataKey {
    pub group_id: String,
}

plain!(ConsumerGroupTargetAssignmentMetadataKey, min 2, group_id);

impl Body for ConsumerGroupTargetAssignmentMetadataKey {
    const NAME: &'static str = "ConsumerGroupTargetAssignmentMetadataKey";
    const VERSIONS: VersionRange = VersionRange::new(0, 0);
    const FLEXIBLE_FROM: i16 = i16::MAX;
}
