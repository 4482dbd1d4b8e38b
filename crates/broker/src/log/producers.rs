//! What the log knows about idempotent producers: enough to recognise a batch
//! that is sent again, and to refuse one that leaves a gap.

use std::collections::{BTreeMap, VecDeque};

use copart_protocol::records::{BatchHeader, Producer, TransactionMarker, sequence_after};

use super::txn_index::AbortedTransaction;
use crate::{Error, ErrorKind, Result};

/// How many batches per producer are remembered: as many as an idempotent
/// producer may have in flight.
pub(super) const REMEMBERED: usize = 5;

/// One batch of a producer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProducerBatch {
    /// The sequence of its last record.
    pub last_sequence: i32,
    /// The offset of its last record.
    pub last_offset: i64,
    /// How many records it has behind the first.
    pub offset_delta: i32,
    /// Its largest timestamp.
    pub timestamp: i64,
}

impl ProducerBatch {
    /// The sequence of its first record.
    pub fn first_sequence(&self) -> i32 {
        const PERIOD: i64 = 1 << 31;
        let first = i64::from(self.last_sequence) - i64::from(self.offset_delta);
        first.rem_euclid(PERIOD) as i32
    }

    /// The offset of its first record.
    pub fn first_offset(&self) -> i64 {
        self.last_offset - i64::from(self.offset_delta)
    }

    fn of(header: &BatchHeader) -> Self {
        Self {
            last_sequence: header.last_sequence(),
            last_offset: header.last_offset(),
            offset_delta: header.last_offset_delta,
            timestamp: header.max_timestamp,
        }
    }
}

/// One producer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProducerState {
    /// The producer's id.
    pub id: i64,
    /// Its latest epoch.
    pub epoch: i16,
    /// Its last batches in this epoch, the oldest first.
    pub batches: VecDeque<ProducerBatch>,
    /// The time of its last batch or marker.
    pub last_timestamp: i64,
    /// The epoch of the coordinator that wrote its last marker, or -1.
    pub coordinator_epoch: i32,
    /// The first offset of its open transaction.
    pub transaction_start: Option<i64>,
}

impl ProducerState {
    /// The sequence of its last record, or -1.
    pub fn last_sequence(&self) -> i32 {
        self.batches.back().map_or(-1, |batch| batch.last_sequence)
    }
}

/// What a batch is to its producer's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// The next one, or the producer's first.
    New,
    /// One that is in the log already.
    Duplicate(ProducerBatch),
}

/// All producers of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Producers {
    states: BTreeMap<i64, ProducerState>,
    /// Transactions whose markers may not be stored yet, by first offset.
    ended: BTreeMap<i64, Ended>,
}

/// A transaction that a marker has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) producer_id: i64,
    pub(super) first_offset: i64,
    /// Of the marker.
    pub(super) last_offset: i64,
    pub(super) commit: bool,
}

impl Producers {
    /// Judges a produced batch by its header.
    pub(super) fn judge(&self, header: &BatchHeader) -> Result<Standing> {
        let Producer {
            id,
            epoch,
            base_sequence,
        } = header.producer;
        // Without a state any sequence will do: it may have expired, or its
        // records may have been deleted.
        let Some(state) = self.states.get(&id).filter(|_| id >= 0) else {
            return Ok(Standing::New);
        };
        if epoch < state.epoch {
            return Err(Error::new(
                ErrorKind::InvalidProducerEpoch,
                format!(
                    "producer {id} has epoch {epoch}, and epoch {} was seen",
                    state.epoch
                ),
            ));
        }
        if epoch > state.epoch {
            if base_sequence != 0 && state.epoch >= 0 {
                return Err(out_of_order(
                    id,
                    base_sequence,
                    format_args!("a new epoch ({epoch}) begins with 0"),
                ));
            }
            return Ok(Standing::New);
        }
        let last_sequence = header.last_sequence();
        let duplicate = state.batches.iter().find(|batch| {
            batch.first_sequence() == base_sequence && batch.last_sequence == last_sequence
        });
        if let Some(batch) = duplicate {
            return Ok(Standing::Duplicate(*batch));
        }
        let expected = match state.last_sequence() {
            -1 => 0,
            last => sequence_after(last, 1),
        };
        if base_sequence != expected {
            return Err(out_of_order(
                id,
                base_sequence,
                format_args!("{expected} comes next"),
            ));
        }
        Ok(Standing::New)
    }

    /// Is a transaction marker from a coordinator that was replaced?
    pub(super) fn check_marker(&self, id: i64, epoch: i16, coordinator_epoch: i32) -> Result<()> {
        let Some(state) = self.states.get(&id) else {
            return Ok(());
        };
        if epoch < state.epoch {
            return Err(Error::new(
                ErrorKind::InvalidProducerEpoch,
                format!(
                    "a marker of producer {id} has epoch {epoch}, and epoch {} was seen",
                    state.epoch
                ),
            ));
        }
        if coordinator_epoch < state.coordinator_epoch {
            return Err(Error::new(
                ErrorKind::CoordinatorFenced,
                format!(
                    "a marker of producer {id} has coordinator epoch {coordinator_epoch}, \
                     and {} was seen",
                    state.coordinator_epoch
                ),
            ));
        }
        Ok(())
    }

