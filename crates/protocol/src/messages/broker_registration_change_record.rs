//! In the metadata log: a broker stopped or runs again (type 17).
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// In the metadata log: a broker stopped or runs again (type 17).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BrokerRegistrationChangeRecord {
    pub broker_id: i32,
    pub broker_epoch: i64,
    pub fenced: i8,
    /// Versions 1+.
    pub in_controlled_shutdown: i8,
    /// Versions 2+.
    pub log_dirs: Vec<Uuid>,
    /// Versions 3+.
    pub cordoned_log_dirs: Option<Vec<Uuid>>,
}

impl Wire for BrokerRegistrationChangeRecord {
    const MIN_SIZE: usize = 13;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.broker_id)?;
        w.put(&self.broker_epoch)?;
        w.tags(|t| {
            t.need(0, ..=3, "fenced", &self.fenced)?;
            t.need(
                1,
                1..,
                "in_controlled_shutdown",
                &self.in_controlled_shutdown,
            )?;
            t.need(2, 2.., "log_dirs", &self.log_dirs)?;
            t.need(3, 3.., "cordoned_log_dirs", &self.cordoned_log_dirs)?;
            Ok(())
        })
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let mut value = Self {
            broker_id: r.get()?,
            broker_epoch: r.get()?,
            fenced: 0,
            in_controlled_shutdown: 0,
            log_dirs: Vec::new(),
            cordoned_log_dirs: None,
        };
        r.tags(|r, tag| {
            match tag {
                0 => value.fenced = r.get()?,
                1 if r.version() >= 1 => value.in_controlled_shutdown = r.get()?,
                2 if r.version() >= 2 => value.log_dirs = r.get()?,
                3 if r.version() >= 3 => value.cordoned_log_dirs = r.get()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(value)
    }
}

impl Body for BrokerRegistrationChangeRecord {
    const NAME: &'static str = "BrokerRegistrationChangeRecord";
    const VERSIONS: VersionRange = VersionRange::new(0, 3);
    const FLEXIBLE_FROM: i16 = 0;
}
