//! Looking for damage: every batch of every segment, read and compared.

use std::fmt;
use std::path::Path;

use super::epochs::LeaderEpochs;
use super::names::{LOG, offset_of};
use super::offsets::Offsets;
use super::scan::{Found, Located, Scan, is_zero, resynchronize};
use super::segment::Segment;
use crate::files::Files;
use crate::{Error, Result};

/// What is wrong with a part of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DamageKind {
    /// Bytes that are no whole batch.
    Unreadable,
    /// Offsets that no batch covers.
    Missing,
    /// A batch whose leader epoch is not the one that the offset has. The
    /// records are whole.
    LeaderEpoch,
}

/// Damage in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// What it is.
    pub kind: DamageKind,
    /// The first offset that the file of the segment has.
    pub segment: i64,
    /// Where in the segment's file it begins.
    pub position: u64,
    /// How many bytes are affected.
    pub bytes: u64,
    /// The first offset that is affected.
    pub from_offset: i64,
    /// The first offset behind it that is not; `None` if it reaches to the
    /// end of the log.
    pub to_offset: Option<i64>,
    /// What was found.
    pub reason: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            segment,
            position,
            bytes,
            from_offset,
            reason,
            ..
        } = self;
        match self.to_offset {
            Some(to) => write!(f, "offsets {from_offset} to {}", to - 1)?,
            None => write!(f, "offsets from {from_offset} on")?,
        }
        write!(
            f,
            ", {bytes} bytes at position {position} of {segment:020}.log: {reason}"
        )
    }
}

/// What follows what in a log that is whole.
#[derive(Clone, Debug)]
pub(super) struct Sequence<'a> {
    /// The offset that comes next.
    pub(super) expected: i64,
    /// Compaction may have removed offsets before it.
    pub(super) cleaned: i64,
    /// The leader epochs, if they are known.
    pub(super) epochs: Option<&'a LeaderEpochs>,
}

impl Sequence<'_> {
    /// Checks what a batch's checksum does not cover, and moves on.
    pub(super) fn take(&mut self, batch: &Located) -> Result<(), (DamageKind, String)> {
        let header = &batch.header;
        let base = header.base_offset;
        if base < self.expected || base > self.expected && self.expected >= self.cleaned {
            return Err((
                DamageKind::Unreadable,
                format!(
                    "a batch with offset {base}, where {} comes next",
                    self.expected
                ),
            ));
        }
        let known = self.epochs.and_then(|epochs| epochs.of(base));
        if let Some(epoch) = known
            && header.partition_leader_epoch != epoch
        {
            return Err((
                DamageKind::LeaderEpoch,
                format!(
                    "leader epoch {}, and {epoch} is the one of offset {base}",
                    header.partition_leader_epoch
                ),
            ));
        }
        self.expected = header.next_offset();
        Ok(())
    }
}

/// The base offsets of the segments in a directory.
pub(super) fn base_offsets(files: &dyn Files, dir: &Path) -> Result<Vec<i64>> {
    let names = files
        .list(dir)
        .map_err(|error| Error::io(format!("listing {}", dir.display()), error))?;
    let mut bases: Vec<i64> = names
        .iter()
        .filter_map(|name| offset_of(name, LOG))
        .collect();
    bases.sort_unstable();
    Ok(bases)
}

/// What a look at a whole log found.
#[derive(Debug)]
pub(super) struct Inspection {
    /// In ascending order.
    pub(super) damages: Vec<Damage>,
    /// The offset behind the last batch.
    pub(super) end: i64,
}

