//! Where the schema's id stands.

use std::fmt;

use crate::{Context, Error, ErrorKind, Part, Payload, Result, Sink};

use super::{IndexForm, MessageIndex, SchemaGuid, SchemaId};

/// Where a serializer puts the schema's identity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Framing {
    /// In front of the payload: `00`, and the id in four bytes, big-endian.
    /// Every client of a registry reads it. A key of this form changes when its
    /// schema's id does.
    #[default]
    Prefix,
    /// In a header, `__key_schema_id` or `__value_schema_id`: `01`, and the
    /// GUID. The key or value is the payload alone. It takes a registry that
    /// knows GUIDs (Confluent's since 8.0), and readers that look at headers.
    Header,
}

/// How a record names its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SchemaKey {
    /// By its number in the registry.
    Id(SchemaId),
    /// By its identity.
    Guid(SchemaGuid),
}

impl fmt::Display for SchemaKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => write!(f, "schema id {id}"),
            Self::Guid(guid) => write!(f, "schema {guid}"),
        }
    }
}

/// The header that names the schema.
fn header(part: Part) -> &'static str {
    match part {
        Part::Key => "__key_schema_id",
        Part::Value => "__value_schema_id",
    }
}

/// A key or value, taken apart.
#[derive(Clone, Debug)]
pub struct Frame<'a> {
    /// The schema that it was written with.
    pub schema: SchemaKey,
    /// Which message of a Protobuf schema; otherwise none.
    pub index: MessageIndex,
    /// What the schema describes.
    pub payload: Payload<'a>,
}

impl<'a> Frame<'a> {
    /// Takes a key or value apart. The header counts if there is one, as with
    /// Confluent's deserializers; then the bytes in front: `00` and an id, or
    /// `01` and a GUID. `indexes` says how message indexes are written, for
    /// Protobuf.
    ///
    /// # Errors
    /// [`Malformed`](ErrorKind::Malformed) if there is no such header, and the
    /// bytes don't begin with one of these.
    pub fn read(
        context: &Context<'_>,
        payload: Payload<'a>,
        indexes: Option<IndexForm>,
    ) -> Result<Self> {
        let take_index = |from: &mut Payload<'_>| match indexes {
            Some(form) => MessageIndex::take(form, context, from),
            None => Ok(MessageIndex::none()),
        };
        let name = header(context.part());
        if let Some(value) = context.header(name) {
            let mut rest = Payload::new(value);
            let (schema, index) = match take_key(&mut rest) {
                Some(schema) => (schema, take_index(&mut rest)?),
                None => {
                    return Err(malformed(context, format!("the header {name:?}"), value));
                }
            };
            return Ok(Self {
                schema,
                index,
                payload,
            });
        }
        let mut rest = payload;
        let Some(schema) = take_key(&mut rest) else {
            let what = format!("the {}", context.part());
            return Err(malformed(context, what, &payload));
        };
        let index = take_index(&mut rest)?;
        Ok(Self {
            schema,
            index,
            payload: rest,
        })
    }

    /// Writes what stands in front of the payload, or the header.
    ///
    /// # Errors
    /// When a header is written where there is no place for one.
    pub(crate) fn write(
        schema: SchemaKey,
        index: Option<&MessageIndex>,
        context: &Context<'_>,
        out: &mut Sink<'_>,
    ) -> Result<()> {
        let index = index.map_or(&[][..], MessageIndex::as_bytes);
        match schema {
            SchemaKey::Id(SchemaId(id)) => {
                let [a, b, c, d] = id.to_be_bytes();
                out.put(&[0, a, b, c, d]);
                out.put(index);
                Ok(())
            }
            SchemaKey::Guid(SchemaGuid(guid)) => {
                let mut value = Vec::with_capacity(17 + index.len());
                value.push(1);
                value.extend_from_slice(&guid);
                value.extend_from_slice(index);
                out.add_header(context, header(context.part()), &value)
            }
        }
    }
}

