//! Apache Avro: the binary form of one value, without a file around it.

mod aliases;
mod codec;
mod generic;
mod json;
mod scan;
mod typed;

pub use codec::AvroWriter;
pub use generic::AvroValue;
pub use json::AvroJson;
pub use typed::Avro;
