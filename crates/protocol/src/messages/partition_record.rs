//! In the metadata log: a partition as a whole (type 3).
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// In the metadata log: a partition as a whole (type 3).
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionRecord {
    pub partition_id: i32,
    pub topic_id: Uuid,
    pub replicas: Vec<i32>,
    pub isr: Vec<i32>,
    pub removing_replicas: Vec<i32>,
    pub adding_replicas: Vec<i32>,
    pub leader: i32,
    pub leader_recovery_state: i8,
    pub leader_epoch: i32,
    pub partition_epoch: i32,
    /// Versions 1+.
    pub directories: Vec<Uuid>,
    /// Versions 2+.
    pub eligible_leader_replicas: Option<Vec<i32>>,
    /// Versions 2+.
    pub last_known_elr: Option<Vec<i32>>,
}

impl Default for PartitionRecord {
    fn default() -> Self {
        Self {
            partition_id: -1,
            topic_id: Uuid::ZERO,
            replicas: Vec::new(),
            isr: Vec::new(),
            removing_replicas: Vec::new(),
            adding_replicas: Vec::new(),
            leader: -1,
            leader_recovery_state: 0,
            leader_epoch: -1,
            partition_epoch: -1,
            directories: Vec::new(),
            eligible_leader_replicas: None,
            last_known_elr: None,
        }
    }
}

impl Wire for PartitionRecord {
    const MIN_SIZE: usize = 37;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.partition_id)?;
        w.put(&self.topic_id)?;
        w.put(&self.replicas)?;
        w.put(&self.isr)?;
        w.put(&self.removing_replicas)?;
        w.put(&self.adding_replicas)?;
        w.put(&self.leader)?;
        w.put(&self.leader_epoch)?;
        w.put(&self.partition_epoch)?;
        w.need_in(1.., "directories", &self.directories)?;
        w.tags(|t| {
            t.need(
                0,
                ..=2,
                "leader_recovery_state",
                &self.leader_recovery_state,
            )?;
            t.need(
                1,
                2..,
                "eligible_leader_replicas",
                &self.eligible_leader_replicas,
            )?;
            t.need(2, 2.., "last_known_elr", &self.last_known_elr)?;
            Ok(())
        })
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let mut value = Self {
            partition_id: r.get()?,
            topic_id: r.get()?,
            replicas: r.get()?,
            isr: r.get()?,
            removing_replicas: r.get()?,
            adding_replicas: r.get()?,
            leader: r.get()?,
            leader_recovery_state: 0,
            leader_epoch: r.get()?,
            partition_epoch: r.get()?,
            directories: r.get_in(1..)?,
            eligible_leader_replicas: None,
            last_known_elr: None,
        };
        r.tags(|r, tag| {
            match tag {
                0 => value.leader_recovery_state = r.get()?,
                1 if r.version() >= 2 => value.eligible_leader_replicas = r.get()?,
                2 if r.version() >= 2 => value.last_known_elr = r.get()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(value)
    }
}

impl Body for PartitionRecord {
    const NAME: &'static str = "PartitionRecord";
    const VERSIONS: VersionRange = VersionRange::new(0, 2);
    const FLEXIBLE_FROM: i16 = 0;
}
