//! Making the registry's state from its log.

use copart_protocol::ErrorCode;
use copart_protocol::records::{Batch, Batches, Decompressor};
use copart_registry::{Record, Store};

use super::topic::SCHEMAS;
use crate::partitions::{Partition, Refusal};

/// How much is read at once. A larger batch is read as a whole.
const READ: usize = 1 << 20;
/// The most bytes that a batch may decompress to.
const DECOMPRESSED: usize = 64 << 20;

/// Applies all records, which must be stored: nobody may learn what a crash can take back. Waits for the disk.
pub(super) fn read_log(partition: &Partition) -> Result<Store, Refusal> {
    let (mut offset, end) = {
        let mut state = partition.state();
        let log = state.log()?;
        if log.stored_offset() < log.log_end_offset() {
            return Err(Refusal {
                message: Some("its newest records are not stored yet".to_owned()),
                ..ErrorCode::REQUEST_TIMED_OUT.into()
            });
        }
        (log.log_start_offset(), log.log_end_offset())
    };
    let mut store = Store::default();
    let mut decompressor = Decompressor::new(DECOMPRESSED);
    while offset < end {
        let read = partition.state().log()?.begin_read(offset, end, READ)?;
        let Some(read) = read else { break };
        let mut next = offset;
        for batch in Batches::new(read.run()?) {
            let batch = batch.map_err(unreadable)?;
            next = batch.next_offset();
            if !batch.is_control() {
                apply(&batch, &mut store, &mut decompressor).map_err(unreadable)?;
            }
        }
        if next <= offset {
            break;
        }
        offset = next;
    }
    Ok(store)
}

fn unreadable(error: copart_protocol::Error) -> Refusal {
    Refusal {
        message: Some(error.to_string()),
        ..ErrorCode::KAFKA_STORAGE_ERROR.into()
    }
}

fn apply(
    batch: &Batch,
    store: &mut Store,
    decompressor: &mut Decompressor,
) -> copart_protocol::Result<()> {
    let records = batch.records(decompressor)?;
    for record in records.iter_shared() {
        let record = record?;
        let key = record.key_bytes().unwrap_or_default();
        match Record::decode(&key, record.value_bytes().as_deref()) {
            Ok(Some(record)) => store.apply(record),
            Ok(None) => {}
            // A registry without one of its records is better than none.
            Err(reason) => tracing::error!(
                offset = record.offset(),
                "a record of {SCHEMAS} is passed over: {reason}"
            ),
        }
    }
    Ok(())
}
