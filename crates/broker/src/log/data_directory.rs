//! The directory that the logs are in.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::files::{FileLock, Files, read_small, replace};
use crate::{Error, ErrorKind, Result};

/// A data directory, locked for this process: a directory per partition, and
/// Kafka's checkpoint files.
#[derive(Debug)]
pub struct DataDirectory {
    files: Arc<dyn Files>,
    path: PathBuf,
    _lock: Box<dyn FileLock>,
}

/// One line of a checkpoint file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionOffset {
    /// The topic's name.
    pub topic: String,
    /// The partition's number.
    pub partition: i32,
    /// The offset.
    pub offset: i64,
}

impl DataDirectory {
    /// The offsets up to which logs were synced.
    pub const RECOVERY_POINTS: &str = "recovery-point-offset-checkpoint";
    /// The high watermarks.
    pub const HIGH_WATERMARKS: &str = "replication-offset-checkpoint";
    /// The offsets that logs start at.
    pub const LOG_STARTS: &str = "log-start-offset-checkpoint";

    /// Opens or creates the directory, and locks it.
    ///
    /// # Errors
    /// [`ErrorKind::Locked`] when another process has it.
    pub fn open(files: Arc<dyn Files>, path: &Path) -> Result<Self> {
        let doing = |error| Error::io(format!("opening {}", path.display()), error);
        files.create_dir(path).map_err(doing)?;
        if let Some(parent) = path.parent().filter(|parent| *parent != Path::new("")) {
            files.sync_dir(parent).map_err(doing)?;
        }
        let Some(lock) = files.lock(&path.join(".lock")).map_err(doing)? else {
            return Err(Error::new(
                ErrorKind::Locked,
                format!(
                    "{} is in use by another process; stop it, or take another directory",
                    path.display()
                ),
            ));
        };
        Ok(Self {
            files,
            path: path.to_owned(),
            _lock: lock,
        })
    }

    /// The directory of a partition's log, created if it is not there.
    pub fn partition(&self, topic: &str, partition: i32) -> Result<PathBuf> {
        let dir = self.path.join(format!("{topic}-{partition}"));
        let doing = |error| Error::io(format!("creating {}", dir.display()), error);
        self.files.create_dir(&dir).map_err(doing)?;
        self.files.sync_dir(&self.path).map_err(doing)?;
        Ok(dir)
    }

    /// Removes a partition's log.
    pub fn delete_partition(&self, topic: &str, partition: i32) -> Result<()> {
        let dir = self.path.join(format!("{topic}-{partition}"));
        let doing = |error| Error::io(format!("removing {}", dir.display()), error);
        for name in self.files.list(&dir).map_err(doing)? {
            self.files.remove(&dir.join(name)).map_err(doing)?;
        }
        Ok(())
    }

    /// Writes one of Kafka's checkpoint files.
    pub fn store_offsets(&self, name: &str, offsets: &[PartitionOffset]) -> Result<()> {
        let mut text = format!("0\n{}\n", offsets.len());
        for entry in offsets {
            text += &format!("{} {} {}\n", entry.topic, entry.partition, entry.offset);
        }
        let path = self.path.join(name);
        replace(&*self.files, &path, text.as_bytes())
            .map_err(|error| Error::io(format!("writing {}", path.display()), error))
    }

    /// Reads one of Kafka's checkpoint files. `None` if it is missing or
    /// damaged: what it says is only a hint.
    pub fn load_offsets(&self, name: &str) -> Result<Option<Vec<PartitionOffset>>> {
        let path = self.path.join(name);
        let content = read_small(&*self.files, &path, 64 << 20)
            .map_err(|error| Error::io(format!("reading {}", path.display()), error))?;
        Ok(content.and_then(|content| parse(std::str::from_utf8(&content).ok()?)))
    }

    /// The directory's path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn parse(text: &str) -> Option<Vec<PartitionOffset>> {
    let mut lines = text.lines();
    if lines.next()? != "0" {
        return None;
    }
    let count: usize = lines.next()?.parse().ok()?;
    let entries = lines.map(|line| {
        let mut words = line.split(' ');
        let entry = PartitionOffset {
            topic: words.next()?.to_owned(),
            partition: words.next()?.parse().ok()?,
            offset: words.next()?.parse().ok()?,
        };
        words.next().is_none().then_some(entry)
    });
    let entries: Vec<PartitionOffset> = entries.collect::<Option<_>>()?;
    (entries.len() == count).then_some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::DiskFiles;

    #[test]
    fn is_locked_and_keeps_offsets() {
        let temporary = tempfile::tempdir().expect("a directory");
        let path = temporary.path().join("data");
        let directory = DataDirectory::open(Arc::new(DiskFiles), &path).expect("free");
        let error = DataDirectory::open(Arc::new(DiskFiles), &path).expect_err("locked");
        assert_eq!(error.kind(), ErrorKind::Locked);
        let offsets = [PartitionOffset {
            topic: "t".into(),
            partition: 3,
            offset: 77,
        }];
        let name = DataDirectory::RECOVERY_POINTS;
        assert_eq!(directory.load_offsets(name).expect("read"), None);
        directory.store_offsets(name, &offsets).expect("stored");
        let text = std::fs::read_to_string(path.join(name)).expect("read");
        assert_eq!(text, "0\n1\nt 3 77\n");
        let loaded = directory.load_offsets(name).expect("read");
        assert_eq!(loaded.as_deref(), Some(&offsets[..]));
        drop(directory);
        DataDirectory::open(Arc::new(DiskFiles), &path).expect("free again");
    }
}
