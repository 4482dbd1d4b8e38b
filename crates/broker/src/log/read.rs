//! Finding and reading batches.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::{Bytes, BytesMut};
use copart_protocol::records::{BatchHeader, Decompressor, RecordBatch};

use super::partition::PartitionLog;
use super::scan::{Located, Scan};
use super::segment::Segment;
use crate::files::{File, read_exact_at};
use crate::{Error, ErrorKind, Result};

/// A thread keeps no larger buffer than this between reads.
const KEPT: usize = 4 << 20;

/// Where bytes are that nobody read into memory.
#[derive(Clone, Debug)]
pub struct FilePart {
    /// The file.
    pub file: Arc<dyn File>,
    /// Where they begin.
    pub position: u64,
    /// How many they are.
    pub len: usize,
}

/// A read to be done: it holds the file, so that it can run while others use
/// the log, and even when the segment is removed meanwhile.
#[derive(Debug)]
pub struct PendingRead {
    file: Arc<dyn File>,
    path: PathBuf,
    first: Located,
    /// Where the segment's batches end.
    end: u64,
    up_to: i64,
    max_bytes: usize,
    verify: bool,
    /// Compaction may have removed offsets before it.
    cleaned: i64,
}

/// A record found by its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundRecord {
    /// Its offset.
    pub offset: i64,
    /// Its timestamp.
    pub timestamp: i64,
    /// The leader epoch of its batch, or -1.
    pub leader_epoch: i32,
}

impl FilePart {
    /// The bytes themselves.
    pub fn read(&self) -> Result<Bytes> {
        let mut bytes = BytesMut::zeroed(self.len);
        read_exact_at(&*self.file, &mut bytes, self.position)
            .map_err(|error| Error::io("reading a log".to_owned(), error))?;
        Ok(bytes.freeze())
    }
}

impl PendingRead {
    /// It reads at least so many bytes: the first batch is read whole.
    pub fn smallest(&self) -> usize {
        self.first.header.size
    }

    /// It reads no more bytes than this.
    pub fn largest(&self) -> usize {
        let available = (self.end - self.first.position) as usize;
        self.max_bytes.min(available).max(self.first.header.size)
    }

    /// Whether [`locate`](Self::locate) serves: the batches are in a file of
    /// the operating system's.
    pub fn is_in_system_file(&self) -> bool {
        self.file.system_file().is_some()
    }

    /// Reads whole batches: the first in any case, and more as long as they
    /// fit and end before the limit. The first may begin before the offset
    /// that was asked for.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`] when the first batch is damaged. Before damage
    /// behind it the read ends.
    pub fn run(&self) -> Result<Bytes> {
        let mut buffer = BytesMut::zeroed(self.largest());
        self.fill(&mut buffer)?;
        let whole = self.whole_batches(&buffer)?;
        Ok(buffer.freeze().slice(..whole))
    }

    /// Finds and checks the batches that [`run`](Self::run) would read, and
    /// says where they are instead.
    ///
    /// # Errors
    /// As those of [`run`](Self::run).
    pub fn locate(&self) -> Result<FilePart> {
        thread_local! {
            /// One for all reads: memory that is warm, and not zeroed each time.
            static CHECKED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
        }
        let len = CHECKED.with_borrow_mut(|buffer| {
            let largest = self.largest();
            if buffer.len() < largest {
                buffer.resize(largest, 0);
            }
            let whole = self
                .fill(&mut buffer[..largest])
                .and_then(|()| self.whole_batches(&buffer[..largest]));
            if buffer.len() > KEPT {
                *buffer = Vec::new();
            }
            whole
        })?;
        Ok(FilePart {
            file: self.file.clone(),
            position: self.first.position,
            len,
        })
    }

    fn fill(&self, buffer: &mut [u8]) -> Result<()> {
        read_exact_at(&*self.file, buffer, self.first.position)
            .map_err(|error| Error::io(format!("reading {}", self.path.display()), error))
    }

    /// How many bytes of the buffer are whole batches that may be read.
    fn whole_batches(&self, buffer: &[u8]) -> Result<usize> {
        let mut at = 0;
        let mut expected = self.first.header.base_offset;
        loop {
            match self.whole_batch(buffer, at, expected) {
                Ok(Some(header)) => {
                    at += header.size;
                    expected = header.next_offset();
                }
                // The next read begins there, and reports it.
                Err(_) if at > 0 => return Ok(at),
                Ok(None) => return Ok(at),
                Err(error) => return Err(error),
            }
        }
    }

