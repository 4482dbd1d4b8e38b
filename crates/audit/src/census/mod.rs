//! Counts records and distinct keys by where clients place them, for commands that weigh keys.
//!
//! Every record is counted, so sums over records are exact. Distinct keys are counted exactly up to
//! a bound, and beyond it in a uniform sample of the keys ([`sample`]). The keys of most records
//! are found by a summary of bounded size ([`heavy`]). All three give the same result for any
//! number of threads.

mod block;
pub(crate) mod heavy;
pub mod report;
pub(crate) mod sample;

use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, Ordering};

use copart_partitioners::PartitionCount;

use crate::Error;
use crate::clients::Client;
use crate::input::Source;
use crate::pipeline::{self, Ended, Run};
use crate::plan::{Plan, code};
use block::{BlockCensus, CellSums, Scratch};
use heavy::Heavy;
use sample::Sample;

/// How many distinct keys are counted exactly unless something else is asked for. A million take
/// about 80 MiB while the table grows.
pub const EXACT_KEYS: usize = 1_000_000;

/// The most distinct keys that can be asked to be counted exactly.
pub const MAX_EXACT_KEYS: usize = 100_000_000;

/// Bytes of a key that are kept.
pub(crate) const KEPT_BYTES: usize = 1 << 10;

/// How many example keys are kept.
pub(crate) const KEPT: usize = 100;

/// A client at a partition count: one way to place a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    /// Index of the client.
    pub(crate) client: usize,
    pub(crate) count: PartitionCount,
}

/// What a command counts: a key, placed in every column, belongs to some of its cells.
pub(crate) trait Cells: Sync {
    /// How many cells there are.
    fn len(&self) -> usize;

    /// Calls `add` with each cell of a key. `placed` has a [code](crate::plan::code) for each
    /// column.
    fn of(&self, placed: &[u32], add: impl FnMut(usize));

    /// Whether the first such keys of the input are wanted.
    fn is_example(&self, placed: &[u32]) -> bool;
}

/// What to count.
pub(crate) struct Census<'c, C> {
    clients: &'c [Client],
    columns: &'c [Column],
    cells: &'c C,
    plan: Plan,
    /// Distinct keys that are counted exactly.
    exact: usize,
}

/// Records of one kind of keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds {
    pub(crate) keyed: u64,
    pub(crate) empty: u64,
    pub(crate) null: u64,
}

impl Kinds {
    pub(crate) fn total(self) -> u64 {
        self.keyed
            .saturating_add(self.empty)
            .saturating_add(self.null)
    }

    fn add(&mut self, other: Self) {
        for (own, other) in [
            (&mut self.keyed, other.keyed),
            (&mut self.empty, other.empty),
            (&mut self.null, other.null),
        ] {
            *own = own.saturating_add(other);
        }
    }
}

/// A key that was kept as an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Example {
    /// The position of its first record in the input, from 1.
    pub(crate) record: u64,
    /// All of it, or its beginning.
    pub(crate) key: Vec<u8>,
    pub(crate) len: usize,
    /// Its code in each column.
    pub(crate) placed: Vec<u32>,
}

/// What was counted.
pub(crate) struct Counted {
    /// Rows of the input.
    pub(crate) rows: Kinds,
    /// The records that they stand for.
    pub(crate) records: Kinds,
    /// Records in each cell, those of empty and null keys included.
    pub(crate) cells: Vec<u64>,
    /// The distinct keys with bytes.
    pub(crate) sample: Sample,
    pub(crate) heavy: Heavy,
    pub(crate) examples: Vec<Example>,
    /// Where the empty and the null key go, by column.
    pub(crate) empty_placed: Vec<u32>,
    pub(crate) null_placed: Vec<u32>,
    pub(crate) carriage_returns: u64,
    pub(crate) ended: Ended,
}

