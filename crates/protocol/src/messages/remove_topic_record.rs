//! In the metadata log: a topic is gone (type 9).
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// In the metadata log: a topic is gone (type 9).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RemoveTopicRecord {
    pub topic_id: Uuid,
}

plain!(RemoveTopicRecord, min 17, topic_id);

impl Body for RemoveTopicRecord {
    const NAME: &'static str = "RemoveTopicRecord";
    const VERSIONS: VersionRange = VersionRange::new(0, 0);
    const FLEXIBLE_FROM: i16 = 0;
}
