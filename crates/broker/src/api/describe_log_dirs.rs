//! DescribeLogDirs: what a node's replicas take of the disk.

use std::collections::{BTreeMap, HashSet};

use copart_protocol::ErrorCode;
use copart_protocol::messages::describe_log_dirs::{
    DescribeLogDirsPartition, DescribeLogDirsRequest, DescribeLogDirsResponse,
    DescribeLogDirsResult, DescribeLogDirsTopic,
};

use super::Call;

/// The node's replicas, in the one directory that there is. Nodes share their logs, so each of them reports the
/// same bytes; none of its replicas lags.
pub(super) fn handle(call: &Call, request: DescribeLogDirsRequest) -> DescribeLogDirsResponse {
    let named: Option<HashSet<(&str, i32)>> = request.topics.as_ref().map(|topics| {
        let named = topics.iter().flat_map(|it| {
            it.partitions
                .iter()
                .map(|index| (it.topic.as_str(), *index))
        });
        named.collect()
    });
    let wanted = |topic: &str, index: i32| {
        named
            .as_ref()
            .is_none_or(|named| named.contains(&(topic, index)))
    };
    let mut topics: BTreeMap<String, Vec<DescribeLogDirsPartition>> = BTreeMap::new();
    for partition in call.broker.partitions.all() {
        let name = &partition.topic().name;
        if !wanted(name, partition.index()) {
            continue;
        }
        let mut state = partition.state();
        if !state.leadership.replicas.contains(&call.node.id) {
            continue;
        }
        // One that is damaged takes space that nobody can use.
        let Ok(log) = state.log() else {
            continue;
        };
        let size = log.size();
        topics
            .entry(name.clone())
            .or_default()
            .push(DescribeLogDirsPartition {
                partition_index: partition.index(),
                partition_size: size as i64,
                offset_lag: 0,
                is_future_key: false,
            });
    }
    let topics = topics.into_iter().map(|(name, mut partitions)| {
        partitions.sort_by_key(|it| it.partition_index);
        DescribeLogDirsTopic { name, partitions }
    });
    let space = call.broker.space();
    let bytes = |bytes: Option<u64>| bytes.and_then(|it| it.try_into().ok()).unwrap_or(-1);
    DescribeLogDirsResponse {
        results: vec![DescribeLogDirsResult {
            error_code: ErrorCode::NONE,
            log_dir: call.broker.log_dir().display().to_string(),
            topics: topics.collect(),
            total_bytes: bytes(space.map(|space| space.total)),
            usable_bytes: bytes(space.map(|space| space.usable)),
            is_cordoned: false,
        }],
        ..DescribeLogDirsResponse::default()
    }
}
