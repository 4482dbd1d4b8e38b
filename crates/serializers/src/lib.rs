//! Typed keys and values of Kafka records, as bytes and back.
//!
//! Partitioners hash bytes. Two producers agree on a key's partition only if
//! they agree on its bytes first, so the serializers here are named and exact:
//! each says which serializer of Kafka's Java client it equals, and is compared
//! with that one's output.
//!
//! | here | Java's serializer | bytes |
//! |---|---|---|
//! | [`Raw`] | `ByteArraySerializer`, `BytesSerializer` | as they are |
//! | [`Utf8`] | `StringSerializer` | UTF-8, no length, no end mark |
//! | [`Int16`], [`Int32`], [`Int64`] | `ShortSerializer`, `IntegerSerializer`, `LongSerializer` | big-endian |
//! | [`Float32`] | `FloatSerializer` | big-endian, every NaN as it is |
//! | [`Float64`] | `DoubleSerializer` | big-endian, one NaN for all |
//! | [`Float64Raw`] | none | big-endian, every NaN as it is |
//! | [`Bool`] | `BooleanSerializer` | `01` or `00` |
//! | [`UuidText`] | `UUIDSerializer` | 36 characters, lower case |
//! | [`UuidBytes`] | none | 16 bytes, most significant first |
//! | [`Void`] | `VoidSerializer` | null |
//! | [`List`] | `ListSerializer` | lengths and elements |
//! | [`Json`] | none | compact JSON by serde |
//! | [`CanonicalJson`] | none | JSON in the canonical form of RFC 8785 |
//!
//! Features that are off by default add Avro (`avro`), Protocol Buffers
//! (`protobuf`, `protobuf-dynamic`), JSON Schema (`json-schema`), and the client
//! of a Schema Registry (`registry`).
//!
//! **Null is not empty.** A null key leaves the partition to the partitioner, a
//! null value is a tombstone that deletes its key from a compacted topic. Only
//! [`Optional`] and [`Void`] read and write it; for all others a null is an
//! error that says so.
//!
//! ```
//! use copart_serializers::{Context, Deserialize, Int64, Optional, Payload, Serialize, Utf8};
//!
//! let key = Context::key("orders");
//! assert_eq!(Utf8.to_vec(&key, "customer-7")?.as_deref(), Some(&b"customer-7"[..]));
//! assert_eq!(Int64.to_vec(&key, &42)?.as_deref(), Some(&[0, 0, 0, 0, 0, 0, 0, 42][..]));
//!
//! let value = Context::value("orders");
//! assert_eq!(Optional(Utf8).to_vec(&value, &None::<&str>)?, None);
//! assert_eq!(Optional(Utf8).read(&value, None)?, None);
//!
//! let error = Int64.read(&key, Some(Payload::new(b"42"))).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "topic \"orders\", key: Int64 takes 8 bytes, found 2 (was it written with another serializer?)"
//! );
//! # Ok::<(), copart_serializers::Error>(())
//! ```
//!
//! # Where the bytes go
//!
//! A serializer appends to the buffer that is sent, through a [`Sink`]: there is
//! no buffer for each value. A deserializer reads a [`Payload`], a part of the
//! batch that came, and shares it ([`Raw`]) or reads it in place (all others).
//!
//! # Your own
//!
//! Implement [`Format`] (often empty), and [`Serialize`] or [`Deserialize`].
//! What must be fetched first, such as the id of a schema, is fetched in
//! [`Format::prepare`], so that serializing itself never waits.
//!
//! ```
//! use copart_serializers::{Context, Format, Result, Serialize, Sink};
//!
//! /// Keys such as `eu/42`.
//! struct RegionalId;
//!
//! impl Format for RegionalId {}
//!
//! impl Serialize<(&str, u64)> for RegionalId {
//!     fn serialize(&self, _: &Context<'_>, (region, id): &(&str, u64), out: &mut Sink<'_>) -> Result<()> {
//!         out.put(region.as_bytes());
//!         out.put(format!("/{id}").as_bytes());
//!         Ok(())
//!     }
//! }
//!
//! let key = RegionalId.to_vec(&Context::key("orders"), &("eu", 42))?;
//! assert_eq!(key.as_deref(), Some(&b"eu/42"[..]));
//! # Ok::<(), copart_serializers::Error>(())
//! ```

#![forbid(unsafe_code)]

/// The book's examples are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/src/serializers.md")]
mod book {}

#[cfg(feature = "avro")]
mod avro;
mod boolean;
mod context;
mod deserialize;
mod error;
mod float;
mod format;
mod integer;
#[cfg(feature = "json")]
mod json;
mod list;
mod null;
mod payload;
mod poison;
#[cfg(feature = "protobuf")]
mod protobuf;
mod raw;
#[cfg(feature = "registry")]
pub mod registry;
#[cfg(feature = "schema")]
pub mod schema;
mod serialize;
mod sink;
mod utf8;
#[cfg(feature = "uuid")]
mod uuid;

#[cfg(feature = "avro")]
pub use avro::{Avro, AvroJson, AvroValue, AvroWriter};
pub use boolean::Bool;
pub use context::{Context, Headers, Part};
pub use deserialize::Deserialize;
pub use error::{Error, ErrorKind, Result};
pub use float::{Float32, Float64, Float64Raw};
pub use format::{Format, Preparation};
pub use integer::{Int16, Int32, Int64};
#[cfg(feature = "json-schema")]
pub use json::JsonSchema;
#[cfg(feature = "json")]
pub use json::{CanonicalJson, Json};
pub use list::List;
pub use null::{Optional, Void};
pub use payload::Payload;
pub use poison::{DeadLetterHeaders, Origin, Poison};
#[cfg(feature = "protobuf")]
pub use protobuf::Protobuf;
#[cfg(feature = "protobuf-dynamic")]
pub use protobuf::ProtobufDynamic;
pub use raw::Raw;
pub use serialize::Serialize;
pub use sink::{AddedHeaders, Sink};
pub use utf8::Utf8;
#[cfg(feature = "uuid")]
pub use uuid::{UuidBytes, UuidText};
