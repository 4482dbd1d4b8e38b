//! The offsets that a log must remember: where it starts, up to where it was
//! synced, and up to where it was compacted.
//!
//! They are in [`OFFSETS`], which is replaced as a whole when the start moves
//! and when a segment is full. The synced offset moves with every sync; so it
//! is also written to [`SYNCED`], in place and without a sync of its own. After
//! `kill -9` that file is exact. After a power loss it may be old, or torn, but
//! it is never ahead of what was synced, which is all that recovery needs:
//! damage before it is damage to stored records, and no torn tail.

use std::path::Path;
use std::sync::Arc;

use super::clean_stop::CleanStop;
use super::names::{OFFSETS, SYNCED};
use super::txn_index::TxnIndexSummary;
use crate::files::{File, Files, Mode, read_small, replace};
use crate::{Error, Result};

/// The offsets themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Offsets {
    pub(super) log_start: i64,
    pub(super) synced: i64,
    /// Segments before it were compacted: offsets may be missing between the
    /// batches of one.
    pub(super) cleaned: i64,
    /// Segments before it are Kafka's, compacted: offsets may be missing at
    /// their ends too, which our own compaction keeps.
    pub(super) foreign: i64,
}

/// The content of [`OFFSETS`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OffsetsFile {
    pub(super) offsets: Offsets,
    /// Of the segments whose index of aborted transactions is not empty.
    pub(super) aborted: Vec<TxnIndexSummary>,
    /// When the log is closed: then the file is the last one that is written.
    pub(super) stop: Option<CleanStop>,
}

/// Far more than the segments and producers of one log take.
const LIMIT: u64 = 256 << 20;

/// What was found instead of offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoOffsets {
    /// Nothing: the log is new, or Kafka's.
    Missing,
    /// A damaged file.
    Damaged,
}

impl Offsets {
    fn text(self) -> String {
        let Self {
            log_start,
            synced,
            cleaned,
            foreign,
        } = self;
        format!("0\nlog-start {log_start}\nsynced {synced}\ncleaned {cleaned}\nforeign {foreign}\n")
    }
}

impl OffsetsFile {
    fn encode(&self) -> String {
        let mut text = self.offsets.text();
        for index in &self.aborted {
            let TxnIndexSummary {
                segment,
                count,
                crc,
            } = index;
            text += &format!("aborted {segment} {count} {crc:08x}\n");
        }
        if let Some(stop) = &self.stop {
            text += &stop.text();
        }
        let crc = crc_fast::crc32_iscsi(text.as_bytes());
        format!("{text}crc32c {crc:08x}\n")
    }

    fn decode(text: &str) -> Option<Self> {
        let before_crc = text.strip_suffix('\n')?.rfind('\n')? + 1;
        let mut lines = text[..before_crc].lines().peekable();
        lines.next()?;
        let offsets = Offsets {
            log_start: lines.next()?.strip_prefix("log-start ")?.parse().ok()?,
            synced: lines.next()?.strip_prefix("synced ")?.parse().ok()?,
            cleaned: lines.next()?.strip_prefix("cleaned ")?.parse().ok()?,
            foreign: lines.next()?.strip_prefix("foreign ")?.parse().ok()?,
        };
        let mut aborted = Vec::new();
        while let Some(line) = lines.next_if(|line| line.starts_with("aborted ")) {
            let mut words = line.split(' ').skip(1);
            aborted.push(TxnIndexSummary {
                segment: words.next()?.parse().ok()?,
                count: words.next()?.parse().ok()?,
                crc: u32::from_str_radix(words.next()?, 16).ok()?,
            });
        }
        let stop = match lines.peek() {
            Some(_) => Some(CleanStop::parse(lines)?),
            None => None,
        };
        let file = Self {
            offsets,
            aborted,
            stop,
        };
        // What is written in another way was not written here.
        (file.encode() == text).then_some(file)
    }

    pub(super) fn load(files: &dyn Files, dir: &Path) -> Result<Result<Self, NoOffsets>> {
        let path = dir.join(OFFSETS);
        match read_small(files, &path, LIMIT) {
            Ok(None) => Ok(Err(NoOffsets::Missing)),
            Ok(Some(bytes)) => Ok(std::str::from_utf8(&bytes)
                .ok()
                .and_then(Self::decode)
                .ok_or(NoOffsets::Damaged)),
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                Ok(Err(NoOffsets::Damaged))
            }
            Err(error) => Err(Error::io(format!("reading {}", path.display()), error)),
        }
    }

    pub(super) fn store(&self, files: &dyn Files, dir: &Path) -> Result<()> {
        let path = dir.join(OFFSETS);
        replace(files, &path, self.encode().as_bytes())
            .map_err(|error| Error::io(format!("writing {}", path.display()), error))
    }
}

