//! The golden vectors: does this program place keys as the real clients did?

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use copart_compat_vectors::Files;
use copart_partitioners::catalogue::{self, Evidence};
use copart_partitioners::{PartitionCount, Placement};
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};

use crate::Error;

/// A set of golden vectors: the built-in one, or a folder of the same form.
#[derive(Debug)]
pub struct VectorSet {
    files: Store,
    manifest: Manifest,
}

#[derive(Debug)]
enum Store {
    BuiltIn(Files),
    Folder(PathBuf),
}

#[derive(Debug, Deserialize)]
struct Manifest {
    version: String,
    files: Vec<VectorFile>,
}

/// One file of placements and where it comes from.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[non_exhaustive]
pub struct VectorFile {
    /// Its name below `placements/`.
    pub file: String,
    /// The catalogue's id of the profile.
    pub profile: String,
    /// The client that was run.
    pub client: String,
    /// Its release.
    pub version: String,
    /// The partitioner, as the client names it.
    pub partitioner: String,
    /// How it was run.
    pub how: String,
    /// Keys.
    pub rows: u64,
}

#[derive(Deserialize)]
struct KeyRow {
    id: String,
    key_hex: Option<String>,
}

#[derive(Deserialize)]
struct Row {
    id: String,
    partitions: Option<HashMap<u32, i32>>,
    outcome: Option<String>,
}

/// How a profile did against its file.
#[derive(Clone, Debug, Serialize)]
pub struct Checked {
    /// The profile.
    pub profile: String,
    /// Placements compared.
    pub placements: u64,
    /// The first that differ, in words.
    pub differences: Vec<String>,
    /// How many differ.
    pub different: u64,
}

/// Differences that are put into words for each profile.
const SHOWN: usize = 5;

impl VectorSet {
    /// The set this program was built with.
    ///
    /// # Errors
    ///
    /// When its manifest can't be read.
    pub fn built_in() -> Result<Self, Error> {
        Self::new(Store::BuiltIn(Files::unpack()))
    }

    /// A set in a folder, as `export` writes it.
    ///
    /// # Errors
    ///
    /// When its manifest can't be read.
    pub fn folder(path: &Path) -> Result<Self, Error> {
        Self::new(Store::Folder(path.to_owned()))
    }

    fn new(files: Store) -> Result<Self, Error> {
        let manifest = files.read("manifest.json")?;
        let manifest = serde_json::from_str(&manifest)
            .map_err(|e| Error::input(format!("{}: {e}", files.name("manifest.json"))))?;
        Ok(Self { files, manifest })
    }

