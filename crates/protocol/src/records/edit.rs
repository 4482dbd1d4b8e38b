//! Changing a batch's header where it lies, as a broker does with each batch
//! it appends.

use super::header::{BATCH_HEADER_LEN, BatchHeader, Producer};
use super::{Attributes, TimestampType};
use crate::{Error, ErrorKind, Result};

/// A whole batch in a writable buffer.
///
/// ```
/// # use copart_protocol::records::*;
/// # let mut builder = BatchBuilder::new();
/// # builder.append(1, None, Some(b"v"), &[]).unwrap();
/// # let batch = builder.seal(&Seal::default(), &mut Compressor::new()).unwrap();
/// # let mut frame = batch.bytes().to_vec();
/// let mut editor = BatchEditor::new(&mut frame)?;
/// editor.set_base_offset(42)?;
/// editor.set_partition_leader_epoch(7);
/// assert_eq!(editor.header().last_offset(), 42);
/// # RecordBatch::decode(frame.into())?.verify_crc()?;
/// # Ok::<(), copart_protocol::Error>(())
/// ```
#[derive(Debug)]
pub struct BatchEditor<'a> {
    header: BatchHeader,
    bytes: &'a mut [u8],
}

impl<'a> BatchEditor<'a> {
    /// The batch at the start of `buffer`. The buffer may hold more behind it.
    pub fn new(buffer: &'a mut [u8]) -> Result<Self> {
        let header = BatchHeader::parse(buffer)?;
        let available = buffer.len();
        let Some(bytes) = buffer.get_mut(..header.size) else {
            return Err(Error::at(
                ErrorKind::Truncated,
                available,
                format!("a batch of {} bytes, {available} are here", header.size),
            ));
        };
        Ok(Self { header, bytes })
    }

    /// The header as it is now.
    pub fn header(&self) -> &BatchHeader {
        &self.header
    }

    /// Sets the offset of the first record. The checksum does not cover it.
    ///
    /// # Errors
    /// When the batch's last offset would overflow.
    pub fn set_base_offset(&mut self, base_offset: i64) -> Result<()> {
        if base_offset >= i64::MAX - i64::from(self.header.last_offset_delta) {
            return Err(Error::new(
                ErrorKind::Unencodable,
                format!("base offset {base_offset} leaves no room for the batch"),
            ));
        }
        self.header.base_offset = base_offset;
        self.bytes[..8].copy_from_slice(&base_offset.to_be_bytes());
        Ok(())
    }

    /// Sets the leader epoch. The checksum does not cover it.
    pub fn set_partition_leader_epoch(&mut self, epoch: i32) {
        self.header.partition_leader_epoch = epoch;
        self.bytes[12..16].copy_from_slice(&epoch.to_be_bytes());
    }

    /// Gives all records the append time `timestamp`, and computes the
    /// checksum anew.
    pub fn set_log_append_time(&mut self, timestamp: i64) -> Result<()> {
        self.header.attributes = self
            .header
            .attributes
            .with_timestamp_type(TimestampType::LogAppendTime);
        self.header.max_timestamp = timestamp;
        self.rewrite()
    }

    /// Sets the largest timestamp of records that keep their own times, and
    /// computes the checksum anew. Brokers answer queries by time from this
    /// field, so they do not take a client's word for it.
    pub fn set_max_timestamp(&mut self, timestamp: i64) -> Result<()> {
        self.header.max_timestamp = timestamp;
        self.rewrite()
    }

    /// Sets the producer's identity, and computes the checksum anew. A
    /// producer needs this when it gets a new epoch with batches unsent.
    pub fn set_producer(&mut self, producer: Producer) -> Result<()> {
        self.header.producer = producer;
        self.rewrite()
    }

    /// Sets all attributes but the codec, which the records' bytes decide,
    /// and computes the checksum anew.
    pub fn set_attributes(&mut self, attributes: Attributes) -> Result<()> {
        let codec = self.header.attributes.codec().unwrap_or_default();
        self.header.attributes = attributes.with_codec(codec);
        self.rewrite()
    }

    fn rewrite(&mut self) -> Result<()> {
        debug_assert!(self.bytes.len() >= BATCH_HEADER_LEN);
        self.header.write(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BatchBuilder, Compressor, RecordBatch, Seal};
    use super::*;

    #[test]
    fn the_largest_timestamp_is_set_and_the_checksum_follows() {
        let mut builder = BatchBuilder::new();
        builder.append(5, None, Some(b"v"), &[]).expect("fits");
        let batch = builder
            .seal(&Seal::default(), &mut Compressor::new())
            .expect("seals");
        let mut bytes = batch.bytes().to_vec();
        let mut editor = BatchEditor::new(&mut bytes).expect("a batch");
        editor.set_max_timestamp(9).expect("fits");
        let edited = RecordBatch::decode(bytes.into()).expect("a batch");
        edited.verify_crc().expect("the checksum follows");
        assert_eq!(edited.header().max_timestamp, 9);
        assert_ne!(edited.header().crc, batch.header().crc);
    }
}
