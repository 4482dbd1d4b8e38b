//! One partition's log, in Kafka's file formats.
//!
//! - [`PartitionLog`]: open, append, read, sync, roll, retain, compact,
//!   close.
//! - [`LogConfig`], [`Durability`]: what a topic's configuration says.
//! - [`Opened`], [`Recovery`], [`Damage`]: what opening a log found.
//! - [`RepairPlan`]: what repairing a damaged log would drop, and doing it.
//! - [`PartitionMetadata`]: the topic's id, beside the log.
//! - [`DataDirectory`]: the directory that the logs are in, locked: its
//!   partitions, its owner, Kafka's checkpoints, and how the last stop was.

mod clean_stop;
mod cleaner;
mod config;
mod directory;
mod dirtiness;
mod epochs;
mod index;
mod inspect;
mod metadata;
mod names;
mod offsets;
mod open;
mod partition;
mod producers;
mod quarantine;
mod read;
mod recover_state;
mod repair;
mod retention;
mod scan;
mod segment;
mod snapshot;
mod swap;
mod sync;
#[cfg(test)]
mod tests;
mod txn_index;
mod validate;
mod walk;

pub use cleaner::Compacted;
pub use config::{Durability, LogConfig};
pub use directory::{
    Checkpoint, DataDirectory, MetaProperties, PartitionDirectories, PartitionDirectory,
    PartitionOffset,
};
pub use dirtiness::Dirtiness;
pub use epochs::EpochStart;
pub use inspect::{Damage, DamageKind};
pub use metadata::PartitionMetadata;
pub use open::{LastStop, Opened, Recovery};
pub use partition::{Appended, PartitionLog};
pub use producers::{ProducerBatch, ProducerState};
pub use read::{FilePart, FoundRecord, PendingRead};
pub use repair::{RepairPlan, Repaired};
pub use retention::Removed;
pub use sync::{FinishedSync, PendingSync};
pub use txn_index::AbortedTransaction;
pub use validate::Origin;
