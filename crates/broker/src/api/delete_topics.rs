//! DeleteTopics: by name, or from version 6 on by id.

use copart_protocol::messages::delete_topics::{
    DeletableTopicResult, DeleteTopicState, DeleteTopicsRequest, DeleteTopicsResponse,
};
use copart_protocol::{ErrorCode, Uuid};

use super::Call;
use crate::cluster::{ApiError, ApiResult};

pub(super) fn handle(call: &Call, request: DeleteTopicsRequest) -> DeleteTopicsResponse {
    let named = request
        .topic_names
        .into_iter()
        .map(|name| DeleteTopicState {
            name: Some(name),
            topic_id: Uuid::ZERO,
        });
    let wanted: Vec<DeleteTopicState> = named.chain(request.topics).collect();
    let repeated = super::repeated(wanted.iter().map(|topic| (&topic.name, topic.topic_id)));
    let responses = wanted.iter().map(|topic| {
        let mut result = DeletableTopicResult {
            name: topic.name.clone(),
            topic_id: topic.topic_id,
            ..DeletableTopicResult::default()
        };
        let deleted = match repeated.contains(&(&topic.name, topic.topic_id)) {
            true => Err(ApiError::new(
                ErrorCode::INVALID_REQUEST,
                "the topic is there more than once",
            )),
            false => delete(call, topic, &mut result),
        };
        if let Err(error) = deleted {
            result.error_code = error.code;
            result.error_message = Some(error.message);
        }
        result
    });
    DeleteTopicsResponse {
        responses: responses.collect(),
        ..DeleteTopicsResponse::default()
    }
}

fn delete(
    call: &Call,
    wanted: &DeleteTopicState,
    result: &mut DeletableTopicResult,
) -> ApiResult<()> {
    {
        let controller = call.broker.controller();
        let found = match (&wanted.name, wanted.topic_id.is_zero()) {
            (Some(name), true) => controller.topic(name).ok_or_else(|| {
                ApiError::new(
                    ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
                    format!("there is no topic {name:?}"),
                )
            }),
            (None, false) => controller.topic_by_id(wanted.topic_id).ok_or_else(|| {
                ApiError::new(
                    ErrorCode::UNKNOWN_TOPIC_ID,
                    format!("there is no topic with the id {}", wanted.topic_id),
                )
            }),
            _ => Err(ApiError::new(
                ErrorCode::INVALID_REQUEST,
                "a topic is called by its name or by its id: one of them, and not both",
            )),
        }?;
        result.name = Some(found.name.clone());
        result.topic_id = found.id;
    }
    let id = result.topic_id;
    call.broker
        .change(|controller| Ok(((), controller.delete_topic(id)?)))
}
