//! CreateTopics: new topics, placed by the broker or as the client says.

use std::collections::BTreeMap;

use copart_protocol::ErrorCode;
use copart_protocol::messages::create_topics::{
    CreatableTopic, CreatableTopicConfigs, CreatableTopicResult, CreateTopicsRequest,
    CreateTopicsResponse,
};

use super::Call;
use crate::cluster::{
    ApiError, ApiResult, Controller, MAX_PARTITIONS_PER_REQUEST, NewTopic, Topic,
};

pub(super) fn handle(call: &Call, request: CreateTopicsRequest) -> CreateTopicsResponse {
    let allowed = check_total(&call.broker.controller(), &request);
    let repeated = super::repeated(request.topics.iter().map(|topic| &topic.name));
    let topics = request.topics.iter().map(|topic| {
        let created = match &allowed {
            Err(error) => Err(error.clone()),
            Ok(()) if repeated.contains(&topic.name) => Err(ApiError::new(
                ErrorCode::INVALID_REQUEST,
                format!("topic {} is there more than once", topic.name),
            )),
            Ok(()) => create(call, topic, request.validate_only),
        };
        created.unwrap_or_else(|error| CreatableTopicResult {
            name: topic.name.clone(),
            error_code: error.code,
            error_message: Some(error.message),
            configs: Some(Vec::new()),
            ..CreatableTopicResult::default()
        })
    });
    CreateTopicsResponse {
        topics: topics.collect(),
        ..CreateTopicsResponse::default()
    }
}

/// One request makes no more partitions than Kafka would, however many topics they are of.
fn check_total(controller: &Controller, request: &CreateTopicsRequest) -> ApiResult<()> {
    let default = controller.broker_config().num_partitions;
    let counts =
        request.topics.iter().map(
            |topic| match (topic.assignments.len(), topic.num_partitions) {
                (0, -1) => usize::try_from(default).unwrap_or(0),
                (0, count) => usize::try_from(count).unwrap_or(0),
                (assigned, _) => assigned,
            },
        );
    let total = counts.fold(0, usize::saturating_add);
    if total > MAX_PARTITIONS_PER_REQUEST {
        return Err(ApiError::new(
            ErrorCode::POLICY_VIOLATION,
            format!(
                "{total} partitions in one request; {MAX_PARTITIONS_PER_REQUEST} is the most, ask \
                 for them in several"
            ),
        ));
    }
    Ok(())
}

fn create(
    call: &Call,
    wanted: &CreatableTopic,
    validate_only: bool,
) -> ApiResult<CreatableTopicResult> {
    let mut assignments = BTreeMap::new();
    for it in &wanted.assignments {
        let before = assignments.insert(it.partition_index, it.broker_ids.clone());
        if before.is_some() {
            return Err(ApiError::new(
                ErrorCode::INVALID_REPLICA_ASSIGNMENT,
                format!("partition {} is assigned twice", it.partition_index),
            ));
        }
    }
    let configs = wanted.configs.iter();
    let new = NewTopic {
        name: wanted.name.clone(),
        partitions: wanted.num_partitions,
        replication_factor: wanted.replication_factor,
        assignments,
        configs: configs
            .map(|config| (config.name.clone(), config.value.clone()))
            .collect(),
    };
    call.broker.change(|controller| {
        let (topic, changes) = controller.create_topic(&new, validate_only)?;
        Ok((result(controller, &topic), changes))
    })
}

/// From version 5 on with all settings (KIP-525), of which there is always a list: Java's admin client fails
/// without one.
fn result(controller: &Controller, topic: &Topic) -> CreatableTopicResult {
    let configs = controller.describe_topic_configs(&topic.overrides);
    let replicas = topic.partitions.first().map_or(0, |it| it.replicas.len());
    CreatableTopicResult {
        name: topic.name.clone(),
        topic_id: topic.id,
        num_partitions: topic.partitions.len() as i32,
        replication_factor: replicas as i16,
        configs: Some(
            configs
                .into_iter()
                .map(|entry| CreatableTopicConfigs {
                    name: entry.name.to_owned(),
                    value: entry.value,
                    read_only: entry.read_only,
                    config_source: entry.source as i8,
                    is_sensitive: entry.sensitive,
                })
                .collect(),
        ),
        ..CreatableTopicResult::default()
    }
}
