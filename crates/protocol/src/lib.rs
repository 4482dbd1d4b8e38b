//! The Kafka wire protocol, for both ends of a connection.
//!
//! - [`messages`]: requests and responses, one type for each.
//! - [`records`]: record batches: encode, decode, compress, verify.
//! - [`varint`]: the variable-length integers that records and flexible
//!   messages share.
//! - [`Error`]: the one error type, with a kind, an offset and a reason.
//!
//! The crate holds no socket and starts no task. Its decoders face untrusted
//! bytes: none panics, and none reserves memory because a length field asks
//! for it. Every count is checked against the bytes that are really there, and
//! whatever can grow (decompressed data) stops at a limit given by the caller.

mod error;
pub mod messages;
pub mod records;
pub mod varint;

pub use error::{Error, ErrorKind, Result};
