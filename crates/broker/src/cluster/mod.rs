//! The cluster's state, and what may change it: the part of Kafka's controller.
//!
//! - [`Controller`]: nodes, topics, partitions, settings and producer ids.
//!   Every change is checked, written to the metadata log, and applied.
//! - [`Topic`], [`Partition`], [`Node`]: what there is.
//! - [`Change`]: what the rest of the broker has to do about a change.
//! - [`ApiError`]: why a client's wish is refused.
//!
//! The metadata log has Kafka's own records in Kafka's own batches, in the
//! directory that Kafka has it in: `kafka-dump-log --cluster-metadata-decoder`
//! reads it.

mod alter;
mod changes;
mod controller;
mod elect;
mod election;
mod error;
mod image;
mod metadata_log;
mod names;
mod nodes;
mod placement;
mod producer_ids;
mod random;
mod reassign;
mod record;
mod resource;
mod snapshot;
#[cfg(test)]
mod tests;
mod topic;
mod topics;

pub(crate) use changes::{Change, Changes};
pub(crate) use controller::{CLUSTER_METADATA_TOPIC, Controller, Node, NodeSpec, Options};
pub(crate) use elect::Election;
pub(crate) use error::{ApiError, ApiResult};
pub(crate) use names::check_topic_name;
pub(crate) use random::Chance;
pub(crate) use reassign::Reassignment;
pub(crate) use resource::ConfigResource;
pub(crate) use topic::{Partition, Topic, is_internal};
pub(crate) use topics::{MAX_PARTITIONS_PER_REQUEST, NewTopic};
