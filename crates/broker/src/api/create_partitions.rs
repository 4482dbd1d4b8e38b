//! CreatePartitions: more partitions for topics that are there.

use copart_protocol::ErrorCode;
use copart_protocol::messages::create_partitions::{
    CreatePartitionsRequest, CreatePartitionsResponse, CreatePartitionsTopic,
    CreatePartitionsTopicResult,
};

use super::Call;
use crate::cluster::{ApiError, ApiResult};

pub(super) fn handle(call: &Call, request: CreatePartitionsRequest) -> CreatePartitionsResponse {
    let repeated = super::repeated(request.topics.iter().map(|topic| &topic.name));
    let results = request.topics.iter().map(|topic| {
        let created = match repeated.contains(&topic.name) {
            false => create(call, topic, request.validate_only),
            true => Err(ApiError::new(
                ErrorCode::INVALID_REQUEST,
                format!("topic {} is there more than once", topic.name),
            )),
        };
        let (error_code, error_message) = super::outcome(created);
        CreatePartitionsTopicResult {
            name: topic.name.clone(),
            error_code,
            error_message,
        }
    });
    CreatePartitionsResponse {
        results: results.collect(),
        ..CreatePartitionsResponse::default()
    }
}

fn create(call: &Call, wanted: &CreatePartitionsTopic, validate_only: bool) -> ApiResult<()> {
    let assigned: Option<Vec<Vec<i32>>> = wanted
        .assignments
        .as_ref()
        .map(|assigned| assigned.iter().map(|it| it.broker_ids.clone()).collect());
    call.broker.change(|controller| {
        let changes = controller.create_partitions(
            &wanted.name,
            wanted.count,
            assigned.as_deref(),
            validate_only,
        )?;
        Ok(((), changes))
    })
}
