//! The directories of the partitions.
//!
//! A partition is deleted by giving its directory another name, which is done
//! at once; its files are removed later. After a crash in between nothing of it
//! comes back.

use std::path::{Path, PathBuf};

use copart_protocol::Uuid;

use super::DataDirectory;
use super::meta_properties::new_id;
use crate::files::{Files, remove_if_there};
use crate::log::PartitionMetadata;
use crate::{Error, ErrorKind, Result};

/// Kafka's: a partition that was deleted.
const DELETE_SUFFIX: &str = "-delete";
/// Kafka's: a partition that nobody knows.
const STRAY_SUFFIX: &str = "-stray";
/// The most that file systems take.
const NAME_LIMIT: usize = 255;

/// A partition's directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionDirectory {
    /// The topic's name.
    pub topic: String,
    /// The partition's number.
    pub partition: i32,
    /// The topic's id, if `partition.metadata` is there.
    pub topic_id: Option<Uuid>,
    /// Where it is.
    pub path: PathBuf,
}

/// What directories there are.
#[derive(Debug, Default)]
pub struct PartitionDirectories {
    /// In order of their names.
    pub partitions: Vec<PartitionDirectory>,
    /// Those whose `partition.metadata` cannot be read: whose they are is not
    /// known.
    pub unreadable: Vec<(PathBuf, Error)>,
    /// Strays that were set aside, by this process or an earlier one.
    pub strays: Vec<PathBuf>,
}

impl DataDirectory {
    /// The directory of a partition's log, created if it is not there.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidTopic`] for a name that Kafka would not take.
    pub fn partition(&self, topic: &str, partition: i32) -> Result<PathBuf> {
        let dir = self.path_of(topic, partition)?;
        let doing = |error| Error::io(format!("creating {}", dir.display()), error);
        // Cheaper than to look, when there are many.
        match self.files.list(&dir) {
            Ok(_) => return Ok(dir),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(doing(error)),
        }
        self.files.create_dir(&dir).map_err(doing)?;
        self.files.sync_dir(&self.path).map_err(doing)?;
        Ok(dir)
    }

    /// Creates the directory of a partition with the id of its topic, durably.
    pub fn create_partition(&self, topic: &str, partition: i32, topic_id: Uuid) -> Result<PathBuf> {
        let dir = self.partition(topic, partition)?;
        PartitionMetadata { topic_id }.store(&*self.files, &dir)?;
        Ok(dir)
    }

    /// The partitions that have a directory.
    pub fn partitions(&self) -> Result<PartitionDirectories> {
        let mut found = PartitionDirectories::default();
        for name in self.names()? {
            let path = self.path.join(&name);
            if name.ends_with(STRAY_SUFFIX) {
                found.strays.push(path);
                continue;
            }
            let Some((topic, partition)) = parse(&name) else {
                continue;
            };
            match PartitionMetadata::load(&*self.files, &path) {
                Ok(metadata) => found.partitions.push(PartitionDirectory {
                    topic: topic.to_owned(),
                    partition,
                    topic_id: metadata.map(|metadata| metadata.topic_id),
                    path,
                }),
                Err(error) => found.unreadable.push((path, error)),
            }
        }
        Ok(found)
    }

    /// Deletes a partition: durably at once, so that a new one may take its
    /// name. [`remove_deleted`](Self::remove_deleted) frees the space; reads
    /// that are under way go on.
    ///
    /// The log must be dropped, or written no more.
    pub fn delete_partition(&self, topic: &str, partition: i32) -> Result<()> {
        self.rename(topic, partition, DELETE_SUFFIX).map(|_| ())
    }

    /// Sets a partition aside that should not be here, and says where it is.
    /// Nothing is lost: giving it its old name brings it back.
    pub fn set_aside(&self, topic: &str, partition: i32) -> Result<PathBuf> {
        self.rename(topic, partition, STRAY_SUFFIX)
    }

    /// Removes the files of deleted partitions, also those that a process
    /// before had no time for. Returns how many partitions.
    ///
    /// It may take long, and can run while other partitions are used.
    pub fn remove_deleted(&self) -> Result<usize> {
        let mut removed = 0;
        for name in self.names()? {
            if name.ends_with(DELETE_SUFFIX) {
                self.remove(&self.path.join(name))?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    fn names(&self) -> Result<Vec<String>> {
        self.files
            .list(&self.path)
            .map_err(|error| Error::io(format!("listing {}", self.path.display()), error))
    }

    pub(super) fn path_of(&self, topic: &str, partition: i32) -> Result<PathBuf> {
        if !is_topic_name(topic) || partition < 0 {
            return Err(Error::new(
                ErrorKind::InvalidTopic,
                format!("{topic:?}, partition {partition}: no partition has such a name"),
            ));
        }
        Ok(self.path.join(format!("{topic}-{partition}")))
    }

    fn rename(&self, topic: &str, partition: i32, suffix: &str) -> Result<PathBuf> {
        let from = self.path_of(topic, partition)?;
        let doing = |error| Error::io(format!("renaming {}", from.display()), error);
        let name = renamed(topic, partition, suffix);
        let to = self.path.join(name);
        self.files.rename(&from, &to).map_err(doing)?;
        self.files.sync_dir(&self.path).map_err(doing)?;
        Ok(to)
    }

    fn remove(&self, dir: &Path) -> Result<()> {
        let files: &dyn Files = &*self.files;
        let doing = |error| Error::io(format!("removing {}", dir.display()), error);
        for name in files.list(dir).map_err(doing)? {
            remove_if_there(files, &dir.join(name)).map_err(doing)?;
        }
        files.remove_dir(dir).map_err(doing)
    }
}

/// Kafka's way to keep such names different, and short enough.
fn renamed(topic: &str, partition: i32, suffix: &str) -> String {
    let id = u128::from_be_bytes(new_id().0);
    let rest = format!("-{partition}.{id:032x}{suffix}");
    let kept = topic.len().min(NAME_LIMIT - rest.len());
    format!("{}{rest}", &topic[..kept])
}

/// The topic and the partition's number in a directory's name.
fn parse(name: &str) -> Option<(&str, i32)> {
    let (topic, number) = name.rsplit_once('-')?;
    let partition: i32 = number.parse().ok()?;
    let canonical = partition >= 0 && partition.to_string() == number;
    (canonical && is_topic_name(topic)).then_some((topic, partition))
}

fn is_topic_name(topic: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=249).contains(&topic.len()) && topic.bytes().all(legal) && topic != "." && topic != ".."
}
