//! What a format with a schema can say and do.

use crate::{Context, Format, Payload, Result};

use super::{MessageIndex, Schema};

/// A format whose bytes a schema describes. By itself it writes the payload
/// alone; a registry puts the schema's id in front or into a header.
pub trait Described: Format {
    /// The schema of what is written. `None` if the format was made without,
    /// for reading.
    fn schema(&self) -> Option<&Schema>;

    /// The full name of the record or message, for subjects that are named
    /// after it.
    fn record_name(&self) -> Option<&str>;

    /// Which message of the schema it is. Only Protobuf has one.
    fn message_index(&self) -> Option<&MessageIndex> {
        None
    }
}

/// Reads what was written with another version of the schema.
pub trait ReadEvolved: Described {
    /// What the bytes become.
    type Value;

    /// What is made once of the writer's schema, and kept.
    type Writer: Send + Sync + 'static;

    /// Compares the writer's schema with this one's.
    ///
    /// `references` are the schemas that the writer's refers to, those that they
    /// refer to included, each before those that refer to it.
    ///
    /// # Errors
    /// [`Schema`](crate::ErrorKind::Schema) if it can't be read, or if its
    /// values can't become this one's.
    fn writer(&self, schema: &Schema, references: &[Schema]) -> Result<Self::Writer>;

    /// Reads the payload, all of it. `index` is empty unless the format has a
    /// [`message_index`](Described::message_index).
    ///
    /// # Errors
    /// [`Malformed`](crate::ErrorKind::Malformed) if the bytes are not a value.
    fn read_evolved(
        &self,
        context: &Context<'_>,
        writer: &Self::Writer,
        index: &MessageIndex,
        payload: Payload<'_>,
    ) -> Result<Self::Value>;
}
