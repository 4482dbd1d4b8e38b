//! What moves when a topic's partition count or a producer's algorithm changes.

mod expect;
mod report;

use copart_partitioners::PartitionCount;
use data_encoding::HEXLOWER;

pub use expect::{expected, share_for_counts};
pub use report::*;

use crate::census::report::{Distinct, Heavy, Place, Verdict, input, warnings};
use crate::census::{Cells, Census, Column, Counted};
use crate::input::Source;
use crate::pipeline::{Ended, Run};
use crate::plan::REJECTED;
use crate::verify::{UnpinnedPolicy, summary};
use crate::{Client, Error};

/// The most pairs of partitions, before and after, that are told apart: 1,000 to 2,000, say.
pub const MAX_PAIRS: u64 = 1 << 21;

/// A client at a partition count, as in `java:8`.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Who places keys.
    pub client: Client,
    /// On how many partitions.
    pub count: PartitionCount,
}

impl Endpoint {
    /// Whether the text says a partition count, so that none has to be known from elsewhere.
    #[must_use]
    pub fn has_count(text: &str) -> bool {
        text.contains(':') || text.trim().parse::<u32>().is_ok()
    }

    /// Reads `CLIENT:COUNT`; where `client` is given, `COUNT` alone is that client at another
    /// count.
    ///
    /// # Errors
    ///
    /// When it has another form, or no such client is known.
    pub fn parse(text: &str, client: Option<&Client>) -> Result<Self, Error> {
        let (name, count) = match text.rsplit_once(':') {
            Some((name, count)) => (Some(name), count),
            None if client.is_some() => (None, text),
            None => {
                return Err(Error::usage(format!(
                    "`{text}` names no partition count; write it as {text}:12"
                )));
            }
        };
        let count = count
            .trim()
            .parse()
            .ok()
            .and_then(PartitionCount::new)
            .ok_or_else(|| {
                Error::usage(format!(
                    "`{count}` in `{text}` is no partition count: a topic has 1 to {} partitions",
                    i32::MAX
                ))
            })?;
        let client = match (name.filter(|name| !name.is_empty()), client) {
            (None, Some(client)) => client.clone(),
            (name, _) => Client::parse(name.unwrap_or_default())?,
        };
        Ok(Self { client, count })
    }
}

/// What to find out.
#[derive(Clone, Debug)]
pub struct MovementOptions {
    /// Before.
    pub from: Endpoint,
    /// After.
    pub to: Endpoint,
    /// What keys count as that neither side pins.
    pub unpinned: UnpinnedPolicy,
    /// So many percent of the distinct keys may move.
    pub max_moved: Option<f64>,
    /// How many moved keys and heavy keys to show; at most 100.
    pub show: usize,
    /// How many distinct keys to count exactly; beyond them, a sample is taken.
    pub exact_keys: usize,
}

/// Reads all keys and compares where they are before and after.
///
/// # Errors
///
/// When there are too many pairs of partitions, or a record of the input can't be read.
pub fn movement(
    source: &Source,
    options: &MovementOptions,
    run: &Run<'_>,
) -> Result<MovementReport, Error> {
    let (from, to) = (&options.from, &options.to);
    let pairs = u64::from(from.count.get()) * u64::from(to.count.get());
    if pairs > MAX_PAIRS {
        return Err(Error::usage(format!(
            "{} partitions before and {} after are {pairs} pairs, more than the {MAX_PAIRS} that are told apart",
            from.count, to.count
        )));
    }
    let clients = [from.client.clone(), to.client.clone()];
    let column = |client, count| Column { client, count };
    let mut columns = vec![column(0, from.count), column(1, to.count)];
    let both = from.count != to.count && from.client.profile() != to.client.profile();
    if both {
        columns.extend([column(1, from.count), column(0, to.count)]);
    }
    let cells = Pairs {
        from: from.count.get(),
        to: to.count.get(),
        both,
    };
    let census = Census::new(&clients, &columns, &cells, options.exact_keys);
    let counted = census.take(source, run)?;
    let keys = counted.keys(&cells);
    let builder = Builder {
        options,
        cells,
        counted: &counted,
        keys,
    };
    Ok(builder.report(source, &clients))
}

/// A cell for each place before and each after, and one each for what the algorithm and what the
/// count alone would move.
#[derive(Clone, Copy)]
struct Pairs {
    from: u32,
    to: u32,
    both: bool,
}

impl Pairs {
    /// The places of one side: its partitions, unpinned, rejected.
    const fn places(partitions: u32) -> usize {
        partitions as usize + 2
    }

    /// The position of a code among the places of its side.
    fn position(partitions: u32, code: u32) -> usize {
        match code {
            REJECTED => partitions as usize + 1,
            // Unpinned is the largest code.
            code => code.min(partitions) as usize,
        }
    }

    fn place(partitions: u32, position: usize) -> Place {
        match position - position.min(partitions as usize) {
            0 if position < partitions as usize => Place::Partition(position as u32),
            0 => Place::Unpinned,
            _ => Place::Rejected,
        }
    }

    /// How many cells are pairs of places.
    fn pairs(self) -> usize {
        Self::places(self.from) * Self::places(self.to)
    }

    /// The places of a cell.
    fn of_cell(self, cell: usize) -> (Place, Place) {
        let width = Self::places(self.to);
        (
            Self::place(self.from, cell / width),
            Self::place(self.to, cell % width),
        )
    }
}

impl Cells for Pairs {
    fn len(&self) -> usize {
        self.pairs() + 2
    }

    fn of(&self, placed: &[u32], mut add: impl FnMut(usize)) {
        let row = Self::position(self.from, placed[0]);
        add(row * Self::places(self.to) + Self::position(self.to, placed[1]));
        if self.both {
            if placed[0] != placed[2] {
                add(self.pairs());
            }
            if placed[0] != placed[3] {
                add(self.pairs() + 1);
            }
        }
    }

