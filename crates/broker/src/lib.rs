//! A small reference broker: any Kafka client can produce to it and fetch from it, in a test or on a laptop, with
//! nothing else installed.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> copart_broker::Result<()> {
//! let broker = copart_broker::Broker::builder().topic("page-views", 8).start().await?;
//! println!("bootstrap.servers={}", broker.bootstrap());
//! broker.stop().await
//! # }
//! ```
//!
//! - [`Broker`], [`Builder`]: a broker in this process, in memory or with a data directory.
//! - [`Fault`]: what a client's error handling has to face, on request.
//! - [`Limits`]: how much clients may have.
//! - [`Builder::registry`]: a Schema Registry beside it, off by default.
//! - [`files`]: the files under the logs, real or in memory, and what is left of them after a power loss.
//! - [`log`]: one partition's log, in Kafka's file formats: append, read, find, roll, retain, recover and repair.
//! - [`Error`]: the one error type.
//!
//! A broker with several nodes has a listener for each, and they act as nodes of one cluster: leaders, replicas,
//! in-sync replicas and epochs move as Kafka moves them. **Replication is simulated**: there is one copy of the
//! data, and no node's disk can be lost without loss.
//!
//! Logs are plain structs. They take the time as an argument, start no task and hold no lock; whoever drives them
//! decides when to sync and when to clean up.

mod api;
mod broker;
mod cluster;
mod configs;
mod error;
mod faults;
mod fetch;
pub mod files;
mod groups;
pub mod log;
mod partitions;
mod registry;
mod server;

pub use broker::{Broker, Builder, DirectoryRepair};
pub use error::{Error, ErrorKind, RecordError, Result};
pub use faults::{Fault, RequestInfo};
pub use log::Durability;
pub use server::Limits;
