//! In __consumer_offsets: a regular expression that members of a consumer group subscribe to (type 16).
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// In __consumer_offsets: a regular expression that members of a consumer group subscribe to (type 16).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConsumerGroupRegularExpressionKey {
    pub group_id: String,
    pub regular_expression: String,
}

plain!(ConsumerGroupRegularExpressionKey, min 4, group_id, regular_expression);

impl Body for ConsumerGroupRegularExpressionKey {
    const NAME: &'static str = "ConsumerGroupRegularExpressionKey";
    const VERSIONS: VersionRange = VersionRange::new(0, 0);
    const FLEXIBLE_FROM: i16 = i16::MAX;
}