    fn is_example(&self, placed: &[u32]) -> bool {
        placed[0] != placed[1]
    }
}

struct Builder<'b> {
    options: &'b MovementOptions,
    cells: Pairs,
    counted: &'b Counted,
    /// Distinct keys in each cell.
    keys: Vec<u64>,
}

impl Builder<'_> {
    fn report(&self, source: &Source, clients: &[Client]) -> MovementReport {
        let Self {
            options, counted, ..
        } = self;
        let MovementOptions { from, to, .. } = options;
        let flows = self.flows();
        let moved_keys = self.moved(&flows, |flow| flow.keys);
        let moved_records = self.moved(&flows, |flow| flow.records);
        let side = |end: &Endpoint| Side {
            client: summary(&end.client),
            partitions: end.count.get(),
        };
        let mut warnings = warnings(counted, clients);
        if to.count < from.count {
            warnings.push(
                "Kafka never lowers a topic's partition count: fewer partitions need a new topic"
                    .into(),
            );
        }
        MovementReport {
            schema: MovementReport::SCHEMA,
            verdict: self.verdict(&moved_keys, &moved_records),
            partial: counted.ended == Ended::Interrupted,
            unpinned_policy: options.unpinned,
            max_moved: options.max_moved,
            input: input(source, counted),
            records: counted.records.into(),
            distinct: Distinct::of(counted),
            from: side(from),
            to: side(to),
            moved_keys,
            moved_records,
            expected: expected(
                from.client.profile(),
                from.count,
                to.client.profile(),
                to.count,
            ),
            alone: self.alone(),
            keyless: self.keyless(),
            leaving: through(self.cells.from, &flows, |flow| flow.from),
            arriving: through(self.cells.to, &flows, |flow| flow.to),
            flows,
            heavy: Heavy::of(counted, options.show, 2),
            examples: self.examples(),
            warnings,
        }
    }

    fn flows(&self) -> Vec<Flow> {
        let cells = self.counted.cells.iter().zip(&self.keys);
        cells
            .take(self.cells.pairs())
            .enumerate()
            .filter(|&(_, (&records, &keys))| records + keys > 0)
            .map(|(cell, (&records, &keys))| {
                let (from, to) = self.cells.of_cell(cell);
                Flow {
                    from,
                    to,
                    keys,
                    records,
                }
            })
            .collect()
    }

    fn moved(&self, flows: &[Flow], amount: impl Fn(&Flow) -> u64) -> Moved {
        let (mut stay, mut moved, mut unpinned) = (0u64, 0u64, 0u64);
        for flow in flows {
            let into = match (flow.from, flow.to) {
                (from, to) if from != to => &mut moved,
                (Place::Partition(_), _) => &mut stay,
                _ => &mut unpinned,
            };
            *into = into.saturating_add(amount(flow));
        }
        match self.options.unpinned {
            UnpinnedPolicy::Report => Moved::new(stay, moved, unpinned),
            UnpinnedPolicy::Fail => Moved::new(stay, moved.saturating_add(unpinned), 0),
            UnpinnedPolicy::Skip => Moved::new(stay, moved, 0),
        }
    }

    fn verdict(&self, keys: &Moved, records: &Moved) -> Verdict {
        // Null keys are records without a key: what they do is seen in the records alone.
        let Some(share) = keys.share.or(records.share) else {
            return Verdict::Inconclusive;
        };
        Verdict::within(100.0 * share, self.options.max_moved)
    }

    fn alone(&self) -> Option<Alone> {
        let at = self.cells.pairs();
        let records = &self.counted.cells;
        self.cells.both.then(|| Alone {
            algorithm_keys: self.keys[at],
            algorithm_records: records[at],
            count_keys: self.keys[at + 1],
            count_records: records[at + 1],
        })
    }

    fn keyless(&self) -> Vec<Keyless> {
        let Counted {
            rows,
            records,
            empty_placed,
            null_placed,
            ..
        } = self.counted;
        let kinds = [
            (KeylessKind::Empty, rows.empty, records.empty, empty_placed),
            (KeylessKind::Null, rows.null, records.null, null_placed),
        ];
        kinds
            .into_iter()
            .filter(|&(_, rows, ..)| rows > 0)
            .map(|(kind, _, records, placed)| Keyless {
                kind,
                records,
                from: Place::of(placed[0]),
                to: Place::of(placed[1]),
            })
            .collect()
    }

    fn examples(&self) -> Vec<MovedKey> {
        let examples = self.counted.examples.iter();
        examples
            .take(self.options.show)
            .map(|example| MovedKey {
                record: example.record,
                key_hex: HEXLOWER.encode(&example.key),
                truncated: example.len > example.key.len(),
                from: Place::of(example.placed[0]),
                to: Place::of(example.placed[1]),
            })
            .collect()
    }
}

/// What each partition of one side has, and what of it moves.
fn through(partitions: u32, flows: &[Flow], side: impl Fn(&Flow) -> Place) -> Vec<Through> {
    let mut all: Vec<_> = (0..partitions)
        .map(|partition| Through {
            partition,
            keys: 0,
            moved_keys: 0,
            records: 0,
            moved_records: 0,
        })
        .collect();
    for flow in flows {
        let Place::Partition(partition) = side(flow) else {
            continue;
        };
        let through = &mut all[partition as usize];
        through.keys += flow.keys;
        through.records = through.records.saturating_add(flow.records);
        if flow.from != flow.to {
            through.moved_keys += flow.keys;
            through.moved_records = through.moved_records.saturating_add(flow.records);
        }
    }
    all
}

#[cfg(test)]
mod tests;
