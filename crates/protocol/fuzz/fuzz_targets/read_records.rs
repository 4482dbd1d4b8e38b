//! Everything that a client or a broker does with bytes that should be record
//! batches. Shared by the fuzz target and by `tests/hostile_records.rs`.

use bytes::Bytes;
use copart_protocol::records::{
    Batch, BatchBuilder, BatchEditor, Batches, Compressor, ControlType, Decompressor, RecordIter,
    Seal, TransactionMarker,
};

/// Reads what can be read of `data`, and calls `see` before each batch (with
/// its size) and after it (with `None`). Says how many records came out.
pub(crate) fn read_records(
    data: &Bytes,
    decompressor: &mut Decompressor,
    mut see: impl FnMut(Option<usize>),
) -> usize {
    let mut count = 0;
    // Checksums would stop all but a few of the damaged batches at the door.
    let mut batches = Batches::unverified(data.clone());
    while let Some(Ok(batch)) = batches.next() {
        see(Some(batch.size()));
        count += read_batch(&batch, decompressor);
        see(None);
    }
    assert!(batches.position() + batches.remainder() == data.len());
    count
}

fn read_batch(batch: &Batch, decompressor: &mut Decompressor) -> usize {
    assert_eq!(batch.next_offset(), batch.last_offset() + 1);
    let _ = batch.verify_crc();
    let Ok(records) = batch.records(decompressor) else {
        return 0;
    };
    let mut count = 0;
    for record in &records {
        let Ok(record) = record else { break };
        count += 1;
        assert_eq!(record.headers.iter().count(), record.headers.len());
        if batch.is_control() {
            let _ = ControlType::decode(&record);
            let _ = TransactionMarker::decode(&record);
        }
    }
    if let Ok(ranges) = records.ranges() {
        assert_eq!(ranges.len(), count);
        for (range, record) in ranges.iter().zip(records.iter_shared()) {
            let record = record.expect("it was read before");
            assert_eq!(records.view(range), record.view());
        }
    }
    if let Batch::Records(batch) = batch {
        let header = batch.header();
        let _ = header.check_produced();
        let _ = RecordIter::new(header, records.data()).map(|iter| iter.count());
        let _ = (header.last_sequence(), header.delete_horizon());
    }
    count
}

/// Whatever was read can be written again, and edited where it lies.
#[allow(
    dead_code,
    reason = "one of the two users measures memory, and leaves this out"
)]
pub(crate) fn write_records(
    data: &Bytes,
    decompressor: &mut Decompressor,
    compressor: &mut Compressor,
) {
    for batch in Batches::unverified(data.clone()) {
        let Ok(Batch::Records(batch)) = batch else {
            return;
        };
        let mut bytes = batch.bytes().to_vec();
        let mut editor = BatchEditor::new(&mut bytes).expect("a batch");
        let _ = editor.set_base_offset(1 << 40);
        editor.set_partition_leader_epoch(1);
        editor.set_log_append_time(2).expect("it fits");
        let expected = editor.header().clone();
        let edited = copart_protocol::records::RecordBatch::decode(bytes.into()).expect("a batch");
        assert_eq!(*edited.header(), expected);
        edited.verify_crc().expect("the checksum was computed");

        let Ok(records) = batch.records(decompressor) else {
            return;
        };
        let base_offset = batch.header().base_offset;
        let mut builder = BatchBuilder::new();
        let mut kept = Vec::new();
        for record in records.iter().map_while(Result::ok) {
            if builder.append_view(base_offset, &record).is_ok() {
                kept.push(record);
            }
        }
        let seal = Seal {
            base_offset,
            ..Seal::default()
        };
        let Ok(again) = builder.seal(&seal, compressor) else {
            continue;
        };
        let again = again.records(decompressor).expect("we wrote it");
        let again: Vec<_> = again
            .iter()
            .map(|record| record.expect("we wrote it"))
            .collect();
        // An append time is the batch's, and the new batch has none.
        assert_eq!(again, kept);
    }
}
