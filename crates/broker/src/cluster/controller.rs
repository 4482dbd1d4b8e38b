//! The controller.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use copart_protocol::Uuid;

use super::{ApiResult, Changes, Partition, Topic};
use crate::Result;
use crate::configs::{BrokerConfig, ConfigEntry, ConfigOp};
use crate::files::Files;
use crate::log::Durability;

/// A node that the broker runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NodeSpec {
    pub(crate) id: i32,
    pub(crate) rack: Option<String>,
}

/// A node of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) id: i32,
    pub(crate) rack: Option<String>,
    pub(crate) running: bool,
}

/// How a controller is opened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    /// At least one. All of them run.
    pub(crate) nodes: Vec<NodeSpec>,
    /// The cluster's id. A new cluster gets a random one if there is none; the
    /// id of a cluster that exists must be this one.
    pub(crate) cluster_id: Option<String>,
    pub(crate) durability: Durability,
    /// Settings from the command line or the builder, under Kafka's names:
    /// `num.partitions`, `log.retention.hours` …
    pub(crate) configs: BTreeMap<String, String>,
    /// For tests: the same ids and placements each time.
    pub(crate) seed: Option<u64>,
    pub(crate) now_ms: i64,
}

/// A topic to be made.
#[derive(Clone, Debug)]
pub(crate) struct NewTopic {
    pub(crate) name: String,
    /// -1 for the broker's default, and with `assignments`.
    pub(crate) partitions: i32,
    /// -1 for the broker's default, and with `assignments`.
    pub(crate) replication_factor: i16,
    /// The replicas of each partition, if the client wants to say.
    pub(crate) assignments: BTreeMap<i32, Vec<i32>>,
    pub(crate) configs: Vec<(String, Option<String>)>,
}

/// What settings are for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ConfigResource {
    Topic(String),
    /// One node, or the default of all.
    Broker(Option<i32>),
    Group(String),
}

/// Which leaders may be elected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Election {
    /// The first replica of the assignment.
    Preferred,
    /// Any replica, if no in-sync one is there.
    Unclean,
}

/// Where a partition shall be.
#[derive(Clone, Debug)]
pub(crate) struct Reassignment {
    pub(crate) topic: String,
    pub(crate) partition: i32,
    /// `None` cancels.
    pub(crate) replicas: Option<Vec<i32>>,
}

/// The controller's part of the broker.
#[derive(Debug)]
pub(crate) struct Controller {}

impl Controller {
    /// The directory of the metadata log, in the data directory.
    pub(crate) const METADATA_DIR: &str = "__cluster_metadata-0";

    /// Replays the metadata log in the data directory `dir`, or begins one.
    pub(crate) fn open(files: Arc<dyn Files>, dir: &Path, options: Options) -> Result<Self> {
        unimplemented!()
    }
    /// 22 characters.
    pub(crate) fn cluster_id(&self) -> &str {
        unimplemented!()
    }
    /// By id.
    pub(crate) fn nodes(&self) -> &[Node] {
        unimplemented!()
    }
    pub(crate) fn node(&self, id: i32) -> Option<&Node> {
        unimplemented!()
    }
    /// The running node with the lowest id; `None` if none runs.
    pub(crate) fn controller_id(&self) -> Option<i32> {
        unimplemented!()
    }
    pub(crate) fn topic(&self, name: &str) -> Option<&Topic> {
        unimplemented!()
    }
    pub(crate) fn topic_by_id(&self, id: Uuid) -> Option<&Topic> {
        unimplemented!()
    }
    /// In the order of their names.
    pub(crate) fn topics(&self) -> impl Iterator<Item = &Topic> {
        std::iter::empty()
    }
    /// The topic as it is, or as it would be.
    pub(crate) fn create_topic(
        &mut self,
        new: &NewTopic,
        validate_only: bool,
    ) -> ApiResult<(Topic, Changes)> {
        unimplemented!()
    }
    pub(crate) fn delete_topic(&mut self, id: Uuid) -> ApiResult<Changes> {
        unimplemented!()
    }
    /// `assignments` are the replicas of the partitions that are added.
    pub(crate) fn create_partitions(
        &mut self,
        topic: &str,
        count: i32,
        assignments: Option<&[Vec<i32>]>,
        validate_only: bool,
    ) -> ApiResult<Changes> {
        unimplemented!()
    }
    /// Changes single settings.
    pub(crate) fn incremental_alter_configs(
        &mut self,
        resource: &ConfigResource,
        ops: &[(String, ConfigOp)],
        validate_only: bool,
    ) -> ApiResult<Changes> {
        unimplemented!()
    }
    /// Replaces all settings of the resource.
    pub(crate) fn alter_configs(
        &mut self,
        resource: &ConfigResource,
        configs: &[(String, Option<String>)],
        validate_only: bool,
    ) -> ApiResult<Changes> {
        unimplemented!()
    }
    /// All settings of the resource, with where they come from.
    pub(crate) fn describe_configs(
        &self,
        resource: &ConfigResource,
    ) -> ApiResult<Vec<ConfigEntry>> {
        unimplemented!()
    }
    /// The settings of a node, typed. Settings of all nodes together for `None`.
    pub(crate) fn broker_config(&self, node: Option<i32>) -> Arc<BrokerConfig> {
        unimplemented!()
    }
    /// Elects leaders, of all partitions for `None`. A result for each
    /// partition that was named, or that had a leader elected.
    pub(crate) fn elect_leaders(
        &mut self,
        election: Election,
        partitions: Option<&[(String, i32)]>,
    ) -> ApiResult<(Vec<(String, i32, ApiResult<()>)>, Changes)> {
        unimplemented!()
    }
    /// A result for each, in their order.
    pub(crate) fn reassign(
        &mut self,
        reassignments: &[Reassignment],
        allow_replication_factor_change: bool,
    ) -> ApiResult<(Vec<ApiResult<()>>, Changes)> {
        unimplemented!()
    }
    /// Partitions that are being moved.
    pub(crate) fn reassigning(&self) -> impl Iterator<Item = (&Topic, i32, &Partition)> {
        std::iter::empty()
    }
    /// Takes note that a node started or stopped.
    pub(crate) fn set_node_running(&mut self, id: i32, running: bool) -> ApiResult<Changes> {
        unimplemented!()
    }
    /// For tests of clients: the ISR is this, until nodes start or stop.
    pub(crate) fn set_isr(
        &mut self,
        topic: &str,
        partition: i32,
        isr: &[i32],
    ) -> ApiResult<Changes> {
        unimplemented!()
    }
    /// For tests of clients: this replica leads.
    pub(crate) fn set_leader(
        &mut self,
        topic: &str,
        partition: i32,
        leader: i32,
    ) -> ApiResult<Changes> {
        unimplemented!()
    }
    /// A producer id that was never given out before.
    pub(crate) fn next_producer_id(&mut self) -> Result<i64> {
        unimplemented!()
    }
}
