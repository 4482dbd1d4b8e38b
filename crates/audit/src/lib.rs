//! The engine behind the `copart` command line: do these Kafka clients put these keys on the same
//! partitions?
//!
//! - [`input`] reads keys from files and standard input, on all cores, in constant memory;
//! - [`Client`] is a client's partitioner under the name a user gave it;
//! - [`verify()`] compares clients over keys and says why they differ;
//! - [`movement()`](movement::movement) says what moves when a topic's partition count or a
//!   producer's algorithm changes;
//! - [`skew()`](skew::skew) says how evenly keys and records are spread, and which keys are hot;
//! - [`size()`](size::size) says how many partitions a topic needs, and what changing that later
//!   costs;
//! - [`map()`] lists every key with each client's partition;
//! - [`setting()`] finds the configuration that makes one client place keys as another;
//! - [`infer()`] says which client's partitioner wrote the records of a topic;
//! - `live` (feature `client`) reads records and partition counts from a cluster;
//! - [`copartition()`] says whether two topics may be joined by key;
//! - [`lint()`] finds keys that are not what they seem;
//! - [`check()`](check::check) says whether a repository keeps its partition contract;
//! - [`vectors`] checks this program against the placements of the real clients;
//! - [`output`] writes reports for people, scripts and CI systems.
#![forbid(unsafe_code)]

mod census;
pub mod check;
mod clients;
pub mod copartition;
mod error;
mod frame;
pub mod infer;
pub mod input;
pub mod lint;
#[cfg(feature = "client")]
pub mod live;
mod lock;
mod map;
pub mod movement;
mod named;
pub mod output;
mod pipeline;
mod plan;
mod settings;
pub mod size;
pub mod skew;
mod stats;
mod text;
pub mod vectors;
pub mod verify;

pub use census::report as weighed;
pub use census::{EXACT_KEYS, MAX_EXACT_KEYS};
pub use clients::Client;
#[doc(inline)]
pub use copartition::copartition;
pub use error::{Error, ErrorKind};
#[doc(inline)]
pub use infer::infer;
#[doc(inline)]
pub use lint::lint;
pub use map::{MapFormat, MapOptions, Mapped, map};
pub use pipeline::Run;
pub use settings::{Setting, by_hand, setting};
#[doc(inline)]
pub use verify::verify;
