//! Elections that somebody asks for, and states that tests ask for.

use copart_protocol::ErrorCode;
use copart_protocol::messages::partition_change_record::PartitionChangeRecord;

use super::election::{Rule, Target, change};
use super::record::Record;
use super::{ApiError, ApiResult, Changes, Controller, Partition};

/// Which leaders may be elected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Election {
    /// The first replica of the assignment.
    Preferred,
    /// Any replica, if no in-sync one runs.
    Unclean,
}

/// What came of the election of one partition.
pub(crate) type Elected = (String, i32, ApiResult<()>);

impl Controller {
    /// Elects leaders, of all partitions for `None`. A result for each
    /// partition that was named; of all partitions, for each that had an
    /// election.
    ///
    /// # Errors
    /// When the metadata log cannot be written; then no leader is another one.
    pub(crate) fn elect_leaders(
        &mut self,
        election: Election,
        partitions: Option<&[(String, i32)]>,
    ) -> ApiResult<(Vec<Elected>, Changes)> {
        let mut records = Vec::new();
        let mut results = Vec::new();
        match partitions {
            Some(named) => {
                for (topic, index) in named {
                    let elected = self.elect(election, topic, *index);
                    let result = elected.map(|record| records.push(Record::from(record)));
                    results.push((topic.clone(), *index, result));
                }
            }
            None => {
                for topic in self.image.topics() {
                    for index in 0..topic.partitions.len() as i32 {
                        let elected = self.elect(election, &topic.name, index);
                        let result = elected.map(|record| records.push(Record::from(record)));
                        let needed = !matches!(
                            &result,
                            Err(error) if error.code == ErrorCode::ELECTION_NOT_NEEDED
                        );
                        if needed {
                            results.push((topic.name.clone(), index, result));
                        }
                    }
                }
            }
        }
        // A partition that was named twice.
        records.dedup();
        let changes = self.commit(records)?;
        Ok((results, changes))
    }

    fn elect(
        &self,
        election: Election,
        topic: &str,
        index: i32,
    ) -> ApiResult<PartitionChangeRecord> {
        let (topic, partition) = self.find_partition(topic, index)?;
        let preferred = partition.replicas.first().copied();
        let place = format!("{}-{index}", topic.name);
        let (needed, rule) = match election {
            Election::Preferred => (partition.leader != preferred, Rule::Preferred),
            Election::Unclean => (partition.leader.is_none(), Rule::Unclean),
        };
        if !needed {
            return Err(ApiError::new(
                ErrorCode::ELECTION_NOT_NEEDED,
                match election {
                    Election::Preferred => format!("the preferred replica of {place} leads"),
                    Election::Unclean => format!("{place} has a leader"),
                },
            ));
        }
        let runs = |id| self.image.runs(id);
        let target = Target::of(partition);
        let record = change((topic.id, index), partition, target, rule, runs);
        record.ok_or_else(|| match election {
            Election::Preferred => ApiError::new(
                ErrorCode::PREFERRED_LEADER_NOT_AVAILABLE,
                format!(
                    "node {} of {place} does not run, or is not in sync",
                    preferred.unwrap_or(-1)
                ),
            ),
            Election::Unclean => ApiError::new(
                ErrorCode::ELIGIBLE_LEADERS_NOT_AVAILABLE,
                format!("none of the nodes {:?} of {place} runs", partition.replicas),
            ),
        })
    }

    /// For tests of clients: the ISR is this, until its nodes start or stop.
    pub(crate) fn set_isr(&mut self, topic: &str, index: i32, isr: &[i32]) -> ApiResult<Changes> {
        let (topic, partition) = self.find_partition(topic, index)?;
        check_members(partition, isr)?;
        let mut target = Target::of(partition);
        target.isr = isr.to_vec();
        let runs = |id| self.image.runs(id);
        let record = change((topic.id, index), partition, target, Rule::Online, runs);
        self.commit(record.map(Record::from).into_iter().collect())
    }

    /// For tests of clients: this replica, which must be in sync and run,
    /// leads.
    pub(crate) fn set_leader(
        &mut self,
        topic: &str,
        index: i32,
        leader: i32,
    ) -> ApiResult<Changes> {
        let (topic, partition) = self.find_partition(topic, index)?;
        if !partition.isr.contains(&leader) || !self.image.runs(leader) {
            return Err(ApiError::new(
                ErrorCode::INELIGIBLE_REPLICA,
                format!(
                    "node {leader} cannot lead {}-{index}: it does not run, or is not among the \
                     in-sync replicas {:?}",
                    topic.name, partition.isr
                ),
            ));
        }
        if partition.leader == Some(leader) {
            return Ok(Changes::new());
        }
        let record = PartitionChangeRecord {
            partition_id: index,
            topic_id: topic.id,
            leader,
            ..PartitionChangeRecord::default()
        };
        self.commit(vec![Record::from(record)])
    }
}

fn check_members(partition: &Partition, isr: &[i32]) -> ApiResult<()> {
    let known = isr.iter().all(|id| partition.replicas.contains(id));
    let twice = (1..isr.len()).any(|index| isr[..index].contains(&isr[index]));
    if isr.is_empty() || !known || twice {
        return Err(ApiError::new(
            ErrorCode::INELIGIBLE_REPLICA,
            format!(
                "{isr:?} cannot be in sync: it has to be some of the replicas {:?}, each once",
                partition.replicas
            ),
        ));
    }
    Ok(())
}
