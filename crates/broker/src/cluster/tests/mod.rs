//! Tests of the controller as a whole.

mod alter;
mod create;
mod elections;
mod log;
mod power_loss;
mod reassign;
mod restart;

use std::path::Path;
use std::sync::Arc;

use copart_protocol::{ErrorCode, Uuid};

use super::*;
use crate::Result;
use crate::files::{Files, SimulatedFiles};

pub(super) const NOW: i64 = 1_750_000_000_000;

pub(super) fn dir() -> &'static Path {
    Path::new("/data")
}

pub(super) fn disk() -> Arc<SimulatedFiles> {
    let files = SimulatedFiles::new();
    files.create_dir(dir()).expect("created");
    files.sync_dir(Path::new("/")).expect("synced");
    Arc::new(files)
}

/// Nodes 1 to `count`.
pub(super) fn specs(count: i32) -> Vec<NodeSpec> {
    let ids = 1..=count;
    ids.map(|id| NodeSpec { id, rack: None }).collect()
}

pub(super) fn options(nodes: i32) -> Options {
    Options {
        nodes: specs(nodes),
        cluster_id: "5L6g3nShT-eMCtK--X86sw".into(),
        directory_id: Uuid([1; 16]),
        seed: Some(7),
        now_ms: NOW,
        ..Options::default()
    }
}

pub(super) fn open(files: &Arc<SimulatedFiles>, options: Options) -> Result<Controller> {
    Controller::open(files.clone(), dir(), options)
}

/// A new cluster of so many nodes.
pub(super) fn cluster(nodes: i32) -> Controller {
    open(&disk(), options(nodes)).expect("opens")
}

pub(super) fn topic(name: &str, partitions: i32, replication_factor: i16) -> NewTopic {
    NewTopic {
        partitions,
        replication_factor,
        ..NewTopic::named(name)
    }
}

/// A topic with one partition on these nodes.
pub(super) fn on(name: &str, replicas: &[i32]) -> NewTopic {
    NewTopic {
        assignments: [(0, replicas.to_vec())].into(),
        ..NewTopic::named(name)
    }
}

pub(super) fn with_config(mut new: NewTopic, name: &str, value: &str) -> NewTopic {
    new.configs.push((name.into(), Some(value.into())));
    new
}

pub(super) fn create(controller: &mut Controller, new: &NewTopic) -> Topic {
    let (topic, _) = controller.create_topic(new, false).expect("created");
    topic
}

pub(super) fn partition<'a>(controller: &'a Controller, topic: &str) -> &'a Partition {
    let topic = controller.topic(topic).expect("the topic is there");
    topic.partition(0).expect("it has a partition")
}

/// Leader, ISR, leader epoch and partition epoch of the first partition.
pub(super) fn state(controller: &Controller, topic: &str) -> (Option<i32>, Vec<i32>, i32, i32) {
    let it = partition(controller, topic);
    (
        it.leader,
        it.isr.clone(),
        it.leader_epoch,
        it.partition_epoch,
    )
}

pub(super) fn code<T: std::fmt::Debug>(result: ApiResult<T>) -> ErrorCode {
    result.expect_err("refused").code
}

/// All that a restart must keep.
pub(super) fn picture(controller: &Controller) -> String {
    use std::fmt::Write;
    let mut text = format!("{} {:?}\n", controller.cluster_id(), controller.nodes());
    for topic in controller.topics() {
        let _ = writeln!(
            text,
            "{} {} {:?} {:?} {:?}",
            topic.name, topic.id, topic.overrides, topic.partitions, topic.config
        );
    }
    for resource in controller.configured() {
        let _ = writeln!(
            text,
            "{resource:?} {:?}",
            controller.image.configs(resource)
        );
    }
    text
}
