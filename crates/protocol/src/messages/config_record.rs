//! In the metadata log: a setting was made, or removed (type 4).
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// In the metadata log: a setting was made, or removed (type 4).
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigRecord {
    pub resource_type: i8,
    pub resource_name: String,
    pub name: String,
    pub value: Option<String>,
}

impl Default for ConfigRecord {
    fn default() -> Self {
        Self {
            resource_type: 0,
            resource_name: String::new(),
            name: String::new(),
            value: Some(String::new()),
        }
    }
}

plain!(ConfigRecord, min 5, resource_type, resource_name, name, value);

impl Body for ConfigRecord {
    const NAME: &'static str = "ConfigRecord";
    const VERSIONS: VersionRange = VersionRange::new(0, 0);
    const FLEXIBLE_FROM: i16 = 0;
}
