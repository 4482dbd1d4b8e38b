//! Nodes that start and stop, and what that means for ISRs and leaders.

use copart_protocol::ErrorCode;
use copart_protocol::messages::broker_registration_change_record::BrokerRegistrationChangeRecord;
use copart_protocol::messages::unregister_broker_record::UnregisterBrokerRecord;

use super::election::{Rule, Target, change};
use super::record::Record;
use super::{ApiError, ApiResult, Changes, Controller, Topic};

pub(super) fn unregistration(broker_id: i32) -> UnregisterBrokerRecord {
    UnregisterBrokerRecord {
        broker_id,
        broker_epoch: 0,
    }
}

impl Controller {
    /// Takes note that a node started or stopped. One that stops leaves the
    /// ISRs, unless it is the last one there, and leads nothing. One that
    /// starts is in sync at once, since nodes share their logs; it leads what
    /// nobody else leads, and what it led before only after an election.
    pub(crate) fn set_node_running(&mut self, id: i32, running: bool) -> ApiResult<Changes> {
        let Some(node) = self.image.node(id) else {
            return Err(ApiError::new(
                ErrorCode::BROKER_ID_NOT_REGISTERED,
                format!("there is no node {id}"),
            ));
        };
        if node.running == running {
            return Ok(Changes::new());
        }
        self.commit(self.running_records(id, running))
    }

    pub(super) fn running_records(&self, id: i32, running: bool) -> Vec<Record> {
        let mut records = vec![Record::from(BrokerRegistrationChangeRecord {
            broker_id: id,
            broker_epoch: 0,
            // The protocol counts the other way round: 1 is fenced.
            fenced: if running { -1 } else { 1 },
            ..BrokerRegistrationChangeRecord::default()
        })];
        let runs = |other: i32| match other == id {
            true => running,
            false => self.image.runs(other),
        };
        for topic in self.image.topics() {
            for (index, partition) in topic.partitions.iter().enumerate() {
                if !partition.replicas.contains(&id) {
                    continue;
                }
                let mut target = Target::of(partition);
                match running {
                    false => target.isr.retain(|member| *member != id),
                    // Only what has a leader can be followed.
                    true if partition.leader.is_some() && !target.isr.contains(&id) => {
                        target.isr.push(id);
                    }
                    true => {}
                }
                if target.isr.is_empty() {
                    // The last one: it has what all others may lack.
                    target.isr.clone_from(&partition.isr);
                }
                let place = (topic.id, index as i32);
                let record = change(place, partition, target, rule(topic), runs);
                records.extend(record.map(Record::from));
            }
        }
        records
    }
}

/// The rule for elections that nobody asked for.
pub(super) fn rule(topic: &Topic) -> Rule {
    match topic.config.unclean_leader_election {
        true => Rule::Unclean,
        false => Rule::Online,
    }
}
