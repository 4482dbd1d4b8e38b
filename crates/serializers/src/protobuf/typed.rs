//! Messages that prost generates.

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;

use prost::Message;

use crate::schema::{Described, MessageIndex, ReadEvolved, Schema, SchemaType};
use crate::{Context, Deserialize, Format, Payload, Result, Serialize, Sink};

use super::{Messages, check_type, malformed};

/// Messages of one type that prost generates.
///
/// Alone it writes the bare message. For a registry, say with
/// [`described`](Self::described) where the message stands.
///
/// As a key: fields are written in the order of their numbers, as Java, Go and
/// C++ do. Maps are written in any order unless prost was told to make
/// `BTreeMap`s of them; and Protobuf itself promises no form that stays.
///
/// ```
/// use copart_serializers::{Context, Deserialize, Payload, Protobuf, Serialize};
///
/// #[derive(Clone, PartialEq, prost::Message)]
/// struct Order {
///     #[prost(int64, tag = "1")]
///     item: i64,
/// }
///
/// let protobuf = Protobuf::<Order>::new();
/// let value = Context::value("orders");
/// let bytes = protobuf.to_vec(&value, &Order { item: 7 })?.unwrap_or_default();
/// assert_eq!(bytes, [8, 7]);
/// assert_eq!(protobuf.read(&value, Some(Payload::new(&bytes)))?.item, 7);
/// # Ok::<(), copart_serializers::Error>(())
/// ```
pub struct Protobuf<M> {
    schema: Option<(Schema, String)>,
    messages: Messages,
    of: PhantomData<fn(&M)>,
}

impl<M> Protobuf<M> {
    /// Messages of this type: with a registry, the first of its file, and for
    /// reading only.
    pub fn new() -> Self {
        Self {
            schema: None,
            messages: Messages {
                own: MessageIndex::new([0]),
                others: Vec::new(),
            },
            of: PhantomData,
        }
    }

    /// Messages of this type, which have this full name and stand in this
    /// place of a `.proto` file: `[0]` is the first message of the file,
    /// `[1, 0]` the first message within the second.
    pub fn described(
        proto: &str,
        full_name: impl Into<String>,
        index: impl Into<Vec<u32>>,
    ) -> Self {
        Self::with_schema(Schema::new(SchemaType::Protobuf, proto), full_name, index)
    }

    /// The same, by a schema that may refer to others.
    pub fn with_schema(
        schema: Schema,
        full_name: impl Into<String>,
        index: impl Into<Vec<u32>>,
    ) -> Self {
        Self {
            schema: Some((schema, full_name.into())),
            messages: Messages {
                own: MessageIndex::new(index),
                others: Vec::new(),
            },
            of: PhantomData,
        }
    }

    /// Reads the message that stands in this place, too: where other versions
    /// of the schema have it.
    #[must_use]
    pub fn also_read(mut self, index: impl Into<Vec<u32>>) -> Self {
        self.messages.others.push(MessageIndex::new(index));
        self
    }
}

impl<M> Format for Protobuf<M> {}

impl<M: Message, B: Borrow<M> + ?Sized> Serialize<B> for Protobuf<M> {
    fn serialize(&self, _: &Context<'_>, value: &B, out: &mut Sink<'_>) -> Result<()> {
        // A Vec takes any length.
        value.borrow().encode_raw(out.as_vec());
        Ok(())
    }
}

impl<M: Message + Default> Deserialize for Protobuf<M> {
    type Value = M;

    fn deserialize(&self, context: &Context<'_>, payload: Payload<'_>) -> Result<M> {
        M::decode(payload.as_slice()).map_err(|error| malformed(context, error))
    }
}

impl<M> Described for Protobuf<M> {
    fn schema(&self) -> Option<&Schema> {
        self.schema.as_ref().map(|(schema, _)| schema)
    }

    fn record_name(&self) -> Option<&str> {
        self.schema.as_ref().map(|(_, name)| name.as_str())
    }

    fn message_index(&self) -> Option<&MessageIndex> {
        Some(&self.messages.own)
    }
}

impl<M: Message + Default> ReadEvolved for Protobuf<M> {
    type Value = M;
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
    ) -> Result<M> {
        self.messages.check(context, index)?;
        self.deserialize(context, payload)
    }
}

impl<M> Default for Protobuf<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M> fmt::Debug for Protobuf<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Protobuf<{}>", std::any::type_name::<M>())
    }
}
