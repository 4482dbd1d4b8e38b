//! The directory that the logs are in.
//!
//! - [`DataDirectory`]: open it, say how the last stop was, close it.
//! - [`partitions`]: the directories of the partitions: list, create, delete,
//!   set aside.
//! - [`checkpoints`]: Kafka's files of offsets.
//! - [`meta_properties`]: whose directory it is.

mod checkpoints;
mod meta_properties;
mod partitions;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::clean_stop;
use super::config::LogConfig;
use super::open::{KafkaOffsets, LastStop, Opened, Recovery};
use super::partition::PartitionLog;
use crate::files::{FileLock, Files, Space, read_small, remove_if_there, replace};
use crate::{Error, ErrorKind, Result};

use checkpoints::Offsets;
pub use checkpoints::{Checkpoint, PartitionOffset};
pub use meta_properties::MetaProperties;
pub use partitions::{PartitionDirectories, PartitionDirectory};

/// Kafka's mark of a clean stop.
const CLEAN_SHUTDOWN: &str = ".kafka_cleanshutdown";
/// Kafka writes the broker's epoch there; ours has none.
const CLEAN_SHUTDOWN_CONTENT: &[u8] = br#"{"version":0,"brokerEpoch":-1}"#;
const LOCK: &str = ".lock";

/// A data directory, locked for this process: a directory per partition, and
/// Kafka's checkpoint files.
#[derive(Debug)]
pub struct DataDirectory {
    files: Arc<dyn Files>,
    path: PathBuf,
    last_stop: LastStop,
    /// From Kafka's checkpoint files, as they were when it was opened.
    recovery_points: Offsets,
    log_starts: Offsets,
    _lock: Box<dyn FileLock>,
}

impl DataDirectory {
    /// Opens or creates the directory, and locks it. The mark of a clean stop
    /// is taken away, durably: from here on a crash is one.
    ///
    /// # Errors
    /// [`ErrorKind::Locked`] when another process has it.
    pub fn open(files: Arc<dyn Files>, path: &Path) -> Result<Self> {
        let doing = |error| Error::io(format!("opening {}", path.display()), error);
        files.create_dir(path).map_err(doing)?;
        if let Some(parent) = path.parent().filter(|parent| *parent != Path::new("")) {
            files.sync_dir(parent).map_err(doing)?;
        }
        let Some(lock) = files.lock(&path.join(LOCK)).map_err(doing)? else {
            return Err(Error::new(
                ErrorKind::Locked,
                format!(
                    "{} is in use by another process; stop it, or take another directory",
                    path.display()
                ),
            ));
        };
        let mark = path.join(CLEAN_SHUTDOWN);
        // What it says is of no use here: that it is there is what counts.
        let last_stop = match read_small(&*files, &mark, 4096).map_err(doing)? {
            Some(_) => {
                remove_if_there(&*files, &mark).map_err(doing)?;
                files.sync_dir(path).map_err(doing)?;
                LastStop::Clean
            }
            None => LastStop::Unknown,
        };
        let mut directory = Self {
            files,
            path: path.to_owned(),
            last_stop,
            recovery_points: Offsets::new(),
            log_starts: Offsets::new(),
            _lock: lock,
        };
        directory.recovery_points = directory.offsets_of(Self::RECOVERY_POINTS)?;
        directory.log_starts = directory.offsets_of(Self::LOG_STARTS)?;
        Ok(directory)
    }

    /// How the process that had the directory before has ended.
    pub fn last_stop(&self) -> LastStop {
        self.last_stop
    }

    /// Opens a partition's log. Its directory is created if it is not there.
    ///
    /// # Errors
    /// Those of [`PartitionLog::open`].
    pub fn open_log(
        &self,
        topic: &str,
        partition: i32,
        config: LogConfig,
        now_ms: i64,
    ) -> Result<Opened> {
        // First without a look whether it is there: a start has many to open.
        if self.last_stop == LastStop::Clean
            && let dir = self.path_of(topic, partition)?
            && let Some(log) = clean_stop::open(&self.files, &dir, &config, now_ms)?
        {
            return Ok(Opened::Ready(Box::new(log), Recovery::default()));
        }
        let dir = self.partition(topic, partition)?;
        let key = (topic.to_owned(), partition);
        let kafka = KafkaOffsets {
            recovery_point: self.recovery_points.get(&key).copied(),
            log_start: self.log_starts.get(&key).copied(),
        };
        PartitionLog::open_after_crash(self.files.clone(), &dir, config, kafka, now_ms)
    }

    /// Leaves the mark of a clean stop, and unlocks the directory. The next
    /// start then believes what the logs stored when they were closed.
    ///
    /// Call it only when every log that is here was opened, is not quarantined,
    /// and was [closed](PartitionLog::close) without an error. Otherwise drop
    /// the directory: the next start looks at everything.
    pub fn close(self) -> Result<()> {
        let mark = self.path.join(CLEAN_SHUTDOWN);
        replace(&*self.files, &mark, CLEAN_SHUTDOWN_CONTENT)
            .map_err(|error| Error::io(format!("writing {}", mark.display()), error))
    }

    /// How much room the disk under the directory has, if that is known.
    pub fn space(&self) -> Option<Space> {
        self.files.space(&self.path).ok().flatten()
    }

    /// The directory's path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
