//! A segment's two indexes: from offset to position, and from time to offset.
//!
//! The index of the segment that is written is in memory, and is stored when
//! the segment is full or the log is closed. After a crash it is made anew
//! from the batches. The indexes of full segments stay in their files.

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

/// The entries of one index, in ascending order.
#[derive(Debug)]
pub(super) enum Index<E> {
    /// Of the segment that is written.
    Memory(Vec<E>),
    /// Of a full segment.
    Stored { file: Arc<dyn File>, count: usize },
}

impl<E: Entry> Index<E> {
    pub(super) fn empty() -> Self {
        Self::Memory(Vec::new())
    }

    /// Opens a stored index. `None` if it is missing, or damaged as far as
    /// that shows in the index alone.
    pub(super) fn open(files: &dyn Files, path: &Path) -> Result<Option<Self>> {
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
        let index = Self::Stored {
            file,
            count: size / E::LEN,
        };
        Ok(index.is_sound()?.then_some(index))
    }

    fn is_sound(&self) -> Result<bool> {
        let Self::Stored { file, count } = self else {
            return Ok(true);
        };
        let mut previous: Option<E> = None;
        let mut chunk = vec![0; E::LEN * 4096];
        let mut done = 0;
        while done < *count {
            let len = (count - done).min(4096) * E::LEN;
            read_exact_at(&**file, &mut chunk[..len], (done * E::LEN) as u64)
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

    /// Writes the entries in memory to a file. The index stays in memory.
    pub(super) fn store(&self, files: &dyn Files, path: &Path) -> Result<()> {
        let Self::Memory(entries) = self else {
            return Ok(());
        };
        let mut bytes = Vec::with_capacity(entries.len() * E::LEN);
        for entry in entries {
            entry.encode(&mut bytes);
        }
        replace(files, path, &bytes)
            .map_err(|error| Error::io(format!("writing {}", path.display()), error))
    }

    /// Forgets the entries in memory, and reads them from the file where they
    /// were stored.
    pub(super) fn leave_memory(&mut self, files: &dyn Files, path: &Path) -> Result<()> {
        if let Self::Memory(entries) = self {
            let count = entries.len();
            let file = files
                .open(path, Mode::Read)
                .map_err(|error| Error::io(format!("opening {}", path.display()), error))?;
            *self = Self::Stored { file, count };
        }
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Memory(entries) => entries.len(),
            Self::Stored { count, .. } => *count,
        }
    }

    pub(super) fn size(&self) -> u64 {
        (self.len() * E::LEN) as u64
    }

    fn get(&self, index: usize) -> Result<E> {
        match self {
            Self::Memory(entries) => Ok(entries[index]),
            Self::Stored { file, .. } => {
                let mut bytes = [0; 12];
                let bytes = &mut bytes[..E::LEN];
                read_exact_at(&**file, bytes, (index * E::LEN) as u64)
                    .map_err(|error| Error::io("reading an index", error))?;
                Ok(E::decode(bytes))
            }
        }
    }

    pub(super) fn last(&self) -> Result<Option<E>> {
        match self.len() {
            0 => Ok(None),
            len => self.get(len - 1).map(Some),
        }
    }

    /// Appends an entry. Only the index of the segment that is written grows.
    pub(super) fn push(&mut self, entry: E) {
        match self {
            Self::Memory(entries) => entries.push(entry),
            Self::Stored { .. } => debug_assert!(false, "a stored index does not grow"),
        }
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
                index = Index::open(&files, path).expect("read").expect("sound");
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
            Index::<TimeEntry>::open(&files, path)
                .expect("read")
                .is_none()
        );
        for bytes in [vec![0; 13], vec![0; 24]] {
            replace(&files, path, &bytes).expect("written");
            assert!(
                Index::<TimeEntry>::open(&files, path)
                    .expect("read")
                    .is_none()
            );
        }
    }
}
