//! Keys and values that are decoded as they are read: what typed consumers and readers have in common.
//!
//! - `decoder`: the deserializers, and what becomes of a record that they can't read.
//! - `decoding`: one batch on its way from bytes to values, without waiting.
//! - `feed`: batches and records, one after the other.
//! - `record`: what comes out.

mod decoder;
mod decoding;
mod feed;
mod record;

pub(crate) use decoder::Decoder;
pub(crate) use decoding::Lot;
pub(crate) use feed::{Feed, Next};
pub use record::{TypedBatch, TypedRecord};
