//! In __consumer_offsets: the epoch of the assignment that a consumer group is to reach.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// In __consumer_offsets: the epoch of the assignment that a consumer group is to reach.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConsumerGroupTargetAssignmentMetadataValue {
    pub assignment_epoch: i32,
    pub assignment_timestamp: i64,
}

impl Wire for ConsumerGroupTargetAssignmentMetadataValue {
    const MIN_SIZE: usize = 5;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.assignment_epoch)?;
        w.tags(|t| {
            t.put(0, ..=0, &self.assignment_timestamp)?;
            Ok(())
        })
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let mut value = Self {
            assignment_epoch: r.get()?,
            assignment_timestamp: 0,
        };
        r.tags(|r, tag| {
            match tag {
                0 => value.assignment_timestamp = r.get()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(value)
    }
}

impl Body for ConsumerGroupTargetAssignmentMetadataValue {
    const NAME: &'static str = "ConsumerGroupTargetAssignmentMetadataValue";
    const VERSIONS: VersionRange = VersionRange::new(0, 0);
    const FLEXIBLE_FROM: i16 = 0;
}
