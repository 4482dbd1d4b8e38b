//! Reading topics as a member of a group.
//!
//! - `builder`, `config`, `hooks`: what a consumer is told.
//! - `handle`: the [`Consumer`] that users hold; `batch`, `stream`: what comes out of it; `concurrent`: many records at a
//!   time; `typed`: decoded keys and values; `partitions`: a stream for each partition; `committer`: commits from elsewhere.
//! - `watermark`, `progress`: what is out, what is done, and what may be committed, without I/O.
//! - `group`: the member of the group, without I/O.
//! - `shared`: what tasks share; `driver`: the task that does what the member wants; `subscribed`: the topics that it
//!   has to know of; `locate`: where partitions begin; `release`: how they are given up; `committing`: the task that
//!   commits; `offsets`: requests and answers about offsets.

mod batch;
mod builder;
mod committer;
mod committing;
mod concurrent;
mod config;
mod driver;
pub(crate) mod group;
mod handle;
mod hooks;
mod locate;
mod offsets;
mod partitions;
mod progress;
mod release;
mod shared;
mod stream;
mod subscribed;
mod typed;
mod watermark;

pub use batch::{GroupBatch, GroupRecord, IntoRecords};
pub use builder::ConsumerBuilder;
pub use committer::Committer;
pub use config::Commit;
pub use group::{Assignor, Protocol};
pub use handle::{Consumer, Membership};
pub use hooks::Rebalance;
pub use offsets::Committed;
pub use partitions::{PartitionStream, Partitions};
pub use stream::GroupRecords;
pub use typed::{TypedConsumer, TypedGroupRecords};
