//! Messages by their descriptor.

use std::fmt;

use data_encoding::BASE64;
use prost::Message;
use prost_reflect::{DynamicMessage, MessageDescriptor, ReflectMessage};

use crate::schema::{Described, MessageIndex, ReadEvolved, Reference, Schema, SchemaType};
use crate::{Context, Deserialize, Error, ErrorKind, Format, Payload, Result, Serialize, Sink};

use super::{Messages, check_type, malformed};

/// Messages of a type that is known when the program runs, by its descriptor.
///
/// Its schema is the descriptor of its file, serialized, which registries take
/// in the place of a `.proto` text; confluent-kafka-python registers the same.
pub struct ProtobufDynamic {
    descriptor: MessageDescriptor,
    schema: Schema,
    messages: Messages,
}

impl ProtobufDynamic {
    /// Messages of this type.
    pub fn new(descriptor: MessageDescriptor) -> Self {
        let file = descriptor.parent_file();
        let text = BASE64.encode(&file.file_descriptor_proto().encode_to_vec());
        Self {
            schema: Schema::new(SchemaType::Protobuf, text),
            messages: Messages {
                own: MessageIndex::new(place(&descriptor)),
                others: Vec::new(),
            },
            descriptor,
        }
    }

    /// Says where the files that its file imports are registered. Those of
    /// `google/protobuf` need not be.
    #[must_use]
    pub fn with_references(mut self, references: Vec<Reference>) -> Self {
        self.schema = self.schema.with_references(references);
        self
    }

    /// Says how the schema is registered, where that is not the descriptor.
    #[must_use]
    pub fn with_schema(mut self, schema: Schema) -> Self {
        self.schema = schema;
        self
    }

    /// Reads the message that stands in this place, too: where other versions
    /// of the schema have it.
    #[must_use]
    pub fn also_read(mut self, index: impl Into<Vec<u32>>) -> Self {
        self.messages.others.push(MessageIndex::new(index));
        self
    }

    /// The type.
    pub fn descriptor(&self) -> &MessageDescriptor {
        &self.descriptor
    }
}

/// The path in the descriptor of the file has field numbers between the places.
fn place(descriptor: &MessageDescriptor) -> Vec<u32> {
    let places = descriptor.path().iter().skip(1).step_by(2);
    places.map(|&place| place.unsigned_abs()).collect()
}

impl Format for ProtobufDynamic {}

impl Serialize<DynamicMessage> for ProtobufDynamic {
    fn serialize(
        &self,
        context: &Context<'_>,
        value: &DynamicMessage,
        out: &mut Sink<'_>,
    ) -> Result<()> {
        let found = value.descriptor();
        if found != self.descriptor {
            let (found, expected) = (found.full_name(), self.descriptor.full_name());
            return Err(Error::new(
                ErrorKind::Unserializable,
                context,
                format!(
                    "the value is a message {found}, where a {expected} of the same descriptor pool is expected"
                ),
            ));
        }
        value.encode_raw(out.as_vec());
        Ok(())
    }
}

impl Deserialize for ProtobufDynamic {
    type Value = DynamicMessage;

    fn deserialize(&self, context: &Context<'_>, payload: Payload<'_>) -> Result<DynamicMessage> {
        DynamicMessage::decode(self.descriptor.clone(), payload.as_slice())
            .map_err(|error| malformed(context, error))
    }
}

impl Described for ProtobufDynamic {
    fn schema(&self) -> Option<&Schema> {
        Some(&self.schema)
    }

    fn record_name(&self) -> Option<&str> {
        Some(self.descriptor.full_name())
    }

    fn message_index(&self) -> Option<&MessageIndex> {
        Some(&self.messages.own)
    }
}

impl ReadEvolved for ProtobufDynamic {
    type Value = DynamicMessage;
    type Writer = ();

    fn writer(&self, schema: &Schema, _: &[Schema]) -> Result<()> {
        check_type(schema)
    }

    fn read_evolved(
        &self,
        context: &Context<'_>,
        (): &(),
        index: &MessageIndex,
        payload: Payload<'_>,
    ) -> Result<DynamicMessage> {
        self.messages.check(context, index)?;
        self.deserialize(context, payload)
    }
}

impl fmt::Debug for ProtobufDynamic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ProtobufDynamic")
            .field(&self.descriptor.full_name())
            .finish()
    }
}
