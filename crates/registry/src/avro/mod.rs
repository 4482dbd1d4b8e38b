//! Avro schemas, as Avro for Java reads, prints and compares them.
//!
//! - [`Avro`]: a schema whose names are resolved.
//! - [`parse`](Avro::parse): its JSON text, read.
//! - [`text`](Avro::text): the one text that all writings of a schema have.
//! - [`incompatibilities`]: why data of one schema cannot be read with another.

mod compatibility;
mod parse;
mod print;
mod schema;
#[cfg(test)]
mod tests;

pub(crate) use compatibility::incompatibilities;
pub(crate) use schema::Avro;
