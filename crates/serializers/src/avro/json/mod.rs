//! Values as text in Avro's JSON encoding.

mod decode;
mod encode;

use std::fmt;

use crate::schema::{Described, Schema, SchemaType};
use crate::{Context, Deserialize, Error, ErrorKind, Format, Payload, Result, Serialize, Sink};

use super::codec::Parsed;
use super::scan;

/// Avro's binary form, of text in Avro's JSON encoding and as such: for tools, whose
/// users write and read text.
///
/// The text is what Java's `JsonEncoder` and `kafka-avro-console-consumer` print: bytes
/// and fixed as a character for each byte, logical types as the type beneath them, a value
/// of a union (but null) as an object whose only member is named after its type. Where a
/// union has one type beside null, the value may also be written alone. Every field must be
/// there, and no other; maps are written sorted by name, so that one text is one key.
///
/// ```
/// use copart_serializers::{AvroJson, Context, Deserialize, Payload, Serialize};
///
/// let avro = AvroJson::new(
///     r#"{"type": "record", "name": "Order", "fields": [
///         {"name": "item", "type": "long"},
///         {"name": "note", "type": ["null", "string"]}]}"#,
/// )?;
/// let key = Context::key("orders");
/// let bytes = avro.to_vec(&key, r#"{"item": 7, "note": "x"}"#)?.unwrap_or_default();
/// assert_eq!(bytes, [14, 2, 2, b'x']);
/// let text = avro.read(&key, Some(Payload::new(&bytes)))?;
/// assert_eq!(text, r#"{"item":7,"note":{"string":"x"}}"#);
/// # Ok::<(), copart_serializers::Error>(())
/// ```
pub struct AvroJson {
    schema: Schema,
    parsed: Parsed,
    name: Option<String>,
}

impl AvroJson {
    /// By the JSON text of the schema.
    ///
    /// # Errors
    /// [`Schema`](ErrorKind::Schema) if it is none.
    pub fn new(schema: &str) -> Result<Self> {
        Self::with_references(Schema::new(SchemaType::Avro, schema), &[])
    }

    /// By a schema, and those that it refers to, each before those that refer
    /// to it.
    ///
    /// # Errors
    /// [`Schema`](ErrorKind::Schema) if one can't be used.
    pub fn with_references(schema: Schema, references: &[Schema]) -> Result<Self> {
        let parsed = Parsed::new(&schema, references)?;
        Ok(Self {
            schema,
            name: parsed.record_name(),
            parsed,
        })
    }
}

impl Format for AvroJson {}

impl Serialize<str> for AvroJson {
    fn serialize(&self, context: &Context<'_>, text: &str, out: &mut Sink<'_>) -> Result<()> {
        let refuse = |what: String| {
            Error::new(
                ErrorKind::Unserializable,
                context,
                format!("the JSON does not fit the Avro schema: {what}"),
            )
        };
        let value = serde_json::from_str(text).map_err(|error| refuse(error.to_string()))?;
        let (schema, names) = (self.parsed.schema(), self.parsed.names());
        encode::encode(schema, names, &value, out.as_vec()).map_err(refuse)
    }
}

impl Deserialize for AvroJson {
    type Value = String;

    fn deserialize(&self, context: &Context<'_>, payload: Payload<'_>) -> Result<String> {
        // Lengths, counts and depth are held to the bytes here; then they can be believed.
        scan::check(&self.parsed, context, &payload)?;
        let (schema, names) = (self.parsed.schema(), self.parsed.names());
        decode::decode(schema, names, payload).map_err(|what| {
            Error::new(
                ErrorKind::Malformed,
                context,
                format!("not Avro of this schema: {what}"),
            )
        })
    }
}

impl Described for AvroJson {
    fn schema(&self) -> Option<&Schema> {
        Some(&self.schema)
    }

    fn record_name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

impl fmt::Debug for AvroJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AvroJson")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
