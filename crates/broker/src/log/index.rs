//! A segment's two indexes: from offset to position, and from time to offset.
//!
//! What is added to the index of the segment that is written is in memory, and
//! is stored when the segment is full or the log is closed. After a crash it is
//! made anew from the batches. The indexes of full segments stay in their files.

use std::cmp::Ordering;
use std::path::Path;
use std::sync::Arc;

use crate::files::{File, Files, Mode, read_exact_at, replace};
use crate::{Error, Result};

/// An entry of fixed length. Offsets are relative to the segment's first.
pub(super) trait Entry: Copy {
    const LEN: usize;
    fn encode(self, out: &mut Vec<u8>);
    fn decode(bytes: &[u8]) -> Self;
    /// Does `self` come before `next` in an index that is sound?
    fn precedes(self, next: Self) -> bool;
}

/// A batch's last offset and where the batch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OffsetEntry {
    pub(super) relative_offset: i32,
    pub(super) position: i32,
}

/// The largest timestamp so far, and the last offset of its batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimeEntry {
    pub(super) timestamp: i64,
    pub(super) relative_offset: i32,
}

impl Entry for OffsetEntry {
    const LEN: usize = 8;

    fn encode(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.relative_offset.to_be_bytes());
        out.extend_from_slice(&self.position.to_be_bytes());
    }

    fn decode(bytes: &[u8]) -> Self {
        Self {
            relative_offset: i32::from_be_bytes(array(bytes, 0)),
            position: i32::from_be_bytes(array(bytes, 4)),
        }
    }

    fn precedes(self, next: Self) -> bool {
        self.relative_offset < next.relative_offset && self.position < next.position
    }
}

impl Entry for TimeEntry {
    const LEN: usize = 12;

    fn encode(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.timestamp.to_be_bytes());
        out.extend_from_slice(&self.relative_offset.to_be_bytes());
    }

    fn decode(bytes: &[u8]) -> Self {
        Self {
            timestamp: i64::from_be_bytes(array(bytes, 0)),
            relative_offset: i32::from_be_bytes(array(bytes, 8)),
        }
    }

    fn precedes(self, next: Self) -> bool {
        self.timestamp < next.timestamp && self.relative_offset <= next.relative_offset
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[at..at + N]);
    array
}

/// The entries of one index, in ascending order: those in a file, then those
/// in memory.
#[derive(Debug)]
pub(super) struct Index<E> {
    stored: Option<Stored>,
    added: Vec<E>,
    last: Option<E>,
}

#[derive(Debug)]
struct Stored {
    file: Arc<dyn File>,
    count: usize,
}

/// Does the whole of an index have to be looked at when it is opened?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    /// Are the entries in order?
    All,
    /// Is it there? Lookups compare entries with the batches anyhow.
    Size,
}

impl<E: Entry> Index<E> {
    pub(super) fn empty() -> Self {
        Self {
            stored: None,
            added: Vec::new(),
            last: None,
        }
    }

    /// Opens a stored index. `None` if it is missing, or damaged as far as
    /// that shows in the index alone.
    pub(super) fn open(files: &dyn Files, path: &Path, check: Check) -> Result<Option<Self>> {
        let file = match files.open(path, Mode::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(format!("opening {}", path.display()), error)),
        };
        let size = file
            .size()
            .map_err(|error| Error::io(format!("reading {}", path.display()), error))?
            as usize;
        if !size.is_multiple_of(E::LEN) {
            return Ok(None);
        }
        let stored = Stored {
            file,
            count: size / E::LEN,
        };
        if check == Check::All && !stored.is_sound::<E>()? {
            return Ok(None);
        }
        let last = match stored.count.checked_sub(1) {
            Some(last) => Some(stored.get(last)?),
            None => None,
        };
        Ok(Some(Self {
            stored: Some(stored),
            added: Vec::new(),
            last,
        }))
    }

    /// Writes all entries to a file, unless they are there.
    pub(super) fn store(&self, files: &dyn Files, path: &Path) -> Result<()> {
        if self.is_stored() {
            return Ok(());
        }
        let mut bytes = match &self.stored {
            Some(stored) => stored.bytes(E::LEN)?,
            None => Vec::new(),
        };
        bytes.reserve_exact(self.added.len() * E::LEN);
        for entry in &self.added {
            entry.encode(&mut bytes);
        }
        replace(files, path, &bytes)
            .map_err(|error| Error::io(format!("writing {}", path.display()), error))
    }

    /// Forgets the entries in memory, and reads them from the file where they
    /// were stored.
    pub(super) fn leave_memory(&mut self, files: &dyn Files, path: &Path) -> Result<()> {
        if !self.is_stored() {
            let file = files
                .open(path, Mode::Read)
                .map_err(|error| Error::io(format!("opening {}", path.display()), error))?;
            let count = self.len();
            self.stored = Some(Stored { file, count });
            self.added = Vec::new();
        }
        Ok(())
    }

    /// Are all entries in the file?
    pub(super) fn is_stored(&self) -> bool {
        self.stored.is_some() && self.added.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.stored.as_ref().map_or(0, |stored| stored.count) + self.added.len()
    }

    pub(super) fn size(&self) -> u64 {
        (self.len() * E::LEN) as u64
    }

    fn get(&self, index: usize) -> Result<E> {
        match &self.stored {
            Some(stored) if index < stored.count => stored.get(index),
            Some(stored) => Ok(self.added[index - stored.count]),
            None => Ok(self.added[index]),
        }
    }

    pub(super) fn last(&self) -> Option<E> {
        self.last
    }

    pub(super) fn push(&mut self, entry: E) {
        self.added.push(entry);
        self.last = Some(entry);
    }

    /// The last entry that does not compare greater.
    pub(super) fn floor(&self, compare: impl Fn(&E) -> Ordering) -> Result<Option<E>> {
        let (mut low, mut high) = (0, self.len());
        let mut found = None;
        while low < high {
            let middle = low + (high - low) / 2;
            let entry = self.get(middle)?;
            if compare(&entry) == Ordering::Greater {
                high = middle;
            } else {
                found = Some(entry);
                low = middle + 1;
            }
        }
        Ok(found)
    }
}

