//! Protobuf schemas: one file, and those that it imports.
//!
//! - [`Protobuf`]: a file that was compiled.
//! - [`text`](Protobuf::text): the one text that all writings of a file have.
//! - [`incompatibilities`]: why data of one file cannot be read with another.

mod compatibility;
mod nesting;
mod parse;
mod print;

pub(crate) use compatibility::incompatibilities;
pub use parse::protobuf_file;
pub(crate) use parse::{Import, Protobuf};