    /// The batch at `at`, if it is there as a whole and before the limit.
    fn whole_batch(&self, buffer: &[u8], at: usize, expected: i64) -> Result<Option<BatchHeader>> {
        if at == buffer.len() {
            return Ok(None);
        }
        let header = match BatchHeader::parse(&buffer[at..]) {
            Ok(header) => header,
            Err(error) if error.kind() == copart_protocol::ErrorKind::Truncated => return Ok(None),
            Err(error) => return Err(self.damaged(at, &error.to_string())),
        };
        if header.size as u64 > self.end - self.first.position - at as u64 {
            return Err(self.damaged(at, "the batch is longer than its segment"));
        }
        if header.size > buffer.len() - at {
            return Ok(None);
        }
        let base = header.base_offset;
        if base < expected || base > expected && expected >= self.cleaned {
            let reason = format!("a batch with offset {base}, where {expected} comes next");
            return Err(self.damaged(at, &reason));
        }
        if base >= self.up_to {
            return Ok(None);
        }
        if self.verify {
            header
                .verify_crc(&buffer[at..at + header.size])
                .map_err(|error| self.damaged(at, &error.to_string()))?;
        }
        Ok(Some(header))
    }

    #[cold]
    fn damaged(&self, at: usize, reason: &str) -> Error {
        let position = self.first.position + at as u64;
        Error::new(ErrorKind::Damaged, format!("position {position}: {reason}"))
            .within(self.path.display().to_string())
    }
}

impl PartitionLog {
    /// Plans a read of the batches from `offset` on that begin before
    /// `up_to`. `None` if there is none.
    ///
    /// # Errors
    /// [`ErrorKind::OffsetOutOfRange`] for an offset before the log's start or
    /// behind its end; [`ErrorKind::Damaged`] where nothing can be read for
    /// damage, or ever will be.
    pub fn begin_read(
        &self,
        offset: i64,
        up_to: i64,
        max_bytes: usize,
    ) -> Result<Option<PendingRead>> {
        if offset < self.log_start || offset > self.next_offset {
            return Err(Error::new(
                ErrorKind::OffsetOutOfRange,
                format!(
                    "offset {offset}, the log has {} to {}",
                    self.log_start, self.next_offset
                ),
            )
            .within(self.dir.display().to_string()));
        }
        self.check_readable(offset)?;
        if offset >= up_to && !self.damages.is_empty() {
            // Nothing will ever come: whoever waits should know.
            return Err(self.quarantined());
        }
        if offset >= up_to {
            return Ok(None);
        }
        let up_to = up_to.min(self.readable_end());
        for segment in &self.segments[self.segment_of(offset)..] {
            let Some(first) = segment.find(offset)? else {
                continue;
            };
            let base = first.header.base_offset;
            if base > offset && offset >= self.stored.cleaned {
                // A damaged offset would otherwise hide records.
                let reason = format!("a batch with offset {base}, where {offset} should be");
                return Err(segment.damaged(first.position, &reason));
            }
            return Ok((base < up_to).then(|| PendingRead {
                file: segment.file.clone(),
                path: segment.path.clone(),
                first,
                end: segment.size,
                up_to,
                max_bytes,
                verify: self.config.verify_reads,
                cleaned: self.stored.cleaned,
            }));
        }
        self.check_readable(self.next_offset)?;
        if offset < self.next_offset && offset >= self.stored.cleaned {
            let active = self.active();
            let reason = format!("no batch has offset {offset}");
            return Err(active.damaged(active.size, &reason));
        }
        Ok(None)
    }

    /// Reads whole batches from the one with `offset` on, to at most
    /// `max_bytes` unless the first one alone is larger.
    pub fn read(&self, offset: i64, up_to: i64, max_bytes: usize) -> Result<Bytes> {
        match self.begin_read(offset, up_to, max_bytes)? {
            Some(read) => read.run(),
            None => Ok(Bytes::new()),
        }
    }

    /// The index of the segment that `offset` belongs to.
    pub(super) fn segment_of(&self, offset: i64) -> usize {
        let after = self
            .segments
            .partition_point(|segment| segment.base_offset <= offset);
        after.saturating_sub(1)
    }

