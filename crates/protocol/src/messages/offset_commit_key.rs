//! In __consumer_offsets: whose offset, and of what (types 0 and 1).
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// In __consumer_offsets: whose offset, and of what (types 0 and 1).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OffsetCommitKey {
    pub group: String,
    pub topic: String,
    pub partition: i32,
}

plain!(OffsetCommitKey, min 8, group, topic, partition);

impl Body for OffsetCommitKey {
    const NAME: &'static str = "OffsetCommitKey";
    const VERSIONS: VersionRange = VersionRange::new(0, 0);
    const FLEXIBLE_FROM: i16 = i16::MAX;
}
