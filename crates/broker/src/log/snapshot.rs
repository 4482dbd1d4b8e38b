//! Producer state in a file, `%020d.snapshot`: the state up to that offset, so
//! that a start reads only the batches behind it.
//!
//! Kafka's format has room for each producer's last batch. The ones before it
//! are found in the log when a snapshot is loaded.

use std::collections::VecDeque;
use std::path::Path;

use super::names::{SNAPSHOT, numbered};
use super::producers::{ProducerBatch, ProducerState, Producers};
use crate::files::{Files, read_small, replace};
use crate::{Error, Result};

const VERSION: i16 = 1;
/// The checksum covers what lies behind it.
const CHECKED_FROM: usize = 6;
const ENTRIES_FROM: usize = 10;
const ENTRY_LEN: usize = 8 + 2 + 4 + 8 + 4 + 8 + 4 + 8;
/// A snapshot of five million producers.
const LIMIT: u64 = ENTRY_LEN as u64 * 5_000_000;

pub(super) fn encode(producers: &Producers) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(ENTRIES_FROM + producers.len() * ENTRY_LEN);
    bytes.extend_from_slice(&VERSION.to_be_bytes());
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(&(producers.len() as i32).to_be_bytes());
    for state in producers.iter() {
        let last = state.batches.back();
        bytes.extend_from_slice(&state.id.to_be_bytes());
        bytes.extend_from_slice(&state.epoch.to_be_bytes());
        bytes.extend_from_slice(&state.last_sequence().to_be_bytes());
        bytes.extend_from_slice(&last.map_or(-1, |last| last.last_offset).to_be_bytes());
        bytes.extend_from_slice(&last.map_or(0, |last| last.offset_delta).to_be_bytes());
        bytes.extend_from_slice(&state.last_timestamp.to_be_bytes());
        bytes.extend_from_slice(&state.coordinator_epoch.to_be_bytes());
        bytes.extend_from_slice(&state.transaction_start.unwrap_or(-1).to_be_bytes());
    }
    let crc = crc_fast::crc32_iscsi(&bytes[CHECKED_FROM..]);
    bytes[2..CHECKED_FROM].copy_from_slice(&crc.to_be_bytes());
    bytes
}

/// `None` if the bytes are no snapshot, or a damaged one.
pub(super) fn decode(bytes: &[u8]) -> Option<Producers> {
    let mut rest = bytes;
    let version = i16::from_be_bytes(take(&mut rest)?);
    let crc = u32::from_be_bytes(take(&mut rest)?);
    if version != VERSION || crc != crc_fast::crc32_iscsi(rest) {
        return None;
    }
    let count = usize::try_from(i32::from_be_bytes(take(&mut rest)?)).ok()?;
    if count.checked_mul(ENTRY_LEN)? != rest.len() {
        return None;
    }
    let mut producers = Producers::default();
    for _ in 0..count {
        let id = i64::from_be_bytes(take(&mut rest)?);
        let epoch = i16::from_be_bytes(take(&mut rest)?);
        let last_sequence = i32::from_be_bytes(take(&mut rest)?);
        let last_offset = i64::from_be_bytes(take(&mut rest)?);
        let offset_delta = i32::from_be_bytes(take(&mut rest)?);
        let timestamp = i64::from_be_bytes(take(&mut rest)?);
        let coordinator_epoch = i32::from_be_bytes(take(&mut rest)?);
        let transaction_start = i64::from_be_bytes(take(&mut rest)?);
        let mut batches = VecDeque::new();
        if last_sequence >= 0 && offset_delta >= 0 && last_offset >= i64::from(offset_delta) {
            batches.push_back(ProducerBatch {
                last_sequence,
                last_offset,
                offset_delta,
                timestamp,
            });
        }
        producers.insert(ProducerState {
            id,
            epoch,
            batches,
            last_timestamp: timestamp,
            coordinator_epoch,
            transaction_start: (transaction_start >= 0).then_some(transaction_start),
        });
    }
    Some(producers)
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk()?;
    *rest = tail;
    Some(*head)
}

pub(super) fn store(
    files: &dyn Files,
    dir: &Path,
    offset: i64,
    producers: &Producers,
) -> Result<()> {
    let path = numbered(dir, offset, SNAPSHOT);
    replace(files, &path, &encode(producers))
        .map_err(|error| Error::io(format!("writing {}", path.display()), error))
}

/// `None` if there is no sound snapshot at this offset.
pub(super) fn load(files: &dyn Files, dir: &Path, offset: i64) -> Result<Option<Producers>> {
    let path = numbered(dir, offset, SNAPSHOT);
    match read_small(files, &path, LIMIT) {
        Ok(bytes) => Ok(bytes.as_deref().and_then(decode)),
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => Ok(None),
        Err(error) => Err(Error::io(format!("reading {}", path.display()), error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Producers {
        let mut producers = Producers::default();
        for id in [3, 7] {
            producers.insert(ProducerState {
                id,
                epoch: 2,
                batches: VecDeque::from([ProducerBatch {
                    last_sequence: 9,
                    last_offset: 109,
                    offset_delta: 4,
                    timestamp: 55,
                }]),
                last_timestamp: 55,
                coordinator_epoch: 6,
                transaction_start: (id == 7).then_some(105),
            });
        }
        producers
    }

    #[test]
    fn comes_back_as_it_was() {
        let bytes = encode(&sample());
        assert_eq!(bytes.len(), ENTRIES_FROM + 2 * ENTRY_LEN);
        assert_eq!(decode(&bytes), Some(sample()));
        assert_eq!(
            decode(&encode(&Producers::default())),
            Some(Producers::default())
        );
    }

    #[test]
    fn any_flipped_bit_or_missing_byte_is_seen() {
        let bytes = encode(&sample());
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                assert_eq!(decode(&damaged), None, "byte {at}, bit {bit}");
            }
            assert_eq!(decode(&bytes[..at]), None, "cut at {at}");
        }
    }
}
