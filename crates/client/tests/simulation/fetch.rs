//! The brokers' side of reading: sessions, long polls, offsets and epochs.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use bytes::BytesMut;
use copart::protocol::ErrorCode;
use copart::protocol::messages::fetch::{
    FetchPartition, FetchRequest, FetchResponse, FetchableTopicResponse, LeaderIdAndEpoch,
    PartitionData,
};
use copart::protocol::messages::list_offsets::{
    ListOffsetsPartitionResponse, ListOffsetsRequest, ListOffsetsResponse, ListOffsetsTopicResponse,
};
use copart::protocol::messages::offset_for_leader_epoch::{
    EpochEndOffset, OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
};
use tokio::time::Instant;

use crate::cluster::{SimCluster, SimPartition, TOPIC_ID};
use crate::faults::Fate;

/// By id: the node, the epoch to come, and what is read.
#[derive(Default)]
pub struct Sessions {
    last: i32,
    open: HashMap<i32, (i32, i32, BTreeMap<i32, FetchPartition>)>,
}

impl Sessions {
    /// What a request is about, and the session's id for the answer.
    fn begin(
        &mut self,
        node: i32,
        request: &FetchRequest,
    ) -> Result<(i32, Vec<FetchPartition>), ErrorCode> {
        let named = request.topics.iter().flat_map(|topic| &topic.partitions);
        let named = named.map(|one| (one.partition, one.clone()));
        if request.session_epoch <= 0 {
            self.open.remove(&request.session_id);
            let all: BTreeMap<_, _> = named.collect();
            let list = all.values().cloned().collect();
            if request.session_epoch < 0 {
                return Ok((0, list));
            }
            self.last += 1;
            self.open.insert(self.last, (node, 1, all));
            return Ok((self.last, list));
        }
        let session = self.open.get_mut(&request.session_id);
        let Some((at, epoch, known)) = session.filter(|(at, ..)| *at == node) else {
            return Err(ErrorCode::FETCH_SESSION_ID_NOT_FOUND);
        };
        assert_eq!(*at, node);
        if *epoch != request.session_epoch {
            return Err(ErrorCode::INVALID_FETCH_SESSION_EPOCH);
        }
        *epoch += 1;
        for topic in &request.forgotten_topics_data {
            assert_eq!(topic.topic_id, TOPIC_ID);
            for partition in &topic.partitions {
                let was_there = known.remove(partition);
                assert!(was_there.is_some(), "{partition} was never named");
            }
        }
        known.extend(named);
        Ok((request.session_id, known.values().cloned().collect()))
    }
}

impl SimPartition {
    fn check(&self, node: i32, epoch: i32) -> Result<(), ErrorCode> {
        if self.leader != node {
            return Err(ErrorCode::NOT_LEADER_OR_FOLLOWER);
        }
        match epoch {
            -1 => Ok(()),
            epoch if epoch < self.epoch => Err(ErrorCode::FENCED_LEADER_EPOCH),
            epoch if epoch > self.epoch => Err(ErrorCode::UNKNOWN_LEADER_EPOCH),
            _ => Ok(()),
        }
    }

    fn read(&self, node: i32, wanted: &FetchPartition, left: &mut i32) -> PartitionData {
        let end = self.log.len() as i64;
        let mut data = PartitionData {
            partition_index: wanted.partition,
            high_watermark: end,
            last_stable_offset: end,
            log_start_offset: 0,
            ..PartitionData::default()
        };
        if let Err(code) = self.check(node, wanted.current_leader_epoch) {
            data.error_code = code;
            data.current_leader = LeaderIdAndEpoch {
                leader_id: self.leader,
                leader_epoch: self.epoch,
            };
            return data;
        }
        if !(0..=end).contains(&wanted.fetch_offset) {
            data.error_code = ErrorCode::OFFSET_OUT_OF_RANGE;
            return data;
        }
        let mut records = BytesMut::new();
        let next = |place: usize| self.batches.get(place + 1).map_or(end, |batch| batch.0);
        for (place, (_, _, bytes)) in self.batches.iter().enumerate() {
            if next(place) <= wanted.fetch_offset {
                continue;
            }
            let fits = records.len() + bytes.len() <= wanted.partition_max_bytes as usize
                && bytes.len() <= *left as usize;
            if !fits && !records.is_empty() {
                break;
            }
            records.extend_from_slice(bytes);
            *left = left.saturating_sub(bytes.len() as i32).max(0);
            if !fits {
                break;
            }
        }
        data.records = records.freeze();
        data
    }
}

