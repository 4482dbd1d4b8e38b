//! Aborted transactions and the last stable offset, against a plain model.

use std::collections::BTreeMap;

use super::*;
use crate::files::{Files, Random, replace};
use copart_protocol::records::{BatchEditor, RecordBatch, TransactionMarker};

/// A transaction that has ended: producer, first offset, marker's offset.
type Ended = (i64, i64, i64);

#[derive(Debug, Default)]
struct Model {
    /// The first offsets of open transactions, by producer.
    open: BTreeMap<i64, i64>,
    aborted: Vec<Ended>,
    committed: Vec<Ended>,
    sequences: BTreeMap<i64, i32>,
}

impl Model {
    /// What aborted transactions have records between the offsets?
    fn between(&self, from: i64, to: i64) -> Vec<Ended> {
        let aborted = self.aborted.iter().copied();
        aborted
            .filter(|&(_, first, marker)| marker >= from && first < to)
            .collect()
    }

    fn first_undecided(&self, stored: i64) -> i64 {
        let ended = self.aborted.iter().chain(&self.committed);
        let unstored = ended.filter(|ended| ended.2 >= stored);
        let first = unstored.map(|ended| ended.1);
        let first = first.chain(self.open.values().copied()).min();
        first.unwrap_or(stored).min(stored)
    }
}

fn transactional(id: i64, base_sequence: i32, values: &[&str]) -> BytesMut {
    let mut bytes = Draft::of(values).by(id, 0, base_sequence).bytes();
    let mut editor = BatchEditor::new(&mut bytes).expect("a batch");
    let attributes = editor.header().attributes.with_transactional(true);
    editor.set_attributes(attributes).expect("edited");
    bytes
}

fn end(log: &mut PartitionLog, id: i64, commit: bool) -> i64 {
    let marker = TransactionMarker {
        commit,
        coordinator_epoch: 0,
    };
    let batch = marker.to_batch(id, 0, NOW).expect("encoded");
    let bytes = BytesMut::from(&batch.bytes()[..]);
    let appended = log.append(bytes, Origin::Coordinator, 0, NOW);
    appended.expect("appended").base_offset
}

fn step(log: &mut PartitionLog, model: &mut Model, random: &mut Random) {
    let id = random.below(4) as i64;
    match random.below(10) {
        0..6 => {
            let sequence = model.sequences.entry(id).or_insert(0);
            let appended = log.append(
                transactional(id, *sequence, &["a", "b"]),
                Origin::Client,
                0,
                NOW,
            );
            *sequence += 2;
            let offset = appended.expect("appended").base_offset;
            model.open.entry(id).or_insert(offset);
        }
        6 => fill(log, 1),
        _ => {
            // Coordinators also end transactions that have no records here.
            let commit = random.below(2) == 0;
            let marker = end(log, id, commit);
            if let Some(first) = model.open.remove(&id) {
                match commit {
                    true => model.committed.push((id, first, marker)),
                    false => model.aborted.push((id, first, marker)),
                }
            }
        }
    }
}

fn compare(log: &PartitionLog, model: &Model, what: &str) {
    let stored = log.stored_offset();
    let stable = model.first_undecided(stored);
    assert_eq!(log.last_stable_offset(), stable, "{what}");
    for from in log.log_start_offset()..stable {
        for to in [from + 1, from + 5, (from + stable) / 2 + 1, stable] {
            let to = to.min(stable);
            let found = log.aborted_transactions(from, to).into_iter();
            let found: Vec<Ended> = found
                .map(|found| (found.producer_id, found.first_offset, found.last_offset))
                .filter(|&(_, first, marker)| marker >= from && first < to)
                .collect();
            assert_eq!(found, model.between(from, to), "{what}: {from} to {to}");
        }
    }
}

/// Changes to files that a start must get over.
fn spoil(files: &SimulatedFiles, random: &mut Random) {
    let kind = random.below(6);
    for name in files.list(dir()).expect("listed") {
        let path = dir().join(&name);
        let txn = name.ends_with(names::TXN_INDEX);
        let snapshot = name.ends_with(names::SNAPSHOT);
        match kind {
            0 if txn => files.remove(&path).expect("removed"),
            1 if txn => {
                let content = crate::files::read_small(files, &path, 1 << 20);
                let mut bytes = content.expect("read").unwrap_or_default();
                if bytes.is_empty() {
                    continue;
                }
                let at = random.below(bytes.len() as u64) as usize;
                bytes[at] ^= 1 << random.below(8);
                replace(files, &path, &bytes).expect("written");
            }
            2 if txn => replace(files, &path, &[]).expect("written"),
            3 if snapshot => files.remove(&path).expect("removed"),
            4 if snapshot && random.below(2) == 0 => {
                replace(files, &path, b"damaged").expect("written");
            }
            _ => {}
        }
    }
}

