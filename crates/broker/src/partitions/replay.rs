//! Reading a log from beginning to end, to make from it what it describes.

use std::ops::Range;

use copart_protocol::ErrorCode;
use copart_protocol::records::{Batch, Batches, Decompressor};

use super::{Partition, Refusal};

/// How much is read at once. A larger batch is read as a whole.
const READ: usize = 1 << 20;
/// The most bytes that a batch may decompress to.
const DECOMPRESSED: usize = 64 << 20;

impl Partition {
    /// Has each batch of these offsets applied, in their order. Waits for the disk; the log can be written meanwhile.
    pub(crate) fn replay(
        &self,
        offsets: Range<i64>,
        mut apply: impl FnMut(&Batch, &mut Decompressor) -> copart_protocol::Result<()>,
    ) -> Result<(), Refusal> {
        let Range { mut start, end } = offsets;
        let mut decompressor = Decompressor::new(DECOMPRESSED);
        while start < end {
            let read = self.state().log()?.begin_read(start, end, READ)?;
            let Some(read) = read else { break };
            let mut next = start;
            for batch in Batches::new(read.run()?) {
                let batch = batch.map_err(unreadable)?;
                next = batch.next_offset();
                apply(&batch, &mut decompressor).map_err(unreadable)?;
            }
            if next <= start {
                break;
            }
            start = next;
        }
        Ok(())
    }
}

fn unreadable(error: copart_protocol::Error) -> Refusal {
    Refusal {
        message: Some(error.to_string()),
        ..ErrorCode::KAFKA_STORAGE_ERROR.into()
    }
}
