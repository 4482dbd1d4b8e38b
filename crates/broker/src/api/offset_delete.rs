//! OffsetDelete: forgets what a group has committed of partitions that it does not consume (KIP-496).

use copart_protocol::ErrorCode;
use copart_protocol::messages::offset_delete::{
    OffsetDeleteRequest, OffsetDeleteResponse, OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
};

use super::Call;
use super::groups::later;
use crate::server::Answer;

pub(super) fn handle(call: Call, request: OffsetDeleteRequest) -> Answer {
    later(async move {
        let asked: Vec<(String, Vec<i32>)> = request
            .topics
            .iter()
            .map(|topic| {
                let indexes = topic.partitions.iter().map(|it| it.partition_index);
                (topic.name.clone(), indexes.collect())
            })
            .collect();
        let deleted = call
            .coordinate(&request.group_id, |coordinator, _| {
                coordinator.delete_offsets(&request.group_id, &asked)
            })
            .await;
        let codes = match deleted {
            Ok(Ok(codes)) => codes,
            Ok(Err(error)) => return refuse(&call, error.code),
            Err(code) => return refuse(&call, code),
        };
        let known = |topic: &str, partition: i32| {
            let controller = call.broker.controller();
            let topic = controller.topic(topic);
            topic.is_some_and(|topic| topic.partition(partition).is_some())
        };
        let topics = asked
            .into_iter()
            .zip(codes)
            .map(|((name, indexes), codes)| {
                let partitions = indexes
                    .into_iter()
                    .zip(codes)
                    .map(|(partition_index, code)| OffsetDeleteResponsePartition {
                        partition_index,
                        error_code: match known(&name, partition_index) {
                            true => code,
                            false => ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
                        },
                    });
                let partitions = partitions.collect();
                OffsetDeleteResponseTopic { name, partitions }
            });
        call.respond::<OffsetDeleteRequest>(&OffsetDeleteResponse {
            topics: topics.collect(),
            ..OffsetDeleteResponse::default()
        })
    })
}

fn refuse(call: &Call, error_code: ErrorCode) -> Answer {
    call.respond::<OffsetDeleteRequest>(&OffsetDeleteResponse {
        error_code,
        ..OffsetDeleteResponse::default()
    })
}
