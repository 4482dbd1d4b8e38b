//! Where each leader epoch begins: `leader-epoch-checkpoint`.

use std::path::Path;

use super::names::LEADER_EPOCHS;
use crate::files::{Files, read_small, replace};
use crate::{Error, Result};

/// One epoch's begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpochStart {
    /// The leader epoch.
    pub epoch: i32,
    /// The offset of the first record of the epoch.
    pub start_offset: i64,
}

/// The epochs of a log, in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LeaderEpochs(Vec<EpochStart>);

impl LeaderEpochs {
    pub(super) fn latest(&self) -> Option<i32> {
        self.0.last().map(|entry| entry.epoch)
    }

    /// The offset that the latest epoch begins at.
    pub(super) fn end(&self) -> i64 {
        self.0.last().map_or(0, |entry| entry.start_offset)
    }

    pub(super) fn entries(&self) -> &[EpochStart] {
        &self.0
    }

    /// Begins an epoch, if it is newer than the latest. Returns whether it is.
    pub(super) fn begin(&mut self, epoch: i32, start_offset: i64) -> bool {
        if epoch < 0 || self.latest().is_some_and(|latest| latest >= epoch) {
            return false;
        }
        // An epoch without records is no epoch.
        self.cut_end(start_offset);
        self.0.push(EpochStart {
            epoch,
            start_offset,
        });
        true
    }

    /// Forgets epochs that begin at `end_offset` or later.
    pub(super) fn cut_end(&mut self, end_offset: i64) {
        self.0.retain(|entry| entry.start_offset < end_offset);
    }

    /// Forgets epochs that end before `start_offset`, and lets the first one
    /// that is left begin there.
    pub(super) fn cut_start(&mut self, start_offset: i64) {
        let before = self.0.partition_point(|e| e.start_offset <= start_offset);
        if before > 0 {
            self.0.drain(..before - 1);
            self.0[0].start_offset = start_offset;
        }
    }

    /// The epoch of the record at `offset`.
    pub(super) fn of(&self, offset: i64) -> Option<i32> {
        let after = self.0.partition_point(|entry| entry.start_offset <= offset);
        Some(self.0[after.checked_sub(1)?].epoch)
    }

    /// The largest epoch that is not larger than `epoch`, and the offset
    /// behind its last record.
    pub(super) fn end_offset(&self, epoch: i32, log_end: i64) -> Option<(i32, i64)> {
        if epoch < 0 {
            return None;
        }
        let after = self.0.partition_point(|entry| entry.epoch <= epoch);
        if after == self.0.len() {
            // Also for epochs that never were: only the latest is known to
            // end where the log does.
            return (self.latest()? == epoch).then_some((epoch, log_end));
        }
        let next = self.0[after].start_offset;
        match after.checked_sub(1) {
            Some(index) => Some((self.0[index].epoch, next)),
            None => Some((epoch, next)),
        }
    }

    /// Reads the file. `None` if it is missing or no such file.
    pub(super) fn load(files: &dyn Files, dir: &Path) -> Result<Option<Self>> {
        let path = dir.join(LEADER_EPOCHS);
        let content = match read_small(files, &path, 16 << 20) {
            Ok(content) => content,
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => None,
            Err(error) => return Err(Error::io(format!("reading {}", path.display()), error)),
        };
        Ok(content.and_then(|content| Self::parse(std::str::from_utf8(&content).ok()?)))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next()? != "0" {
            return None;
        }
        let count: usize = lines.next()?.parse().ok()?;
        let mut epochs = Self::default();
        for line in lines {
            let (epoch, start_offset) = line.split_once(' ')?;
            let entry = EpochStart {
                epoch: epoch.parse().ok()?,
                start_offset: start_offset.parse().ok()?,
            };
            let in_order = match epochs.0.last() {
                Some(last) => last.epoch < entry.epoch && last.start_offset < entry.start_offset,
                None => entry.epoch >= 0 && entry.start_offset >= 0,
            };
            if !in_order {
                return None;
            }
            epochs.0.push(entry);
        }
        (epochs.0.len() == count).then_some(epochs)
    }

    pub(super) fn store(&self, files: &dyn Files, dir: &Path) -> Result<()> {
        let mut text = format!("0\n{}\n", self.0.len());
        for entry in &self.0 {
            text += &format!("{} {}\n", entry.epoch, entry.start_offset);
        }
        let path = dir.join(LEADER_EPOCHS);
        replace(files, &path, text.as_bytes())
            .map_err(|error| Error::io(format!("writing {}", path.display()), error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::MemoryFiles;

    fn sample() -> LeaderEpochs {
        let mut epochs = LeaderEpochs::default();
        assert!(epochs.begin(2, 10));
        assert!(epochs.begin(5, 20));
        assert!(epochs.begin(6, 20), "an epoch without records is replaced");
        assert!(!epochs.begin(6, 30));
        epochs
    }

    #[test]
    fn end_offsets_follow_kafkas_rules() {
        let epochs = sample();
        assert_eq!(epochs.end_offset(6, 33), Some((6, 33)), "the latest");
        assert_eq!(epochs.end_offset(5, 33), Some((2, 20)), "a gap");
        assert_eq!(epochs.end_offset(2, 33), Some((2, 20)));
        assert_eq!(epochs.end_offset(1, 33), Some((1, 10)), "before the first");
        assert_eq!(epochs.end_offset(7, 33), None, "not yet");
        assert_eq!(epochs.end_offset(-1, 33), None);
        assert_eq!((epochs.of(9), epochs.of(10)), (None, Some(2)));
        assert_eq!((epochs.of(19), epochs.of(20)), (Some(2), Some(6)));
    }

    #[test]
    fn cuts() {
        let mut epochs = sample();
        epochs.cut_start(15);
        assert_eq!(epochs.end_offset(1, 33), Some((1, 15)));
        epochs.cut_end(20);
        assert_eq!(epochs.latest(), Some(2));
        epochs.cut_start(40);
        assert_eq!(epochs.of(40), Some(2));
    }

    #[test]
    fn the_file_is_kafkas() {
        let files = MemoryFiles::new();
        let dir = Path::new("/");
        let epochs = sample();
        epochs.store(&files, dir).expect("stored");
        let text = read_small(&files, &dir.join(LEADER_EPOCHS), 100).expect("read");
        assert_eq!(text.as_deref(), Some(&b"0\n2\n2 10\n6 20\n"[..]));
        assert_eq!(LeaderEpochs::load(&files, dir).expect("read"), Some(epochs));
        for damaged in [
            "",
            "1\n0\n",
            "0\n2\n2 10\n",
            "0\n1\nx 1\n",
            "0\n2\n5 10\n2 20\n",
        ] {
            assert_eq!(LeaderEpochs::parse(damaged), None, "{damaged:?}");
        }
    }
}
