//! Reading topics without a group.
//!
//! - `builder`, `config`: what a reader is told.
//! - `handle`: the [`Reader`] that users hold; `batch`, `record`, `stream`: what comes out of it; `typed`: decoded.
//! - `assignment`: partitions that come and go.
//! - `core`: positions, sessions, budget and states, without I/O.
//! - `shared`: what tasks share; `source`: the task that fetches from one broker; `supervisor`: the task that
//!   watches metadata and finds positions; `lookup`: asking for offsets.

mod assignment;
mod batch;
mod builder;
mod config;
mod core;
mod handle;
mod lookup;
mod record;
mod shared;
mod source;
mod stream;
mod supervisor;
mod typed;

pub(crate) use config::Settings;
pub(crate) use core::{Anchor, Bound, Origin, Position, time_before};
pub(crate) use shared::Shared;

pub use batch::{Batch, Records};
pub use builder::ReaderBuilder;
pub use config::{End, Isolation, OffsetReset, Start};
pub use handle::{OffsetAndTimestamp, Reader, Watermarks};
pub(crate) use record::HeadersOf;
pub use record::{OwnedRecord, Record};
pub use stream::RecordStream;
pub use typed::{TypedReader, TypedRecordStream};
