//! Producer ids: never the same one twice, also not after `kill -9`. They are
//! reserved a thousand at a time; what a process did not use is lost.

use copart_protocol::messages::producer_ids_record::ProducerIdsRecord;

use super::Controller;
use super::record::Record;
use crate::Result;

const BLOCK: i64 = 1000;

/// Ids that are reserved, and not given out.
#[derive(Debug)]
pub(super) struct ProducerIds {
    next: i64,
    end: i64,
}

impl ProducerIds {
    /// None is left of what was reserved before.
    pub(super) fn after(reserved: i64) -> Self {
        Self {
            next: reserved,
            end: reserved,
        }
    }
}

impl Controller {
    /// A producer id that was never given out before.
    ///
    /// # Errors
    /// When more ids must be reserved, and the metadata log cannot be written.
    pub(crate) fn next_producer_id(&mut self) -> Result<i64> {
        if self.producer_ids.next == self.producer_ids.end {
            let begin = self.image.next_producer_id;
            let end = begin + BLOCK;
            self.write(vec![Record::from(ProducerIdsRecord {
                broker_id: self.controller_id().unwrap_or_default(),
                broker_epoch: 0,
                next_producer_id: end,
            })])?;
            self.producer_ids = ProducerIds { next: begin, end };
        }
        let id = self.producer_ids.next;
        self.producer_ids.next += 1;
        Ok(id)
    }
}
