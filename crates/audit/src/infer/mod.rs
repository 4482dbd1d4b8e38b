//! Which client's partitioner wrote these records?

mod assemble;
mod expect;
mod framing;
mod hints;
mod mixture;
mod report;
mod rules;
pub(crate) mod sample;
mod score;
mod spread;
mod stats;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod timeline;
pub(crate) mod view;

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use copart_partitioners::PartitionCount;

pub use crate::frame::{FrameForm, RegistryId};
pub use framing::{FramedExample, FramedPlace, Framing, SchemaId};
pub use report::*;
pub use spread::{Spread, SpreadKind};
pub use timeline::{Order, PartitionOrder, Point, Segment, Timeline};

use crate::Error;
use crate::clients::Client;
use crate::input::records::{Dump, RecordSource};
use crate::pipeline::Run;
use crate::text::number;
use sample::{Limits, Sample};

/// What to infer.
#[derive(Clone, Debug, Default)]
pub struct InferOptions {
    /// The topic's partition count; without it, that of the source, or one that fits the records.
    pub partitions: Option<PartitionCount>,
    /// The profile that is expected to have written all of it.
    pub expect: Option<Client>,
    /// How many keys to list where some are listed; at most 1,000 are.
    pub show: usize,
}

/// The most partitions a count is guessed up to, and the most stale counts that are tried.
const MOST_COUNTS: u32 = 2048;

/// Records between two looks at whether to stop.
const LOOK_EVERY: u64 = 1 << 12;

/// What a source gave, for an inference over it.
pub(crate) struct Observed {
    pub(crate) sample: Sample,
    pub(crate) name: String,
    pub(crate) path: Option<PathBuf>,
    pub(crate) records_are_lines: bool,
    pub(crate) empty_may_be_null: bool,
    pub(crate) warnings: Vec<String>,
    pub(crate) partial: bool,
    pub(crate) count: Option<PartitionCount>,
}

impl Observed {
    /// Reads a source to its end, or until interrupted.
    ///
    /// # Errors
    ///
    /// As those of the source, and when a record is on a partition that the topic does not have.
    pub(crate) fn read(
        source: &mut dyn RecordSource,
        partitions: Option<PartitionCount>,
        run: &Run<'_>,
    ) -> Result<Self, Error> {
        let count = partitions.or(source.partition_count());
        let name = source.name().to_owned();
        let mut sample = Sample::new(Limits::default());
        let partial = loop {
            if sample.records.is_multiple_of(LOOK_EVERY) && run.interrupted.load(Ordering::Relaxed)
            {
                break true;
            }
            let Some(record) = source.next_record()? else {
                // Ctrl-C ends what writes to the pipe as well: that end is none of the topic's.
                break run.interrupted.load(Ordering::Relaxed);
            };
            if let Some(count) = count
                && record.partition >= count.get()
            {
                return Err(Error::input(format!(
                    "{name}:{}: the record is on partition {}, which a topic of {count} partitions does not have; is -p right?",
                    record.at, record.partition
                )));
            }
            sample.add(&record);
        };
        Ok(Self {
            sample,
            name,
            path: None,
            records_are_lines: false,
            empty_may_be_null: source.empty_may_be_null(),
            warnings: source.warnings(),
            partial,
            count,
        })
    }

    /// Reads a dump.
    ///
    /// # Errors
    ///
    /// As [`Observed::read`].
    pub(crate) fn read_dump(
        dump: &mut Dump,
        partitions: Option<PartitionCount>,
        run: &Run<'_>,
    ) -> Result<Self, Error> {
        let mut observed = Self::read(dump, partitions, run)?;
        observed.path = dump.path().map(Into::into);
        observed.records_are_lines = dump.records_are_lines();
        Ok(observed)
    }

