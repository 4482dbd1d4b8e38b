//! The REST interface of Confluent's Schema Registry, without the network.
//!
//! - [`Request`]: what came.
//! - [`Store::handle`]: from a request to records that are to be written, and an answer.
//! - [`Outcome`], [`Answer`]: these.

mod answers;
mod request;
mod route;

pub use request::Request;
pub use route::{Answer, Outcome};
