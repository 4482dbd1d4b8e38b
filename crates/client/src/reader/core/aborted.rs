//! Which batches belong to aborted transactions.
//!
//! A broker sends them with the rest, and a list of where each aborted transaction began. It ends with the
//! producer's abort marker.

use std::collections::{HashSet, VecDeque};

use copart_protocol::messages::fetch::AbortedTransaction;
use copart_protocol::records::BatchHeader;

/// The aborted transactions of one answer.
#[derive(Debug, Default)]
pub(crate) struct Aborted {
    /// By first offset: those that have not begun yet.
    ahead: VecDeque<(i64, i64)>,
    /// The producers of those that have.
    open: HashSet<i64>,
}

impl Aborted {
    pub(crate) fn new(transactions: &[AbortedTransaction]) -> Self {
        let mut ahead: Vec<_> = transactions
            .iter()
            .map(|transaction| (transaction.first_offset, transaction.producer_id))
            .collect();
        // Brokers do not promise an order (franz-go 1.17.1 and 1.21.4).
        ahead.sort_unstable();
        Self {
            ahead: ahead.into(),
            open: HashSet::new(),
        }
    }

    /// Whether the batch, which is no control batch, was aborted. Batches come in order.
    pub(crate) fn hides(&mut self, batch: &BatchHeader) -> bool {
        self.advance(batch);
        batch.attributes.is_transactional() && self.open.contains(&batch.producer.id)
    }

    /// A producer's transaction ends with this abort marker.
    pub(crate) fn end(&mut self, marker: &BatchHeader) {
        self.advance(marker);
        self.open.remove(&marker.producer.id);
    }

    fn advance(&mut self, batch: &BatchHeader) {
        while let Some(&(first_offset, producer)) = self.ahead.front()
            && first_offset <= batch.last_offset()
        {
            self.open.insert(producer);
            self.ahead.pop_front();
        }
    }
}
