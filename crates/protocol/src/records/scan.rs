//! The batches in a buffer, as a fetch brings it or a log segment holds it.

use bytes::Bytes;

use super::Decompressor;
use super::batch::RecordBatch;
use super::decode::Records;
use super::header::{self, LENGTH_OVERHEAD, MAGIC_AT};
use super::legacy::{MIN_MESSAGE_LEN, MessageBatch};
use crate::{Error, ErrorKind, Result};

/// One unit of a log: a record batch, or a message of the formats before it.
#[derive(Clone, Debug)]
pub enum Batch {
    /// Format version 2, since Kafka 0.11.
    Records(RecordBatch),
    /// Format versions 0 and 1: one message, or a compressed set of them.
    Messages(MessageBatch),
}

impl Batch {
    /// The format version.
    pub fn magic(&self) -> i8 {
        match self {
            Self::Records(_) => header::MAGIC,
            Self::Messages(batch) => batch.magic(),
        }
    }

    /// The size in bytes, as stored.
    pub fn size(&self) -> usize {
        match self {
            Self::Records(batch) => batch.header().size,
            Self::Messages(batch) => batch.size(),
        }
    }

    /// The offset of the last record.
    pub fn last_offset(&self) -> i64 {
        match self {
            Self::Records(batch) => batch.header().last_offset(),
            Self::Messages(batch) => batch.last_offset(),
        }
    }

    /// The first offset after the batch.
    pub fn next_offset(&self) -> i64 {
        self.last_offset() + 1
    }

    /// Does the batch hold control records, which applications never see?
    pub fn is_control(&self) -> bool {
        match self {
            Self::Records(batch) => batch.header().attributes.is_control(),
            Self::Messages(_) => false,
        }
    }

    /// Compares the checksum with the bytes.
    pub fn verify_crc(&self) -> Result<()> {
        match self {
            Self::Records(batch) => batch.verify_crc(),
            Self::Messages(batch) => batch.verify_crc(),
        }
    }

    /// The records.
    pub fn records(&self, decompressor: &mut Decompressor) -> Result<Records> {
        match self {
            Self::Records(batch) => batch.records(decompressor),
            Self::Messages(batch) => batch.records(decompressor),
        }
    }
}

/// Iterates over the batches in a buffer, without copying them.
///
/// A fetch may end in the middle of a batch. The whole ones come out, then the
/// iterator ends, and [`remainder`](Self::remainder) says how much was left. A
/// buffer that begins with a batch it does not hold whole yields nothing and
/// leaves all: the batch is larger than the fetch.
///
/// After an error the iterator ends too. Error offsets count from the start of
/// the buffer.
#[derive(Clone, Debug)]
pub struct Batches {
    buffer: Bytes,
    at: usize,
    verify_crc: bool,
    ended: bool,
}

impl Batches {
    /// The batches in `buffer`, checksums verified.
    pub fn new(buffer: Bytes) -> Self {
        Self {
            buffer,
            at: 0,
            verify_crc: true,
            ended: false,
        }
    }

    /// The batches in `buffer`, checksums left to the caller.
    pub fn unverified(buffer: Bytes) -> Self {
        Self {
            verify_crc: false,
            ..Self::new(buffer)
        }
    }

    /// Where the next batch begins. After an error, where the bad one does.
    pub fn position(&self) -> usize {
        self.at
    }

    /// How many bytes lie behind the batches that came out.
    pub fn remainder(&self) -> usize {
        self.buffer.len() - self.at
    }

    fn read(&mut self) -> Result<Option<Batch>> {
        let rest = &self.buffer[self.at..];
        let Some(prefix) = rest.first_chunk::<LENGTH_OVERHEAD>() else {
            return Ok(None);
        };
        let length = i32::from_be_bytes([prefix[8], prefix[9], prefix[10], prefix[11]]);
        if length < MIN_MESSAGE_LEN {
            return Err(Error::at(
                ErrorKind::Malformed,
                8,
                format!("length {length}; no record format has less than {MIN_MESSAGE_LEN}"),
            ));
        }
        // Looked at before the length is believed: a length is anything in
        // bytes that are no batch at all.
        let magic = match rest.get(MAGIC_AT) {
            None => return Ok(None),
            Some(&magic @ 0..=2) => magic as i8,
            Some(&magic) => return Err(header::unsupported_magic(magic as i8)),
        };
        let size = LENGTH_OVERHEAD + length as usize;
        if rest.len() < size {
            return Ok(None);
        }
        let bytes = self.buffer.slice(self.at..self.at + size);
        let batch = if magic == header::MAGIC {
            Batch::Records(RecordBatch::decode(bytes)?)
        } else {
            Batch::Messages(MessageBatch::decode(bytes)?)
        };
        if self.verify_crc {
            batch.verify_crc()?;
        }
        self.at += size;
        Ok(Some(batch))
    }
}

impl Iterator for Batches {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        match self.read() {
            Ok(Some(batch)) => Some(Ok(batch)),
            Ok(None) => {
                self.ended = true;
                None
            }
            Err(error) => {
                self.ended = true;
                Some(Err(error.shifted(self.at)))
            }
        }
    }
}

impl std::iter::FusedIterator for Batches {}
