//! Who a batch says that it is from, and its place in the order.

use copart_protocol::records::{NO_SEQUENCE, Producer, sequence_after};

/// What InitProducerId gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProducerId {
    pub(crate) id: i64,
    pub(crate) epoch: i16,
}

/// The identity that a producer has in one partition.
///
/// Brokers keep id, epoch and sequence for each partition on its own, so an epoch can be raised for one
/// partition without the others taking notice (KIP-360, for producers without transactions).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stamper {
    current: Option<ProducerId>,
    /// What InitProducerId gave: tells whether the producer has got another id since.
    given: Option<ProducerId>,
    next_sequence: i32,
    /// To be raised as soon as nothing is on its way.
    renew: bool,
}

impl Stamper {
    /// Takes over a new id.
    pub(crate) fn give(&mut self, given: ProducerId) {
        if self.given != Some(given) {
            self.given = Some(given);
            self.current = Some(given);
            self.next_sequence = 0;
            self.renew = false;
        }
    }

    pub(crate) fn is_given(&self, id: ProducerId) -> bool {
        self.given == Some(id)
    }

    /// Whether no epochs of this id are left.
    pub(crate) fn has_used_up(&self, id: ProducerId) -> bool {
        self.is_given(id) && self.current.is_none()
    }

    /// Sequences that were handed out cannot be continued: there is a hole, or the broker has forgotten.
    pub(crate) fn renew(&mut self) {
        self.renew = self.current.is_some();
    }

    pub(crate) fn must_renew(&self) -> bool {
        self.renew
    }

    /// Raises the epoch and starts at sequence 0. False if there are no epochs left, so that the producer
    /// needs another id.
    pub(crate) fn raise(&mut self) -> bool {
        self.renew = false;
        self.next_sequence = 0;
        match &mut self.current {
            Some(current) if current.epoch < i16::MAX => {
                current.epoch += 1;
                true
            }
            _ => {
                self.current = None;
                false
            }
        }
    }

    /// The stamp of the next batch, which has `count` records.
    pub(crate) fn next(&mut self, count: u32) -> Option<Producer> {
        let current = self.current?;
        let base_sequence = self.next_sequence;
        debug_assert_ne!(base_sequence, NO_SEQUENCE);
        self.next_sequence = sequence_after(base_sequence, count);
        Some(Producer {
            id: current.id,
            epoch: current.epoch,
            base_sequence,
        })
    }
}
