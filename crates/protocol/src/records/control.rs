//! Control batches: what brokers write between the records of applications.

use super::NO_SEQUENCE;
use super::batch::RecordBatch;
use super::builder::{BatchBuilder, Seal};
use super::compression::Compressor;
use super::header::Producer;
use super::record::RecordView;
use crate::{Error, ErrorKind, Result};

/// What a control record says, from its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ControlType {
    /// A transaction was aborted here.
    Abort,
    /// A transaction was committed here.
    Commit,
    /// The metadata quorum has a new leader.
    LeaderChange,
    /// A metadata snapshot begins.
    SnapshotHeader,
    /// A metadata snapshot ends.
    SnapshotFooter,
    /// The metadata quorum's protocol version.
    KRaftVersion,
    /// The metadata quorum's voters.
    KRaftVoters,
    /// A type that came later. Readers skip it.
    Unknown(i16),
}

impl ControlType {
    /// Reads the type from a control record's key.
    pub fn decode(record: &RecordView<'_>) -> Result<Self> {
        let key = record.key.unwrap_or_default();
        let Some(&[v0, v1, t0, t1]) = key.first_chunk::<4>() else {
            return Err(malformed(
                record.offset,
                format!("a key of {} bytes, it needs 4", key.len()),
            ));
        };
        // Later versions may add to the key, but not change what is here.
        let version = i16::from_be_bytes([v0, v1]);
        if version < 0 {
            return Err(malformed(
                record.offset,
                format!("key version {version} is negative"),
            ));
        }
        Ok(Self::from_id(i16::from_be_bytes([t0, t1])))
    }

    const fn from_id(id: i16) -> Self {
        match id {
            0 => Self::Abort,
            1 => Self::Commit,
            2 => Self::LeaderChange,
            3 => Self::SnapshotHeader,
            4 => Self::SnapshotFooter,
            5 => Self::KRaftVersion,
            6 => Self::KRaftVoters,
            id => Self::Unknown(id),
        }
    }
}

/// How a transaction ended, as its coordinator has it written to each of the
/// transaction's partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TransactionMarker {
    /// Committed, or aborted?
    pub commit: bool,
    /// The coordinator's epoch, which fences one that was replaced.
    pub coordinator_epoch: i32,
}

impl TransactionMarker {
    /// Reads a control record. `None` if it is about something else than a
    /// transaction.
    pub fn decode(record: &RecordView<'_>) -> Result<Option<Self>> {
        let commit = match ControlType::decode(record)? {
            ControlType::Commit => true,
            ControlType::Abort => false,
            _ => return Ok(None),
        };
        let value = record.value.unwrap_or_default();
        let Some(&[v0, v1, e0, e1, e2, e3]) = value.first_chunk::<6>() else {
            return Err(malformed(
                record.offset,
                format!("a value of {} bytes, it needs 6", value.len()),
            ));
        };
        let version = i16::from_be_bytes([v0, v1]);
        if version < 0 {
            return Err(malformed(
                record.offset,
                format!("value version {version} is negative"),
            ));
        }
        Ok(Some(Self {
            commit,
            coordinator_epoch: i32::from_be_bytes([e0, e1, e2, e3]),
        }))
    }

    /// The control batch that ends a transaction of this producer. Its base
    /// offset is 0, and its leader epoch -1, until the log assigns them.
    pub fn to_batch(
        self,
        producer_id: i64,
        producer_epoch: i16,
        timestamp: i64,
    ) -> Result<RecordBatch> {
        let [t0, t1] = i16::from(self.commit).to_be_bytes();
        let [e0, e1, e2, e3] = self.coordinator_epoch.to_be_bytes();
        let mut builder = BatchBuilder::with_capacity(96);
        builder.append(
            timestamp,
            Some(&[0, 0, t0, t1]),
            Some(&[0, 0, e0, e1, e2, e3]),
            &[],
        )?;
        let seal = Seal {
            producer: Producer {
                id: producer_id,
                epoch: producer_epoch,
                // A marker takes no sequence: the coordinator writes it.
                base_sequence: NO_SEQUENCE,
            },
            transactional: true,
            control: true,
            ..Seal::default()
        };
        builder.seal(&seal, &mut Compressor::new())
    }
}

#[cold]
fn malformed(offset: i64, reason: String) -> Error {
    Error::new(ErrorKind::Malformed, reason).within(format!("control record at offset {offset}"))
}
