//! In __consumer_offsets: a consumer group (type 3).
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// In __consumer_offsets: a consumer group (type 3).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConsumerGroupMetadataKey {
    pub group_id: String,
}

plain!(ConsumerGroupMetadataKey, min 2, group_id);

impl Body for ConsumerGroupMetadataKey {
    const NAME: &'static str = "ConsumerGroupMetadataKey";
    const VERSIONS: VersionRange = VersionRange::new(0, 0);
    const FLEXIBLE_FROM: i16 = i16::MAX;
}
