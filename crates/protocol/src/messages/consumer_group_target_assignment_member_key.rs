//! In __consumer_offsets: what a member of a consumer group is to have (type 7).
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// In __consumer_offsets: what a member of a consumer group is to have (type 7).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConsumerGroupTargetAssignmentMemberKey {
    pub group_id: String,
    pub member_id: String,
}

plain!(ConsumerGroupTargetAssignmentMemberKey, min 4, group_id, member_id);

impl Body for ConsumerGroupTargetAssignmentMemberKey {
    const NAME: &'static str = "ConsumerGroupTargetAssignmentMemberKey";
    const VERSIONS: VersionRange = VersionRange::new(0, 0);
    const FLEXIBLE_FROM: i16 = i16::MAX;
}
