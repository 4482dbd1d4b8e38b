//! JSON that is held to a schema.

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;

use jsonschema::Validator;
use serde_core::de::DeserializeOwned;
use serde_json::Value;

use super::{CanonicalJson, Json};
use crate::error::OTHER_SERIALIZER;
use crate::schema::{Described, MessageIndex, ReadEvolved, Schema, SchemaType};
use crate::{Context, Deserialize, Error, ErrorKind, Format, Payload, Result, Serialize, Sink};

/// Values of one type as JSON, validated when they are written and when they
/// are read. Alone it writes bare JSON.
///
/// The schema must stand for itself: a `$ref` to elsewhere is an error, and
/// nothing is fetched.
///
/// ```
/// use copart_serializers::{Context, ErrorKind, JsonSchema, Serialize};
///
/// let json = JsonSchema::<u32>::new(r#"{"type": "integer", "maximum": 9}"#)?;
/// let value = Context::value("digits");
/// assert_eq!(json.to_vec(&value, &7)?, Some(b"7".to_vec()));
/// let error = json.to_vec(&value, &10).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Unserializable);
/// # Ok::<(), copart_serializers::Error>(())
/// ```
pub struct JsonSchema<T: ?Sized> {
    schema: Schema,
    title: Option<String>,
    validator: Validator,
    canonical: bool,
    of: PhantomData<fn(&T)>,
}

impl<T: ?Sized> JsonSchema<T> {
    /// By the text of the schema.
    ///
    /// # Errors
    /// [`Schema`](ErrorKind::Schema) if it is none.
    pub fn new(schema: &str) -> Result<Self> {
        let unusable = |error: &dyn fmt::Display| {
            Error::of_schema(
                ErrorKind::Schema,
                format!("the JSON Schema can't be used: {error}"),
            )
        };
        let parsed: Value = serde_json::from_str(schema).map_err(|error| unusable(&error))?;
        let validator = jsonschema::validator_for(&parsed).map_err(|error| unusable(&error))?;
        Ok(Self {
            schema: Schema::new(SchemaType::Json, schema),
            title: parsed
                .get("title")
                .and_then(Value::as_str)
                .map(str::to_owned),
            validator,
            canonical: false,
            of: PhantomData,
        })
    }

    /// Writes the canonical form, as [`CanonicalJson`] does: for keys.
    #[must_use]
    pub fn canonical(mut self) -> Self {
        self.canonical = true;
        self
    }

    fn validate(&self, kind: ErrorKind, context: &Context<'_>, value: &Value) -> Result<()> {
        self.validator.validate(value).map_err(|error| {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() { "/" } else { &place };
            // Without the value, which may be a secret or long.
            let reason = error.masked();
            Error::new(
                kind,
                context,
                format!("the JSON Schema is not met at {place}: {reason}"),
            )
        })
    }
}

impl<T: ?Sized> Format for JsonSchema<T> {}

impl<T, B> Serialize<B> for JsonSchema<T>
where
    T: serde_core::Serialize + ?Sized,
    B: Borrow<T> + ?Sized,
{
    fn serialize(&self, context: &Context<'_>, value: &B, out: &mut Sink<'_>) -> Result<()> {
        let mut part = out.nested();
        if self.canonical {
            CanonicalJson::<T>::new().serialize(context, value, &mut part)?;
        } else {
            Json::<T>::new().serialize(context, value, &mut part)?;
        }
        // What was written is validated: it is what others read.
        let written = serde_json::from_slice(part.written()).map_err(|error| {
            Error::new(ErrorKind::Unserializable, context, error.to_string()).caused_by(error)
        })?;
        self.validate(ErrorKind::Unserializable, context, &written)
    }
}

impl<T: DeserializeOwned> Deserialize for JsonSchema<T> {
    type Value = T;

    fn deserialize(&self, context: &Context<'_>, payload: Payload<'_>) -> Result<T> {
        let value = Json::<Value>::new().deserialize(context, payload)?;
        self.validate(ErrorKind::Malformed, context, &value)?;
        Json::<T>::new().deserialize(context, payload)
    }
}

impl<T: ?Sized> Described for JsonSchema<T> {
    fn schema(&self) -> Option<&Schema> {
        Some(&self.schema)
    }

    /// The schema's title, as with Confluent's serializers.
    fn record_name(&self) -> Option<&str> {
        self.title.as_deref()
    }
}

impl<T: DeserializeOwned> ReadEvolved for JsonSchema<T> {
    type Value = T;
    type Writer = ();

    fn writer(&self, schema: &Schema, _: &[Schema]) -> Result<()> {
        if schema.schema_type() == SchemaType::Json {
            return Ok(());
        }
        Err(Error::of_schema(
            ErrorKind::Schema,
            format!("the schema is one of {}, not of JSON", schema.schema_type()),
        )
        .advise(OTHER_SERIALIZER))
    }

    /// Held to the reader's schema, whatever the writer's was.
    fn read_evolved(
        &self,
        context: &Context<'_>,
        (): &(),
        _: &MessageIndex,
        payload: Payload<'_>,
    ) -> Result<T> {
        self.deserialize(context, payload)
    }
}

impl<T: ?Sized> fmt::Debug for JsonSchema<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JsonSchema<{}>", std::any::type_name::<T>())
    }
}
