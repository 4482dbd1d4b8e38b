//! Looking for damage in a data directory that no broker uses, and repairing it.

use std::path::Path;
use std::sync::Arc;

use crate::files::{DiskFiles, Files};
use crate::log::{DataDirectory, LogConfig, RepairPlan};
use crate::{Error, ErrorKind, Result};

/// A data directory's damaged logs, and the lock on the directory.
#[derive(Debug)]
pub struct DirectoryRepair {
    /// What would be done to each damaged log. Nothing is changed before [`RepairPlan::carry_out`].
    pub plans: Vec<RepairPlan>,
    /// How many logs there are, damaged or not.
    pub logs: usize,
    _directory: DataDirectory,
}

impl DirectoryRepair {
    /// Looks at every batch of every log. Waits for the disk.
    ///
    /// # Errors
    /// [`ErrorKind::Locked`] while a broker uses the directory, and [`ErrorKind::Io`].
    pub fn new(path: &Path) -> Result<Self> {
        let files: Arc<dyn Files> = Arc::new(DiskFiles);
        if !path.is_dir() {
            return Err(Error::new(
                ErrorKind::InvalidConfig,
                format!("{} is no directory", path.display()),
            ));
        }
        let directory = DataDirectory::open(files.clone(), path)?;
        let found = directory.partitions()?;
        let mut plans = Vec::new();
        for log in &found.partitions {
            // Whether a log is compacted is written beside it.
            let plan = RepairPlan::new(files.clone(), &log.path, &LogConfig::default())?;
            if !plan.damages.is_empty() {
                plans.push(plan);
            }
        }
        let logs = found.partitions.len();
        Ok(Self {
            plans,
            logs,
            _directory: directory,
        })
    }
}