fn take_key(bytes: &mut Payload<'_>) -> Option<SchemaKey> {
    match bytes.first()? {
        0 => {
            bytes.take(1)?;
            let id = bytes.take(4)?.array()?;
            Some(SchemaKey::Id(SchemaId(u32::from_be_bytes(id))))
        }
        1 => {
            bytes.take(1)?;
            Some(SchemaKey::Guid(SchemaGuid(bytes.take(16)?.array()?)))
        }
        _ => None,
    }
}

#[cold]
fn malformed(context: &Context<'_>, what: String, bytes: &[u8]) -> Error {
    let found = match bytes.first() {
        None => "is empty".to_owned(),
        Some(0 | 1) => format!("ends within it, after {} bytes", bytes.len()),
        Some(3) => "begins with 03, as AWS Glue's do".to_owned(),
        Some(first) => format!("begins with {first:02x}"),
    };
    Error::new(
        ErrorKind::Malformed,
        context,
        format!("{what} should begin with a schema's id (00 and 4 bytes) or GUID (01 and 16 bytes), but {found}"),
    )
    .advise("was it written without a schema registry?")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AddedHeaders;

    const GUID: [u8; 16] = *b"0123456789abcdef";

    #[test]
    fn the_prefix() {
        let context = Context::value("t");
        let mut bytes = Vec::new();
        let key = SchemaKey::Id(SchemaId(258));
        let index = MessageIndex::new([1]);
        Frame::write(key, Some(&index), &context, &mut Sink::new(&mut bytes)).expect("writes");
        bytes.extend_from_slice(&[8, 42]);
        assert_eq!(bytes, [0, 0, 0, 1, 2, 2, 2, 8, 42]);
        let frame = Frame::read(&context, Payload::new(&bytes), Some(IndexForm::ZigZag));
        let frame = frame.expect("reads");
        assert_eq!((frame.schema, frame.index), (key, index));
        assert_eq!(*frame.payload, [8, 42]);
    }

    #[test]
    fn the_header_leaves_the_key_alone() {
        let context = Context::key("t");
        let (mut bytes, mut headers) = (Vec::new(), AddedHeaders::new());
        let key = SchemaKey::Guid(SchemaGuid(GUID));
        let mut sink = Sink::with_headers(&mut bytes, &mut headers);
        Frame::write(key, None, &context, &mut sink).expect("writes");
        assert!(bytes.is_empty());
        let (name, value) = headers.iter().next().expect("a header");
        assert_eq!(name, "__key_schema_id");
        assert_eq!(value, [&[1][..], &GUID].concat());
        let headers = [(name, Some(value))];
        let context = context.with_headers(&headers);
        // Even where the payload looks like a prefix.
        let frame = Frame::read(&context, Payload::new(&[0; 9]), None).expect("reads");
        assert_eq!((frame.schema, frame.payload.len()), (key, 9));
        // The value's header is another one.
        let value = Context::value("t").with_headers(&headers);
        let frame = Frame::read(&value, Payload::new(&[0; 9]), None).expect("reads");
        assert_eq!(frame.schema, SchemaKey::Id(SchemaId(0)));
    }

    #[test]
    fn a_guid_in_front_is_read_too() {
        let bytes = [&[1][..], &GUID, b"x"].concat();
        let frame = Frame::read(&Context::key("t"), Payload::new(&bytes), None).expect("reads");
        assert_eq!(frame.schema, SchemaKey::Guid(SchemaGuid(GUID)));
        assert_eq!(*frame.payload, *b"x");
    }

    #[test]
    fn what_is_no_frame_says_so() {
        for (bytes, expected) in [
            (&b""[..], "empty"),
            (b"\0\0\0", "ends within"),
            (b"\x01\0\0\0\0", "ends within"),
            (b"\x03\0", "Glue"),
            (b"{}", "7b"),
        ] {
            let error = Frame::read(&Context::key("t"), Payload::new(bytes), None);
            let error = error.expect_err("no frame");
            assert_eq!(error.kind(), ErrorKind::Malformed);
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
