//! Protobuf schemas of a registry, compiled.

use copart_registry::protobuf_file;
use copart_serializers::Error;
use copart_serializers::registry::{Registry, Version};
use copart_serializers::schema::{MessageIndex, Schema, SchemaType};
use prost_reflect::{FileDescriptor, MessageDescriptor};

/// More files than anybody lets one import.
const MAX_IMPORTS: usize = 1000;

/// Compiles a schema with what it imports, for which the registry is asked; or says why it can't be used.
pub(crate) async fn compile(
    registry: &Registry,
    schema: &Schema,
) -> Result<Result<FileDescriptor, String>, Error> {
    if schema.schema_type() != SchemaType::Protobuf {
        return Ok(Err(format!("it is {}", schema.schema_type())));
    }
    let mut imports: Vec<(String, Schema)> = Vec::new();
    let mut wanted = schema.references().to_vec();
    while let Some(import) = wanted.pop() {
        if imports.iter().any(|(name, _)| *name == import.name) {
            continue;
        }
        if imports.len() == MAX_IMPORTS {
            return Ok(Err(format!("it imports more than {MAX_IMPORTS} files")));
        }
        let version = Version::Number(import.version);
        let (schema, _) = registry.version(&import.subject, version).await?;
        wanted.extend_from_slice(schema.references());
        imports.push((import.name, schema));
    }
    let imports: Vec<_> = imports
        .iter()
        .map(|(name, schema)| (name.as_str(), schema.text()))
        .collect();
    Ok(protobuf_file(schema.text(), &imports))
}

/// The message in this place of the file.
pub(crate) fn message_at(file: &FileDescriptor, index: &MessageIndex) -> Option<MessageDescriptor> {
    let (first, rest) = index.path().split_first()?;
    let place = |number: u32| usize::try_from(number).ok();
    let mut message = file.messages().nth(place(*first)?)?;
    for number in rest {
        let within = message.child_messages().nth(place(*number)?)?;
        message = within;
    }
    Some(message)
}

/// Where a message stands in its file.
pub(crate) fn index_of(message: &MessageDescriptor) -> MessageIndex {
    // Field numbers stand between the places.
    let places = message.path().iter().skip(1).step_by(2);
    let places: Vec<_> = places.map(|place| place.unsigned_abs()).collect();
    MessageIndex::new(places)
}
