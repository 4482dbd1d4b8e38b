//! The APIs: a file for each, from the request to the response.

mod alter_configs;
mod api_versions;
mod consumer_group_describe;
mod consumer_group_heartbeat;
mod create_partitions;
mod create_topics;
mod delete_groups;
mod delete_records;
mod delete_topics;
mod describe_cluster;
mod describe_configs;
mod describe_groups;
mod describe_log_dirs;
mod describe_producers;
mod describe_quorum;
mod describe_topic_partitions;
mod elect_leaders;
mod fetch;
mod find_coordinator;
mod groups;
mod heartbeat;
mod incremental_alter_configs;
mod init_producer_id;
mod join_group;
mod leave_group;
mod list_config_resources;
mod list_groups;
mod list_offsets;
mod metadata;
mod offset_commit;
mod offset_delete;
mod offset_fetch;
mod offset_for_leader_epoch;
mod produce;
mod reassignments;
mod refuse;
mod refuse_admin;
mod refuse_groups;
mod sync_group;

use std::collections::HashSet;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use copart_protocol::frame::Frame;
use copart_protocol::header::Incoming;
use copart_protocol::messages::api_versions::ApiVersionsRequest;
use copart_protocol::versions::unsupported_api_versions;
use copart_protocol::wire::Reader;
use copart_protocol::{AnyRequest, ApiKey, ErrorCode, Request};

use crate::broker::{Node, Shared};
use crate::cluster::ApiResult;
use crate::faults::{Fault, RequestInfo};
use crate::server::Answer;

/// A request's surroundings.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) broker: Arc<Shared>,
    /// The node that was asked.
    pub(crate) node: Arc<Node>,
    pub(crate) api: ApiKey,
    pub(crate) version: i16,
    pub(crate) correlation_id: i32,
    /// What the client calls itself.
    pub(crate) client_id: String,
    /// Where it is.
    pub(crate) peer: IpAddr,
}

impl Call {
    pub(crate) fn respond<R: Request>(&self, response: &R::Response) -> Answer {
        Answer::respond::<R>(self.version, self.correlation_id, response)
    }
}

/// Declares which APIs there are, and how each is answered:
/// - `now`: the response is there at once;
/// - `blocking`: it waits for the disk, on a thread of its own;
/// - `custom`: it makes its [`Answer`] itself.
macro_rules! serve {
    ($($api:ident => $how:ident($handle:path),)+) => {
        /// The APIs that are listed to clients.
        pub(crate) const SERVED: &[ApiKey] = &[$(ApiKey::$api),+];

        fn dispatch(call: Call, body: Reader) -> Answer {
            match call.api {
                $(ApiKey::$api => $how(call, body, $handle),)+
                api => Answer::Close(format!("{api} is not supported")),
            }
        }
    };
}

serve! {
    Produce => custom(produce::handle),
    Fetch => custom(fetch::handle),
    ListOffsets => now(list_offsets::handle),
    Metadata => custom(metadata::handle),
    OffsetCommit => custom(offset_commit::handle),
    OffsetFetch => custom(offset_fetch::handle),
    FindCoordinator => custom(find_coordinator::handle),
    JoinGroup => custom(join_group::handle),
    Heartbeat => custom(heartbeat::handle),
    LeaveGroup => custom(leave_group::handle),
    SyncGroup => custom(sync_group::handle),
    DescribeGroups => custom(describe_groups::handle),
    ListGroups => custom(list_groups::handle),
    ApiVersions => now(api_versions::handle),
    CreateTopics => blocking(create_topics::handle),
    DeleteTopics => blocking(delete_topics::handle),
    DeleteRecords => blocking(delete_records::handle),
    InitProducerId => blocking(init_producer_id::handle),
    OffsetForLeaderEpoch => now(offset_for_leader_epoch::handle),
    DescribeConfigs => now(describe_configs::handle),
    AlterConfigs => blocking(alter_configs::handle),
    DescribeLogDirs => blocking(describe_log_dirs::handle),
    CreatePartitions => blocking(create_partitions::handle),
    DeleteGroups => custom(delete_groups::handle),
    ElectLeaders => blocking(elect_leaders::handle),
    IncrementalAlterConfigs => blocking(incremental_alter_configs::handle),
    AlterPartitionReassignments => blocking(reassignments::alter),
    ListPartitionReassignments => now(reassignments::list),
    OffsetDelete => custom(offset_delete::handle),
    DescribeQuorum => now(describe_quorum::handle),
    DescribeCluster => now(describe_cluster::handle),
    DescribeProducers => now(describe_producers::handle),
    ConsumerGroupHeartbeat => custom(consumer_group_heartbeat::handle),
    ConsumerGroupDescribe => custom(consumer_group_describe::handle),
    ListConfigResources => now(list_config_resources::handle),
    DescribeTopicPartitions => now(describe_topic_partitions::handle),
}

