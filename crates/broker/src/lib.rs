//! The reference broker's storage: partition logs in Kafka's file formats.
//!
//! - [`files`]: the files under the logs, real or in memory, and what is left
//!   of them after a power loss.
//! - [`log`]: one partition's log: append, read, find, roll, retain, recover
//!   and repair.
//! - [`Error`]: the one error type.
//!
//! Logs are plain structs. They take the time as an argument, start no task and
//! hold no lock; whoever drives them decides when to sync and when to clean up.

mod cluster;
mod configs;
mod error;
pub mod files;
pub mod log;

pub use error::{Error, ErrorKind, RecordError, Result};