impl Stored {
    fn get<E: Entry>(&self, index: usize) -> Result<E> {
        let mut bytes = [0; 12];
        let bytes = &mut bytes[..E::LEN];
        read_exact_at(&*self.file, bytes, (index * E::LEN) as u64)
            .map_err(|error| Error::io("reading an index", error))?;
        Ok(E::decode(bytes))
    }

    /// The file's content: at most as large as an index may get.
    fn bytes(&self, entry_len: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; self.count * entry_len];
        read_exact_at(&*self.file, &mut bytes, 0)
            .map_err(|error| Error::io("reading an index", error))?;
        Ok(bytes)
    }

    fn is_sound<E: Entry>(&self) -> Result<bool> {
        let mut previous: Option<E> = None;
        let mut chunk = vec![0; E::LEN * self.count.min(4096)];
        let mut done = 0;
        while done < self.count {
            let len = (self.count - done).min(4096) * E::LEN;
            read_exact_at(&*self.file, &mut chunk[..len], (done * E::LEN) as u64)
                .map_err(|error| Error::io("reading an index", error))?;
            for bytes in chunk[..len].chunks_exact(E::LEN) {
                let entry = E::decode(bytes);
                if previous.is_some_and(|previous| !previous.precedes(entry)) {
                    return Ok(false);
                }
                previous = Some(entry);
            }
            done += len / E::LEN;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::MemoryFiles;

    #[test]
    fn entries_are_laid_out_as_kafka_does() {
        let mut bytes = Vec::new();
        let entry = OffsetEntry {
            relative_offset: 1,
            position: 0x0203,
        };
        entry.encode(&mut bytes);
        assert_eq!(bytes, [0, 0, 0, 1, 0, 0, 2, 3]);
        assert_eq!(OffsetEntry::decode(&bytes), entry);
        bytes.clear();
        let entry = TimeEntry {
            timestamp: 5,
            relative_offset: 7,
        };
        entry.encode(&mut bytes);
        assert_eq!(bytes, [0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 7]);
        assert_eq!(TimeEntry::decode(&bytes), entry);
    }

    #[test]
    fn floors_are_the_same_in_memory_and_stored() {
        let files = MemoryFiles::new();
        let path = Path::new("/i");
        let mut index = Index::empty();
        for n in 0..10 {
            index.push(OffsetEntry {
                relative_offset: n * 10,
                position: n * 100,
            });
        }
        for stored in [false, true] {
            if stored {
                index.store(&files, path).expect("stored");
                index.leave_memory(&files, path).expect("opened");
                assert_eq!(index.len(), 10);
                index = Index::open(&files, path, Check::All)
                    .expect("read")
                    .expect("sound");
            }
            for (target, expected) in [(-1, None), (0, Some(0)), (9, Some(0)), (95, Some(900))] {
                let found = index
                    .floor(|entry| entry.relative_offset.cmp(&target))
                    .expect("found");
                assert_eq!(found.map(|entry: OffsetEntry| entry.position), expected);
            }
        }
    }

    #[test]
    fn damaged_indexes_are_not_opened() {
        let files = MemoryFiles::new();
        let path = Path::new("/i");
        assert!(
            Index::<TimeEntry>::open(&files, path, Check::All)
                .expect("read")
                .is_none()
        );
        for bytes in [vec![0; 13], vec![0; 24]] {
            replace(&files, path, &bytes).expect("written");
            assert!(
                Index::<TimeEntry>::open(&files, path, Check::All)
                    .expect("read")
                    .is_none()
            );
        }
    }
}
