//! Moving partitions to other nodes.
//!
//! Nodes share their logs, so replicas that are added are in sync as soon as
//! they run, and most reassignments are done at once. One that adds a node
//! which does not run goes on until it does, or until it is cancelled.

use copart_protocol::ErrorCode;
use copart_protocol::messages::partition_change_record::PartitionChangeRecord;

use super::election::{Target, change};
use super::nodes::rule;
use super::record::Record;
use super::{ApiError, ApiResult, Changes, Controller, Partition, Topic};

/// Where a partition shall be.
#[derive(Clone, Debug)]
pub(crate) struct Reassignment {
    pub(crate) topic: String,
    pub(crate) partition: i32,
    /// `None` cancels.
    pub(crate) replicas: Option<Vec<i32>>,
}

impl Controller {
    /// Starts or cancels reassignments. A result for each, in their order.
    ///
    /// # Errors
    /// When the metadata log cannot be written; then nothing moves.
    pub(crate) fn reassign(
        &mut self,
        reassignments: &[Reassignment],
        allow_replication_factor_change: bool,
    ) -> ApiResult<(Vec<ApiResult<()>>, Changes)> {
        let mut records: Vec<Record> = Vec::new();
        let mut named = std::collections::BTreeSet::new();
        let mut results = Vec::with_capacity(reassignments.len());
        for wish in reassignments {
            let result = match named.insert((&wish.topic, wish.partition)) {
                true => match &wish.replicas {
                    Some(replicas) => {
                        self.begin_reassignment(wish, replicas, allow_replication_factor_change)
                    }
                    None => self.cancel_reassignment(wish),
                },
                false => Err(ApiError::new(
                    ErrorCode::INVALID_REQUEST,
                    format!("{}-{} is there twice", wish.topic, wish.partition),
                )),
            };
            results.push(result.map(|record| records.extend(record.map(Record::from))));
        }
        let changes = self.commit(records)?;
        Ok((results, changes))
    }

    fn begin_reassignment(
        &self,
        wish: &Reassignment,
        replicas: &[i32],
        allow_replication_factor_change: bool,
    ) -> ApiResult<Option<PartitionChangeRecord>> {
        let (topic, partition) = self.find_partition(&wish.topic, wish.partition)?;
        self.check_assignment(wish.partition, replicas, None, false)?;
        // What it had before a reassignment that is still going on.
        let own = |id: &&i32| !partition.adding.contains(id);
        let before = partition.replicas.iter().filter(own).count();
        if !allow_replication_factor_change && replicas.len() != before {
            return Err(ApiError::new(
                ErrorCode::INVALID_REPLICATION_FACTOR,
                format!(
                    "{}-{} has {before} replicas and would have {}, and the request does not allow \
                     that to change",
                    topic.name,
                    wish.partition,
                    replicas.len()
                ),
            ));
        }
        let current = partition.replicas.iter().copied().filter(|id| own(&id));
        let removing: Vec<i32> = current.filter(|id| !replicas.contains(id)).collect();
        let had = |id: &i32| partition.replicas.contains(id) && own(&id);
        let adding = replicas.iter().copied().filter(|id| !had(id)).collect();
        let mut all = replicas.to_vec();
        all.extend(&removing);
        let mut isr = partition.isr.clone();
        isr.retain(|id| all.contains(id));
        if partition.leader.is_some() {
            let started = all.iter().copied().filter(|&id| self.image.runs(id));
            let started: Vec<i32> = started
                .filter(|id| !partition.replicas.contains(id))
                .collect();
            isr.extend(started);
        }
        let target = Target {
            isr,
            replicas: all,
            adding,
            removing,
        };
        let runs = |id| self.image.runs(id);
        let place = (topic.id, wish.partition);
        Ok(change(place, partition, target, rule(topic), runs))
    }

    fn cancel_reassignment(&self, wish: &Reassignment) -> ApiResult<Option<PartitionChangeRecord>> {
        let (topic, partition) = self.find_partition(&wish.topic, wish.partition)?;
        if !partition.is_reassigning() {
            return Err(ApiError::new(
                ErrorCode::NO_REASSIGNMENT_IN_PROGRESS,
                format!("{}-{} is not being moved", topic.name, wish.partition),
            ));
        }
        let own = |id: &i32| !partition.adding.contains(id);
        let replicas: Vec<i32> = partition.replicas.iter().copied().filter(own).collect();
        let mut isr: Vec<i32> = partition.isr.iter().copied().filter(own).collect();
        if isr.is_empty() {
            if !topic.config.unclean_leader_election {
                return Err(ApiError::new(
                    ErrorCode::INVALID_REPLICA_ASSIGNMENT,
                    format!(
                        "going back to the replicas {replicas:?} of {}-{} would take an unclean \
                         election, which unclean.leader.election.enable does not allow",
                        topic.name, wish.partition
                    ),
                ));
            }
            isr.extend(replicas.iter().copied().find(|&id| self.image.runs(id)));
        }
        let target = Target {
            isr,
            replicas,
            adding: Vec::new(),
            removing: Vec::new(),
        };
        let runs = |id| self.image.runs(id);
        let place = (topic.id, wish.partition);
        Ok(change(place, partition, target, rule(topic), runs))
    }

    /// Partitions that are being moved.
    pub(crate) fn reassigning(&self) -> impl Iterator<Item = (&Topic, i32, &Partition)> {
        self.image.topics().flat_map(|topic| {
            let partitions = (0..).zip(&topic.partitions);
            let moving = partitions.filter(|(_, partition)| partition.is_reassigning());
            moving.map(move |(index, partition)| (topic, index, partition))
        })
    }
}
