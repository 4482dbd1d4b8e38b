//! Making topics and partitions, and removing topics.

use std::collections::BTreeMap;

use copart_protocol::messages::remove_topic_record::RemoveTopicRecord;
use copart_protocol::messages::topic_record::TopicRecord;
use copart_protocol::{ErrorCode, Uuid};

use super::names::{check_topic_name, collide};
use super::placement::Placer;
use super::record::Record;
use super::{
    ApiError, ApiResult, CLUSTER_METADATA_TOPIC, Changes, ConfigResource, Controller, Partition,
    Topic,
};
use crate::configs::{Values, check_topic};

/// The most partitions that one request makes, as in Kafka: each takes memory
/// and files, and a request asks for them with four bytes.
pub(crate) const MAX_PARTITIONS_PER_REQUEST: usize = 10_000;

/// A topic to be made.
#[derive(Clone, Debug, Default)]
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

impl NewTopic {
    /// One that has all defaults.
    pub(crate) fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            partitions: -1,
            replication_factor: -1,
            ..Self::default()
        }
    }
}

impl Controller {
    /// Makes a topic. Returns it as it is, or as it would be: then its id is
    /// zero.
    ///
    /// # Errors
    /// What Kafka answers: the name, the counts, the assignments and the
    /// settings are checked, in this order.
    pub(crate) fn create_topic(
        &mut self,
        new: &NewTopic,
        validate_only: bool,
    ) -> ApiResult<(Topic, Changes)> {
        check_topic_name(&new.name)
            .map_err(|reason| ApiError::new(ErrorCode::INVALID_TOPIC_EXCEPTION, reason))?;
        if new.name == CLUSTER_METADATA_TOPIC {
            return Err(ApiError::new(
                ErrorCode::INVALID_REQUEST,
                format!("{CLUSTER_METADATA_TOPIC} is the metadata log, and no topic"),
            ));
        }
        if self.image.topic(&new.name).is_some() {
            return Err(ApiError::new(
                ErrorCode::TOPIC_ALREADY_EXISTS,
                // Kafka's words: scripts look for them in what kafka-topics prints.
                format!("Topic '{}' already exists.", new.name),
            ));
        }
        if let Some(other) = self.image.topics().find(|it| collide(&it.name, &new.name)) {
            return Err(ApiError::new(
                ErrorCode::INVALID_TOPIC_EXCEPTION,
                format!(
                    "{} and the topic {} are the same in metrics, where dots are underscores",
                    new.name, other.name
                ),
            ));
        }
        let overrides = overrides(&new.configs)?;
        let config = check_topic(&overrides, self.topic_defaults(), self.durability)
            .map_err(|reason| ApiError::new(ErrorCode::INVALID_CONFIG, reason))?;
        let replicas = match new.assignments.is_empty() {
            true => self.place_new(new)?,
            false => self.assigned(new)?,
        };
        let partitions = replicas.into_iter().map(|it| self.fresh(it)).collect();
        let mut topic = Topic {
            name: new.name.clone(),
            id: Uuid::ZERO,
            config: config.into(),
            overrides,
            partitions,
        };
        if validate_only {
            return Ok((topic, Changes::new()));
        }
        topic.id = self.chance.uuid();
        let mut records = vec![Record::from(TopicRecord {
            name: topic.name.clone(),
            topic_id: topic.id,
        })];
        let resource = ConfigResource::Topic(topic.name.clone());
        let settings = topic.overrides.iter();
        records.extend(
            settings.map(|(name, value)| resource.to_record(name, Some(value.clone())).into()),
        );
        let partitions = topic.partitions.iter().enumerate();
        records.extend(partitions.map(|(index, it)| it.to_record(topic.id, index as i32).into()));
        let changes = self.commit(records)?;
        Ok((topic, changes))
    }

    /// A partition that begins on these replicas, one of which runs.
    fn fresh(&self, replicas: Vec<i32>) -> Partition {
        let running = replicas.iter().copied().filter(|&id| self.image.runs(id));
        let isr: Vec<i32> = running.collect();
        Partition {
            leader: isr.first().copied(),
            leader_epoch: 0,
            partition_epoch: 0,
            replicas,
            isr,
            adding: Vec::new(),
            removing: Vec::new(),
        }
    }

    fn place_new(&mut self, new: &NewTopic) -> ApiResult<Vec<Vec<i32>>> {
        let defaults = self.broker_config();
        let factor = match new.replication_factor {
            -1 => defaults.default_replication_factor,
            factor => factor,
        };
        let Some(factor) = usize::try_from(factor).ok().filter(|factor| *factor > 0) else {
            return Err(ApiError::new(
                ErrorCode::INVALID_REPLICATION_FACTOR,
                format!("a replication factor of {factor}; it is 1 or more, or -1 for the default"),
            ));
        };
        let count = match new.partitions {
            -1 => defaults.num_partitions,
            count => count,
        };
        let Some(count) = usize::try_from(count).ok().filter(|count| *count > 0) else {
            return Err(ApiError::new(
                ErrorCode::INVALID_PARTITIONS,
                format!("{count} partitions; it is 1 or more, or -1 for the default"),
            ));
        };
        self.place(count, factor)
    }

    /// Replicas for so many partitions.
    fn place(&mut self, count: usize, factor: usize) -> ApiResult<Vec<Vec<i32>>> {
        check_count(count)?;
        let mut placer = Placer::new(&self.image.nodes, &mut self.chance);
        let placed = (0..count).map(|_| placer.place(factor));
        placed.collect::<Result<_, _>>().map_err(|reason| {
            ApiError::new(
                ErrorCode::INVALID_REPLICATION_FACTOR,
                format!("a replication factor of {factor} cannot be: {reason}"),
            )
        })
    }

