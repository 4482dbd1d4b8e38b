//! The JSON of the registry's REST interface.

use serde::{Deserialize, Serialize};

use crate::schema::{Reference, Schema, SchemaType};

pub(super) const CONTENT_TYPE: &str = "application/vnd.schemaregistry.v1+json";

#[derive(Serialize)]
pub(super) struct SchemaRequest<'a> {
    schema: &'a str,
    // Left out for Avro: registries before 5.5 don't know it.
    #[serde(rename = "schemaType", skip_serializing_if = "Option::is_none")]
    schema_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    references: Vec<ReferenceDto>,
}

impl<'a> SchemaRequest<'a> {
    pub(super) fn new(schema: &'a Schema) -> Self {
        let schema_type = schema.schema_type();
        let references = schema.references().iter().map(|reference| ReferenceDto {
            name: reference.name.clone(),
            subject: reference.subject.clone(),
            version: reference.version,
        });
        Self {
            schema: schema.text(),
            schema_type: (schema_type != SchemaType::Avro).then(|| schema_type.name()),
            references: references.collect(),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct ReferenceDto {
    name: String,
    subject: String,
    version: i32,
}

/// What comes with a schema; each request has some of it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SchemaResponse {
    pub(super) id: Option<u32>,
    pub(super) guid: Option<String>,
    pub(super) version: Option<i32>,
    pub(super) schema: Option<String>,
    schema_type: Option<String>,
    references: Option<Vec<ReferenceDto>>,
}

impl SchemaResponse {
    /// The schema; the unknown word if its language is not known.
    pub(super) fn schema(&self) -> Result<Option<Schema>, String> {
        let Some(text) = &self.schema else {
            return Ok(None);
        };
        let schema_type = match &self.schema_type {
            None => SchemaType::Avro,
            Some(name) => SchemaType::from_name(name).ok_or_else(|| name.clone())?,
        };
        let references = self.references.iter().flatten().map(|reference| Reference {
            name: reference.name.clone(),
            subject: reference.subject.clone(),
            version: reference.version,
        });
        let schema = Schema::new(schema_type, text.as_str());
        Ok(Some(schema.with_references(references.collect())))
    }
}

#[derive(Deserialize)]
pub(super) struct CompatibilityResponse {
    pub(super) is_compatible: bool,
    #[serde(default)]
    pub(super) messages: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ConfigResponse {
    pub(super) compatibility_level: String,
}

#[derive(Serialize)]
pub(super) struct ConfigRequest<'a> {
    pub(super) compatibility: &'a str,
}

#[derive(Deserialize)]
pub(super) struct ErrorResponse {
    pub(super) error_code: i64,
    pub(super) message: String,
}
