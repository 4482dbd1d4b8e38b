//! In __consumer_offsets: a committed offset.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// In __consumer_offsets: a committed offset.
#[derive(Clone, Debug, PartialEq)]
pub struct OffsetCommitValue {
    pub offset: i64,
    /// Versions 3+.
    pub leader_epoch: i32,
    pub metadata: String,
    pub commit_timestamp: i64,
    /// Versions 1.
    pub expire_timestamp: i64,
    /// Versions 4+.
    pub topic_id: Uuid,
}

impl Default for OffsetCommitValue {
    fn default() -> Self {
        Self {
            offset: 0,
            leader_epoch: -1,
            metadata: String::new(),
            commit_timestamp: 0,
            expire_timestamp: -1,
            topic_id: Uuid::ZERO,
        }
    }
}

impl Wire for OffsetCommitValue {
    const MIN_SIZE: usize = 18;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.offset)?;
        w.put_in(3.., &self.leader_epoch)?;
        w.put(&self.metadata)?;
        w.put(&self.commit_timestamp)?;
        w.put_in(1..=1, &self.expire_timestamp)?;
        w.tags(|t| {
            t.put(0, 4.., &self.topic_id)?;
            Ok(())
        })
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let mut value = Self {
            offset: r.get()?,
            leader_epoch: r.get_in_or(3.., -1)?,
            metadata: r.get()?,
            commit_timestamp: r.get()?,
            expire_timestamp: r.get_in_or(1..=1, -1)?,
            topic_id: Uuid::ZERO,
        };
        r.tags(|r, tag| {
            match tag {
                0 => value.topic_id = r.get()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(value)
    }
}

impl Body for OffsetCommitValue {
    const NAME: &'static str = "OffsetCommitValue";
    const VERSIONS: VersionRange = VersionRange::new(0, 4);
    const FLEXIBLE_FROM: i16 = 4;
}
