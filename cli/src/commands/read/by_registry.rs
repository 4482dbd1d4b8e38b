//! Keys and values whose schemas are those of a registry.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use copart_serializers::registry::Registry;
use copart_serializers::schema::{Frame, IndexForm, SchemaKey};
use copart_serializers::{AvroJson, Context, Deserialize, Error, ErrorKind, Payload};
use prost_reflect::FileDescriptor;

use crate::protobuf::{compile, message_at};
use crate::typed::Typed;

/// Reads what names its schema, which is asked for once.
pub(super) struct RegistryReader {
    registry: Registry,
    known: Known,
}

enum Known {
    Avro(HashMap<SchemaKey, AvroJson>),
    Protobuf(HashMap<SchemaKey, FileDescriptor>),
}

impl RegistryReader {
    pub(super) fn avro(registry: Registry) -> Self {
        let known = Known::Avro(HashMap::new());
        Self { registry, known }
    }

    pub(super) fn protobuf(registry: Registry) -> Self {
        let known = Known::Protobuf(HashMap::new());
        Self { registry, known }
    }

    /// The value as JSON.
    pub(super) async fn text(
        &mut self,
        context: &Context<'_>,
        payload: Payload<'_>,
    ) -> Result<String, Error> {
        let registry = &self.registry;
        match &mut self.known {
            Known::Avro(known) => {
                let frame = Frame::read(context, payload, None)?;
                let avro = match known.entry(frame.schema) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(new) => {
                        let (schema, references) = registry.described(frame.schema).await?;
                        new.insert(AvroJson::with_references(schema, &references)?)
                    }
                };
                avro.deserialize(context, frame.payload)
            }
            Known::Protobuf(known) => {
                let frame = Frame::read(context, payload, Some(IndexForm::ZigZag))?;
                let file = match known.entry(frame.schema) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(new) => {
                        let schema = registry.schema(frame.schema).await?;
                        let refuse = |what| {
                            let what = format!("{} can't be used: {what}", frame.schema);
                            Error::new(ErrorKind::Schema, context, what)
                        };
                        new.insert(compile(registry, &schema).await?.map_err(refuse)?)
                    }
                };
                let message = message_at(file, &frame.index).ok_or_else(|| {
                    let (schema, index) = (frame.schema, &frame.index);
                    let what = format!("there is no message {index} in {schema}");
                    Error::new(ErrorKind::Malformed, context, what)
                })?;
                Typed::Protobuf(message).deserialize(context, frame.payload)
            }
        }
    }
}
