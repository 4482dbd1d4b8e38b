//! Step by step, on a clock of the test: what the core asks for, and what comes of answers.

mod budget;
mod cursor;
mod leaders;
mod positions;
mod sessions;

use std::collections::BTreeMap;
use std::time::Duration;

use copart_protocol::messages::fetch::{
    AbortedTransaction, FetchRequest, FetchResponse, FetchableTopicResponse, LeaderIdAndEpoch,
    PartitionData,
};
use copart_protocol::records::{
    BatchBuilder, BatchEditor, Compressor, Decompressor, Producer, Seal, TransactionMarker,
};
use copart_protocol::{ErrorCode, Uuid};
use tokio::time::Instant;

use super::*;
use crate::cluster::Partition;

const TOPIC: &str = "t";
const ID: Uuid = Uuid([9; 16]);
const LATEST: Offered = Offered {
    latest: 18,
    by_name: 12,
};
const KIB: usize = 1024;

fn at(partition: i32) -> TopicPartition {
    TopicPartition::new(TOPIC, partition)
}

fn config() -> CoreConfig {
    CoreConfig {
        committed: true,
        min_bytes: 1,
        max_bytes: 64 * KIB as i32,
        max_wait: Duration::from_millis(500),
        partition_max_bytes: 4 * KIB as i32,
        memory: 16 * KIB,
        rack: String::new(),
        reset: Reset::Error,
        backoff: Backoff::new(Duration::from_millis(100), Duration::from_secs(1)),
        endless: false,
        replica_max_age: Duration::from_secs(300),
    }
}

/// A topic whose partitions have these leaders and epochs.
fn topic(leaders: &[(i32, i32)]) -> Topic {
    let partitions = (0..).zip(leaders);
    Topic {
        name: TOPIC.into(),
        id: ID,
        is_internal: false,
        partitions: partitions
            .map(|(index, &(leader, leader_epoch))| Partition {
                index,
                leader: (leader >= 0).then_some(leader),
                leader_epoch,
                replicas: Vec::new(),
                in_sync: Vec::new(),
            })
            .collect(),
    }
}

/// A batch at an offset, of `count` records with values of `size` bytes.
fn batch(base: i64, count: usize, size: usize, epoch: i32) -> Vec<u8> {
    sealed(base, count, size, epoch, &Seal::default())
}

fn sealed(base: i64, count: usize, size: usize, epoch: i32, seal: &Seal) -> Vec<u8> {
    let mut builder = BatchBuilder::with_capacity(256);
    for _ in 0..count {
        let value = vec![b'v'; size];
        builder
            .append(1000, Some(b"k"), Some(&value), &[])
            .expect("fits");
    }
    let sealed = builder
        .seal(seal, &mut Compressor::new())
        .expect("not empty");
    placed(sealed.into_bytes().into(), base, epoch)
}

/// A batch of a transaction.
fn transactional(base: i64, producer: i64, count: usize) -> Vec<u8> {
    let seal = Seal {
        producer: Producer {
            id: producer,
            epoch: 0,
            base_sequence: 0,
        },
        transactional: true,
        ..Seal::default()
    };
    sealed(base, count, 1, 0, &seal)
}

/// What ends one.
fn marker(base: i64, producer: i64, commit: bool) -> Vec<u8> {
    let marker = TransactionMarker {
        commit,
        coordinator_epoch: 0,
    };
    let marker = marker.to_batch(producer, 0, 1000).expect("encodes");
    placed(marker.into_bytes().into(), base, 0)
}

fn placed(mut bytes: Vec<u8>, base: i64, epoch: i32) -> Vec<u8> {
    let mut editor = BatchEditor::new(&mut bytes).expect("a batch");
    editor.set_base_offset(base).expect("an offset");
    editor.set_partition_leader_epoch(epoch);
    bytes
}

fn aborted(producer_id: i64, first_offset: i64) -> AbortedTransaction {
    AbortedTransaction {
        producer_id,
        first_offset,
    }
}

/// What a partition's answer holds.
fn data(partition_index: i32, batches: &[Vec<u8>]) -> PartitionData {
    PartitionData {
        partition_index,
        high_watermark: 1000,
        last_stable_offset: 1000,
        log_start_offset: 0,
        records: batches.concat().into(),
        ..PartitionData::default()
    }
}