/// Answers a request.
pub(crate) async fn answer(
    broker: &Arc<Shared>,
    node: &Arc<Node>,
    peer: IpAddr,
    frame: Bytes,
) -> Answer {
    let (api, header, mut body) = match Incoming::read(frame) {
        Ok(Incoming::Known { api, header, body }) => (api, header, body),
        Ok(Incoming::Unknown {
            api_key,
            correlation_id,
            ..
        }) if api_key == ApiKey::ApiVersions as i16 => {
            return Answer::respond::<ApiVersionsRequest>(
                0,
                correlation_id,
                &unsupported_api_versions(),
            );
        }
        Ok(Incoming::Unknown {
            api_key,
            api_version,
            ..
        }) => {
            return Answer::Close(match ApiKey::from_key(api_key) {
                Some(api) => format!("{api} has no version {api_version} here"),
                None => format!("there is no API with key {api_key} here"),
            });
        }
        Err(error) => return Answer::Close(error.to_string()),
    };
    body.limit_elements(broker.limits.max_request_elements);
    let fault = broker.faults.judge(&RequestInfo {
        node: node.id,
        api,
        version: header.api_version,
        client_id: header.client_id.as_deref(),
    });
    let call = Call {
        broker: broker.clone(),
        node: node.clone(),
        api,
        version: header.api_version,
        correlation_id: header.correlation_id,
        client_id: header.client_id.unwrap_or_default(),
        peer,
    };
    match fault {
        Fault::Pass => dispatch(call, body),
        Fault::Delay(delay) => {
            tokio::time::sleep(delay).await;
            dispatch(call, body)
        }
        Fault::Disconnect => Answer::Close("a fault that was asked for".to_owned()),
        Fault::Error(code) => {
            let request = AnyRequest::decode_from(api, call.version, &mut body);
            match request.map(|request| refuse::with(call.version, &request, code)) {
                Ok(Some(response)) => Answer::framed(Frame::any_response(
                    call.version,
                    call.correlation_id,
                    &response,
                )),
                Ok(None) => Answer::Close(format!("{api} cannot be answered with {code}")),
                Err(error) => Answer::Close(error.to_string()),
            }
        }
        Fault::ApplyThenDisconnect => {
            let mut answer = dispatch(call, body);
            Answer::Later(Box::pin(async move {
                while let Answer::Later(later) = answer {
                    answer = later.await;
                }
                Answer::Close("a fault that was asked for".to_owned())
            }))
        }
    }
}

fn decode<R: Request>(call: &Call, mut body: Reader) -> Result<R, Answer> {
    R::decode_from(call.version, &mut body).map_err(|error| Answer::Close(error.to_string()))
}

fn now<R: Request>(call: Call, body: Reader, handle: fn(&Call, R) -> R::Response) -> Answer {
    match decode(&call, body) {
        Ok(request) => call.respond::<R>(&handle(&call, request)),
        Err(answer) => answer,
    }
}

fn blocking<R>(call: Call, body: Reader, handle: fn(&Call, R) -> R::Response) -> Answer
where
    R: Request + Send + 'static,
    R::Response: Send + 'static,
{
    match decode(&call, body) {
        Ok(request) => on_a_thread(move || call.respond::<R>(&handle(&call, request))),
        Err(answer) => answer,
    }
}

fn custom<R: Request>(call: Call, body: Reader, handle: fn(Call, R) -> Answer) -> Answer {
    match decode(&call, body) {
        Ok(request) => handle(call, request),
        Err(answer) => answer,
    }
}

/// Code and message of what the controller decided.
fn outcome(result: ApiResult<()>) -> (ErrorCode, Option<String>) {
    match result {
        Ok(()) => (ErrorCode::NONE, None),
        Err(error) => (error.code, Some(error.message)),
    }
}

/// What is there more than once. A request may name very many.
fn repeated<T: Eq + Hash>(all: impl Iterator<Item = T>) -> HashSet<T> {
    let mut seen = HashSet::new();
    let mut repeated = HashSet::new();
    for one in all {
        if let Some(before) = seen.replace(one) {
            repeated.insert(before);
        }
    }
    repeated
}

/// What waits for the disk keeps no other connection waiting.
fn on_a_thread(work: impl FnOnce() -> Answer + Send + 'static) -> Answer {
    Answer::Later(Box::pin(async {
        match tokio::task::spawn_blocking(work).await {
            Ok(answer) => answer,
            Err(error) => Answer::Close(format!("the request was not carried out: {error}")),
        }
    }))
}
