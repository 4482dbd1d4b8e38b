//! Protocol Buffers.

#[cfg(feature = "protobuf-dynamic")]
mod dynamic;
mod typed;

use crate::error::OTHER_SERIALIZER;
use crate::schema::{MessageIndex, Schema, SchemaType};
use crate::{Context, Error, ErrorKind, Result};

#[cfg(feature = "protobuf-dynamic")]
pub use dynamic::ProtobufDynamic;
pub use typed::Protobuf;

/// The messages of one schema that a format reads.
#[derive(Clone, Debug)]
struct Messages {
    own: MessageIndex,
    others: Vec<MessageIndex>,
}

impl Messages {
    fn check(&self, context: &Context<'_>, index: &MessageIndex) -> Result<()> {
        if *index == self.own || self.others.contains(index) {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Malformed,
            context,
            format!(
                "the record holds message {index} of its schema, where {} is expected",
                self.own
            ),
        )
        .advise("if the writer's schema has the message in that place, allow it with also_read"))
    }
}

/// Protobuf's own rules make any two versions readable, so there is nothing to
/// compare but the language.
fn check_type(schema: &Schema) -> Result<()> {
    if schema.schema_type() == SchemaType::Protobuf {
        return Ok(());
    }
    Err(Error::of_schema(
        ErrorKind::Schema,
        format!(
            "the schema is one of {}, not of Protobuf",
            schema.schema_type()
        ),
    )
    .advise(OTHER_SERIALIZER))
}

#[cold]
fn malformed(context: &Context<'_>, error: prost::DecodeError) -> Error {
    Error::new(
        ErrorKind::Malformed,
        context,
        format!("not Protobuf of the expected message: {error}"),
    )
    .advise(OTHER_SERIALIZER)
    .caused_by(error)
}