fn failed(partition_index: i32, error_code: ErrorCode) -> PartitionData {
    PartitionData {
        error_code,
        ..data(partition_index, &[])
    }
}

fn response(session_id: i32, partitions: Vec<PartitionData>) -> FetchResponse {
    FetchResponse {
        session_id,
        responses: vec![FetchableTopicResponse {
            topic: TOPIC.to_owned(),
            topic_id: ID,
            partitions,
        }],
        ..FetchResponse::default()
    }
}

/// Partition and offset of all that a request names.
fn named(request: &FetchRequest) -> BTreeMap<i32, i64> {
    let topics = request.topics.iter();
    topics
        .flat_map(|topic| &topic.partitions)
        .map(|partition| (partition.partition, partition.fetch_offset))
        .collect()
}

fn forgotten(request: &FetchRequest) -> Vec<i32> {
    let topics = request.forgotten_topics_data.iter();
    topics
        .flat_map(|topic| topic.partitions.iter().copied())
        .collect()
}

struct Bench {
    core: FetchCore,
    now: Instant,
    decompressor: Decompressor,
}

impl Bench {
    /// Reads these partitions from offset 0, all led by node 1 in epoch 0.
    fn reading(config: CoreConfig, partitions: i32) -> Self {
        let mut bench = Self::new(config);
        for partition in 0..partitions {
            let origin = Origin::At(Position::at(0));
            bench.core.assign(at(partition), origin, Bound::None);
        }
        bench.core.set_brokers([1, 2, 3]);
        bench
            .core
            .set_topic(&topic(&vec![(1, 0); partitions as usize]));
        bench
    }

    fn new(config: CoreConfig) -> Self {
        Self {
            core: FetchCore::new(config),
            now: Instant::now(),
            decompressor: Decompressor::new(1 << 20),
        }
    }

    fn pass(&mut self, milliseconds: u64) {
        self.now += Duration::from_millis(milliseconds);
    }

    fn turn(&mut self, node: i32) -> Turn {
        self.core.poll_fetch(node, self.now, Some(LATEST))
    }

    fn plan(&mut self, node: i32) -> Plan {
        match self.turn(node) {
            Turn::Fetch(plan) => plan,
            other => panic!("node {node}: {other:?}"),
        }
    }

    fn waits(&mut self, node: i32) -> Option<Instant> {
        match self.turn(node) {
            Turn::Wait(until) => until,
            other => panic!("node {node}: {other:?}"),
        }
    }

    fn answer(&mut self, node: i32, plan: &Plan, response: FetchResponse) -> Aftermath {
        self.core
            .fetched(node, plan, read_answer(response), self.now)
    }

    /// Asks node 1 and has it answer.
    fn fetch(&mut self, partitions: Vec<PartitionData>) -> Aftermath {
        let plan = self.plan(1);
        self.answer(1, &plan, response(5, partitions))
    }

    /// The next chunk, handed out to its end: partition, offsets.
    fn read(&mut self) -> Option<(i32, Vec<i64>)> {
        let chunk = match self.core.poll_event()? {
            Event::Chunk(chunk) => chunk,
            other => panic!("{other:?}"),
        };
        let (partition, slot, generation, frame) = (
            chunk.partition.partition,
            chunk.slot,
            chunk.generation,
            chunk.frame,
        );
        let mut offsets = Vec::new();
        let mut cursor = Cursor::new(chunk);
        while let Some(cut) = cursor.next(&mut self.decompressor) {
            let cut = cut.expect("readable");
            offsets.extend(cut.ranges.iter().map(|range| range.offset()));
            self.core.delivered(slot, generation, cursor.position());
        }
        self.core.delivered(slot, generation, cursor.position());
        self.core.release(frame);
        Some((partition, offsets))
    }

    fn error(&mut self) -> Error {
        match self.core.poll_event() {
            Some(Event::Error(error)) => error,
            other => panic!("{other:?}"),
        }
    }

    /// The one thing that a node is asked.
    fn query(&mut self, node: i32) -> Query {
        let (mut queries, _) = self.core.poll_lookups(self.now);
        assert_eq!(queries.keys().collect::<Vec<_>>(), [&node]);
        let mut queries = queries.remove(&node).expect("just seen");
        assert_eq!(queries.len(), 1, "{queries:?}");
        queries.remove(0)
    }

    fn reply(&mut self, query: &Query, reply: Reply) -> bool {
        self.core.replied(query, reply, self.now)
    }
}
