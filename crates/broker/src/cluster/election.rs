//! Who leads a partition after a change, by the rules of Kafka's controller:
//! the leader stays if it may; otherwise the first replica, in the order of the
//! assignment, that is in the ISR and runs; otherwise nobody, unless an unclean
//! election is allowed.

use copart_protocol::Uuid;
use copart_protocol::messages::partition_change_record::PartitionChangeRecord;

use super::Partition;

/// In records: nobody leads.
pub(super) const NO_LEADER: i32 = -1;
/// In records: who leads did not change.
pub(super) const NO_CHANGE: i32 = -2;

/// Which leaders are preferred, and which are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// The leader of before stays if it may.
    Online,
    /// The first replica leads if it may.
    Preferred,
    /// As [`Online`](Self::Online), and if no replica in the ISR runs, any
    /// that does.
    Unclean,
}

/// A partition as it should become, but for its leader.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) isr: Vec<i32>,
    pub(super) replicas: Vec<i32>,
    pub(super) adding: Vec<i32>,
    pub(super) removing: Vec<i32>,
}

impl Target {
    /// As it is.
    pub(super) fn of(partition: &Partition) -> Self {
        Self {
            isr: partition.isr.clone(),
            replicas: partition.replicas.clone(),
            adding: partition.adding.clone(),
            removing: partition.removing.clone(),
        }
    }

    /// A reassignment is done when all that it adds are in sync, and somebody
    /// is when all that it removes are gone.
    fn complete_reassignment(&mut self) {
        if self.adding.is_empty() && self.removing.is_empty() {
            return;
        }
        let stays = |id: &i32| !self.removing.contains(id);
        let isr: Vec<i32> = self.isr.iter().copied().filter(stays).collect();
        let replicas: Vec<i32> = self.replicas.iter().copied().filter(stays).collect();
        if isr.is_empty() || !self.adding.iter().all(|id| isr.contains(id)) {
            return;
        }
        *self = Self {
            isr,
            replicas,
            adding: Vec::new(),
            removing: Vec::new(),
        };
    }
}

/// The record that makes `before` the target, with a leader; `None` if nothing
/// is different.
pub(super) fn change(
    (topic_id, partition_id): (Uuid, i32),
    before: &Partition,
    mut target: Target,
    rule: Rule,
    runs: impl Fn(i32) -> bool,
) -> Option<PartitionChangeRecord> {
    target.complete_reassignment();
    let may_lead = |id: i32| target.isr.contains(&id) && runs(id);
    let preferred = target.replicas.first().copied();
    let clean = preferred
        .filter(|_| rule == Rule::Preferred)
        .filter(|&id| may_lead(id))
        .or(before.leader.filter(|&id| may_lead(id)))
        .or_else(|| target.replicas.iter().copied().find(|&id| may_lead(id)));
    let any = || target.replicas.iter().copied().find(|&id| runs(id));
    let leader = match (clean, rule) {
        (None, Rule::Unclean) => any(),
        (clean, _) => clean,
    };
    if let Some(leader) = leader.filter(|leader| !target.isr.contains(leader)) {
        // Unclean: what the others had and the leader has not is gone.
        target.isr = vec![leader];
    }
    if leader.is_some() && before.leader.is_none() {
        // Those that run catch up with it at once: they share its log.
        let replicas = target.replicas.iter().copied();
        let more: Vec<i32> = replicas
            .filter(|&id| runs(id) && !target.isr.contains(&id))
            .collect();
        target.isr.extend(more);
    }
    let mut record = PartitionChangeRecord {
        partition_id,
        topic_id,
        ..PartitionChangeRecord::default()
    };
    let removes = before
        .replicas
        .iter()
        .any(|id| !target.replicas.contains(id));
    if leader != before.leader || removes {
        // Also when the leader stays: those that are no replicas any more must
        // not follow it.
        record.leader = leader.unwrap_or(NO_LEADER);
    }
    let changed = |after: Vec<i32>, before: &Vec<i32>| (after != *before).then_some(after);
    if !target.isr.is_empty() {
        // The last one in sync stays, also when it stops.
        record.isr = changed(target.isr, &before.isr);
    }
    record.replicas = changed(target.replicas, &before.replicas);
    record.adding_replicas = changed(target.adding, &before.adding);
    record.removing_replicas = changed(target.removing, &before.removing);
    let nothing = PartitionChangeRecord {
        partition_id,
        topic_id,
        ..PartitionChangeRecord::default()
    };
    (record != nothing).then_some(record)
}
