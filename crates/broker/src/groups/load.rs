//! Reading a coordinator's log.

use copart_protocol::ErrorCode;
use copart_protocol::records::{Batch, Batches, Decompressor, TransactionMarker};

use super::coordinator::Coordinator;
use super::env::Moment;
use super::record::Record;
use super::service::Lead;
use crate::partitions::Refusal;

/// How much is read at once. A larger batch is read as a whole.
const READ: usize = 1 << 20;
/// The most bytes that a batch may decompress to.
const DECOMPRESSED: usize = 64 << 20;

/// Applies all records. Returns the offset behind the last one. Waits for the disk.
pub(super) fn read_log(
    lead: &Lead,
    coordinator: &mut Coordinator,
    now: Moment,
) -> Result<i64, Refusal> {
    let partition = &lead.partition;
    let (mut offset, end) = {
        let mut state = partition.state();
        state.check_leader(lead.node, lead.epoch)?;
        let log = state.log()?;
        (log.log_start_offset(), log.log_end_offset())
    };
    let mut decompressor = Decompressor::new(DECOMPRESSED);
    while offset < end {
        let read = partition.state().log()?.begin_read(offset, end, READ)?;
        let Some(read) = read else { break };
        let mut next = offset;
        for batch in Batches::new(read.run()?) {
            let batch = batch.map_err(unreadable)?;
            next = batch.next_offset();
            apply_batch(&batch, coordinator, &mut decompressor, now).map_err(unreadable)?;
        }
        if next <= offset {
            break;
        }
        offset = next;
    }
    Ok(end)
}

fn unreadable(error: copart_protocol::Error) -> Refusal {
    Refusal {
        message: Some(error.to_string()),
        ..ErrorCode::KAFKA_STORAGE_ERROR.into()
    }
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
