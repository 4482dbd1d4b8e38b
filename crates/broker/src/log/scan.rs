//! Walking over the batches in a segment file.

use bytes::{Bytes, BytesMut};
use copart_protocol::records::{BATCH_HEADER_LEN, BatchHeader, RecordBatch};

use crate::files::File;
use crate::{Error, Result};

/// How much a scan reads at a time: several small batches with one call.
const CHUNK: usize = 64 << 10;

/// A batch's header and where in its file the batch begins.
#[derive(Clone, Debug)]
pub(super) struct Located {
    pub(super) position: u64,
    pub(super) header: BatchHeader,
}

impl Located {
    pub(super) fn end(&self) -> u64 {
        self.position + self.header.size as u64
    }
}

/// What a scan finds at a place.
#[derive(Debug)]
pub(super) enum Found {
    Batch(Located),
    /// No batch that could be believed.
    Damage(String),
    /// The end of what was to be scanned.
    End,
}

/// Goes from batch to batch.
#[derive(Debug)]
pub(super) struct Scan<'a> {
    file: &'a dyn File,
    position: u64,
    end: u64,
    /// Checksums too, or headers alone?
    verify: bool,
    buffer: BytesMut,
    /// Where in the file the buffer begins.
    buffered_from: u64,
}

impl<'a> Scan<'a> {
    /// Headers alone. They are read with little around them, so that large
    /// batches are skipped and not read.
    pub(super) fn headers(file: &'a dyn File, from: u64, end: u64) -> Self {
        Self::new(file, from, end, false)
    }

    /// Whole batches, checksums verified.
    pub(super) fn verified(file: &'a dyn File, from: u64, end: u64) -> Self {
        Self::new(file, from, end, true)
    }

    fn new(file: &'a dyn File, from: u64, end: u64, verify: bool) -> Self {
        Self {
            file,
            position: from,
            end,
            verify,
            buffer: BytesMut::new(),
            buffered_from: from,
        }
    }

    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// The next batch. After damage, the same damage again.
    pub(super) fn next(&mut self) -> Result<Found> {
        let left = self.end.saturating_sub(self.position);
        if left == 0 {
            return Ok(Found::End);
        }
        if left < BATCH_HEADER_LEN as u64 {
            return Ok(Found::Damage(format!(
                "{left} bytes are left, a batch takes {BATCH_HEADER_LEN} at least"
            )));
        }
        let chunk = if self.verify { CHUNK } else { 4096 };
        self.fill(BATCH_HEADER_LEN, chunk)?;
        let at = (self.position - self.buffered_from) as usize;
        let header = match BatchHeader::parse(&self.buffer[at..]) {
            Ok(header) => header,
            Err(error) => return Ok(Found::Damage(error.to_string())),
        };
        if header.size as u64 > left {
            return Ok(Found::Damage(format!(
                "a batch of {} bytes, {left} are left",
                header.size
            )));
        }
        if self.verify {
            self.fill(header.size, header.size.max(chunk))?;
            let at = (self.position - self.buffered_from) as usize;
            let rest = self.buffer.split_off(at);
            self.buffered_from = self.position;
            self.buffer = rest;
            // The bytes are split off and joined again to lend them to the
            // batch without a copy.
            let bytes: Bytes = self.buffer.split_to(header.size).freeze();
            self.buffered_from += header.size as u64;
            let verified = RecordBatch::decode(bytes).and_then(|batch| batch.verify_crc());
            if let Err(error) = verified {
                // What was split off is read again if it is asked for again.
                self.buffer.clear();
                self.buffered_from = self.position;
                return Ok(Found::Damage(error.to_string()));
            }
        }
        let located = Located {
            position: self.position,
            header,
        };
        self.position = located.end();
        Ok(Found::Batch(located))
    }

    /// Makes sure that `needed` bytes from the position are in the buffer.
    fn fill(&mut self, needed: usize, chunk: usize) -> Result<()> {
        let buffered_to = self.buffered_from + self.buffer.len() as u64;
        if self.position >= self.buffered_from && self.position + needed as u64 <= buffered_to {
            return Ok(());
        }
        let wanted = (self.end - self.position).min(chunk.max(needed) as u64) as usize;
        let mut buffer = BytesMut::zeroed(wanted);
        let read = self
            .file
            .read_at(&mut buffer, self.position)
            .map_err(|error| Error::io(format!("reading at position {}", self.position), error))?;
        if read < needed {
            return Err(Error::io(
                format!("reading at position {}", self.position),
                std::io::ErrorKind::UnexpectedEof.into(),
            ));
        }
        buffer.truncate(read);
        self.buffer = buffer;
        self.buffered_from = self.position;
        Ok(())
    }
}

/// Are there only zeros from `from` to `end`, as in reserved space?
pub(super) fn is_zero(file: &dyn File, from: u64, end: u64) -> Result<bool> {
    let mut buffer = vec![0; CHUNK];
    let mut position = from;
    while position < end {
        let len = (end - position).min(CHUNK as u64) as usize;
        let read = file
            .read_at(&mut buffer[..len], position)
            .map_err(|error| Error::io(format!("reading at position {position}"), error))?;
        if read == 0 {
            break;
        }
        if buffer[..read].iter().any(|&byte| byte != 0) {
            return Ok(false);
        }
        position += read as u64;
    }
    Ok(true)
}

/// The next place from `from` on where a whole batch lies that could follow
/// `offset`: behind damage, where the lengths lead nowhere.
pub(super) fn resynchronize(
    file: &dyn File,
    from: u64,
    end: u64,
    offset: i64,
) -> Result<Option<Located>> {
    const STEP: usize = 1 << 20;
    let mut start = from;
    while start + BATCH_HEADER_LEN as u64 <= end {
        let len = (end - start).min((STEP + BATCH_HEADER_LEN) as u64) as usize;
        let mut buffer = vec![0; len];
        crate::files::read_exact_at(file, &mut buffer, start)
            .map_err(|error| Error::io(format!("reading at position {start}"), error))?;
        for at in 0..=len - BATCH_HEADER_LEN {
            let Ok(header) = BatchHeader::parse(&buffer[at..]) else {
                continue;
            };
            let position = start + at as u64;
            if header.base_offset < offset || header.size as u64 > end - position {
                continue;
            }
            let found = Scan::verified(file, position, position + header.size as u64).next()?;
            if let Found::Batch(located) = found {
                return Ok(Some(located));
            }
        }
        start += (len - BATCH_HEADER_LEN + 1) as u64;
    }
    Ok(None)
}
