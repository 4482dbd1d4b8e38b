//! One segment of a log: a file of batches and its indexes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use copart_protocol::records::BatchHeader;

use super::config::LogConfig;
use super::index::{Check, Index, OffsetEntry, TimeEntry};
use super::names::{INDEX, LOG, TIME_INDEX, numbered};
use super::scan::{Found, Located, Scan};
use super::txn_index::{self, AbortedTransaction, TxnIndexSummary};
use crate::files::{File, Files, Mode};
use crate::{Error, ErrorKind, Result};

/// A segment. All but the last of a log are full, and only read.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) base_offset: i64,
    pub(super) path: PathBuf,
    pub(super) file: Arc<dyn File>,
    /// How many bytes of whole batches the file holds.
    pub(super) size: u64,
    /// How large the file is: reserved space lies behind the batches.
    pub(super) allocated: u64,
    pub(super) offsets: Index<OffsetEntry>,
    pub(super) times: Index<TimeEntry>,
    pub(super) max_timestamp: i64,
    /// The last offset of the batch with the largest timestamp.
    pub(super) offset_of_max_timestamp: i64,
    /// The largest timestamp of the first batch: `segment.ms` counts from it.
    pub(super) first_timestamp: Option<i64>,
    /// When this process began to use the segment, in milliseconds since 1970.
    pub(super) opened_at: i64,
    bytes_since_entry: u64,
    /// The aborted transactions whose markers are here.
    pub(super) aborted: Vec<AbortedTransaction>,
    /// Has the index of aborted transactions been written as it is?
    pub(super) aborted_stored: bool,
    /// Has a lookup shown that an index does not fit the batches?
    pub(super) suspect: AtomicBool,
}

impl Segment {
    /// A new segment, empty. The directory is not synced.
    pub(super) fn create(
        files: &dyn Files,
        dir: &Path,
        base_offset: i64,
        now_ms: i64,
    ) -> Result<Self> {
        let path = numbered(dir, base_offset, LOG);
        let file = files
            .open(&path, Mode::CreateOrWrite)
            .map_err(|error| Error::io(format!("creating {}", path.display()), error))?;
        // What an attempt that failed half-way left.
        file.set_size(0)
            .map_err(|error| Error::io(format!("creating {}", path.display()), error))?;
        Ok(Self::new(base_offset, path, file, now_ms))
    }

    /// A segment whose file is there. Nothing is known about it yet.
    pub(super) fn open(
        files: &dyn Files,
        dir: &Path,
        base_offset: i64,
        now_ms: i64,
    ) -> Result<Self> {
        let path = numbered(dir, base_offset, LOG);
        let opening = |error| Error::io(format!("opening {}", path.display()), error);
        let file = files.open(&path, Mode::Write).map_err(opening)?;
        let allocated = file.size().map_err(opening)?;
        let mut segment = Self::new(base_offset, path, file, now_ms);
        segment.allocated = allocated;
        Ok(segment)
    }

    /// A segment in a file that is open already, and empty.
    pub(super) fn of_file(base_offset: i64, dir: &Path, file: Arc<dyn File>, now_ms: i64) -> Self {
        Self::new(base_offset, numbered(dir, base_offset, LOG), file, now_ms)
    }

