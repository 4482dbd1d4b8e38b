//! AlterClientQuotas: sets and removes client quotas.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for AlterClientQuotas (key 49).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlterClientQuotasRequest {
    pub entries: Vec<EntryData>,
    pub validate_only: bool,
}

plain!(AlterClientQuotasRequest, min 3, entries, validate_only);

/// In [`AlterClientQuotasRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EntryData {
    pub entity: Vec<EntityData>,
    pub ops: Vec<OpData>,
}

plain!(EntryData, min 3, entity, ops);

/// In [`AlterClientQuotasRequest`].
#[derive(Clone, Debug, PartialEq)]
pub struct EntityData {
    pub entity_type: String,
    pub entity_name: Option<String>,
}

impl Default for EntityData {
    fn default() -> Self {
        Self {
            entity_type: String::new(),
            entity_name: Some(String::new()),
        }
    }
}

plain!(EntityData, min 3, entity_type, entity_name);

/// In [`AlterClientQuotasRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpData {
    pub key: String,
    pub value: f64,
    pub remove: bool,
}

plain!(OpData, min 11, key, value, remove);

/// Answers [`AlterClientQuotasRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlterClientQuotasResponse {
    pub throttle_time_ms: i32,
    pub entries: Vec<EntryDataResponse>,
}

plain!(AlterClientQuotasResponse, min 6, throttle_time_ms, entries);

/// In [`AlterClientQuotasResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EntryDataResponse {
    pub error_code: ErrorCode,
    pub error_message: Option<String>,
    pub entity: Vec<EntityData>,
}

plain!(EntryDataResponse, min 5, error_code, error_message, entity);