#[test]
fn aborted_transactions_are_known_whatever_happens() {
    let mut seen = 0;
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let config = LogConfig {
            segment_bytes: 500 + random.below(1500),
            ..small()
        };
        let mut files = disk();
        let mut model = Model::default();
        let mut log = open(&files, &config).0;
        for life in 0..4 {
            for _ in 0..random.below(40) {
                step(&mut log, &mut model, &mut random);
            }
            compare(&log, &model, &format!("seed {seed}, life {life}, before"));
            log.sync().expect("synced");
            compare(&log, &model, &format!("seed {seed}, life {life}, synced"));
            match random.below(3) {
                0 => log.close().expect("closed"),
                1 => drop(log),
                _ => files = Arc::new(files.crash(random.next())),
            }
            files = Arc::new(files.kill());
            spoil(&files, &mut random);
            log = open(&files, &config).0;
            compare(&log, &model, &format!("seed {seed}, life {life}, after"));
        }
        seen += model.aborted.len();
    }
    assert!(seen > 500, "{seen}");
}

#[test]
fn a_transaction_is_undecided_until_its_marker_is_stored() {
    let mut log = open(&disk(), &small()).0;
    fill(&mut log, 1);
    log.append(transactional(1, 0, &["t"]), Origin::Client, 0, NOW)
        .expect("appended");
    log.sync().expect("synced");
    assert_eq!((log.stored_offset(), log.last_stable_offset()), (3, 2));
    let marker = end(&mut log, 1, false);
    assert_eq!(log.last_stable_offset(), 2, "power could take the marker");
    let sync = log.begin_sync().expect("something to sync");
    fill(&mut log, 1);
    assert_eq!(log.last_stable_offset(), 2);
    log.finish_sync(sync.run()).expect("synced");
    assert_eq!(log.last_stable_offset(), marker + 1);
    let aborted = log.aborted_transactions(0, marker + 1);
    assert_eq!(
        aborted,
        [AbortedTransaction {
            producer_id: 1,
            first_offset: 2,
            last_offset: marker,
            last_stable_offset: marker + 1,
        }]
    );
    assert!(log.aborted_transactions(0, 2).is_empty());
    assert!(log.aborted_transactions(marker + 1, marker + 1).is_empty());
}

#[test]
fn compaction_keeps_what_readers_must_skip() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let files = disk();
        let config = LogConfig {
            segment_bytes: 600,
            ..small()
        };
        let mut model = Model::default();
        let mut log = open(&files, &config).0;
        for _ in 0..120 {
            step(&mut log, &mut model, &mut random);
        }
        log.sync().expect("synced");
        let compacts = LogConfig {
            compacts: true,
            deletes: false,
            segment_bytes: 5000,
            ..small()
        };
        log.set_config(compacts.clone());
        if random.below(2) == 0 {
            files.stop_after(random.below(80));
        }
        let _ = log.compact(NOW);
        let files = match random.below(2) {
            0 => Arc::new(files.kill()),
            _ => Arc::new(files.crash(seed)),
        };
        let mut log = open(&files, &compacts).0;
        for again in [false, true] {
            if again {
                log.compact(NOW).expect("compacted");
            }
            // A compacted log has no records of aborted transactions below
            // where it was compacted, and all others where they were.
            let stable = log.last_stable_offset();
            assert_eq!(stable, model.first_undecided(log.stored_offset()));
            for offset in committed(&log, 0, stable) {
                let aborted = |&(_, first, marker): &Ended| (first..marker).contains(&offset);
                let of = model.aborted.iter().filter(|ended| aborted(ended));
                let batch = log.read(offset, stable, 1).expect("reads");
                let header = RecordBatch::decode(batch).expect("one batch");
                let producer = header.header().producer.id;
                let hidden = of.filter(|ended| ended.0 == producer).count();
                assert_eq!(hidden, 0, "seed {seed}: offset {offset} is seen");
            }
        }
    }
}

/// The offsets that a read_committed consumer sees: Kafka's way to use the list
/// of aborted transactions.
fn committed(log: &PartitionLog, from: i64, to: i64) -> Vec<i64> {
    let mut aborted = log.aborted_transactions(from, to);
    aborted.sort_by_key(|aborted| std::cmp::Reverse(aborted.first_offset));
    let mut skipped = Vec::new();
    let mut seen = Vec::new();
    let mut offset = from;
    let mut decompressor = Decompressor::new(1 << 20);
    while offset < to {
        let bytes = log.read(offset, to, 500).expect("reads");
        for batch in Batches::new(bytes) {
            let Batch::Records(batch) = batch.expect("whole") else {
                panic!("an old format");
            };
            let header = batch.header();
            offset = header.next_offset();
            while aborted
                .last()
                .is_some_and(|aborted| aborted.first_offset <= header.last_offset())
            {
                skipped.extend(aborted.pop().map(|aborted| aborted.producer_id));
            }
            let records = batch.records(&mut decompressor).expect("records");
            if header.attributes.is_control() {
                skipped.retain(|&id| id != header.producer.id);
                continue;
            }
            if header.attributes.is_transactional() && skipped.contains(&header.producer.id) {
                continue;
            }
            seen.extend(
                records
                    .iter()
                    .map(|record| record.expect("a record").offset),
            );
        }
    }
    seen
}
