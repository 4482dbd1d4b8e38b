//! The records of the `_schemas` topic, as Confluent's registry writes them: JSON in keys and values.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::level::{Level, Mode};
use crate::schema::{Definition, Reference, SchemaType};

/// A change of the state. Without a value it takes back what was said under the same key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// A version of a subject.
    Schema {
        /// The subject.
        subject: String,
        /// Its number.
        version: i32,
        /// The schema.
        value: Option<SchemaValue>,
    },
    /// A subject's versions are deleted, softly, up to this number.
    DeleteSubject {
        /// The subject.
        subject: String,
        /// The last version that is.
        value: Option<i32>,
    },
    /// What is asked of new versions.
    Config {
        /// Of one subject, or of all that have none of their own.
        subject: Option<String>,
        /// The rules.
        value: Option<ConfigValue>,
    },
    /// What may be done.
    Mode {
        /// With one subject, or with all that have none of their own.
        subject: Option<String>,
        /// The mode.
        value: Option<Mode>,
    },
}

/// A schema's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaValue {
    /// Its id.
    pub id: i32,
    /// What it is.
    pub definition: Arc<Definition>,
    /// Whether it is deleted, softly.
    pub deleted: bool,
}

/// Rules for new versions; what is not said here is said for all subjects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConfigValue {
    /// Which earlier versions a new one must fit to.
    pub level: Option<Level>,
    /// Whether schemas are brought into their normal form.
    pub normalize: Option<bool>,
}