/// Reads all of a log and returns all damage before `synced`: what lies behind
/// it may be a torn tail, which recovery cuts.
pub(super) fn inspect(
    files: &dyn Files,
    dir: &Path,
    offsets: Offsets,
    epochs: Option<&LeaderEpochs>,
) -> Result<Inspection> {
    let Offsets {
        log_start,
        synced,
        cleaned,
        foreign,
    } = offsets;
    let bases = base_offsets(files, dir)?;
    let mut damages = Vec::new();
    let mut sequence = Sequence {
        expected: log_start,
        cleaned,
        epochs,
    };
    for (index, &base) in bases.iter().enumerate() {
        let last = index + 1 == bases.len();
        let next_base = bases.get(index + 1).copied();
        if next_base.is_some_and(|next| next <= log_start) {
            continue;
        }
        let segment = Segment::open(files, dir, base, 0)?;
        if segment.allocated == 0 && !last {
            continue;
        }
        if index == 0 || base <= log_start {
            // The start may lie inside of the first segment.
            sequence.expected = sequence.expected.min(base).max(base.min(log_start));
        }
        if base > sequence.expected && sequence.expected >= foreign {
            damages.push(Damage {
                kind: DamageKind::Missing,
                segment: base,
                position: 0,
                bytes: 0,
                from_offset: sequence.expected,
                to_offset: Some(base),
                reason: "no segment has these offsets".into(),
            });
        }
        sequence.expected = base;
        inspect_segment(&segment, next_base, foreign, &mut sequence, &mut damages)?;
    }
    let open_end = damages.last_mut().filter(|last| last.to_offset.is_none());
    if let Some(last) = open_end.filter(|last| last.from_offset < synced) {
        last.to_offset = Some(synced);
    } else if sequence.expected < synced {
        damages.push(Damage {
            kind: DamageKind::Missing,
            segment: bases.last().copied().unwrap_or(log_start),
            position: 0,
            bytes: 0,
            from_offset: sequence.expected,
            to_offset: Some(synced),
            reason: format!("the log was stored up to offset {synced}"),
        });
    }
    damages.retain(|damage| damage.from_offset < synced);
    Ok(Inspection {
        damages,
        end: sequence.expected,
    })
}

fn inspect_segment(
    segment: &Segment,
    next_base: Option<i64>,
    foreign: i64,
    sequence: &mut Sequence<'_>,
    damages: &mut Vec<Damage>,
) -> Result<()> {
    let end = segment.allocated;
    let mut position = 0;
    loop {
        let mut scan = Scan::verified(&*segment.file, position, end);
        let (kind, reason, batch) = match scan.next()? {
            Found::End => break,
            Found::Damage(reason) => (DamageKind::Unreadable, reason, None),
            Found::Batch(batch) => {
                let before = sequence.expected;
                match sequence.take(&batch) {
                    Ok(()) => {
                        position = batch.end();
                        continue;
                    }
                    Err((kind, reason)) => {
                        // Behind a gap, or a damaged offset? What comes next
                        // tells.
                        let fits = batch.header.base_offset >= before
                            && follows(segment, &batch, next_base)?;
                        let kind = match kind {
                            DamageKind::Unreadable if fits => DamageKind::Missing,
                            kind => kind,
                        };
                        (kind, reason, Some(batch))
                    }
                }
            }
        };
        let from_offset = sequence.expected;
        let (next_position, to_offset) = match (kind, &batch) {
            (DamageKind::Missing, Some(batch)) => (position, Some(batch.header.base_offset)),
            (DamageKind::LeaderEpoch, Some(batch)) => {
                (batch.end(), Some(batch.header.next_offset()))
            }
            _ => match resynchronize(&*segment.file, position + 1, end, from_offset + 1)? {
                Some(next) => (next.position, Some(next.header.base_offset)),
                None => (end, next_base),
            },
        };
        if !(next_base.is_none() && batch.is_none() && is_zero(&*segment.file, position, end)?) {
            damages.push(Damage {
                kind,
                segment: segment.base_offset,
                position,
                bytes: next_position - position,
                from_offset,
                to_offset,
                reason,
            });
        }
        position = next_position;
        match to_offset {
            Some(to) => sequence.expected = to,
            None => break,
        }
    }
    if let Some(next) = next_base
        && sequence.expected < next
        && sequence.expected >= foreign
    {
        damages.push(Damage {
            kind: DamageKind::Missing,
            segment: segment.base_offset,
            position,
            bytes: 0,
            from_offset: sequence.expected,
            to_offset: Some(next),
            reason: "the segment ends before the next one begins".into(),
        });
        sequence.expected = next;
    }
    Ok(())
}

/// Does what lies behind `batch` follow it?
fn follows(segment: &Segment, batch: &Located, next_base: Option<i64>) -> Result<bool> {
    let next = batch.header.next_offset();
    let mut scan = Scan::verified(&*segment.file, batch.end(), segment.allocated);
    Ok(match scan.next()? {
        Found::Batch(behind) => behind.header.base_offset == next,
        Found::End => next_base == Some(next),
        Found::Damage(_) => false,
    })
}