    fn assigned(&self, new: &NewTopic) -> ApiResult<Vec<Vec<i32>>> {
        if new.partitions != -1 || new.replication_factor != -1 {
            return Err(ApiError::new(
                ErrorCode::INVALID_REQUEST,
                format!(
                    "the replicas of topic {} are assigned, so its partition count and its \
                     replication factor have to be -1",
                    new.name
                ),
            ));
        }
        check_count(new.assignments.len())?;
        let mut assigned: Vec<Vec<i32>> = Vec::with_capacity(new.assignments.len());
        for (index, replicas) in &new.assignments {
            if *index != assigned.len() as i32 {
                return Err(ApiError::new(
                    ErrorCode::INVALID_REPLICA_ASSIGNMENT,
                    format!(
                        "partition {index} is assigned, and partition {} is not",
                        assigned.len()
                    ),
                ));
            }
            self.check_assignment(*index, replicas, assigned.first().map(Vec::len), true)?;
            assigned.push(replicas.clone());
        }
        Ok(assigned)
    }

    /// Can a partition have these replicas? `factor` is how many it must have.
    pub(super) fn check_assignment(
        &self,
        index: i32,
        replicas: &[i32],
        factor: Option<usize>,
        must_run: bool,
    ) -> ApiResult<()> {
        let refused = |reason: String| {
            Err(ApiError::new(
                ErrorCode::INVALID_REPLICA_ASSIGNMENT,
                format!("partition {index} cannot have the replicas {replicas:?}: {reason}"),
            ))
        };
        if replicas.is_empty() {
            return refused("it needs at least one".to_owned());
        }
        for (at, id) in replicas.iter().enumerate() {
            if self.image.node(*id).is_none() {
                return refused(format!("there is no node {id}"));
            }
            if replicas[..at].contains(id) {
                return refused(format!("node {id} is there twice"));
            }
        }
        if let Some(factor) = factor.filter(|factor| *factor != replicas.len()) {
            return refused(format!("the topic's partitions have {factor} replicas"));
        }
        if must_run && !replicas.iter().any(|id| self.image.runs(*id)) {
            return refused("none of the nodes runs".to_owned());
        }
        Ok(())
    }

    /// Removes a topic with all its records.
    pub(crate) fn delete_topic(&mut self, id: Uuid) -> ApiResult<Changes> {
        if !self.broker_config().delete_topic_enable {
            return Err(ApiError::new(
                ErrorCode::TOPIC_DELETION_DISABLED,
                "the broker was started with delete.topic.enable=false",
            ));
        }
        if self.image.topic_by_id(id).is_none() {
            return Err(ApiError::new(
                ErrorCode::UNKNOWN_TOPIC_ID,
                format!("there is no topic with the id {id}"),
            ));
        }
        self.commit(vec![Record::from(RemoveTopicRecord { topic_id: id })])
    }

    /// Adds partitions, so that there are `count`. `assignments` are the
    /// replicas of those that are added.
    pub(crate) fn create_partitions(
        &mut self,
        topic: &str,
        count: i32,
        assignments: Option<&[Vec<i32>]>,
        validate_only: bool,
    ) -> ApiResult<Changes> {
        let Some(found) = self.image.topic(topic) else {
            return Err(ApiError::new(
                ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
                format!("there is no topic {topic:?}"),
            ));
        };
        let (id, before) = (found.id, found.partitions.len());
        let factor = found.partitions.first().map_or(1, |it| it.replicas.len());
        let after = usize::try_from(count).unwrap_or(0);
        if after <= before {
            return Err(ApiError::new(
                ErrorCode::INVALID_PARTITIONS,
                format!(
                    "topic {topic} has {before} partitions, and {count} are asked for; the count \
                     can only go up"
                ),
            ));
        }
        let more = after - before;
        let replicas = match assignments {
            None => self.place(more, factor)?,
            Some(assigned) => {
                if assigned.len() != more {
                    return Err(ApiError::new(
                        ErrorCode::INVALID_REPLICA_ASSIGNMENT,
                        format!(
                            "{more} partitions are added, and {} assigned",
                            assigned.len()
                        ),
                    ));
                }
                check_count(more)?;
                for (index, replicas) in (before as i32..).zip(assigned) {
                    self.check_assignment(index, replicas, Some(factor), true)?;
                }
                assigned.to_vec()
            }
        };
        if validate_only {
            return Ok(Changes::new());
        }
        let records = replicas
            .into_iter()
            .zip(before as i32..)
            .map(|(replicas, index)| self.fresh(replicas).to_record(id, index).into());
        let records = records.collect();
        self.commit(records)
    }
}

fn check_count(count: usize) -> ApiResult<()> {
    if count > MAX_PARTITIONS_PER_REQUEST {
        return Err(ApiError::new(
            ErrorCode::POLICY_VIOLATION,
            format!(
                "{count} partitions in one request; {MAX_PARTITIONS_PER_REQUEST} is the most, add \
                 more with further requests"
            ),
        ));
    }
    Ok(())
}

/// The settings of a new topic.
fn overrides(configs: &[(String, Option<String>)]) -> ApiResult<Values> {
    let mut overrides = Values::new();
    for (name, value) in configs {
        let Some(value) = value else {
            return Err(ApiError::new(
                ErrorCode::INVALID_CONFIG,
                format!("{name} has no value; leave it out to have the default"),
            ));
        };
        overrides.insert(name.clone(), value.clone());
    }
    Ok(overrides)
}