impl Counted {
    /// The distinct keys in each cell: of the sample, the empty key not included.
    pub(crate) fn sampled_keys(&self, cells: &impl Cells) -> Vec<u64> {
        let mut keys = vec![0; cells.len()];
        for placed in self.sample.placed() {
            cells.of(placed, |cell| keys[cell] += 1);
        }
        keys
    }

    /// The distinct keys in each cell, estimated from the sample unless it is all of them; the
    /// empty key is one.
    pub(crate) fn keys(&self, cells: &impl Cells) -> Vec<u64> {
        let mut keys = self.sampled_keys(cells);
        for keys in &mut keys {
            *keys = self.sample.scaled(*keys);
        }
        if self.rows.empty > 0 {
            cells.of(&self.empty_placed, |cell| keys[cell] += 1);
        }
        keys
    }

    /// All distinct keys, the empty one included.
    pub(crate) fn distinct(&self) -> u64 {
        self.sample.distinct() + u64::from(self.rows.empty > 0)
    }
}

impl<'c, C: Cells> Census<'c, C> {
    pub(crate) fn new(
        clients: &'c [Client],
        columns: &'c [Column],
        cells: &'c C,
        exact: usize,
    ) -> Self {
        Self {
            clients,
            columns,
            cells,
            plan: Plan::new(clients),
            exact,
        }
    }

    /// Reads all keys.
    ///
    /// # Errors
    ///
    /// When a record can't be read.
    pub(crate) fn take(&self, source: &Source, run: &Run<'_>) -> Result<Counted, Error> {
        let mut counted = Counted {
            rows: Kinds::default(),
            records: Kinds::default(),
            cells: vec![0; self.cells.len()],
            sample: Sample::new(self.columns.len(), self.exact),
            heavy: Heavy::default(),
            examples: Vec::new(),
            empty_placed: self.keyless(Some(&[])),
            null_placed: self.keyless(None),
            carriage_returns: 0,
            ended: Ended::Complete,
        };
        let mut known = HashSet::new();
        // What a worker reads here may be old: then it hands over more than is wanted.
        let level = AtomicU32::new(0);
        counted.ended = pipeline::run(
            source,
            run,
            |scratch: &mut Scratch, block| {
                self.block(scratch, block, level.load(Ordering::Relaxed))
            },
            |block, merged| {
                counted.carriage_returns += merged.carriage_returns;
                counted.add(block, merged.keys_before, &mut known);
                level.store(counted.sample.level(), Ordering::Relaxed);
                Ok(())
            },
        )?;
        for (records, placed) in [
            (counted.records.empty, &counted.empty_placed),
            (counted.records.null, &counted.null_placed),
        ] {
            if records > 0 {
                self.cells.of(placed, |cell| {
                    counted.cells[cell] = counted.cells[cell].saturating_add(records);
                });
            }
        }
        Ok(counted)
    }

    fn keyless(&self, key: Option<&[u8]>) -> Vec<u32> {
        let columns = self.columns.iter();
        columns
            .map(|column| {
                let profile = self.clients[column.client].profile();
                code(profile.place(key, column.count))
            })
            .collect()
    }
}

impl Counted {
    fn add(&mut self, block: BlockCensus, rows_before: u64, known: &mut HashSet<u64>) {
        self.rows.add(block.rows);
        self.records.add(block.records);
        match block.cells {
            CellSums::Dense(sums) => {
                for (own, sum) in self.cells.iter_mut().zip(sums) {
                    *own = own.saturating_add(sum);
                }
            }
            CellSums::Sparse(sums) => {
                for (cell, sum) in sums {
                    let own = &mut self.cells[cell as usize];
                    *own = own.saturating_add(sum);
                }
            }
        }
        self.sample.add(&block.sampled);
        self.heavy.merge(block.heavy);
        for (hash, mut example) in block.examples {
            if self.examples.len() < KEPT && known.insert(hash) {
                example.record += rows_before;
                self.examples.push(example);
            }
        }
    }
}

#[cfg(test)]
mod tests;
