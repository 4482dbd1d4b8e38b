//! In the metadata log: producer ids below this one are given out (type 15).
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// In the metadata log: producer ids below this one are given out (type 15).
#[derive(Clone, Debug, PartialEq)]
pub struct ProducerIdsRecord {
    pub broker_id: i32,
    pub broker_epoch: i64,
    pub next_producer_id: i64,
}

impl Default for ProducerIdsRecord {
    fn default() -> Self {
        Self {
            broker_id: 0,
            broker_epoch: -1,
            next_producer_id: 0,
        }
    }
}

plain!(ProducerIdsRecord, min 21, broker_id, broker_epoch, next_producer_id);

impl Body for ProducerIdsRecord {
    const NAME: &'static str = "ProducerIdsRecord";
    const VERSIONS: VersionRange = VersionRange::new(0, 0);
    const FLEXIBLE_FROM: i16 = 0;
}
