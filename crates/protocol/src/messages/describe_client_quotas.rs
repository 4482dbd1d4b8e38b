//! DescribeClientQuotas: lists client quotas.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for DescribeClientQuotas (key 48).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescribeClientQuotasRequest {
    pub components: Vec<ComponentData>,
    pub strict: bool,
}

plain!(DescribeClientQuotasRequest, min 3, components, strict);

/// In [`DescribeClientQuotasRequest`].
#[derive(Clone, Debug, PartialEq)]
pub struct ComponentData {
    pub entity_type: String,
    pub match_type: i8,
    pub r#match: Option<String>,
}

impl Default for ComponentData {
    fn default() -> Self {
        Self {
            entity_type: String::new(),
            match_type: 0,
            r#match: Some(String::new()),
        }
    }
}

plain!(ComponentData, min 4, entity_type, match_type, r#match);

/// Answers [`DescribeClientQuotasRequest`].
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeClientQuotasResponse {
    pub throttle_time_ms: i32,
    pub error_code: ErrorCode,
    pub error_message: Option<String>,
    pub entries: Option<Vec<EntryData>>,
}

impl Default for DescribeClientQuotasResponse {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            error_code: ErrorCode::NONE,
            error_message: None,
            entries: Some(Vec::new()),
        }
    }
}

plain!(DescribeClientQuotasResponse, min 9, throttle_time_ms, error_code, error_message, entries);

/// In [`DescribeClientQuotasResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EntryData {
    pub entity: Vec<EntityData>,
    pub values: Vec<ValueData>,
}

plain!(EntryData, min 3, entity, values);

/// In [`DescribeClientQuotasResponse`].
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

/// In [`DescribeClientQuotasResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValueData {
    pub key: String,
    pub value: f64,
}

plain!(ValueData, min 10, key, value);
