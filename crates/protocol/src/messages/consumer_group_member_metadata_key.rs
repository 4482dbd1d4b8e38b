//! In __consumer_offsets: a member of a consumer group (type 5).
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// In __consumer_offsets: a member of a consumer group (type 5).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConsumerGroupMemberMetadataKey {
    pub group_id: String,
    pub member_id: String,
}

plain!(ConsumerGroupMemberMetadataKey, min 4, group_id, member_id);

impl Body for ConsumerGroupMemberMetadataKey {
    const NAME: &'static str = "ConsumerGroupMemberMetadataKey";
    const VERSIONS: VersionRange = VersionRange::new(0, 0);
    const FLEXIBLE_FROM: i16 = i16::MAX;
}
