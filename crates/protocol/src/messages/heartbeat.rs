//! Heartbeat: keeps a classic group member alive and tells it of rebalances.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for Heartbeat (key 12).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeartbeatRequest {
    pub group_id: String,
    pub generation_id: i32,
    pub member_id: String,
    /// Versions 3+.
    pub group_instance_id: Option<String>,
}

impl Wire for HeartbeatRequest {
    const MIN_SIZE: usize = 8;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.group_id)?;
        w.put(&self.generation_id)?;
        w.put(&self.member_id)?;
        w.need_in(3.., "group_instance_id", &self.group_instance_id)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            group_id: r.get()?,
            generation_id: r.get()?,
            member_id: r.get()?,
            group_instance_id: r.get_in(3..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// Answers [`HeartbeatRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeartbeatResponse {
    /// Versions 1+.
    pub throttle_time_ms: i32,
    pub error_code: ErrorCode,
}

impl Wire for HeartbeatResponse {
    const MIN_SIZE: usize = 2;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_in(1.., &self.throttle_time_ms)?;
        w.put(&self.error_code)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            throttle_time_ms: r.get_in(1..)?,
            error_code: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}