    /// The first record with at least this timestamp, before `up_to`.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`] also when the record may be among damaged ones.
    pub fn find_time(&self, timestamp: i64, up_to: i64) -> Result<Option<FoundRecord>> {
        let found = self.find_readable(timestamp, up_to.min(self.readable_end()))?;
        if found.is_none() {
            self.check_readable(up_to)?;
        }
        Ok(found)
    }

    fn find_readable(&self, timestamp: i64, up_to: i64) -> Result<Option<FoundRecord>> {
        let mut decompressor = Decompressor::new(self.config.max_decompressed_bytes);
        for segment in &self.segments {
            if segment.max_timestamp < timestamp {
                continue;
            }
            let Some(first) = segment.find_time(timestamp)? else {
                continue;
            };
            let mut scan = Scan::headers(&*segment.file, first.position, segment.size);
            while let Some(batch) = segment.next_of(&mut scan)? {
                if batch.header.base_offset >= up_to {
                    return Ok(None);
                }
                if batch.header.max_timestamp < timestamp
                    || batch.header.last_offset() < self.log_start
                {
                    continue;
                }
                let found = self.find_in(segment, &batch, timestamp, &mut decompressor)?;
                if let Some(found) = found {
                    return Ok((found.offset < up_to).then_some(found));
                }
            }
        }
        Ok(None)
    }

    fn find_in(
        &self,
        segment: &Segment,
        batch: &Located,
        timestamp: i64,
        decompressor: &mut Decompressor,
    ) -> Result<Option<FoundRecord>> {
        let damaged =
            |error: copart_protocol::Error| segment.damaged(batch.position, &error.to_string());
        let mut bytes = BytesMut::zeroed(batch.header.size);
        read_exact_at(&*segment.file, &mut bytes, batch.position)
            .map_err(|error| Error::io(format!("reading {}", segment.path.display()), error))?;
        let whole = RecordBatch::decode(bytes.freeze()).map_err(damaged)?;
        whole.verify_crc().map_err(damaged)?;
        let records = whole.records(decompressor).map_err(damaged)?;
        for record in &records {
            let record = record.map_err(damaged)?;
            if record.timestamp >= timestamp && record.offset >= self.log_start {
                return Ok(Some(FoundRecord {
                    offset: record.offset,
                    timestamp: record.timestamp,
                    leader_epoch: batch.header.partition_leader_epoch,
                }));
            }
        }
        Ok(None)
    }

    /// The first record with the largest timestamp, before `up_to`.
    pub fn find_max_timestamp(&self, up_to: i64) -> Result<Option<FoundRecord>> {
        self.check_readable(up_to)?;
        let mut best: Option<i64> = None;
        for segment in &self.segments {
            if segment.base_offset >= up_to {
                break;
            }
            if segment.offset_of_max_timestamp < up_to {
                best = best.max(Some(segment.max_timestamp));
                continue;
            }
            // Rare: the newest batches are not stored yet.
            let mut scan = Scan::headers(&*segment.file, 0, segment.size);
            while let Some(batch) = segment.next_of(&mut scan)? {
                if batch.header.base_offset >= up_to {
                    break;
                }
                best = best.max(Some(batch.header.max_timestamp));
            }
        }
        match best.filter(|&timestamp| timestamp >= 0) {
            Some(timestamp) => self.find_time(timestamp, up_to),
            None => Ok(None),
        }
    }

    /// Makes indexes anew that a lookup has found not to fit the batches.
    /// Until then lookups there go through the whole segment. Returns how many
    /// were made.
    pub fn rebuild_suspect_indexes(&mut self) -> Result<usize> {
        let (files, dir) = (self.files.clone(), self.dir.clone());
        let interval = self.config.index_interval_bytes;
        let mut rebuilt = 0;
        let last = self.segments.len() - 1;
        for (index, segment) in self.segments.iter_mut().enumerate() {
            if !segment.suspect.load(Ordering::Relaxed) {
                continue;
            }
            let reserved = std::mem::replace(&mut segment.allocated, segment.size);
            let damage = segment.rebuild(interval, |_| Ok(()));
            segment.allocated = reserved;
            if let Some(reason) = damage? {
                return Err(segment.damaged(segment.size, &reason));
            }
            if index < last {
                segment.seal(&*files, &dir)?;
                segment.leave_memory(&*files, &dir)?;
            }
            rebuilt += 1;
        }
        Ok(rebuilt)
    }
}
