//! The Schema Registry of a broker: the rules of `copart_registry` between HTTP and the `_schemas` topic.
//!
//! - [`listen`]: takes connections.
//! - [`Registry`]: has requests worked on, their records stored, and then their answers sent.
//! - [`SCHEMAS`], [`create_if_missing`]: the topic.

mod http;
mod listener;
mod load;
mod patient;
mod service;
mod topic;

pub(crate) use listener::listen;
pub(crate) use service::Registry;
pub(crate) use topic::{SCHEMAS, create_if_missing};
