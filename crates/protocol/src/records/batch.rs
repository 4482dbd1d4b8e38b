//! One record batch: its header, and its records still encoded.

use bytes::{Bytes, BytesMut};

use super::decode::{Records, Shared};
use super::edit::BatchEditor;
use super::header::{BATCH_HEADER_LEN, BatchHeader, Producer};
use super::{Codec, Decompressor};
use crate::{Error, ErrorKind, Result};

/// A whole record batch (format version 2).
///
/// Decoding looks at the header alone. A broker stops there; a consumer asks
/// for the [`records`](Self::records).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordBatch {
    header: BatchHeader,
    bytes: Bytes,
}

impl RecordBatch {
    /// Takes `bytes` as one batch, no less and no more. The checksum is not
    /// looked at: call [`verify_crc`](Self::verify_crc) for that.
    ///
    /// For a buffer that holds several batches, or a part of one at its end,
    /// there is [`Batches`](super::Batches).
    pub fn decode(bytes: Bytes) -> Result<Self> {
        let header = BatchHeader::parse(&bytes)?;
        if header.size > bytes.len() {
            return Err(Error::at(
                ErrorKind::Truncated,
                bytes.len(),
                format!("a batch of {} bytes, {} are here", header.size, bytes.len()),
            ));
        }
        if header.size < bytes.len() {
            return Err(Error::at(
                ErrorKind::Malformed,
                header.size,
                format!("{} bytes behind the batch", bytes.len() - header.size),
            ));
        }
        Ok(Self { header, bytes })
    }

    /// Puts `header` in front of the encoded records: `batch` is as long as a
    /// header, then the records. Sizes and checksum are computed.
    pub(super) fn assemble(mut header: BatchHeader, mut batch: Vec<u8>) -> Result<Self> {
        header.write(&mut batch)?;
        Ok(Self {
            header,
            bytes: batch.into(),
        })
    }

    /// A batch without records that stands for those that compaction removed:
    /// the offsets, the producer and the last sequence stay known.
    pub fn emptied(header: &BatchHeader) -> Result<Self> {
        let mut header = header.clone();
        header.record_count = 0;
        header.attributes = header.attributes.with_codec(Codec::None);
        Self::assemble(header, vec![0; BATCH_HEADER_LEN])
    }

    /// The batch's header.
    pub fn header(&self) -> &BatchHeader {
        &self.header
    }

    /// The batch as it goes over the wire and into the log.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The batch as it goes over the wire and into the log.
    pub fn into_bytes(self) -> Bytes {
        self.bytes
    }

    /// The records as the batch holds them, compressed or not.
    pub fn encoded_records(&self) -> Bytes {
        self.bytes.slice(BATCH_HEADER_LEN..)
    }

    /// Compares the checksum with the bytes.
    pub fn verify_crc(&self) -> Result<()> {
        self.header.verify_crc(&self.bytes)
    }

    /// The batch's records: a part of this buffer, or decompressed into a new
    /// one.
    pub fn records(&self, decompressor: &mut Decompressor) -> Result<Records> {
        let encoded = &self.bytes[BATCH_HEADER_LEN..];
        match self.header.attributes.codec().unwrap_or_default() {
            Codec::None => Records::new(
                self.encoded_records(),
                Shared::of(&self.header, BATCH_HEADER_LEN),
            ),
            codec => {
                let mut data = Vec::new();
                decompressor
                    .decompress(codec, encoded, &mut data)
                    .map_err(|error| error.shifted(BATCH_HEADER_LEN))?;
                // The buffer was a guess, and records may be kept for long.
                if data.capacity() / 2 > data.len() {
                    data.shrink_to_fit();
                }
                Records::new(data.into(), Shared::of(&self.header, 0))
                    .map_err(|error| error.within("decompressed records"))
            }
        }
    }

    /// The same batch with another producer identity, as when a producer gets
    /// a new epoch. Changes the bytes where they are if nobody shares them.
    pub fn with_producer(self, producer: Producer) -> Result<Self> {
        let mut bytes = self
            .bytes
            .try_into_mut()
            .unwrap_or_else(|shared| BytesMut::from(&shared[..]));
        let mut editor = BatchEditor::new(&mut bytes)?;
        editor.set_producer(producer)?;
        let header = editor.header().clone();
        Ok(Self {
            header,
            bytes: bytes.freeze(),
        })
    }
}
