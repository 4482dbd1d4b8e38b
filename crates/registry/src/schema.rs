//! Schemas of all languages, and how they are told apart.

use std::fmt;

use md5::{Digest, Md5};
use serde::{Deserialize, Serialize};

use crate::avro::{self, Avro};
use crate::incompatibility::Incompatibility;
use crate::json_schema::{self, JsonSchema};
use crate::protobuf::{self, Import, Protobuf};

/// The language of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaType {
    /// Apache Avro.
    Avro,
    /// Protocol Buffers.
    Protobuf,
    /// JSON Schema.
    Json,
}

impl SchemaType {
    pub(crate) const ALL: [Self; 3] = [Self::Json, Self::Protobuf, Self::Avro];

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }

    /// As it is called in the interface.
    pub fn name(self) -> &'static str {
        match self {
            Self::Avro => "AVRO",
            Self::Protobuf => "PROTOBUF",
            Self::Json => "JSON",
        }
    }
}

/// A schema that another one uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// Under which name it is used: a type's in Avro, the path of an import in Protobuf.
    pub name: String,
    /// Where it is registered.
    pub subject: String,
    /// As which version.
    pub version: i32,
}

/// A schema as it is kept: never changed, only forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its language.
    pub schema_type: SchemaType,
    /// Its text, in the form that all writings of it have.
    pub text: String,
    /// What it uses.
    pub references: Vec<Reference>,
}

impl Definition {
    /// Which schema it is, wherever it is registered.
    pub(crate) fn guid(&self) -> Guid {
        let mut hash = Md5::new();
        hash.update(self.text.as_bytes());
        for reference in &self.references {
            hash.update(reference.name.as_bytes());
            hash.update(reference.subject.as_bytes());
            hash.update(reference.version.to_be_bytes());
        }
        Guid(hash.finalize().into())
    }
}

/// A schema's name that is the same in all registries: the MD5 of its text and references, written as a UUID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Guid([u8; 16]);

impl Guid {
    /// From 32 hexadecimal digits, with or without the hyphens of a UUID.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits: String = text.chars().filter(|c| *c != '-').collect();
        let bytes = data_encoding::HEXLOWER_PERMISSIVE
            .decode(digits.as_bytes())
            .ok()?;
        bytes.try_into().ok().map(Self)
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = data_encoding::HEXLOWER.encode(&self.0);
        let parts = [
            &digits[..8],
            &digits[8..12],
            &digits[12..16],
            &digits[16..20],
            &digits[20..],
        ];
        f.write_str(&parts.join("-"))
    }
}

/// A schema that was read.
#[derive(Clone, Debug)]
pub(crate) enum Parsed {
    Avro(Avro),
    Protobuf(Protobuf),
    Json(JsonSchema),
}

impl Parsed {
    /// Reads a schema and those that it uses, each after those that it uses itself.
    pub(crate) fn new(
        schema_type: SchemaType,
        text: &str,
        imports: &[Import<'_>],
    ) -> Result<Self, String> {
        Ok(match schema_type {
            SchemaType::Avro => {
                let texts = imports.iter().map(|import| import.text);
                Self::Avro(Avro::parse(text, texts)?)
            }
            SchemaType::Protobuf => Self::Protobuf(Protobuf::parse(text, imports)?),
            SchemaType::Json => Self::Json(JsonSchema::parse(text)?),
        })
    }

    /// The text to keep: the same for all writings, as far as the language knows when two are the same.
    ///
    /// # Errors
    /// If it cannot be printed.
    pub(crate) fn text(
        &self,
        written: &str,
        imports: &[Import<'_>],
        normal: bool,
    ) -> Result<String, String> {
        match self {
            Self::Avro(avro) => avro.text(normal),
            Self::Protobuf(protobuf) => Ok(protobuf.kept_text(written, imports)),
            Self::Json(json) => Ok(json.text(normal)),
        }
    }

    /// What keeps data of `written` from being read with this schema.
    ///
    /// # Errors
    /// [`Unchecked`] if that cannot be said.
    pub(crate) fn reads(&self, written: &Self) -> Result<Vec<Incompatibility>, Unchecked> {
        match (self, written) {
            (Self::Avro(reader), Self::Avro(writer)) => {
                avro::incompatibilities(reader, writer).map_err(Unchecked::TooLarge)
            }
            (Self::Protobuf(reader), Self::Protobuf(writer)) => {
                Ok(protobuf::incompatibilities(reader, writer))
            }
            (Self::Json(reader), Self::Json(writer)) => {
                json_schema::incompatibilities(reader, writer).map_err(Unchecked::JsonSchema)
            }
            _ => Ok(vec![Incompatibility {
                error_type: "SCHEMA_TYPE_CHANGED",
                path: "/".to_owned(),
                message: String::new(),
            }]),
        }
    }
}

/// Why nobody knows whether schemas are compatible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unchecked {
    /// They are larger than schemas are.
    TooLarge(String),
    /// What differs is not among the rules that are here: where, and what.
    JsonSchema(String),
}
