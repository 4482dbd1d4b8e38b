//! The client of a Confluent Schema Registry, and what puts schema ids around
//! payloads.
//!
//! [`Registry`] asks the registry, [`FramedSerializer`] and
//! [`FramedDeserializer`] are serializers that use it. They ask in
//! [`Format::prepare`](crate::Format::prepare), once for each topic and schema;
//! serializing itself waits for nothing.
//!
//! ```no_run
//! use copart_serializers::registry::Registry;
//! use copart_serializers::{Avro, Format, Context, Serialize};
//!
//! # async fn run() -> Result<(), copart_serializers::Error> {
//! let registry = Registry::builder("https://registry.example:8081")
//!     .basic_auth("user", "password")
//!     .build()?;
//! let avro = registry.serializer(Avro::<i64>::new(r#""long""#)?);
//! let value = Context::value("readings");
//! if let Some(preparation) = avro.prepare(&value, None) {
//!     preparation.await?;
//! }
//! let bytes = avro.to_vec(&value, &42)?;
//! # Ok(())
//! # }
//! ```

mod builder;
mod client;
mod deserializer;
mod http;
mod known;
mod serializer;
mod subject;
mod wire;

pub use builder::RegistryBuilder;
pub use client::{Compatibility, Registered, Registry, Version};
pub use deserializer::FramedDeserializer;
pub use serializer::FramedSerializer;
pub use subject::SubjectName;
