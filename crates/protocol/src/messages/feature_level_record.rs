//! In the metadata log: the level of a feature (type 12).
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// In the metadata log: the level of a feature (type 12).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeatureLevelRecord {
    pub name: String,
    pub feature_level: i16,
}

plain!(FeatureLevelRecord, min 4, name, feature_level);

impl Body for FeatureLevelRecord {
    const NAME: &'static str = "FeatureLevelRecord";
    const VERSIONS: VersionRange = VersionRange::new(0, 0);
    const FLEXIBLE_FROM: i16 = 0;
}
