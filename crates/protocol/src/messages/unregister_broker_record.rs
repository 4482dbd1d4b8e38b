//! In the metadata log: a broker is gone for good (type 1).
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// In the metadata log: a broker is gone for good (type 1).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnregisterBrokerRecord {
    pub broker_id: i32,
    pub broker_epoch: i64,
}

plain!(UnregisterBrokerRecord, min 13, broker_id, broker_epoch);

impl Body for UnregisterBrokerRecord {
    const NAME: &'static str = "UnregisterBrokerRecord";
    const VERSIONS: VersionRange = VersionRange::new(0, 0);
    const FLEXIBLE_FROM: i16 = 0;
}
