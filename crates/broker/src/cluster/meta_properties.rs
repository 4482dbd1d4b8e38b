//! `meta.properties`: the ids of the cluster and of the data directory, in
//! Kafka's file.

use std::path::Path;

use copart_protocol::Uuid;

use crate::files::{Files, read_small, replace};
use crate::{Error, ErrorKind, Result};

const NAME: &str = "meta.properties";

/// What the file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MetaProperties {
    /// Kafka makes it a [`Uuid`], and takes any string.
    pub(super) cluster_id: String,
    pub(super) directory_id: Uuid,
}

impl MetaProperties {
    /// Reads the file in a data directory. `None` if there is none.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`] if the ids cannot be read from it.
    pub(super) fn load(files: &dyn Files, dir: &Path) -> Result<Option<Self>> {
        let path = dir.join(NAME);
        let content = read_small(files, &path, 1 << 16)
            .map_err(|error| Error::io(format!("reading {}", path.display()), error))?;
        let Some(content) = content else {
            return Ok(None);
        };
        let parsed = std::str::from_utf8(&content).ok().and_then(Self::parse);
        parsed.map(Some).ok_or_else(|| {
            Error::new(
                ErrorKind::Damaged,
                "expected `version=1`, `cluster.id=` and `directory.id=`; write it anew if you \
                 know the ids",
            )
            .within(path.display().to_string())
        })
    }

    fn parse(text: &str) -> Option<Self> {
        let find = |wanted: &str| {
            text.lines()
                .filter(|line| !line.starts_with('#'))
                .filter_map(|line| line.split_once('='))
                .find(|(name, _)| name.trim() == wanted)
                .map(|(_, value)| value.trim())
        };
        if find("version")? != "1" {
            return None;
        }
        Some(Self {
            cluster_id: find("cluster.id").filter(|id| !id.is_empty())?.to_owned(),
            directory_id: find("directory.id")?.parse().ok()?,
        })
    }

    /// Writes the file.
    pub(super) fn store(&self, files: &dyn Files, dir: &Path, node: i32) -> Result<()> {
        let path = dir.join(NAME);
        let text = format!(
            "version=1\ncluster.id={}\nnode.id={node}\ndirectory.id={}\n",
            self.cluster_id, self.directory_id
        );
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
        assert_eq!(MetaProperties::load(&files, dir).expect("read"), None);
        let ids = MetaProperties {
            cluster_id: "a cluster".into(),
            directory_id: Uuid([9; 16]),
        };
        ids.store(&files, dir, 1).expect("stored");
        assert_eq!(
            MetaProperties::load(&files, dir).expect("read"),
            Some(ids.clone())
        );
        // As Kafka writes it.
        let kafkas = format!(
            "#\n#Sun Nov 29 20:00:00 UTC 2026\ncluster.id=a cluster\ndirectory.id={}\nnode.id=1\nversion=1\n",
            ids.directory_id
        );
        replace(&files, &dir.join(NAME), kafkas.as_bytes()).expect("written");
        assert_eq!(MetaProperties::load(&files, dir).expect("read"), Some(ids));
        for text in [
            "",
            "version=0\ncluster.id=x",
            "version=1\ncluster.id=\ndirectory.id=x",
        ] {
            replace(&files, &dir.join(NAME), text.as_bytes()).expect("written");
            let error = MetaProperties::load(&files, dir).expect_err("damaged");
            assert_eq!(error.kind(), ErrorKind::Damaged, "{text}");
            assert!(error.to_string().contains(NAME), "{error}");
        }
    }
}
