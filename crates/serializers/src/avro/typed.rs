//! Types of serde's.

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::AtomicBool;

use serde_core::de::DeserializeOwned;

use crate::schema::{Described, MessageIndex, ReadEvolved, Schema, SchemaType};
use crate::{Context, Deserialize, Format, Payload, Result, Serialize, Sink};

use super::AvroWriter;
use super::codec::{self, Parsed, not_written};

/// Values of one serde type as Avro's binary form of one schema.
///
/// Alone it writes the bare value: no file header, no schema's id. Bytes equal
/// those of Java's `BinaryEncoder` and fastavro's `schemaless_writer`.
///
/// Reading what was written with another version of the schema takes that
/// version: [`ReadEvolved`] has the means, a registry has the schema. Added
/// fields take their defaults, and fields that were renamed are found by their
/// aliases.
///
/// As a key: maps are written in the order in which the type yields them, so
/// use none, or a `BTreeMap`.
///
/// ```
/// use copart_serializers::{Avro, Context, Deserialize, Payload, Serialize};
///
/// #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
/// struct Order {
///     item: i64,
///     note: Option<String>,
/// }
///
/// let avro = Avro::<Order>::new(
///     r#"{"type": "record", "name": "Order", "fields": [
///         {"name": "item", "type": "long"},
///         {"name": "note", "type": ["null", "string"], "default": null}]}"#,
/// )?;
/// let value = Context::value("orders");
/// let order = Order { item: 7, note: Some("x".to_owned()) };
/// let bytes = avro.to_vec(&value, &order)?.unwrap_or_default();
/// assert_eq!(bytes, [14, 2, 2, b'x']);
/// assert_eq!(avro.read(&value, Some(Payload::new(&bytes)))?, order);
/// # Ok::<(), copart_serializers::Error>(())
/// ```
pub struct Avro<T: ?Sized> {
    schema: Schema,
    parsed: Parsed,
    name: Option<String>,
    /// Whether structs are made of values: see [`codec::read`].
    by_value: AtomicBool,
    of: PhantomData<fn(&T)>,
}

impl<T: ?Sized> Avro<T> {
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
            by_value: AtomicBool::new(false),
            of: PhantomData,
        })
    }
}

impl<T: ?Sized> Format for Avro<T> {}

impl<T, B> Serialize<B> for Avro<T>
where
    T: serde_core::Serialize + ?Sized,
    B: Borrow<T> + ?Sized,
{
    fn serialize(&self, context: &Context<'_>, value: &B, out: &mut Sink<'_>) -> Result<()> {
        let written = self
            .parsed
            .writer()
            .write_ser(out.as_vec(), &value.borrow());
        written.map_err(|error| not_written(context, error))?;
        Ok(())
    }
}

impl<T: DeserializeOwned> Deserialize for Avro<T> {
    type Value = T;

    fn deserialize(&self, context: &Context<'_>, payload: Payload<'_>) -> Result<T> {
        codec::read(&self.parsed, None, &self.by_value, context, payload)
    }
}

impl<T: ?Sized> Described for Avro<T> {
    fn schema(&self) -> Option<&Schema> {
        Some(&self.schema)
    }

    fn record_name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

impl<T: DeserializeOwned> ReadEvolved for Avro<T> {
    type Value = T;
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
    ) -> Result<T> {
        codec::read(&self.parsed, Some(writer), &self.by_value, context, payload)
    }
}

impl<T: ?Sized> fmt::Debug for Avro<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Avro<{}>", std::any::type_name::<T>())
    }
}
