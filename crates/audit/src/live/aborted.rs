//! Which batches of a fetch belong to aborted transactions.
//!
//! A broker sends them with the rest, and a list of where each aborted transaction began. It ends
//! with the producer's abort marker.

use std::collections::{HashSet, VecDeque};

use copart::protocol::messages::fetch::AbortedTransaction;
use copart::protocol::records::BatchHeader;

/// The aborted transactions of one fetch.
#[derive(Debug, Default)]
pub(super) struct Aborted {
    /// By first offset: those that have not begun yet.
    ahead: VecDeque<AbortedTransaction>,
    /// The producers of those that have.
    open: HashSet<i64>,
}

impl Aborted {
    pub(super) fn new(transactions: Option<&[AbortedTransaction]>) -> Self {
        let mut ahead = transactions.unwrap_or_default().to_vec();
        ahead.sort_by_key(|transaction| transaction.first_offset);
        Self {
            ahead: ahead.into(),
            open: HashSet::new(),
        }
    }

    /// Whether the batch, which is no control batch, was aborted. Batches come in order.
    pub(super) fn hides(&mut self, batch: &BatchHeader) -> bool {
        self.advance(batch);
        batch.attributes.is_transactional() && self.open.contains(&batch.producer.id)
    }

    /// A producer's transaction ends with this abort marker.
    pub(super) fn end(&mut self, marker: &BatchHeader) {
        self.advance(marker);
        self.open.remove(&marker.producer.id);
    }

    fn advance(&mut self, batch: &BatchHeader) {
        while let Some(next) = self.ahead.front()
            && next.first_offset <= batch.last_offset()
        {
            self.open.insert(next.producer_id);
            self.ahead.pop_front();
        }
    }
}