// Members in the order of Confluent's, so that the keys are the same bytes and compaction finds them.
#[derive(Serialize, Deserialize)]
struct Key {
    keytype: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    subject: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    version: Option<i32>,
    magic: i32,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SchemaJson {
    subject: String,
    version: i32,
    id: i32,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    schema_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    references: Option<Vec<Reference>>,
    schema: String,
    #[serde(default)]
    deleted: bool,
}

#[derive(Serialize, Deserialize)]
struct DeleteSubjectJson {
    subject: String,
    version: i32,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConfigJson {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    subject: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    normalize: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    compatibility_level: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct ModeJson {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    subject: Option<String>,
    mode: String,
}

/// A key and a value.
pub type Encoded = (Vec<u8>, Option<Vec<u8>>);

impl Record {
    /// Its key and its value.
    ///
    /// # Errors
    /// Of the JSON library; it has no reason for one.
    pub fn encode(&self) -> Result<Encoded, serde_json::Error> {
        let key = |keytype: &str, subject: Option<&String>, version, magic| {
            serde_json::to_vec(&Key {
                keytype: keytype.to_owned(),
                subject: subject.cloned(),
                version,
                magic,
            })
        };
        Ok(match self {
            Self::Schema {
                subject,
                version,
                value,
            } => (
                key("SCHEMA", Some(subject), Some(*version), 1)?,
                value
                    .as_ref()
                    .map(|value| encode_schema(subject, *version, value))
                    .transpose()?,
            ),
            Self::DeleteSubject { subject, value } => (
                key("DELETE_SUBJECT", Some(subject), None, 0)?,
                value
                    .map(|version| {
                        serde_json::to_vec(&DeleteSubjectJson {
                            subject: subject.clone(),
                            version,
                        })
                    })
                    .transpose()?,
            ),
            Self::Config { subject, value } => (
                key("CONFIG", subject.as_ref(), None, 0)?,
                value
                    .map(|config| {
                        serde_json::to_vec(&ConfigJson {
                            subject: subject.clone(),
                            normalize: config.normalize,
                            compatibility_level: config.level.map(|it| it.name().to_owned()),
                        })
                    })
                    .transpose()?,
            ),
            Self::Mode { subject, value } => (
                key("MODE", subject.as_ref(), None, 0)?,
                value
                    .map(|mode| {
                        serde_json::to_vec(&ModeJson {
                            subject: subject.clone(),
                            mode: mode.name().to_owned(),
                        })
                    })
                    .transpose()?,
            ),
        })
    }

    /// Reads a record. `None` is one that this registry has no use for.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn decode(key: &[u8], value: Option<&[u8]>) -> Result<Option<Self>, String> {
        let text = |error: serde_json::Error| error.to_string();
        let key: Key = serde_json::from_slice(key).map_err(text)?;
        // Some of Confluent's writers spell a tombstone as JSON.
        let value: Option<Value> = match value {
            None => None,
            Some(bytes) => serde_json::from_slice(bytes).map_err(text)?,
        };
        Ok(Some(match key.keytype.as_str() {
            "SCHEMA" => Self::Schema {
                version: key.version.ok_or("the key has no version")?,
                subject: key.subject.ok_or("the key has no subject")?,
                value: value.map(decode_schema).transpose()?,
            },
            "DELETE_SUBJECT" => Self::DeleteSubject {
                subject: key.subject.ok_or("the key has no subject")?,
                value: value
                    .map(|value| serde_json::from_value::<DeleteSubjectJson>(value).map_err(text))
                    .transpose()?
                    .map(|json| json.version),
            },
            "CONFIG" => Self::Config {
                subject: key.subject,
                value: value.map(decode_config).transpose()?,
            },
            "MODE" => Self::Mode {
                subject: key.subject,
                value: match value {
                    None => None,
                    Some(value) => {
                        let json: ModeJson = serde_json::from_value(value).map_err(text)?;
                        let mode = Mode::from_name(&json.mode);
                        Some(mode.ok_or_else(|| format!("the unknown mode {:?}", json.mode))?)
                    }
                },
            },
            // NOOP, CLEAR_SUBJECT, CONTEXT, ASSOC: of other nodes, or of what is not here.
            _ => return Ok(None),
        }))
    }
}

fn encode_schema(
    subject: &str,
    version: i32,
    value: &SchemaValue,
) -> Result<Vec<u8>, serde_json::Error> {
    let definition = &value.definition;
    let schema_type = definition.schema_type;
    serde_json::to_vec(&SchemaJson {
        subject: subject.to_owned(),
        version,
        id: value.id,
        schema_type: (schema_type != SchemaType::Avro).then(|| schema_type.name().to_owned()),
        references: (!definition.references.is_empty()).then(|| definition.references.clone()),
        schema: definition.text.clone(),
        deleted: value.deleted,
    })
}

fn decode_schema(value: Value) -> Result<SchemaValue, String> {
    let json: SchemaJson = serde_json::from_value(value).map_err(|error| error.to_string())?;
    let schema_type = match &json.schema_type {
        None => SchemaType::Avro,
        Some(name) => SchemaType::from_name(name)
            .ok_or_else(|| format!("a schema of the unknown type {name:?}"))?,
    };
    Ok(SchemaValue {
        id: json.id,
        definition: Arc::new(Definition {
            schema_type,
            text: json.schema,
            references: json.references.unwrap_or_default(),
        }),
        deleted: json.deleted,
    })
}

fn decode_config(value: Value) -> Result<ConfigValue, String> {
    let json: ConfigJson = serde_json::from_value(value).map_err(|error| error.to_string())?;
    let level = match &json.compatibility_level {
        None => None,
        Some(name) => {
            Some(Level::from_name(name).ok_or_else(|| format!("the unknown level {name:?}"))?)
        }
    };
    Ok(ConfigValue {
        level,
        normalize: json.normalize,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> &str {
        std::str::from_utf8(bytes).expect("JSON")
    }

    #[test]
    fn records_are_those_of_confluents_registry() {
        let schema = SchemaValue {
            id: 3,
            definition: Arc::new(Definition {
                schema_type: SchemaType::Avro,
                text: "\"string\"".to_owned(),
                references: Vec::new(),
            }),
            deleted: false,
        };
        let record = Record::Schema {
            subject: "a-value".to_owned(),
            version: 2,
            value: Some(schema),
        };
        let (key, value) = record.encode().expect("JSON");
        assert_eq!(
            text(&key),
            r#"{"keytype":"SCHEMA","subject":"a-value","version":2,"magic":1}"#
        );
        let value = value.expect("no tombstone");
        assert_eq!(
            text(&value),
            r#"{"subject":"a-value","version":2,"id":3,"schema":"\"string\"","deleted":false}"#
        );
        assert_eq!(Record::decode(&key, Some(&value)), Ok(Some(record)));

        let record = Record::Config {
            subject: None,
            value: Some(ConfigValue {
                level: Some(Level::FullTransitive),
                normalize: None,
            }),
        };
        let (key, value) = record.encode().expect("JSON");
        assert_eq!(text(&key), r#"{"keytype":"CONFIG","magic":0}"#);
        let value = value.expect("no tombstone");
        assert_eq!(text(&value), r#"{"compatibilityLevel":"FULL_TRANSITIVE"}"#);
        assert_eq!(Record::decode(&key, Some(&value)), Ok(Some(record)));

        let record = Record::Mode {
            subject: Some("s".to_owned()),
            value: Some(Mode::Import),
        };
        let (key, value) = record.encode().expect("JSON");
        assert_eq!(text(&key), r#"{"keytype":"MODE","subject":"s","magic":0}"#);
        assert_eq!(Record::decode(&key, value.as_deref()), Ok(Some(record)));

        let record = Record::DeleteSubject {
            subject: "s".to_owned(),
            value: Some(4),
        };
        let (key, value) = record.encode().expect("JSON");
        assert_eq!(
            text(&key),
            r#"{"keytype":"DELETE_SUBJECT","subject":"s","magic":0}"#
        );
        assert_eq!(Record::decode(&key, value.as_deref()), Ok(Some(record)));
    }

    #[test]
    fn other_records_are_passed_over_and_wrong_ones_told() {
        let noop = br#"{"keytype":"NOOP","magic":0}"#;
        assert_eq!(Record::decode(noop, None), Ok(None));
        Record::decode(b"\xff", None).expect_err("no JSON");
        Record::decode(br#"{"keytype":"SCHEMA","magic":1}"#, None).expect_err("no subject");
        let mode = br#"{"keytype":"MODE","magic":0}"#;
        Record::decode(mode, Some(br#"{"mode":"FORWARD"}"#)).expect_err("an unknown mode");
    }
}