    fn new(base_offset: i64, path: PathBuf, file: Arc<dyn File>, now_ms: i64) -> Self {
        Self {
            base_offset,
            path,
            file,
            size: 0,
            allocated: 0,
            offsets: Index::empty(),
            times: Index::empty(),
            max_timestamp: -1,
            offset_of_max_timestamp: base_offset,
            first_timestamp: None,
            opened_at: now_ms,
            bytes_since_entry: 0,
            aborted: Vec::new(),
            aborted_stored: false,
            suspect: AtomicBool::new(false),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// Takes note of a batch that was written, or found, at the end.
    pub(super) fn added(&mut self, header: &BatchHeader, interval: u64) {
        let position = self.size;
        if self.first_timestamp.is_none() {
            self.first_timestamp = Some(header.max_timestamp);
        }
        if header.max_timestamp > self.max_timestamp {
            self.max_timestamp = header.max_timestamp;
            self.offset_of_max_timestamp = header.last_offset();
        }
        if self.bytes_since_entry > interval {
            self.offsets.push(OffsetEntry {
                relative_offset: (header.last_offset() - self.base_offset) as i32,
                position: position as i32,
            });
            self.note_time();
            self.bytes_since_entry = 0;
        }
        self.bytes_since_entry += header.size as u64;
        self.size += header.size as u64;
    }

    /// Adds the largest timestamp to the time index, unless it is there.
    fn note_time(&mut self) {
        let last = self.times.last();
        if self.max_timestamp > last.map_or(-1, |entry| entry.timestamp) {
            self.times.push(TimeEntry {
                timestamp: self.max_timestamp,
                relative_offset: (self.offset_of_max_timestamp - self.base_offset) as i32,
            });
        }
    }

    /// Does the batch fit, by size, index size and the range of relative
    /// offsets?
    pub(super) fn has_room(&self, size: usize, last_offset: i64, config: &LogConfig) -> bool {
        self.is_empty()
            || self.size + size as u64 <= config.segment_bytes.min(i32::MAX as u64)
                && last_offset - self.base_offset <= i64::from(i32::MAX)
                && self.offsets.size() + 8 <= config.segment_index_bytes
                && self.times.size() + 12 <= config.segment_index_bytes
    }

    /// How long the segment has waited to be full.
    pub(super) fn age(&self, now_ms: i64, timestamp: i64) -> i64 {
        match self.first_timestamp {
            // Kafka's rule: by the records' times if they have any.
            Some(first) if first >= 0 && timestamp >= 0 => timestamp.saturating_sub(first),
            _ => now_ms.saturating_sub(self.opened_at),
        }
    }

    /// Cuts reserved space off, and stores the indexes.
    pub(super) fn seal(&mut self, files: &dyn Files, dir: &Path) -> Result<()> {
        if self.allocated != self.size {
            self.file
                .set_size(self.size)
                .map_err(|error| Error::io(format!("cutting {}", self.path.display()), error))?;
            self.allocated = self.size;
        }
        self.note_time();
        self.store_indexes(files, dir)?;
        txn_index::store(files, dir, self.base_offset, &self.aborted)?;
        self.aborted_stored = true;
        Ok(())
    }

    /// What the file of the log's offsets says of the aborted transactions.
    pub(super) fn aborted_summary(&self) -> Option<TxnIndexSummary> {
        match self.aborted_stored {
            true => txn_index::summary(self.base_offset, &self.aborted),
            false => None,
        }
    }

    /// Takes the aborted transactions from their file. `false` if it is not as
    /// the summary says.
    pub(super) fn load_aborted(
        &mut self,
        files: &dyn Files,
        dir: &Path,
        summary: Option<&TxnIndexSummary>,
    ) -> Result<bool> {
        let loaded = txn_index::load(files, dir, self.base_offset, summary)?;
        self.aborted_stored = loaded.is_some();
        self.aborted = loaded.unwrap_or_default();
        Ok(self.aborted_stored)
    }

    fn store_indexes(&self, files: &dyn Files, dir: &Path) -> Result<()> {
        let base = self.base_offset;
        self.offsets.store(files, &numbered(dir, base, INDEX))?;
        self.times.store(files, &numbered(dir, base, TIME_INDEX))
    }

    /// Frees the memory of indexes that were stored.
    pub(super) fn leave_memory(&mut self, files: &dyn Files, dir: &Path) -> Result<()> {
        let base = self.base_offset;
        self.offsets
            .leave_memory(files, &numbered(dir, base, INDEX))?;
        self.times
            .leave_memory(files, &numbered(dir, base, TIME_INDEX))
    }

    /// Walks over all batches and makes the indexes anew. Stops at damage, and
    /// returns what it is.
    pub(super) fn rebuild(
        &mut self,
        interval: u64,
        mut each: impl FnMut(&Located) -> Result<(), String>,
    ) -> Result<Option<String>> {
        let file = self.file.clone();
        self.size = 0;
        self.offsets = Index::empty();
        self.times = Index::empty();
        self.max_timestamp = -1;
        self.offset_of_max_timestamp = self.base_offset;
        self.first_timestamp = None;
        self.bytes_since_entry = 0;
        self.suspect.store(false, Ordering::Relaxed);
        let mut scan = Scan::verified(&*file, 0, self.allocated);
        loop {
            match scan.next()? {
                Found::End => return Ok(None),
                Found::Damage(reason) => return Ok(Some(reason)),
                Found::Batch(located) => {
                    if let Err(reason) = each(&located) {
                        return Ok(Some(reason));
                    }
                    self.added(&located.header, interval);
                }
            }
        }
    }

    /// Opens the stored indexes. `false` if one is missing or damaged.
    pub(super) fn open_indexes(
        &mut self,
        files: &dyn Files,
        dir: &Path,
        check: Check,
    ) -> Result<bool> {
        let path = numbered(dir, self.base_offset, INDEX);
        let Some(offsets) = Index::<OffsetEntry>::open(files, &path, check)? else {
            return Ok(false);
        };
        let path = numbered(dir, self.base_offset, TIME_INDEX);
        let Some(times) = Index::<TimeEntry>::open(files, &path, check)? else {
            return Ok(false);
        };
        if let Some(last) = times.last() {
            self.max_timestamp = last.timestamp;
            self.offset_of_max_timestamp = self.base_offset + i64::from(last.relative_offset);
        }
        self.offsets = offsets;
        self.times = times;
        Ok(true)
    }

    /// Where a search for `offset` begins: at an indexed batch that does not
    /// lie behind it, or at the start.
    fn position_for(&self, offset: i64) -> Result<u64> {
        let relative = offset - self.base_offset;
        let entry = self
            .offsets
            .floor(|entry| i64::from(entry.relative_offset).cmp(&relative))?;
        let Some(entry) = entry else {
            return Ok(0);
        };
        // Indexes have no checksum. An entry is believed when the batch is
        // where it says; the batches themselves are the truth.
        let position = u64::from(entry.position.cast_unsigned());
        if position < self.size
            && let Found::Batch(found) = Scan::headers(&*self.file, position, self.size).next()?
            && found.header.last_offset() - self.base_offset == i64::from(entry.relative_offset)
        {
            return Ok(position);
        }
        self.suspect.store(true, Ordering::Relaxed);
        Ok(0)
    }

    /// Where a batch begins, not behind `position`.
    pub(super) fn position_before(&self, position: u64) -> Result<u64> {
        let entry = self
            .offsets
            .floor(|entry| u64::from(entry.position.cast_unsigned()).cmp(&position))?;
        match entry {
            Some(entry) => self.position_for(self.base_offset + i64::from(entry.relative_offset)),
            None => Ok(0),
        }
    }

    /// The first batch that ends at or behind `offset`.
    pub(super) fn find(&self, offset: i64) -> Result<Option<Located>> {
        let from = self.position_for(offset)?;
        self.first_from(from, |header| header.last_offset() >= offset)
    }

    /// The first batch with a timestamp of at least `timestamp`.
    pub(super) fn find_time(&self, timestamp: i64) -> Result<Option<Located>> {
        // All batches before an entry's have older timestamps than the entry.
        let entry = self.times.floor(|entry| match entry.timestamp {
            time if time >= timestamp => std::cmp::Ordering::Greater,
            _ => std::cmp::Ordering::Less,
        })?;
        let mut from = 0;
        if let Some(entry) = entry {
            let offset = self.base_offset + i64::from(entry.relative_offset);
            match self.find(offset)? {
                Some(found) if found.header.max_timestamp == entry.timestamp => {
                    from = found.position;
                }
                _ => self.suspect.store(true, Ordering::Relaxed),
            }
        }
        self.first_from(from, |header| header.max_timestamp >= timestamp)
    }

    fn first_from(
        &self,
        from: u64,
        wanted: impl Fn(&BatchHeader) -> bool,
    ) -> Result<Option<Located>> {
        let mut scan = Scan::headers(&*self.file, from, self.size);
        while let Some(located) = self.next_of(&mut scan)? {
            if wanted(&located.header) {
                return Ok(Some(located));
            }
        }
        Ok(None)
    }

    /// The offset behind the last batch.
    pub(super) fn end_offset(&self) -> Result<i64> {
        let from = match self.offsets.last() {
            Some(entry) => u64::from(entry.position.cast_unsigned()),
            None => 0,
        };
        let mut end = self.base_offset;
        let mut scan = Scan::headers(&*self.file, from, self.size);
        while let Some(located) = self.next_of(&mut scan)? {
            end = located.header.next_offset();
        }
        Ok(end)
    }

    /// The next batch of a scan of this segment. Damage is an error.
    pub(super) fn next_of(&self, scan: &mut Scan<'_>) -> Result<Option<Located>> {
        match scan.next()? {
            Found::Batch(located) => Ok(Some(located)),
            Found::End => Ok(None),
            Found::Damage(reason) => Err(self.damaged(scan.position(), &reason)),
        }
    }

    #[cold]
    pub(super) fn damaged(&self, position: u64, reason: &str) -> Error {
        Error::new(ErrorKind::Damaged, format!("position {position}: {reason}"))
            .within(self.path.display().to_string())
    }
}
