//! Putting a segment in the place of one or several others.
//!
//! Kafka's way: the new file is written as `.cleaned`, and once it is durable
//! its name becomes `.swap`, which decides it: from there on a crash is followed
//! by the rest of it. Then the old segments go, and the new one gets its name.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::inspect::base_offsets;
use super::names::{
    CLEANED_SUFFIX, INDEX, LOG, SWAP_SUFFIX, TIME_INDEX, TXN_INDEX, numbered, offset_of,
};
use super::partition::PartitionLog;
use super::scan::{Found, Scan};
use super::segment::Segment;
use super::txn_index;
use crate::files::{File, Files, Mode, remove_if_there, with_suffix};
use crate::{Error, Result};

/// How much is written at a time.
const CHUNK: usize = 1 << 20;

/// A segment that is written, and not yet one of the log's. Dropped, it is
/// removed, which gives a full disk its space back.
#[derive(Debug)]
pub(super) struct Cleaned<'a> {
    files: &'a dyn Files,
    path: PathBuf,
    file: Arc<dyn File>,
    buffer: Vec<u8>,
    written: u64,
}

impl<'a> Cleaned<'a> {
    /// For the segment at this path.
    pub(super) fn create(files: &'a dyn Files, segment: &Path) -> Result<Self> {
        let path = with_suffix(segment, CLEANED_SUFFIX);
        let created =
            remove_if_there(files, &path).and_then(|()| files.open(&path, Mode::CreateNew));
        let file = created.map_err(|error| writing(&path, error))?;
        Ok(Self {
            files,
            path,
            file,
            buffer: Vec::new(),
            written: 0,
        })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(bytes);
        match self.buffer.len() < CHUNK {
            true => Ok(()),
            false => self.flush(),
        }
    }

    fn flush(&mut self) -> Result<()> {
        self.file
            .write_at(&self.buffer, self.written)
            .map_err(|error| writing(&self.path, error))?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Makes it durable, and says where it is.
    pub(super) fn finish(&mut self) -> Result<PathBuf> {
        self.flush()?;
        match self.file.sync() {
            Ok(()) => Ok(self.path.clone()),
            Err(error) => Err(writing(&self.path, error)),
        }
    }
}

impl Drop for Cleaned<'_> {
    fn drop(&mut self) {
        // It has another name when it was used. If this fails, the next start
        // removes it.
        let _ = remove_if_there(self.files, &self.path);
    }
}

fn writing(path: &Path, error: io::Error) -> Error {
    Error::io(format!("writing {}", path.display()), error)
}

impl PartitionLog {
    /// Puts a written segment in the place of those of `group`. Returns its
    /// size.
    pub(super) fn replace_segments(
        &mut self,
        group: Range<usize>,
        cleaned: &Path,
        now_ms: i64,
    ) -> Result<u64> {
        let (files, dir) = (self.files.clone(), self.dir.clone());
        let base = self.segments[group.start].base_offset;
        let path = self.segments[group.start].path.clone();
        let doing = |error| writing(&path, error);
        // Markers stay, and so do their transactions. Before the others' files
        // go: what is there twice does no harm.
        let aborted: Vec<_> = self.segments[group.clone()]
            .iter()
            .flat_map(|segment| segment.aborted.iter().copied())
            .collect();
        if group.len() > 1 && !aborted.is_empty() {
            txn_index::store(&*files, &dir, base, &aborted)?;
            self.segments[group.start].aborted.clone_from(&aborted);
            self.segments[group.start].aborted_stored = true;
            self.store_offsets_as(self.stored)?;
        }
        let swap = with_suffix(&path, SWAP_SUFFIX);
        files.rename(cleaned, &swap).map_err(doing)?;
        files.sync_dir(&dir).map_err(doing)?;
        let old = self.segments[group.clone()].iter();
        let old: Vec<i64> = old.map(|segment| segment.base_offset).collect();
        take_place(&*files, &dir, base, &old)?;

        let mut segment = Segment::open(&*files, &dir, base, now_ms)?;
        segment.aborted = aborted;
        if let Some(reason) = segment.rebuild(self.config.index_interval_bytes, |_| Ok(()))? {
            return Err(segment.damaged(segment.size, &reason));
        }
        // On a full disk the indexes stay in memory, and are made anew when
        // the log is opened.
        if segment.seal(&*files, &dir).is_ok() {
            let _ = segment.leave_memory(&*files, &dir);
        }
        let size = segment.size;
        self.segments.splice(group, [segment]);
        Ok(size)
    }
}

/// Removes the old segments, and gives the new one its name.
fn take_place(files: &dyn Files, dir: &Path, base: i64, old: &[i64]) -> Result<()> {
    let path = numbered(dir, base, LOG);
    let doing = |error| writing(&path, error);
    for &segment in old.iter().rev() {
        for extension in [LOG, INDEX, TIME_INDEX] {
            remove_if_there(files, &numbered(dir, segment, extension)).map_err(doing)?;
        }
        if segment != base {
            remove_if_there(files, &numbered(dir, segment, TXN_INDEX)).map_err(doing)?;
        }
    }
    // Never the new segment with an index of the old one.
    files.sync_dir(dir).map_err(doing)?;
    let swap = with_suffix(&path, SWAP_SUFFIX);
    files.rename(&swap, &path).map_err(doing)?;
    files.sync_dir(dir).map_err(doing)
}

/// Goes on where a crash has interrupted it.
pub(super) fn finish_swaps(files: &dyn Files, dir: &Path, names: &[String]) -> Result<()> {
    let doing = |error| Error::io(format!("cleaning {}", dir.display()), error);
    for name in names {
        let Some(name) = name.strip_suffix(SWAP_SUFFIX) else {
            continue;
        };
        let swap = with_suffix(&dir.join(name), SWAP_SUFFIX);
        let Some(base) = offset_of(name, LOG) else {
            // Kafka has the index files of the new segment too.
            match offset_of(name, TXN_INDEX) {
                Some(_) => files.rename(&swap, &dir.join(name)).map_err(doing)?,
                None => remove_if_there(files, &swap).map_err(doing)?,
            }
            continue;
        };
        let file = files.open(&swap, Mode::Read).map_err(doing)?;
        let mut scan = Scan::verified(&*file, 0, file.size().map_err(doing)?);
        let mut end = base;
        let whole = loop {
            match scan.next()? {
                Found::Batch(batch) => end = batch.header.next_offset(),
                Found::End => break true,
                Found::Damage(_) => break false,
            }
        };
        let bases = base_offsets(files, dir)?;
        if !whole && bases.contains(&base) {
            // The old segments are there, down to the first, which goes last.
            remove_if_there(files, &swap).map_err(doing)?;
            continue;
        }
        let old: Vec<i64> = bases
            .into_iter()
            .filter(|segment| (base..end.max(base + 1)).contains(segment))
            .collect();
        take_place(files, dir, base, &old)?;
    }
    Ok(())
}
