//! The Kafka wire protocol, for both ends of a connection.
//!
//! - [`frame`], [`header`], [`versions`]: what is around a message, and which
//!   version of it both ends speak.
//! - [`messages`]: requests and responses, one type for each.
//! - [`records`]: record batches: encode, decode, compress, verify.
//! - [`varint`]: the variable-length integers that records and flexible
//!   messages share.
//! - [`wire`]: the reader and writer under the messages.
//! - [`ErrorCode`]: the errors that brokers answer with.
//! - [`Error`]: the one error type, with a kind, an offset and a reason.
//!
//! The crate holds no socket and starts no task. Its decoders face untrusted
//! bytes: none panics, and none reserves memory because a length field asks
//! for it. Every count is checked against the bytes that are really there, and
//! whatever can grow (decompressed data) stops at a limit given by the caller.

mod api;
mod error;
mod error_code;
pub mod frame;
pub mod header;
pub mod messages;
pub mod records;
mod uuid;
pub mod varint;
pub mod versions;
pub mod wire;

pub use api::{Body, Request};
pub use error::{Error, ErrorKind, Result};
pub use error_code::ErrorCode;
pub use messages::{AnyRequest, AnyResponse, ApiKey};
pub use uuid::Uuid;
pub use versions::VersionRange;
