//! Kafka's files of one offset per partition. They are for Kafka's tools, and
//! for Kafka itself, should it get the directory; our logs remember more.

use std::collections::BTreeMap;

use super::DataDirectory;
use crate::files::{read_small, replace};
use crate::{Error, Result};

pub(super) type Offsets = BTreeMap<(String, i32), i64>;

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

/// What the checkpoint files say of one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The topic's name.
    pub topic: String,
    /// The partition's number.
    pub partition: i32,
    /// [`PartitionLog::synced_offset`](crate::log::PartitionLog::synced_offset)
    pub recovery_point: i64,
    /// What consumers can read up to.
    pub high_watermark: i64,
    /// [`PartitionLog::log_start_offset`](crate::log::PartitionLog::log_start_offset)
    pub log_start: i64,
    /// [`PartitionLog::cleaned_offset`](crate::log::PartitionLog::cleaned_offset)
    pub cleaned: i64,
}

impl DataDirectory {
    /// The offsets up to which logs were synced.
    pub const RECOVERY_POINTS: &str = "recovery-point-offset-checkpoint";
    /// The high watermarks.
    pub const HIGH_WATERMARKS: &str = "replication-offset-checkpoint";
    /// The offsets that logs start at.
    pub const LOG_STARTS: &str = "log-start-offset-checkpoint";
    /// The offsets up to which logs were compacted.
    pub const CLEANED: &str = "cleaner-offset-checkpoint";

    /// Writes all of Kafka's checkpoint files, as it does once a minute and at
    /// a stop.
    pub fn store_checkpoints(&self, checkpoints: &[Checkpoint]) -> Result<()> {
        let store = |name: &str, offset: &dyn Fn(&Checkpoint) -> Option<i64>| {
            let offsets = checkpoints.iter().filter_map(|checkpoint| {
                Some(PartitionOffset {
                    topic: checkpoint.topic.clone(),
                    partition: checkpoint.partition,
                    offset: offset(checkpoint)?,
                })
            });
            self.store_offsets(name, &offsets.collect::<Vec<_>>())
        };
        store(Self::RECOVERY_POINTS, &|log| Some(log.recovery_point))?;
        store(Self::HIGH_WATERMARKS, &|log| Some(log.high_watermark))?;
        // Kafka leaves out what is as it would be without the file.
        let unless_zero = |offset: i64| (offset > 0).then_some(offset);
        store(Self::LOG_STARTS, &|log| unless_zero(log.log_start))?;
        store(Self::CLEANED, &|log| unless_zero(log.cleaned))
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
        let content = match read_small(&*self.files, &path, 64 << 20) {
            Ok(content) => content,
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => None,
            Err(error) => return Err(Error::io(format!("reading {}", path.display()), error)),
        };
        Ok(content.and_then(|content| parse(std::str::from_utf8(&content).ok()?)))
    }

    pub(super) fn offsets_of(&self, name: &str) -> Result<Offsets> {
        let entries = self.load_offsets(name)?.unwrap_or_default();
        let entries = entries.into_iter();
        Ok(entries
            .map(|entry| ((entry.topic, entry.partition), entry.offset))
            .collect())
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
