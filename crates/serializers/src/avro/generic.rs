//! Values without a type of their own.

use std::fmt;

use apache_avro::types::Value;

use crate::schema::{Described, MessageIndex, ReadEvolved, Schema, SchemaType};
use crate::{Context, Deserialize, Format, Payload, Result, Serialize, Sink};

use super::AvroWriter;
use super::codec::{self, Parsed, not_written};

/// `apache_avro`'s generic values, as [`Avro`](crate::Avro) writes typed ones.
pub struct AvroValue {
    schema: Schema,
    parsed: Parsed,
    name: Option<String>,
}

impl AvroValue {
    /// By the JSON text of the schema.
    ///
    /// # Errors
    /// [`Schema`](crate::ErrorKind::Schema) if it is none.
    pub fn new(schema: &str) -> Result<Self> {
        Self::with_references(Schema::new(SchemaType::Avro, schema), &[])
    }

    /// By a schema, and those that it refers to, each before those that refer
    /// to it.
    ///
    /// # Errors
    /// [`Schema`](crate::ErrorKind::Schema) if one can't be used.
    pub fn with_references(schema: Schema, references: &[Schema]) -> Result<Self> {
        let parsed = Parsed::new(&schema, references)?;
        Ok(Self {
            schema,
            name: parsed.record_name(),
            parsed,
        })
    }

    /// The schema, for building values of it.
    pub fn avro_schema(&self) -> &apache_avro::Schema {
        self.parsed.schema()
    }
}

impl Format for AvroValue {}

impl Serialize<Value> for AvroValue {
    fn serialize(&self, context: &Context<'_>, value: &Value, out: &mut Sink<'_>) -> Result<()> {
        let written = self.parsed.writer().write_value_ref(out.as_vec(), value);
        written.map_err(|error| not_written(context, error))?;
        Ok(())
    }
}

impl Deserialize for AvroValue {
    type Value = Value;

    fn deserialize(&self, context: &Context<'_>, payload: Payload<'_>) -> Result<Value> {
        codec::read_value(&self.parsed, None, context, payload)
    }
}

impl Described for AvroValue {
    fn schema(&self) -> Option<&Schema> {
        Some(&self.schema)
    }

    fn record_name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

impl ReadEvolved for AvroValue {
    type Value = Value;
    type Writer = AvroWriter;

    fn writer(&self, schema: &Schema, references: &[Schema]) -> Result<AvroWriter> {
        AvroWriter::new(&self.parsed, schema, references)
    }

    fn read_evolved(
        &self,
        context: &Context<'_>,
        writer: &AvroWriter,
        _: &MessageIndex,
        payload: Payload<'_>,
    ) -> Result<Value> {
        codec::read_value(&self.parsed, Some(writer), context, payload)
    }
}

impl fmt::Debug for AvroValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AvroValue")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