    /// The version of the data set.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.manifest.version
    }

    /// The files of placements.
    #[must_use]
    pub fn files(&self) -> &[VectorFile] {
        &self.manifest.files
    }

    /// Places every key of every file again and compares. A profile that this program's catalogue
    /// calls verified, but for which the set has no file, is reported as different.
    ///
    /// # Errors
    ///
    /// When a file can't be read or names a profile that is not in the catalogue.
    pub fn check(&self) -> Result<Vec<Checked>, Error> {
        let keys = self.keys()?;
        let mut checked = Vec::new();
        for file in &self.manifest.files {
            checked.push(self.check_file(file, &keys)?);
        }
        let missing = catalogue::entries().filter(|entry| entry.evidence == Evidence::Vectors);
        for entry in missing {
            if !self
                .manifest
                .files
                .iter()
                .any(|file| file.profile == entry.id)
            {
                checked.push(Checked {
                    profile: entry.id.to_owned(),
                    placements: 0,
                    differences: vec!["the set has no vectors for this profile".into()],
                    different: 1,
                });
            }
        }
        Ok(checked)
    }

    fn keys(&self) -> Result<HashMap<String, Option<Vec<u8>>>, Error> {
        self.rows("keys.jsonl", |row: KeyRow| {
            let key = match row.key_hex {
                None => None,
                Some(hex) => Some(HEXLOWER.decode(hex.as_bytes()).map_err(|e| e.to_string())?),
            };
            Ok((row.id, key))
        })
    }

    fn check_file(
        &self,
        file: &VectorFile,
        keys: &HashMap<String, Option<Vec<u8>>>,
    ) -> Result<Checked, Error> {
        let profile = catalogue::find(&file.profile)
            .map_err(|e| Error::input(format!("{}: {e}", file.file)))?
            .profile;
        let mut checked = Checked {
            profile: file.profile.clone(),
            placements: 0,
            differences: Vec::new(),
            different: 0,
        };
        let name = format!("placements/{}", file.file);
        let _: Vec<()> = self.rows(&name, |row: Row| {
            let key = keys
                .get(&row.id)
                .ok_or_else(|| format!("no key has the id {}", row.id))?;
            let mut compare = |n: u32, want: Placement| {
                let count = PartitionCount::new(n).ok_or_else(|| format!("{n} partitions"))?;
                let got = profile.place(key.as_deref(), count);
                checked.placements += 1;
                if got != want {
                    checked.different += 1;
                    if checked.differences.len() < SHOWN {
                        let id = &row.id;
                        checked
                            .differences
                            .push(format!("key {id} at {n}: {got:?}, not {want:?}"));
                    }
                }
                Ok::<(), String>(())
            };
            match (&row.partitions, row.outcome.as_deref()) {
                (Some(partitions), _) => {
                    for (&n, &partition) in partitions {
                        compare(n, Placement::Pinned(partition))?;
                    }
                    Ok(())
                }
                (None, Some("unpinned")) => compare(12, Placement::Unpinned),
                (None, Some("rejected")) => compare(12, Placement::Rejected),
                (None, outcome) => Err(format!("outcome {outcome:?}")),
            }
        })?;
        Ok(checked)
    }

    fn rows<R: for<'de> Deserialize<'de>, T, C: FromIterator<T>>(
        &self,
        name: &str,
        mut each: impl FnMut(R) -> Result<T, String>,
    ) -> Result<C, Error> {
        let text = self.files.read(name)?;
        text.lines()
            .enumerate()
            .map(|(i, line)| {
                let row = serde_json::from_str(line).map_err(|e| e.to_string());
                row.and_then(&mut each).map_err(|what| {
                    Error::input(format!("{}:{}: {what}", self.files.name(name), i + 1))
                })
            })
            .collect()
    }

    /// Writes the data set into a folder, which must be empty or not there.
    ///
    /// # Errors
    ///
    /// When the folder holds something or can't be written.
    pub fn export(&self, folder: &Path) -> Result<usize, Error> {
        let Store::BuiltIn(files) = &self.files else {
            return Err(Error::usage("only the built-in set is exported"));
        };
        let shown = folder.display();
        let full = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
        if full {
            return Err(Error::usage(format!(
                "{shown}: is not empty; name a new folder"
            )));
        }
        let mut written = 0;
        for name in files.names() {
            let path = folder.join(name);
            let parent = path.parent().unwrap_or(folder);
            let failed = |e: std::io::Error| Error::unwritable(&path.display().to_string(), e);
            std::fs::create_dir_all(parent).map_err(failed)?;
            std::fs::write(&path, files.get(name).unwrap_or_default()).map_err(failed)?;
            written += 1;
        }
        Ok(written)
    }
}

impl Store {
    fn name(&self, file: &str) -> String {
        match self {
            Self::BuiltIn(_) => format!("built-in {file}"),
            Self::Folder(root) => root.join(file).display().to_string(),
        }
    }

    fn read(&self, file: &str) -> Result<String, Error> {
        match self {
            Self::BuiltIn(files) => files
                .get(file)
                .map(str::to_owned)
                .ok_or_else(|| Error::input(format!("the built-in set has no {file}"))),
            Self::Folder(root) => {
                let path = root.join(file);
                std::fs::read_to_string(&path)
                    .map_err(|e| Error::unreadable(&path.display().to_string(), e))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_set_passes_and_so_does_its_export() {
        let set = VectorSet::built_in().unwrap();
        let checked = set.check().unwrap();
        assert!(checked.len() > 50);
        assert!(
            checked
                .iter()
                .all(|c| c.different == 0 && c.placements >= 601),
            "{checked:?}"
        );

        let folder = tempfile::tempdir().unwrap();
        assert!(set.export(folder.path()).unwrap() > 50);
        assert!(
            set.export(folder.path())
                .unwrap_err()
                .to_string()
                .contains("not empty")
        );
        let copy = VectorSet::folder(folder.path()).unwrap();
        assert_eq!(copy.check().unwrap().len(), checked.len());

        // One placement changed by hand is found.
        let path = folder.path().join("placements/java__default.jsonl");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replacen("\"12\":6", "\"12\":7", 1)).unwrap();
        let checked = copy.check().unwrap();
        let java = checked
            .iter()
            .find(|c| c.profile == "java/default")
            .unwrap();
        assert_eq!(java.different, 1);
        assert!(java.differences[0].contains("at 12"), "{java:?}");
    }
}
