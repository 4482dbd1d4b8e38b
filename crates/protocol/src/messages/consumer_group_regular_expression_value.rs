//! In __consumer_offsets: the topics that a regular expression matched.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// In __consumer_offsets: the topics that a regular expression matched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConsumerGroupRegularExpressionValue {
    pub topics: Vec<String>,
    pub version: i64,
    pub timestamp: i64,
}

plain!(ConsumerGroupRegularExpressionValue, min 18, topics, version, timestamp);

impl Body for ConsumerGroupRegularExpressionValue {
    const NAME: &'static str = "ConsumerGroupRegularExpressionValue";
    const VERSIONS: VersionRange = VersionRange::new(0, 0);
    const FLEXIBLE_FROM: i16 = 0;
}
