//! Whose directory it is: `meta.properties`, version 1.

use copart_protocol::Uuid;

use super::DataDirectory;
use crate::files::{read_small, replace};
use crate::{Error, ErrorKind, Result};

const META_PROPERTIES: &str = "meta.properties";

/// What the file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetaProperties {
    /// `cluster.id`
    pub cluster_id: String,
    /// `node.id`
    pub node_id: i32,
    /// `directory.id`
    pub directory_id: Uuid,
}

impl DataDirectory {
    /// Reads `meta.properties`. `None` if there is none: the directory is new.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`] if it cannot be read as one of version 1.
    pub fn meta_properties(&self) -> Result<Option<MetaProperties>> {
        let path = self.path.join(META_PROPERTIES);
        let content = read_small(&*self.files, &path, 64 << 10)
            .map_err(|error| Error::io(format!("reading {}", path.display()), error))?;
        let Some(content) = content else {
            return Ok(None);
        };
        let text = String::from_utf8_lossy(&content);
        match parse(&text) {
            Ok(properties) => Ok(Some(properties)),
            Err(reason) => {
                let error = Error::new(ErrorKind::Damaged, reason);
                Err(error.within(path.display().to_string()))
            }
        }
    }

    /// Compares `meta.properties` with what this broker is, and writes it if
    /// there is none, with a new directory id. `None` stands for whatever the
    /// directory says, and for a new cluster id.
    ///
    /// # Errors
    /// [`ErrorKind::WrongDirectory`] when the directory is another cluster's or
    /// node's.
    pub fn claim(&self, cluster_id: Option<&str>, node_id: i32) -> Result<MetaProperties> {
        let path = self.path.join(META_PROPERTIES);
        if let Some(found) = self.meta_properties()? {
            let other_cluster = cluster_id.filter(|id| *id != found.cluster_id);
            let reason = match other_cluster {
                Some(id) => format!(
                    "the directory belongs to cluster {}, and this is a broker of cluster {id}; \
                     take another directory",
                    found.cluster_id
                ),
                None if node_id != found.node_id => format!(
                    "the directory belongs to node {}, and this is node {node_id}; \
                     take another directory",
                    found.node_id
                ),
                None => return Ok(found),
            };
            let error = Error::new(ErrorKind::WrongDirectory, reason);
            return Err(error.within(path.display().to_string()));
        }
        let new = MetaProperties {
            cluster_id: match cluster_id {
                Some(id) => id.to_owned(),
                None => new_id().to_string(),
            },
            node_id,
            directory_id: new_id(),
        };
        let text = format!(
            "#\ncluster.id={}\ndirectory.id={}\nnode.id={}\nversion=1\n",
            new.cluster_id, new.directory_id, new.node_id
        );
        replace(&*self.files, &path, text.as_bytes())
            .map_err(|error| Error::io(format!("writing {}", path.display()), error))?;
        Ok(new)
    }
}

fn parse(text: &str) -> Result<MetaProperties, String> {
    let property = |name: &str| {
        let mut lines = text.lines().filter(|line| !line.starts_with(['#', '!']));
        let value = lines.find_map(|line| {
            let (key, value) = line.split_once('=')?;
            (key.trim() == name).then_some(value.trim())
        });
        value.ok_or_else(|| format!("the property {name} is missing"))
    };
    let version = property("version")?;
    if version != "1" {
        return Err(format!("version {version}, expected 1"));
    }
    let number = property("node.id")?;
    let id = property("directory.id")?;
    Ok(MetaProperties {
        cluster_id: property("cluster.id")?.to_owned(),
        node_id: number
            .parse()
            .map_err(|_| format!("node.id is {number}, expected a number"))?,
        directory_id: id
            .parse()
            .map_err(|error| format!("directory.id: {error}"))?,
    })
}

/// An id that nobody has, and that is not one of those that Kafka reserves.
pub(super) fn new_id() -> Uuid {
    uuid_of(rand_bytes())
}

fn uuid_of(mut bytes: [u8; 16]) -> Uuid {
    // A random (version 4) id of RFC 9562. Kafka avoids ids whose text begins
    // with a dash, which command lines take for an option.
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    if bytes[0] >> 2 == 62 {
        bytes[0] ^= 0x80;
    }
    Uuid(bytes)
}

/// The standard library seeds its hashers from the operating system's random
/// numbers. That is enough for ids that only have to differ.
fn rand_bytes() -> [u8; 16] {
    use std::hash::{BuildHasher, RandomState};
    let high = RandomState::new().hash_one(0);
    let low = RandomState::new().hash_one(std::process::id());
    (u128::from(high) << 64 | u128::from(low)).to_be_bytes()
}
