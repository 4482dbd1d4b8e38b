//! In the metadata log: what changed of a partition (type 5).
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// In the metadata log: what changed of a partition (type 5).
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionChangeRecord {
    pub partition_id: i32,
    pub topic_id: Uuid,
    pub isr: Option<Vec<i32>>,
    pub leader: i32,
    pub replicas: Option<Vec<i32>>,
    pub removing_replicas: Option<Vec<i32>>,
    pub adding_replicas: Option<Vec<i32>>,
    pub leader_recovery_state: i8,
    /// Versions 1+.
    pub directories: Option<Vec<Uuid>>,
    /// Versions 2+.
    pub eligible_leader_replicas: Option<Vec<i32>>,
    /// Versions 2+.
    pub last_known_elr: Option<Vec<i32>>,
}

impl Default for PartitionChangeRecord {
    fn default() -> Self {
        Self {
            partition_id: -1,
            topic_id: Uuid::ZERO,
            isr: None,
            leader: -2,
            replicas: None,
            removing_replicas: None,
            adding_replicas: None,
            leader_recovery_state: -1,
            directories: None,
            eligible_leader_replicas: None,
            last_known_elr: None,
        }
    }
}

impl Wire for PartitionChangeRecord {
    const MIN_SIZE: usize = 21;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.partition_id)?;
        w.put(&self.topic_id)?;
        w.tags(|t| {
            t.need(0, ..=2, "isr", &self.isr)?;
            t.need_or(1, ..=2, "leader", &self.leader, &-2)?;
            t.need(2, ..=2, "replicas", &self.replicas)?;
            t.need(3, ..=2, "removing_replicas", &self.removing_replicas)?;
            t.need(4, ..=2, "adding_replicas", &self.adding_replicas)?;
            t.need_or(
                5,
                ..=2,
                "leader_recovery_state",
                &self.leader_recovery_state,
                &-1,
            )?;
            t.need(
                6,
                2..,
                "eligible_leader_replicas",
                &self.eligible_leader_replicas,
            )?;
            t.need(7, 2.., "last_known_elr", &self.last_known_elr)?;
            t.need(8, 1.., "directories", &self.directories)?;
            Ok(())
        })
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let mut value = Self {
            partition_id: r.get()?,
            topic_id: r.get()?,
            isr: None,
            leader: -2,
            replicas: None,
            removing_replicas: None,
            adding_replicas: None,
            leader_recovery_state: -1,
            directories: None,
            eligible_leader_replicas: None,
            last_known_elr: None,
        };
        r.tags(|r, tag| {
            match tag {
                0 => value.isr = r.get()?,
                1 => value.leader = r.get()?,
                2 => value.replicas = r.get()?,
                3 => value.removing_replicas = r.get()?,
                4 => value.adding_replicas = r.get()?,
                5 => value.leader_recovery_state = r.get()?,
                6 if r.version() >= 2 => value.eligible_leader_replicas = r.get()?,
                7 if r.version() >= 2 => value.last_known_elr = r.get()?,
                8 if r.version() >= 1 => value.directories = r.get()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(value)
    }
}

impl Body for PartitionChangeRecord {
    const NAME: &'static str = "PartitionChangeRecord";
    const VERSIONS: VersionRange = VersionRange::new(0, 2);
    const FLEXIBLE_FROM: i16 = 0;
}
