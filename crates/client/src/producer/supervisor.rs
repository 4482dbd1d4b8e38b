//! The task that tells a producer's partitions what changes around them.

use std::sync::Arc;

use super::guards;
use super::shared::{Phase, Shared};
use super::topic::{NO_LEADER, TopicState};
use crate::cluster::{ClusterView, Topic};

/// Runs until the producer takes no more records.
pub(super) async fn run(shared: Arc<Shared>) {
    let mut views = shared.cluster.watch();
    let mut phases = shared.watch_phase();
    loop {
        let view = Arc::clone(&views.borrow_and_update());
        let topics = shared.all_topics();
        for topic in &topics {
            apply_view(&shared, topic, &view);
        }
        match *phases.borrow_and_update() {
            Phase::Running => {}
            Phase::Draining => flush_all(&shared),
            Phase::Stopped => return shared.wake_all(),
        }
        // What is left may outlive the handle for a while, and its leaders may move meanwhile.
        if shared.phase() == Phase::Draining && is_drained(&shared) {
            shared.advance(Phase::Stopped);
            return shared.wake_all();
        }
        let draining = shared.phase() == Phase::Draining;
        tokio::select! {
            changed = views.changed() => if changed.is_err() { return },
            changed = phases.changed() => if changed.is_err() { return },
            () = tokio::time::sleep(DRAIN_CHECK), if draining => {}
        }
    }
}

/// How often it is looked whether all is sent, after the last handle is gone.
const DRAIN_CHECK: std::time::Duration = std::time::Duration::from_millis(50);

fn is_drained(shared: &Shared) -> bool {
    let partitions = shared.all_partitions();
    partitions
        .iter()
        .all(|partition| partition.lock().core.is_idle())
}

/// Closes all open batches: nothing will come to fill them.
pub(super) fn flush_all(shared: &Arc<Shared>) {
    for partition in shared.all_partitions() {
        partition.lock().core.flush();
        shared.attend(&partition);
    }
}

/// Brings a topic up to date. Also called for a topic that was opened while the view changed.
pub(super) fn apply_view(shared: &Arc<Shared>, state: &Arc<TopicState>, view: &ClusterView) {
    let Some(topic) = view.topic(&state.name) else {
        return;
    };
    watch_count(shared, state, topic);
    let recreated = state.replace_id(topic.id);
    let rack = shared.cluster.rack();
    for (partition, known) in state.partitions().iter().zip(&topic.partitions) {
        let leader = known.leader.unwrap_or(NO_LEADER);
        let before = partition.set_leader(leader);
        if let Some(rack) = rack {
            let its = view.broker(leader).and_then(|broker| broker.rack.as_ref());
            partition.set_near(its == Some(rack));
        }
        if before == leader && !recreated {
            continue;
        }
        tracing::debug!(topic = %state.name, partition = partition.index, before, leader, "leader");
        let listed = {
            let mut slot = partition.lock();
            slot.core.leader_changed();
            if recreated {
                slot.core.forget_sequences();
            }
            slot.listed
        };
        // The old sink hands it over when it sees that it is not the leader's any more.
        if listed && before != leader {
            shared.inbox(before).wake();
        } else {
            shared.attend(partition);
        }
    }
}

fn watch_count(shared: &Arc<Shared>, state: &Arc<TopicState>, topic: &Topic) {
    let before = state.partitions().len();
    let now = topic.partitions.len();
    // Fewer are there only if the topic was created anew; then those that are gone have no leader, and
    // refuse what is sent to them.
    if now <= before {
        return;
    }
    match guards::changed(&shared.config.guards, topic, before) {
        Ok(()) => state.grow(topic, &shared.core_config),
        Err(error) => state.refuse(error),
    }
}
