//! A Schema Registry without a network, a disk or a clock: the interface that clients of Confluent's use, as a state
//! machine.
//!
//! ```
//! use copart_registry::{Request, Store};
//!
//! let mut store = Store::default();
//! let request = Request {
//!     method: "POST",
//!     path: "/subjects/page-views-value/versions",
//!     query: "",
//!     body: br#"{"schema": "{\"type\": \"string\"}"}"#,
//! };
//! let outcome = store.handle(&request);
//! assert_eq!(outcome.answer.status, 200);
//! // Whoever drives it stores the records, and then has them applied.
//! for record in outcome.records {
//!     store.apply(record);
//! }
//! // The same schema again is the same schema, and changes nothing.
//! let again = store.handle(&request);
//! assert!(again.records.is_empty());
//! assert_eq!(again.answer, outcome.answer);
//! ```
//!
//! - [`Store`]: what is registered.
//! - [`Request`], [`Answer`], [`Outcome`]: the interface.
//! - [`Record`]: what is written to the `_schemas` topic, as Confluent's registry writes it.
//! - [`ApiError`]: what clients are told instead of an answer.
//! - [`protobuf_file`]: a Protobuf schema, compiled.
//!
//! Schemas may be Avro, Protobuf or JSON Schema. New versions are compared with earlier ones by the rules of Avro for
//! Java, and for Protobuf and JSON Schema by those of Confluent's registry. Of JSON Schema not all keywords are compared;
//! where others differ, whoever asks is told so.

mod api;
mod avro;
mod error;
mod incompatibility;
mod json;
mod json_schema;
mod level;
mod protobuf;
mod record;
mod schema;
mod store;

pub use api::{Answer, Outcome, Request};
pub use error::{ApiError, Result};
pub use level::{Level, Mode};
pub use protobuf::protobuf_file;
pub use record::{ConfigValue, Encoded, Record, SchemaValue};
pub use schema::{Definition, Reference, SchemaType};
pub use store::Store;