    /// Takes note of a batch in the log, with its marker if it is one. Returns
    /// the transaction that ends with it.
    pub(super) fn appended(
        &mut self,
        header: &BatchHeader,
        marker: Option<TransactionMarker>,
    ) -> Option<Ended> {
        let Producer {
            id,
            epoch,
            base_sequence,
        } = header.producer;
        if id < 0 {
            return None;
        }
        let state = self.states.entry(id).or_insert_with(|| ProducerState {
            id,
            epoch,
            batches: VecDeque::new(),
            last_timestamp: header.max_timestamp,
            coordinator_epoch: -1,
            transaction_start: None,
        });
        if state.epoch != epoch {
            state.epoch = epoch;
            state.batches.clear();
        }
        state.last_timestamp = header.max_timestamp;
        if let Some(marker) = marker {
            state.coordinator_epoch = marker.coordinator_epoch;
            let ended = Ended {
                producer_id: id,
                first_offset: state.transaction_start.take()?,
                last_offset: header.last_offset(),
                commit: marker.commit,
            };
            self.ended.insert(ended.first_offset, ended);
            return Some(ended);
        }
        if header.attributes.is_control() {
            return None;
        }
        if base_sequence >= 0 {
            if state.batches.len() == REMEMBERED {
                state.batches.pop_front();
            }
            state.batches.push_back(ProducerBatch::of(header));
        }
        if header.attributes.is_transactional() && state.transaction_start.is_none() {
            state.transaction_start = Some(header.base_offset);
        }
        None
    }

    /// Takes note of an older batch, found behind a snapshot that holds only
    /// each producer's last one. Call it from the newest to the oldest.
    pub(super) fn found_older(&mut self, header: &BatchHeader) {
        let Producer {
            id,
            epoch,
            base_sequence,
        } = header.producer;
        let same_epoch = self
            .states
            .get(&id)
            .is_some_and(|state| state.epoch == epoch);
        if same_epoch && base_sequence >= 0 && !header.attributes.is_control() {
            self.found_older_batch(id, ProducerBatch::of(header));
        }
    }

    /// The same, for a batch that is known to be of the producer's epoch.
    pub(super) fn found_older_batch(&mut self, id: i64, batch: ProducerBatch) {
        let Some(state) = self.states.get_mut(&id) else {
            return;
        };
        let follows = |first: &ProducerBatch| {
            sequence_after(batch.last_sequence, 1) == first.first_sequence()
                && batch.last_offset < first.first_offset()
        };
        if state.batches.len() < REMEMBERED && state.batches.front().is_some_and(follows) {
            state.batches.push_front(batch);
        }
    }

    /// Forgets producers that were silent for too long. Those with an open
    /// transaction stay.
    pub(super) fn expire(&mut self, now_ms: i64, after_ms: i64) {
        self.states.retain(|_, state| {
            state.transaction_start.is_some()
                || now_ms.saturating_sub(state.last_timestamp) < after_ms
        });
    }

    /// The first offset of the oldest open transaction.
    pub(super) fn first_open_transaction(&self) -> Option<i64> {
        let states = self.states.values();
        states.filter_map(|state| state.transaction_start).min()
    }

    /// The first offset of the oldest transaction that is open, or whose marker
    /// is not before `stored`: a crash could still take that away.
    pub(super) fn first_undecided(&self, stored: i64) -> Option<i64> {
        let mut ended = self.ended.values();
        let ended = ended.find(|ended| ended.last_offset >= stored);
        let open = self.first_open_transaction();
        let first = ended.map(|ended| ended.first_offset);
        open.into_iter().chain(first).min()
    }

    /// Forgets ended transactions whose markers are stored.
    pub(super) fn stored(&mut self, stored: i64) {
        if !self.ended.is_empty() {
            self.ended.retain(|_, ended| ended.last_offset >= stored);
        }
    }

    /// What the index says of a transaction that was aborted just now.
    pub(super) fn aborted(&self, ended: Ended) -> AbortedTransaction {
        AbortedTransaction {
            producer_id: ended.producer_id,
            first_offset: ended.first_offset,
            last_offset: ended.last_offset,
            // The next one that is open, or all up to here.
            last_stable_offset: self
                .first_open_transaction()
                .unwrap_or(ended.last_offset + 1),
        }
    }

    /// Where a producer's last batch ends, if it is known.
    pub(super) fn last_offset(&self, id: i64) -> Option<i64> {
        Some(self.states.get(&id)?.batches.back()?.last_offset)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &ProducerState> {
        self.states.values()
    }

    pub(super) fn insert(&mut self, state: ProducerState) {
        self.states.insert(state.id, state);
    }

    pub(super) fn len(&self) -> usize {
        self.states.len()
    }
}

#[cold]
fn out_of_order(id: i64, sequence: i32, expected: std::fmt::Arguments<'_>) -> Error {
    Error::new(
        ErrorKind::OutOfOrderSequence,
        format!("producer {id} sends sequence {sequence}, but {expected}"),
    )
}
