//! One block of the input: each of its keys once, with the records it stands for.

use xxhash_rust::xxh3::xxh3_64;

use super::heavy::Summary;
use super::sample::Sampled;
use super::{Cells, Census, Example, KEPT, KEPT_BYTES, Kinds};
use crate::input::KeyBlock;

/// Keys that are hashed and placed at a time: their hashes and placements stay in L1 and L2.
const BATCH: usize = 512;

/// Up to so many cells, a block has a sum for each; with more, a list of what it adds.
const DENSE: usize = 1 << 14;

/// What was counted in one block.
pub(super) struct BlockCensus {
    pub(super) rows: Kinds,
    pub(super) records: Kinds,
    pub(super) cells: CellSums,
    pub(super) sampled: Sampled,
    pub(super) heavy: Summary,
    /// The first examples, with their hashes; records count from the block's first, as 1.
    pub(super) examples: Vec<(u64, Example)>,
}

/// Records by cell.
pub(super) enum CellSums {
    Dense(Vec<u64>),
    Sparse(Vec<(u32, u64)>),
}

impl CellSums {
    fn add(&mut self, cell: usize, records: u64) {
        match self {
            Self::Dense(sums) => sums[cell] = sums[cell].saturating_add(records),
            Self::Sparse(sums) => sums.push((cell as u32, records)),
        }
    }
}

/// Buffers of one thread.
#[derive(Default)]
pub(super) struct Scratch {
    hashes: Vec<Vec<u32>>,
    by_column: Vec<Vec<u32>>,
    slots: Vec<u32>,
}

/// A key of the block.
struct Entry<'b> {
    hash: u64,
    key: &'b [u8],
    records: u64,
    /// Its first position in the block, from 0.
    row: u32,
}

impl<C: Cells> Census<'_, C> {
    /// Counts one block; distinct keys are wanted whose hash is in the sample at this level.
    pub(super) fn block(&self, scratch: &mut Scratch, block: &KeyBlock, level: u32) -> BlockCensus {
        let cells = self.cells.len();
        let mut census = BlockCensus {
            rows: Kinds::default(),
            records: Kinds::default(),
            cells: if cells <= DENSE {
                CellSums::Dense(vec![0; cells])
            } else {
                CellSums::Sparse(Vec::new())
            },
            sampled: Sampled::default(),
            heavy: Summary::default(),
            examples: Vec::new(),
        };
        let entries = entries(block, &mut scratch.slots, &mut census);
        let stride = self.columns.len();
        let mut placed = vec![0; entries.len() * stride];
        for (batch, placed) in entries.chunks(BATCH).zip(placed.chunks_mut(BATCH * stride)) {
            self.place(scratch, batch, placed);
            for (entry, placed) in batch.iter().zip(placed.chunks_exact(stride)) {
                self.cells
                    .of(placed, |cell| census.cells.add(cell, entry.records));
                if entry.hash.leading_zeros() >= level {
                    census.sampled.push(entry.hash, entry.records, placed);
                }
                if census.examples.len() < KEPT && self.cells.is_example(placed) {
                    census.examples.push((entry.hash, entry.example(placed)));
                }
            }
        }
        let placed = |at: usize| &placed[at * stride..][..stride];
        census.heavy = Summary::of(entries.iter().map(|entry| entry.records), |at| {
            (entries[at].hash, entries[at].key, placed(at))
        });
        census
    }

    /// Places a batch: for each key, its code in each column.
    fn place(&self, scratch: &mut Scratch, batch: &[Entry<'_>], placed: &mut [u32]) {
        let keys: Vec<&[u8]> = batch.iter().map(|entry| entry.key).collect();
        self.plan.hash(&keys, &mut scratch.hashes);
        let stride = self.columns.len();
        scratch.by_column.resize_with(stride, Vec::new);
        for (at, (column, codes)) in self.columns.iter().zip(&mut scratch.by_column).enumerate() {
            let rule = self.plan.rules[self.plan.rule_of[column.client]];
            self.plan
                .place(rule, &keys, &scratch.hashes, column.count, codes);
            for (row, &code) in placed.chunks_exact_mut(stride).zip(&*codes) {
                row[at] = code;
            }
        }
    }
}

impl Entry<'_> {
    fn example(&self, placed: &[u32]) -> Example {
        Example {
            record: u64::from(self.row) + 1,
            key: self.key[..self.key.len().min(KEPT_BYTES)].to_vec(),
            len: self.key.len(),
            placed: placed.to_vec(),
        }
    }
}

/// The block's keys that have bytes, each once, in the order of their first records.
///
/// Keys are told apart by their bytes, so a collision of hashes mixes up no records.
fn entries<'b>(
    block: &'b KeyBlock,
    slots: &mut Vec<u32>,
    census: &mut BlockCensus,
) -> Vec<Entry<'b>> {
    const FREE: u32 = u32::MAX;
    let mut entries: Vec<Entry<'b>> = Vec::with_capacity(block.len());
    let size = (2 * block.len()).next_power_of_two();
    slots.clear();
    slots.resize(size, FREE);
    for (row, key) in block.keys().enumerate() {
        let records = block.weight(row);
        let key = match key {
            None => {
                census.rows.null += 1;
                census.records.null += records;
                continue;
            }
            Some([]) => {
                census.rows.empty += 1;
                census.records.empty += records;
                continue;
            }
            Some(key) => key,
        };
        census.rows.keyed += 1;
        census.records.keyed += records;
        let hash = xxh3_64(key);
        let mut slot = hash as usize & (size - 1);
        loop {
            let found = slots[slot];
            if found == FREE {
                slots[slot] = entries.len() as u32;
                entries.push(Entry {
                    hash,
                    key,
                    records,
                    row: row as u32,
                });
                break;
            }
            let entry = &mut entries[found as usize];
            if entry.hash == hash && entry.key == key {
                entry.records += records;
                break;
            }
            slot = (slot + 1) & (size - 1);
        }
    }
    entries
}