/// [`SYNCED`]: two places that are written in turn, so that a torn write spoils
/// the older of them at most. It is opened when it is first written.
#[derive(Debug, Default)]
pub(super) struct SyncedFile(Option<OpenSyncedFile>);

#[derive(Debug)]
struct OpenSyncedFile {
    file: Arc<dyn File>,
    count: u64,
}

const SLOT: usize = 20;

impl SyncedFile {
    /// The largest offset in the file.
    pub(super) fn load(files: &dyn Files, dir: &Path) -> Result<Option<i64>> {
        let path = dir.join(SYNCED);
        let doing = |error| Error::io(format!("opening {}", path.display()), error);
        match files.open(&path, Mode::Read) {
            Ok(file) => Ok(newest(&*file).map_err(doing)?.map(|(_, offset)| offset)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(doing(error)),
        }
    }

    pub(super) fn write(
        &mut self,
        files: &dyn Files,
        dir: &Path,
        offset: i64,
    ) -> std::io::Result<()> {
        let open = match &mut self.0 {
            Some(open) => open,
            None => {
                let file = files.open(&dir.join(SYNCED), Mode::CreateOrWrite)?;
                let count = newest(&*file)?.map_or(0, |(count, _)| count.wrapping_add(1));
                self.0.insert(OpenSyncedFile { file, count })
            }
        };
        open.write(offset)
    }
}

fn newest(file: &dyn File) -> std::io::Result<Option<(u64, i64)>> {
    let mut bytes = [0; 2 * SLOT];
    let read = file.read_at(&mut bytes, 0)?;
    Ok(bytes[..read].chunks_exact(SLOT).filter_map(decode).max())
}

impl OpenSyncedFile {
    fn write(&mut self, offset: i64) -> std::io::Result<()> {
        let mut slot = [0; SLOT];
        slot[..8].copy_from_slice(&self.count.to_be_bytes());
        slot[8..16].copy_from_slice(&offset.to_be_bytes());
        let crc = crc_fast::crc32_iscsi(&slot[..16]);
        slot[16..].copy_from_slice(&crc.to_be_bytes());
        let position = (self.count % 2) * SLOT as u64;
        self.file.write_at(&slot, position)?;
        self.count = self.count.wrapping_add(1);
        Ok(())
    }
}

fn decode(slot: &[u8]) -> Option<(u64, i64)> {
    let (count, rest) = slot.split_first_chunk()?;
    let (offset, crc) = rest.split_first_chunk()?;
    let computed = crc_fast::crc32_iscsi(&slot[..16]).to_be_bytes();
    (crc == computed).then(|| (u64::from_be_bytes(*count), i64::from_be_bytes(*offset)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::MemoryFiles;

    #[test]
    fn any_flipped_bit_in_the_offsets_is_seen() {
        let (files, dir) = (MemoryFiles::new(), Path::new("/"));
        let load = || OffsetsFile::load(&files, dir).expect("read");
        assert_eq!(load(), Err(NoOffsets::Missing));
        let mut file = OffsetsFile {
            offsets: Offsets {
                log_start: 12,
                synced: 345,
                cleaned: 67,
                foreign: 8,
            },
            ..OffsetsFile::default()
        };
        file.store(&files, dir).expect("stored");
        assert_eq!(load(), Ok(file.clone()));
        file.aborted.push(TxnIndexSummary {
            segment: 20,
            count: 3,
            crc: 0xab,
        });
        let stop = [
            "end 345",
            "segment 0 100 7 8 -1",
            "segment 20 50 9 33 6",
            "batch 5 1 2 3 4",
        ];
        file.stop = CleanStop::parse(stop.into_iter());
        assert!(file.stop.is_some());
        file.store(&files, dir).expect("stored");
        assert_eq!(load(), Ok(file.clone()));
        let bytes = file.encode().into_bytes();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                replace(&files, &dir.join(OFFSETS), &damaged).expect("written");
                assert_eq!(load(), Err(NoOffsets::Damaged), "byte {at}, bit {bit}");
            }
        }
    }

    #[test]
    fn a_torn_write_spoils_only_the_older_slot() {
        let (files, dir) = (MemoryFiles::new(), Path::new("/"));
        let load = || SyncedFile::load(&files, dir).expect("read");
        assert_eq!(load(), None);
        let mut file = SyncedFile::default();
        for offset in 1..=5 {
            file.write(&files, dir, offset).expect("written");
        }
        assert_eq!(load(), Some(5));
        let mut again = SyncedFile::default();
        again.write(&files, dir, 6).expect("written");
        assert_eq!(load(), Some(6));
        // The slot that 6 went to, half overwritten by a 7 that was torn.
        let file = files.open(&dir.join(SYNCED), Mode::Write).expect("there");
        file.write_at(&[0xff; 7], SLOT as u64).expect("written");
        assert_eq!(load(), Some(5));
    }
}
