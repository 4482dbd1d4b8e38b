//! Record batches: against bytes derived from the format's description,
//! against those that other implementations write, and against themselves.

mod batches;
mod builder;
mod compression;
mod control;
mod kafka_clients;
mod messages;
mod oracle;
mod round_trip;
mod vectors;

use copart_protocol::records::{Batch, Batches, Decompressor, Record, RecordBatch};

/// More than any test batch needs.
const LIMIT: usize = 16 << 20;

/// The one record batch in `bytes`, its checksum verified.
fn only_batch(bytes: &[u8]) -> RecordBatch {
    let mut batches = Batches::new(bytes.to_vec().into());
    let Some(Ok(Batch::Records(batch))) = batches.next() else {
        panic!("no record batch");
    };
    assert!(batches.next().is_none());
    assert_eq!(batches.remainder(), 0);
    batch
}

/// All records in `bytes`, of whatever batches hold them.
fn all_records(bytes: &[u8]) -> Vec<Record> {
    let mut decompressor = Decompressor::new(LIMIT);
    let mut records = Vec::new();
    let mut batches = Batches::new(bytes.to_vec().into());
    for batch in &mut batches {
        let batch = batch.unwrap();
        let decoded = batch.records(&mut decompressor).unwrap();
        records.extend(decoded.iter_shared().map(Result::unwrap));
    }
    assert_eq!(batches.remainder(), 0);
    records
}
