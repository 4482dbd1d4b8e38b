//! The topic's id beside a partition's log: `partition.metadata`.

use std::path::Path;

use copart_protocol::Uuid;

use super::names::PARTITION_METADATA;
use crate::files::{Files, read_small, replace};
use crate::{Error, ErrorKind, Result};

/// What the file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartitionMetadata {
    /// The id of the topic that the log belongs to.
    pub topic_id: Uuid,
}

impl PartitionMetadata {
    /// Reads the file of the log in `dir`. `None` if there is none.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`] if it cannot be read as one.
    pub fn load(files: &dyn Files, dir: &Path) -> Result<Option<Self>> {
        let path = dir.join(PARTITION_METADATA);
        let content = read_small(files, &path, 4096)
            .map_err(|error| Error::io(format!("reading {}", path.display()), error))?;
        let Some(content) = content else {
            return Ok(None);
        };
        let parsed = std::str::from_utf8(&content).ok().and_then(Self::parse);
        match parsed {
            Some(metadata) => Ok(Some(metadata)),
            None => Err(Error::new(
                ErrorKind::Damaged,
                "expected two lines, `version: 0` and `topic_id: ID`",
            )
            .within(path.display().to_string())),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let version = lines.next()?.strip_prefix("version:")?.trim();
        let topic_id = lines.next()?.strip_prefix("topic_id:")?.trim();
        if version != "0" || lines.next().is_some() {
            return None;
        }
        Some(Self {
            topic_id: topic_id.parse().ok()?,
        })
    }

    /// Writes the file.
    pub fn store(self, files: &dyn Files, dir: &Path) -> Result<()> {
        let path = dir.join(PARTITION_METADATA);
        let text = format!("version: 0\ntopic_id: {}", self.topic_id);
        replace(files, &path, text.as_bytes())
            .map_err(|error| Error::io(format!("writing {}", path.display()), error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::MemoryFiles;

    #[test]
    fn comes_back_and_damage_is_reported() {
        let (files, dir) = (MemoryFiles::new(), Path::new("/"));
        assert_eq!(PartitionMetadata::load(&files, dir).expect("read"), None);
        let metadata = PartitionMetadata {
            topic_id: Uuid([7; 16]),
        };
        metadata.store(&files, dir).expect("stored");
        let loaded = PartitionMetadata::load(&files, dir).expect("read");
        assert_eq!(loaded, Some(metadata));
        replace(
            &files,
            &dir.join(PARTITION_METADATA),
            b"version: 0\ntopic_id: x",
        )
        .expect("written");
        let error = PartitionMetadata::load(&files, dir).expect_err("damaged");
        assert_eq!(error.kind(), ErrorKind::Damaged);
        assert!(error.to_string().contains("partition.metadata"), "{error}");
    }
}
