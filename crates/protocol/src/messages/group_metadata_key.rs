//! In __consumer_offsets: a classic group (type 2).
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// In __consumer_offsets: a classic group (type 2).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupMetadataKey {
    pub group: String,
}

plain!(GroupMetadataKey, min 2, group);

impl Body for GroupMetadataKey {
    const NAME: &'static str = "GroupMetadataKey";
    const VERSIONS: VersionRange = VersionRange::new(0, 0);
    const FLEXIBLE_FROM: i16 = i16::MAX;
}