    /// The topic's count as far as it is known, and the other counts that a rule may divide by.
    fn counts(&self) -> (PartitionCount, CountSource, Vec<PartitionCount>) {
        let highest = self.sample.max_partition.unwrap_or(0);
        let (n, source, up_to) = match self.count {
            Some(count) => (count.get(), CountSource::Given, count.get() - 1),
            // The highest partitions may have no records yet.
            None => {
                let n = highest.saturating_add(1);
                (
                    n,
                    CountSource::HighestPartition,
                    n.saturating_mul(2).min(n.max(MOST_COUNTS)),
                )
            }
        };
        // A partition index is below i32::MAX, so that there is a count for the highest.
        let count = PartitionCount::new(n).unwrap_or(PartitionCount::ONE);
        // All small counts, and those next to the topic's own: what it may have had before.
        let (small, large) = (MOST_COUNTS / 2, up_to.saturating_sub(MOST_COUNTS / 2));
        let others = (2..=up_to)
            .filter(|&other| other != n && (other <= small || other > large))
            .filter_map(PartitionCount::new)
            .collect();
        (count, source, others)
    }
}

/// Reads a dump and says which rule, or rules, placed its records.
///
/// # Errors
///
/// When the input can't be read, or a record is on a partition that the topic does not have.
pub fn infer(dump: &mut Dump, options: &InferOptions, run: &Run<'_>) -> Result<InferReport, Error> {
    let observed = Observed::read_dump(dump, options.partitions, run)?;
    Ok(conclude(&observed, options, run.threads))
}

/// The same for any source of records.
///
/// # Errors
///
/// As [`infer()`].
pub fn infer_from(
    source: &mut dyn RecordSource,
    options: &InferOptions,
    run: &Run<'_>,
) -> Result<InferReport, Error> {
    let observed = Observed::read(source, options.partitions, run)?;
    Ok(conclude(&observed, options, run.threads))
}

/// What follows from what was read.
pub(crate) fn conclude(observed: &Observed, options: &InferOptions, threads: usize) -> InferReport {
    let (count, count_source, others) = observed.counts();
    let rules = rules::rules(options.expect.as_ref());
    let scorer = score::Scorer::new(&observed.sample, &rules, threads);
    let found = mixture::components(&scorer, count, &others);
    let mut report = assemble::Assembly {
        observed,
        rules: &rules,
        scorer: &scorer,
        found: &found,
        count,
        count_source,
        show: options.show.min(1000),
    }
    .report();
    if let Some(client) = &options.expect {
        report.expected = Some(expect::expectation(
            observed,
            &found,
            &rules,
            client,
            &report,
            options.show,
        ));
    }
    warn(observed, &mut report);
    report
}

fn warn(observed: &Observed, report: &mut InferReport) {
    report.warnings.extend(observed.warnings.iter().cloned());
    if observed.empty_may_be_null && report.empty.records > 0 {
        report.warnings.push(format!(
            "{} records have no key or an empty one: this input can't tell (kcat's %K would, and --null-value says which text is null)",
            number(report.empty.records)
        ));
    }
    if report.partitions.source == CountSource::HighestPartition {
        report.warnings.push(format!(
            "the partition count is taken from the highest partition with a record, {}; -p says it for certain",
            report.partitions.count - 1
        ));
    }
    if let Some(framing) = &report.framing
        && framing.payloads_apart > 0
    {
        report.warnings.push(format!(
            "{} of {} keys that appear under more than one schema id are on more than one partition: the id is hashed too",
            number(framing.payloads_apart),
            number(framing.payloads_under_several_ids)
        ));
    }
    let replaced = observed
        .sample
        .keys
        .iter()
        .filter(|key| memchr::memmem::find(key, "\u{fffd}".as_bytes()).is_some())
        .count();
    if replaced > 0 {
        report.warnings.push(format!(
            "{} keys hold U+FFFD: bytes that are no text were lost on the way into this input, and so was what the producer hashed",
            number(replaced as u64)
        ));
    }
}