impl SimCluster {
    pub async fn fetch(&self, node: i32, request: &FetchRequest, fate: Fate) -> FetchResponse {
        let begun = self.sessions.lock().unwrap().begin(node, request);
        let begun = match (begun, fate) {
            (_, Fate::Refuse(code @ ErrorCode::FETCH_SESSION_ID_NOT_FOUND)) => {
                self.sessions
                    .lock()
                    .unwrap()
                    .open
                    .remove(&request.session_id);
                Err(code)
            }
            (begun, _) => begun,
        };
        let (session_id, wanted) = match begun {
            Ok(begun) => begun,
            Err(error_code) => {
                return FetchResponse {
                    error_code,
                    ..FetchResponse::default()
                };
            }
        };
        let deadline = Instant::now() + Duration::from_millis(request.max_wait_ms as u64);
        loop {
            let mut left = request.max_bytes;
            let mut partitions: Vec<PartitionData> = {
                let state = self.state.lock().unwrap();
                wanted
                    .iter()
                    .map(|one| state.partitions[one.partition as usize].read(node, one, &mut left))
                    .collect()
            };
            if let Fate::Refuse(code) = fate {
                for partition in &mut partitions {
                    partition.error_code = code;
                    partition.records.clear();
                }
            }
            let news = |one: &PartitionData| !one.error_code.is_none() || !one.records.is_empty();
            if !partitions.iter().any(news) && Instant::now() < deadline && !wanted.is_empty() {
                // Whether records come or time runs out, it looks again.
                let _ = tokio::time::timeout_at(deadline, self.appended.notified()).await;
                continue;
            }
            if request.session_epoch > 0 {
                partitions.retain(news);
            }
            return FetchResponse {
                session_id,
                responses: vec![FetchableTopicResponse {
                    topic_id: TOPIC_ID,
                    partitions,
                    ..FetchableTopicResponse::default()
                }],
                ..FetchResponse::default()
            };
        }
    }

    pub fn list_offsets(&self, node: i32, request: &ListOffsetsRequest) -> ListOffsetsResponse {
        let state = self.state.lock().unwrap();
        let topics = request.topics.iter().map(|topic| {
            let partitions = topic.partitions.iter().map(|asked| {
                let partition = &state.partitions[asked.partition_index as usize];
                let checked = partition.check(node, asked.current_leader_epoch);
                ListOffsetsPartitionResponse {
                    partition_index: asked.partition_index,
                    error_code: checked.err().unwrap_or(ErrorCode::NONE),
                    offset: match (checked, asked.timestamp) {
                        (Err(_), _) => -1,
                        (Ok(()), -1) => partition.log.len() as i64,
                        (Ok(()), -2) => 0,
                        (Ok(()), other) => panic!("{other} is not asked for here"),
                    },
                    ..ListOffsetsPartitionResponse::default()
                }
            });
            ListOffsetsTopicResponse {
                name: topic.name.clone(),
                partitions: partitions.collect(),
            }
        });
        ListOffsetsResponse {
            topics: topics.collect(),
            ..ListOffsetsResponse::default()
        }
    }

    pub fn epoch_ends(
        &self,
        node: i32,
        request: &OffsetForLeaderEpochRequest,
    ) -> OffsetForLeaderEpochResponse {
        let state = self.state.lock().unwrap();
        let topics = request.topics.iter().map(|topic| {
            let partitions = topic.partitions.iter().map(|asked| {
                let partition = &state.partitions[asked.partition as usize];
                let mut answer = EpochEndOffset {
                    partition: asked.partition,
                    ..EpochEndOffset::default()
                };
                if let Err(code) = partition.check(node, asked.current_leader_epoch) {
                    answer.error_code = code;
                    return answer;
                }
                let later = partition
                    .batches
                    .iter()
                    .find(|(_, epoch, _)| *epoch > asked.leader_epoch);
                let end = partition.log.len() as i64;
                answer.leader_epoch = asked.leader_epoch;
                answer.end_offset = later.map_or(end, |(first, ..)| *first);
                answer
            });
            OffsetForLeaderTopicResult {
                topic: topic.topic.clone(),
                partitions: partitions.collect(),
            }
        });
        OffsetForLeaderEpochResponse {
            topics: topics.collect(),
            ..OffsetForLeaderEpochResponse::default()
        }
    }
}
