//! Making the registry's state from its log.

use copart_protocol::ErrorCode;
use copart_protocol::records::{Batch, Decompressor};
use copart_registry::{Record, Store};

use super::topic::SCHEMAS;
use crate::partitions::{Partition, Refusal};

/// Applies all records, which must be stored: nobody may learn what a crash can take back. Waits for the disk.
pub(super) fn read_log(partition: &Partition) -> Result<Store, Refusal> {
    let offsets = {
        let mut state = partition.state();
        let log = state.log()?;
        if log.stored_offset() < log.log_end_offset() {
            return Err(Refusal {
                message: Some("its newest records are not stored yet".to_owned()),
                ..ErrorCode::REQUEST_TIMED_OUT.into()
            });
        }
        log.log_start_offset()..log.log_end_offset()
    };
    let mut store = Store::default();
    partition.replay(offsets, |batch, decompressor| match batch.is_control() {
        true => Ok(()),
        false => apply(batch, &mut store, decompressor),
    })?;
    Ok(store)
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
