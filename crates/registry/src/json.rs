//! JSON whose members keep their order.
//!
//! Schemas are texts that people wrote; what is given back of them has its members where they were.

use std::fmt;

use indexmap::IndexMap;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::Number;

/// The members of an object.
pub(crate) type Members = IndexMap<String, Json>;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    Array(Vec<Json>),
    Object(Members),
}

impl Json {
    /// Reads a text, nested 127 levels deep at most: it is `serde_json` that ends it there.
    pub(crate) fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_object(&self) -> Option<&Members> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    pub(crate) fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The same with members in the order of their names.
    pub(crate) fn sorted(mut self) -> Self {
        match &mut self {
            Self::Array(elements) => {
                for element in elements {
                    *element = std::mem::replace(element, Self::Null).sorted();
                }
            }
            Self::Object(members) => {
                members.sort_unstable_keys();
                for member in members.values_mut() {
                    *member = std::mem::replace(member, Self::Null).sorted();
                }
            }
            _ => {}
        }
        self
    }

    /// What it is, for people.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }
}

/// The text without white space.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(elements) => {
                let mut array = serializer.serialize_seq(Some(elements.len()))?;
                for element in elements {
                    array.serialize_element(element)?;
                }
                array.end()
            }
            Self::Object(members) => {
                let mut object = serializer.serialize_map(Some(members.len()))?;
                for (name, member) in members {
                    object.serialize_entry(name, member)?;
                }
                object.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Number::from_f64(value).map_or(Json::Null, Json::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Json, A::Error> {
        // Nothing is reserved by a length that a stranger tells.
        let mut elements = Vec::new();
        while let Some(element) = array.next_element()? {
            elements.push(element);
        }
        Ok(Json::Array(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Json, A::Error> {
        let mut members = Members::new();
        while let Some((name, member)) = object.next_entry()? {
            // As in Java's Jackson the last one of a name is the one.
            members.insert(name, member);
        }
        Ok(Json::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_kept_and_depth_is_bounded() {
        let text = r#"{"b":[1,-2,1.5,true,null],"a":{"d":"\n","c":{}}}"#;
        let json = Json::parse(text).expect("it is JSON");
        assert_eq!(json.to_string(), text);
        let sorted = r#"{"a":{"c":{},"d":"\n"},"b":[1,-2,1.5,true,null]}"#;
        assert_eq!(json.sorted().to_string(), sorted);
        Json::parse(&"[".repeat(100_000)).expect_err("too deep");
    }
}
