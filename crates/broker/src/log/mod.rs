//! One partition's log, in Kafka's file formats.
//!
//! - [`PartitionLog`]: open, append, read, sync, roll, retain, compact,
//!   close.
//! - [`LogConfig`], [`Durability`]: what a topic's configuration says.
//! - [`Opened`], [`Recovery`], [`Quarantine`]: what opening a log found.
//! - [`RepairPlan`]: what repairing a damaged log would drop, and doing it.
//! - [`PartitionMetadata`]: the topic's id, beside the log.
//! - [`DataDirectory`]: the directory that the logs are in, locked.

mod cleaner;
mod config;
mod data_directory;
mod epochs;
mod index;
mod inspect;
mod metadata;
mod names;
mod offsets;
mod partition;
mod producers;
mod read;
mod recover;
mod repair;
mod retention;
mod scan;
mod segment;
mod snapshot;
mod sync;
#[cfg(test)]
mod tests;
mod validate;

pub use cleaner::Compacted;
pub use config::{Durability, LogConfig};
pub use data_directory::{DataDirectory, PartitionOffset};
pub use epochs::EpochStart;
pub use inspect::{Damage, DamageKind};
pub use metadata::PartitionMetadata;
pub use partition::{Appended, PartitionLog};
pub use producers::{ProducerBatch, ProducerState};
pub use read::{FoundRecord, PendingRead};
pub use recover::{Opened, Quarantine, Recovery};
pub use repair::{RepairPlan, Repaired};
pub use retention::Removed;
pub use sync::{FinishedSync, PendingSync};
pub use validate::Origin;
