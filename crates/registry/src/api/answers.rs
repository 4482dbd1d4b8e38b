//! The JSON of answers, as Confluent's registry writes it.

use serde::Serialize;

use crate::record::ConfigValue;
use crate::schema::{Definition, Guid, Reference};
use crate::store::Found;

/// A schema and as much of its place as an answer has.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SchemaJson<'s> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) subject: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<i32>,
    pub(super) guid: String,
    pub(super) schema_type: &'static str,
    #[serde(skip_serializing_if = "<[Reference]>::is_empty")]
    pub(super) references: &'s [Reference],
    pub(super) schema: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) deleted: bool,
}

impl<'s> SchemaJson<'s> {
    pub(super) fn new(definition: &'s Definition, guid: Guid, text: String) -> Self {
        Self {
            guid: guid.to_string(),
            schema_type: definition.schema_type.name(),
            references: &definition.references,
            schema: text,
            ..Self::default()
        }
    }

    pub(super) fn found(subject: &'s str, found: &'s Found, text: String) -> Self {
        let definition = &*found.value.definition;
        Self {
            subject: Some(subject),
            version: Some(found.version),
            id: Some(found.value.id),
            deleted: found.value.deleted,
            ..Self::new(definition, definition.guid(), text)
        }
    }
}

#[derive(Serialize)]
pub(super) struct Registered {
    pub(super) id: i32,
    pub(super) version: i32,
    pub(super) guid: String,
}

#[derive(Serialize)]
pub(super) struct Place<'s> {
    pub(super) subject: &'s str,
    pub(super) version: i32,
}

#[derive(Serialize)]
pub(super) struct ContextId {
    pub(super) context: &'static str,
    pub(super) id: i32,
}

#[derive(Serialize)]
pub(super) struct CompatibilityJson {
    pub(super) is_compatible: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) messages: Option<Vec<String>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ConfigJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    normalize: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compatibility_level: Option<&'static str>,
}

impl From<ConfigValue> for ConfigJson {
    fn from(config: ConfigValue) -> Self {
        Self {
            normalize: config.normalize,
            compatibility_level: config.level.map(|level| level.name()),
        }
    }
}

/// What was set, under the names of the request.
#[derive(Serialize)]
pub(super) struct ConfigEcho {
    #[serde(skip_serializing_if = "Option::is_none")]
    normalize: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compatibility: Option<&'static str>,
}

impl From<ConfigValue> for ConfigEcho {
    fn from(config: ConfigValue) -> Self {
        Self {
            normalize: config.normalize,
            compatibility: config.level.map(|level| level.name()),
        }
    }
}

#[derive(Serialize)]
pub(super) struct ModeJson {
    pub(super) mode: Option<&'static str>,
}

#[derive(Serialize)]
pub(super) struct ErrorJson<'e> {
    pub(super) error_code: u32,
    pub(super) message: &'e str,
}
