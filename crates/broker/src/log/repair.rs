//! Repairing a damaged log: first say what would be dropped, then do it.
//!
//! Whole batches stay, at their offsets. For what is dropped an empty batch
//! stands, so that offsets have no holes. The segment as it was is kept beside
//! the new one, with the suffix `.damaged`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use copart_protocol::records::{Attributes, BatchEditor, BatchHeader, Producer, RecordBatch};

use super::config::LogConfig;
use super::inspect::{Damage, DamageKind, base_offsets, inspect};
use super::names::{
    CLEANED_SUFFIX, DAMAGED_SUFFIX, INDEX, LOG, SNAPSHOT, TIME_INDEX, numbered, offset_of,
};
use super::offsets::Offsets;
use super::open::{KafkaOffsets, Known};
use crate::files::{Files, Mode, read_exact_at, remove_if_there};
use crate::{Error, Result};

/// What a repair would do. Nothing is changed before
/// [`carry_out`](Self::carry_out).
#[derive(Debug)]
pub struct RepairPlan {
    files: Arc<dyn Files>,
    dir: PathBuf,
    /// What would be dropped.
    pub damages: Vec<Damage>,
    offsets: Offsets,
    known: Known,
}

/// What a repair did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// How many segments were written anew.
    pub segments: usize,
    /// How many offsets have no records any more.
    pub dropped_offsets: i64,
    /// The segments as they were.
    pub kept: Vec<PathBuf>,
}

impl fmt::Display for RepairPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.damages.is_empty() {
            return write!(f, "{}: no damage", self.dir.display());
        }
        writeln!(f, "{}:", self.dir.display())?;
        for damage in &self.damages {
            let verb = match damage.kind {
                DamageKind::Unreadable => "drop",
                DamageKind::Missing => "leave empty",
                DamageKind::LeaderEpoch => "correct the leader epoch of",
            };
            writeln!(f, "  {verb} {damage}")?;
        }
        Ok(())
    }
}

impl RepairPlan {
    /// Looks at the whole log in `dir`.
    pub fn new(files: Arc<dyn Files>, dir: &Path, config: &LogConfig) -> Result<Self> {
        let bases = base_offsets(&*files, dir)?;
        let known = Known::load(&*files, dir, config, &bases, KafkaOffsets::default())?;
        let offsets = known.offsets;
        let damages = inspect(&*files, dir, offsets, known.epochs_to_check())?.damages;
        Ok(Self {
            files,
            dir: dir.to_owned(),
            damages,
            offsets,
            known,
        })
    }

    /// Repairs the log. It can be opened afterwards. A crash in between leaves
    /// a log that is as damaged as before, or less.
    pub fn carry_out(self) -> Result<Repaired> {
        let mut repaired = Repaired::default();
        let bases = base_offsets(&*self.files, &self.dir)?;
        let mut segments: Vec<i64> = self.damages.iter().map(|damage| damage.segment).collect();
        segments.dedup();
        for segment in segments {
            let damages: Vec<&Damage> = self
                .damages
                .iter()
                .filter(|damage| damage.segment == segment)
                .collect();
            self.rewrite(segment, &damages, &bases, &mut repaired)?;
        }
        for damage in &self.damages {
            if damage.kind != DamageKind::LeaderEpoch {
                let to = damage.to_offset.unwrap_or(self.offsets.synced);
                repaired.dropped_offsets += to - damage.from_offset;
            }
        }
        if !self.damages.is_empty() {
            self.remove_snapshots()?;
        }
        Ok(repaired)
    }

