//! In the metadata log: a topic was made (type 2).
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// In the metadata log: a topic was made (type 2).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopicRecord {
    pub name: String,
    pub topic_id: Uuid,
}

plain!(TopicRecord, min 18, name, topic_id);

impl Body for TopicRecord {
    const NAME: &'static str = "TopicRecord";
    const VERSIONS: VersionRange = VersionRange::new(0, 0);
    const FLEXIBLE_FROM: i16 = 0;
}
