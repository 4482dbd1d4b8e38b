//! Reading a coordinator's log.

use copart_protocol::records::{Batch, Decompressor, TransactionMarker};

use super::coordinator::Coordinator;
use super::env::Moment;
use super::record::Record;
use super::service::Lead;
use crate::partitions::Refusal;

/// Applies all records. Returns the offset behind the last one. Waits for the disk.
pub(super) fn read_log(
    lead: &Lead,
    coordinator: &mut Coordinator,
    now: Moment,
) -> Result<i64, Refusal> {
    let partition = &lead.partition;
    let offsets = {
        let mut state = partition.state();
        state.check_leader(lead.node, lead.epoch)?;
        let log = state.log()?;
        log.log_start_offset()..log.log_end_offset()
    };
    let end = offsets.end;
    partition.replay(offsets, |batch, decompressor| {
        apply_batch(batch, coordinator, decompressor, now)
    })?;
    Ok(end)
}

fn apply_batch(
    batch: &Batch,
    coordinator: &mut Coordinator,
    decompressor: &mut Decompressor,
    now: Moment,
) -> copart_protocol::Result<()> {
    let producer = match batch {
        Batch::Records(batch) if batch.header().attributes.is_transactional() => {
            Some(batch.header().producer.id)
        }
        _ => None,
    };
    let records = batch.records(decompressor)?;
    for record in records.iter_shared() {
        let record = record?;
        if batch.is_control() {
            let marker = TransactionMarker::decode(&record.view())?;
            if let (Some(marker), Some(producer)) = (marker, producer) {
                coordinator.transaction_ended(producer, marker.commit);
            }
            continue;
        }
        let key = record.key_bytes().unwrap_or_default();
        match Record::decode(key, record.value_bytes()) {
            Ok(Some(record)) => coordinator.apply(record, producer, now),
            Ok(None) => {}
            // A group without one of its records is better than none of them all.
            Err(reason) => tracing::error!(
                offset = record.offset(),
                "a record of {} is passed over: {reason}",
                super::topic::CONSUMER_OFFSETS
            ),
        }
    }
    Ok(())
}
