//! Formats of which a schema tells what the bytes mean.

mod described;
mod frame;
mod message_index;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::error::hex;

pub use described::{Described, ReadEvolved};
pub use frame::{Frame, Framing, SchemaKey};
pub use message_index::{IndexForm, MessageIndex};

/// The language of a schema, as a registry calls it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SchemaType {
    /// `AVRO`, which registries leave out.
    #[default]
    Avro,
    /// `PROTOBUF`.
    Protobuf,
    /// `JSON`: JSON Schema.
    Json,
}

impl SchemaType {
    /// The registry's word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Avro => "AVRO",
            Self::Protobuf => "PROTOBUF",
            Self::Json => "JSON",
        }
    }

    /// By the registry's word.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Avro, Self::Protobuf, Self::Json]
            .into_iter()
            .find(|known| known.name() == name)
    }
}

impl fmt::Display for SchemaType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A schema that another one refers to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    /// How the text calls it: a type's full name in Avro, an import in
    /// Protobuf, the URL of a `$ref` in JSON Schema.
    pub name: String,
    /// The subject under which it is registered.
    pub subject: String,
    /// Which version of the subject.
    pub version: i32,
}

/// The text of a schema, and what it refers to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Schema {
    schema_type: SchemaType,
    text: Arc<str>,
    references: Vec<Reference>,
}

impl Schema {
    /// A schema that refers to no other.
    pub fn new(schema_type: SchemaType, text: impl Into<Arc<str>>) -> Self {
        Self {
            schema_type,
            text: text.into(),
            references: Vec::new(),
        }
    }

    /// The same, with what it refers to.
    #[must_use]
    pub fn with_references(mut self, references: Vec<Reference>) -> Self {
        self.references = references;
        self
    }

    /// Its language.
    pub fn schema_type(&self) -> SchemaType {
        self.schema_type
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it refers to.
    pub fn references(&self) -> &[Reference] {
        &self.references
    }
}

/// The number of a schema in one registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SchemaId(pub u32);

impl fmt::Display for SchemaId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The identity of a schema in all registries: 16 bytes made of its text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SchemaGuid(pub [u8; 16]);

/// With hyphens, as registries write it.
impl fmt::Display for SchemaGuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e] = [0..4, 4..6, 6..8, 8..10, 10..16].map(|part| hex(&self.0[part]));
        write!(f, "{a}-{b}-{c}-{d}-{e}")
    }
}

impl fmt::Debug for SchemaGuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SchemaGuid({self})")
    }
}

/// A text that is no GUID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAGuid(());

impl fmt::Display for NotAGuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a GUID is 32 hexadecimal digits, with hyphens or without")
    }
}

impl std::error::Error for NotAGuid {}

impl FromStr for SchemaGuid {
    type Err = NotAGuid;

    fn from_str(text: &str) -> Result<Self, NotAGuid> {
        let mut guid = [0; 16];
        let mut count = 0;
        for character in text.chars().filter(|&character| character != '-') {
            let digit = character.to_digit(16).ok_or(NotAGuid(()))?;
            let byte = guid.get_mut(count / 2).ok_or(NotAGuid(()))?;
            // A digit is at most 15.
            *byte = *byte << 4 | digit as u8;
            count += 1;
        }
        if count == 32 {
            Ok(Self(guid))
        } else {
            Err(NotAGuid(()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guids_are_written_with_hyphens_and_read_without_too() {
        let text = "89791762-2336-186f-9674-99b90a8e2386";
        let guid: SchemaGuid = text.parse().expect("a GUID");
        assert_eq!(guid.to_string(), text);
        assert_eq!(text.replace('-', "").parse(), Ok(guid));
        for wrong in [
            "",
            "89791762",
            &format!("{text}0"),
            &format!("{text}x"),
            &text.replace('8', "g"),
        ] {
            assert_eq!(wrong.parse::<SchemaGuid>(), Err(NotAGuid(())), "{wrong}");
        }
    }
}
