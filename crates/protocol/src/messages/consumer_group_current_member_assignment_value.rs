//! In __consumer_offsets: the partitions that a member of a consumer group has, and those that it gives back.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// In __consumer_offsets: the partitions that a member of a consumer group has, and those that it gives back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConsumerGroupCurrentMemberAssignmentValue {
    pub member_epoch: i32,
    pub previous_member_epoch: i32,
    pub state: i8,
    pub assigned_partitions: Vec<TopicPartitions>,
    pub partitions_pending_revocation: Vec<TopicPartitions>,
}

plain!(ConsumerGroupCurrentMemberAssignmentValue, min 12, member_epoch, previous_member_epoch, state, assigned_partitions, partitions_pending_revocation);

/// In [`ConsumerGroupCurrentMemberAssignmentValue`].
#[derive(Clone, Debug, PartialEq)]
pub struct TopicPartitions {
    pub topic_id: Uuid,
    pub partitions: Vec<i32>,
    pub assignment_epochs: Option<Vec<i32>>,
}

impl Default for TopicPartitions {
    fn default() -> Self {
        Self {
            topic_id: Uuid::ZERO,
            partitions: Vec::new(),
            assignment_epochs: Some(Vec::new()),
        }
    }
}

impl Wire for TopicPartitions {
    const MIN_SIZE: usize = 18;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.topic_id)?;
        w.put(&self.partitions)?;
        w.tags(|t| {
            t.need_or(
                0,
                ..=0,
                "assignment_epochs",
                &self.assignment_epochs,
                &Some(Vec::new()),
            )?;
            Ok(())
        })
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let mut value = Self {
            topic_id: r.get()?,
            partitions: r.get()?,
            assignment_epochs: Some(Vec::new()),
        };
        r.tags(|r, tag| {
            match tag {
                0 => value.assignment_epochs = r.get()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(value)
    }
}

impl Body for ConsumerGroupCurrentMemberAssignmentValue {
    const NAME: &'static str = "ConsumerGroupCurrentMemberAssignmentValue";
    const VERSIONS: VersionRange = VersionRange::new(0, 0);
    const FLEXIBLE_FROM: i16 = 0;
}
