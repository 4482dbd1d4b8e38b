//! JSON Schemas.
//!
//! - [`JsonSchema`]: a schema that is one by its draft's own rules.
//! - [`incompatibilities`]: why what one schema allows may not be allowed by another.

mod compatibility;
mod schema;

pub(crate) use compatibility::incompatibilities;
pub(crate) use schema::JsonSchema;
