//! Producing: from a record to an acknowledged batch.
//!
//! - [`record`], [`handle`], [`typed`], [`builder`], [`config`]: what users see.
//! - [`partitioner`], [`guards`]: where a record goes, and whether that is still where it went before.
//! - [`core`]: batching, sequences and retries of one partition, without sockets and clocks.
//! - [`completion`]: how senders learn what became of their records.
//! - [`topic`], [`inbox`], [`shared`]: what handles and tasks share.
//! - [`sink`], [`dispatch`]: the task for each broker, and its requests.
//! - [`identity`], [`supervisor`]: the producer's id, and changes in the cluster.

mod builder;
mod completion;
mod config;
mod core;
mod dispatch;
mod guards;
mod handle;
mod identity;
mod inbox;
mod partitioner;
mod record;
mod shared;
mod sink;
mod supervisor;
mod topic;
mod typed;

pub use builder::{NamedPartitioner, NoPartitioner, PartitionerChosen, ProducerBuilder};
pub use completion::{Delivery, Receipt};
pub use config::Acks;
pub use guards::Guard;
pub use handle::{CloseReport, Producer, Rejection};
pub use partitioner::{Choice, Partitioner, Partitioning, TopicView};
pub use record::{Null, Payload, ProducerRecord, RecordView};
pub use typed::TypedProducer;
