//! In __consumer_offsets: what a member of a consumer group has (type 8).
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// In __consumer_offsets: what a member of a consumer group has (type 8).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConsumerGroupCurrentMemberAssignmentKey {
    pub group_id: String,
    pub member_id: String,
}

plain!(ConsumerGroupCurrentMemberAssignmentKey, min 4, group_id, member_id);

impl Body for ConsumerGroupCurrentMemberAssignmentKey {
    const NAME: &'static str = "ConsumerGroupCurrentMemberAssignmentKey";
    const VERSIONS: VersionRange = VersionRange::new(0, 0);
    const FLEXIBLE_FROM: i16 = i16::MAX;
}
