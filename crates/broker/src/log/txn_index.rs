//! Aborted transactions, `.txnindex`: what a read_committed consumer must be
//! told so that it skips their records.
//!
//! The entries of a segment are those whose marker is in it. They are in
//! memory; the file is written when the segment is full. It has no checksum of
//! its own, and a missing one looks like one without entries: so the file of
//! the log's offsets says which segments have how many.

use std::path::Path;

use super::names::{TXN_INDEX, numbered};
use crate::files::{Files, read_small, remove_if_there, replace};
use crate::{Error, Result};

const VERSION: i16 = 0;
const ENTRY_LEN: usize = 2 + 4 * 8;
const LIMIT: u64 = 1 << 30;

/// An aborted transaction in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AbortedTransaction {
    /// The producer's id.
    pub producer_id: i64,
    /// The offset of the transaction's first record here.
    pub first_offset: i64,
    /// The offset of its marker.
    pub last_offset: i64,
    /// The last stable offset behind the marker, when that was written.
    pub last_stable_offset: i64,
}

impl AbortedTransaction {
    fn encode(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&VERSION.to_be_bytes());
        for field in [
            self.producer_id,
            self.first_offset,
            self.last_offset,
            self.last_stable_offset,
        ] {
            out.extend_from_slice(&field.to_be_bytes());
        }
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (version, mut rest) = bytes.split_first_chunk()?;
        let mut field = || {
            let (head, tail) = rest.split_first_chunk()?;
            rest = tail;
            Some(i64::from_be_bytes(*head))
        };
        let entry = Self {
            producer_id: field()?,
            first_offset: field()?,
            last_offset: field()?,
            last_stable_offset: field()?,
        };
        let sound = i16::from_be_bytes(*version) == VERSION
            && 0 <= entry.first_offset
            && entry.first_offset <= entry.last_offset;
        sound.then_some(entry)
    }
}

/// What the file of the log's offsets says of one segment's index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TxnIndexSummary {
    pub(super) segment: i64,
    pub(super) count: usize,
    pub(super) crc: u32,
}

fn encode(entries: &[AbortedTransaction]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(entries.len() * ENTRY_LEN);
    for entry in entries {
        entry.encode(&mut bytes);
    }
    bytes
}

/// `None` for a segment without aborted transactions.
pub(super) fn summary(segment: i64, entries: &[AbortedTransaction]) -> Option<TxnIndexSummary> {
    (!entries.is_empty()).then(|| TxnIndexSummary {
        segment,
        count: entries.len(),
        crc: crc_fast::crc32_iscsi(&encode(entries)),
    })
}

/// Writes the file, or removes it when there is nothing to say.
pub(super) fn store(
    files: &dyn Files,
    dir: &Path,
    segment: i64,
    entries: &[AbortedTransaction],
) -> Result<()> {
    let path = numbered(dir, segment, TXN_INDEX);
    match entries {
        [] => remove_if_there(files, &path),
        _ => replace(files, &path, &encode(entries)),
    }
    .map_err(|error| Error::io(format!("writing {}", path.display()), error))
}

/// Reads the file; without one there are no entries. `None` if it is not as the
/// summary says, or damaged as far as that shows.
pub(super) fn load(
    files: &dyn Files,
    dir: &Path,
    segment: i64,
    summary: Option<&TxnIndexSummary>,
) -> Result<Option<Vec<AbortedTransaction>>> {
    let path = numbered(dir, segment, TXN_INDEX);
    let bytes = match read_small(files, &path, LIMIT) {
        Ok(bytes) => bytes.unwrap_or_default(),
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => return Ok(None),
        Err(error) => return Err(Error::io(format!("reading {}", path.display()), error)),
    };
    if let Some(summary) = summary
        && (bytes.len() != summary.count.saturating_mul(ENTRY_LEN)
            || crc_fast::crc32_iscsi(&bytes) != summary.crc)
    {
        return Ok(None);
    }
    if !bytes.len().is_multiple_of(ENTRY_LEN) {
        return Ok(None);
    }
    let entries = bytes.chunks_exact(ENTRY_LEN);
    Ok(entries.map(AbortedTransaction::decode).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::MemoryFiles;

    #[test]
    fn entries_are_kafkas_and_damage_is_seen() {
        let (files, dir) = (MemoryFiles::new(), Path::new("/"));
        let entries = [
            AbortedTransaction {
                producer_id: 1,
                first_offset: 2,
                last_offset: 3,
                last_stable_offset: 4,
            },
            AbortedTransaction {
                producer_id: 0x0102_0304_0506_0708,
                first_offset: 5,
                last_offset: 9,
                last_stable_offset: 10,
            },
        ];
        store(&files, dir, 0, &entries).expect("stored");
        let path = numbered(dir, 0, TXN_INDEX);
        let bytes = read_small(&files, &path, 100)
            .expect("read")
            .expect("there");
        assert_eq!(bytes.len(), 68);
        assert_eq!(bytes[34..44], [0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
        let known = summary(0, &entries);
        let load = |known: Option<&_>| load(&files, dir, 0, known).expect("read");
        for known in [None, known.as_ref()] {
            assert_eq!(load(known).as_deref(), Some(&entries[..]));
        }
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                replace(&files, &path, &damaged).expect("written");
                assert_eq!(load(known.as_ref()), None, "byte {at}, bit {bit}");
            }
            replace(&files, &path, &bytes[..at]).expect("written");
            assert_eq!(load(known.as_ref()), None, "cut at {at}");
            assert_eq!(load(None).is_some(), at % 34 == 0, "cut at {at}");
        }
        store(&files, dir, 0, &[]).expect("removed");
        assert_eq!(load(None), Some(Vec::new()));
        assert_eq!(load(known.as_ref()), None, "missing");
    }
}
