//! In __consumer_offsets: the epoch of a consumer group.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// In __consumer_offsets: the epoch of a consumer group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConsumerGroupMetadataValue {
    pub epoch: i32,
    pub metadata_hash: i64,
}

impl Wire for ConsumerGroupMetadataValue {
    const MIN_SIZE: usize = 5;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.epoch)?;
        w.tags(|t| {
            t.need(0, ..=0, "metadata_hash", &self.metadata_hash)?;
            Ok(())
        })
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let mut value = Self {
            epoch: r.get()?,
            metadata_hash: 0,
        };
        r.tags(|r, tag| {
            match tag {
                0 => value.metadata_hash = r.get()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(value)
    }
}

impl Body for ConsumerGroupMetadataValue {
    const NAME: &'static str = "ConsumerGroupMetadataValue";
    const VERSIONS: VersionRange = VersionRange::new(0, 0);
    const FLEXIBLE_FROM: i16 = 0;
}