    fn rewrite(
        &self,
        segment: i64,
        damages: &[&Damage],
        bases: &[i64],
        repaired: &mut Repaired,
    ) -> Result<()> {
        let (files, dir) = (&*self.files, &*self.dir);
        let exists = bases.contains(&segment);
        let doing = |error| Error::io(format!("repairing {}", dir.display()), error);
        // A gap in front of a segment belongs into a segment of its own: file
        // names say what the first offset is.
        for damage in damages {
            let Some(to) = damage.to_offset else {
                continue;
            };
            let before =
                damage.kind == DamageKind::Missing && (damage.from_offset < segment || !exists);
            if before {
                let mut content = Vec::new();
                self.fill(damage.from_offset, to, &mut content)?;
                self.place(damage.from_offset, &content)?;
                repaired.segments += 1;
            }
        }
        if !exists {
            return Ok(());
        }
        let inside: Vec<&&Damage> = damages
            .iter()
            .filter(|damage| damage.from_offset >= segment)
            .collect();
        if inside.is_empty() {
            return Ok(());
        }
        let path = numbered(dir, segment, LOG);
        let file = files.open(&path, Mode::Read).map_err(doing)?;
        let size = file.size().map_err(doing)?;
        let mut old = vec![0; size as usize];
        read_exact_at(&*file, &mut old, 0).map_err(doing)?;

        let kept = crate::files::with_suffix(&path, DAMAGED_SUFFIX);
        crate::files::replace(files, &kept, &old).map_err(doing)?;
        repaired.kept.push(kept);

        let mut content = Vec::with_capacity(old.len());
        let mut at = 0;
        for damage in inside {
            let position = (damage.position as usize).clamp(at, old.len());
            // What is missing at the end of the log has no position.
            let position = match damage.bytes == 0 && damage.position == 0 {
                true if damage.from_offset > segment => old.len(),
                _ => position,
            };
            content.extend_from_slice(&old[at..position]);
            at = position + damage.bytes as usize;
            if damage.kind == DamageKind::LeaderEpoch {
                let mut batch = old[position..at].to_vec();
                let epochs = self.known.epochs.as_ref();
                if let Some(epoch) = epochs.and_then(|epochs| epochs.of(damage.from_offset)) {
                    BatchEditor::new(&mut batch)
                        .map_err(|error| Error::new(crate::ErrorKind::Damaged, error.to_string()))?
                        .set_partition_leader_epoch(epoch);
                }
                content.extend_from_slice(&batch);
                continue;
            }
            let to = damage.to_offset.unwrap_or(self.offsets.synced);
            self.fill(damage.from_offset, to, &mut content)?;
        }
        content.extend_from_slice(&old[at..]);
        self.place(segment, &content)?;
        repaired.segments += 1;
        Ok(())
    }

    /// Empty batches for the offsets from `from` to before `to`.
    fn fill(&self, mut from: i64, to: i64, content: &mut Vec<u8>) -> Result<()> {
        while from < to {
            let epochs = self.known.epochs.as_ref();
            let delta = (to - from - 1).min(i64::from(i32::MAX) - 1) as i32;
            let header = BatchHeader {
                size: 0,
                base_offset: from,
                partition_leader_epoch: epochs.and_then(|epochs| epochs.of(from)).unwrap_or(-1),
                crc: 0,
                attributes: Attributes::default(),
                last_offset_delta: delta,
                base_timestamp: -1,
                max_timestamp: -1,
                producer: Producer::NONE,
                record_count: 0,
            };
            let batch = RecordBatch::emptied(&header)
                .map_err(|error| Error::new(crate::ErrorKind::Damaged, error.to_string()))?;
            content.extend_from_slice(batch.bytes());
            from += i64::from(delta) + 1;
        }
        Ok(())
    }

    /// Puts a segment in its place. Its indexes go first, and are made anew
    /// when the log is opened.
    fn place(&self, segment: i64, content: &[u8]) -> Result<()> {
        let (files, dir) = (&*self.files, &*self.dir);
        let doing = |error| Error::io(format!("repairing {}", dir.display()), error);
        for extension in [INDEX, TIME_INDEX] {
            remove_if_there(files, &numbered(dir, segment, extension)).map_err(doing)?;
        }
        let path = numbered(dir, segment, LOG);
        let cleaned = crate::files::with_suffix(&path, CLEANED_SUFFIX);
        remove_if_there(files, &cleaned).map_err(doing)?;
        let file = files.open(&cleaned, Mode::CreateNew).map_err(doing)?;
        file.write_at(content, 0).map_err(doing)?;
        file.sync().map_err(doing)?;
        files.sync_dir(dir).map_err(doing)?;
        files.rename(&cleaned, &path).map_err(doing)?;
        files.sync_dir(dir).map_err(doing)
    }

    /// They may know producers from batches that are gone.
    fn remove_snapshots(&self) -> Result<()> {
        let doing = |error| Error::io(format!("repairing {}", self.dir.display()), error);
        for name in self.files.list(&self.dir).map_err(doing)? {
            if offset_of(&name, SNAPSHOT).is_some() {
                remove_if_there(&*self.files, &self.dir.join(name)).map_err(doing)?;
            }
        }
        self.files.sync_dir(&self.dir).map_err(doing)
    }
}
