//! SyncGroup: hands the leader's assignment in and each member's out.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for SyncGroup (key 14).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SyncGroupRequest {
    pub group_id: String,
    pub generation_id: i32,
    pub member_id: String,
    /// Versions 3+.
    pub group_instance_id: Option<String>,
    /// Versions 5+.
    pub protocol_type: Option<String>,
    /// Versions 5+.
    pub protocol_name: Option<String>,
    pub assignments: Vec<SyncGroupRequestAssignment>,
}

impl Wire for SyncGroupRequest {
    const MIN_SIZE: usize = 9;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.group_id)?;
        w.put(&self.generation_id)?;
        w.put(&self.member_id)?;
        w.need_in(3.., "group_instance_id", &self.group_instance_id)?;
        w.put_in(5.., &self.protocol_type)?;
        w.put_in(5.., &self.protocol_name)?;
        w.put(&self.assignments)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            group_id: r.get()?,
            generation_id: r.get()?,
            member_id: r.get()?,
            group_instance_id: r.get_in(3..)?,
            protocol_type: r.get_in(5..)?,
            protocol_name: r.get_in(5..)?,
            assignments: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`SyncGroupRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SyncGroupRequestAssignment {
    pub member_id: String,
    pub assignment: Bytes,
}

plain!(SyncGroupRequestAssignment, min 3, member_id, assignment);

/// Answers [`SyncGroupRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SyncGroupResponse {
    /// Versions 1+.
    pub throttle_time_ms: i32,
    pub error_code: ErrorCode,
    /// Versions 5+.
    pub protocol_type: Option<String>,
    /// Versions 5+.
    pub protocol_name: Option<String>,
    pub assignment: Bytes,
}

impl Wire for SyncGroupResponse {
    const MIN_SIZE: usize = 6;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_in(1.., &self.throttle_time_ms)?;
        w.put(&self.error_code)?;
        w.put_in(5.., &self.protocol_type)?;
        w.put_in(5.., &self.protocol_name)?;
        w.put(&self.assignment)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            throttle_time_ms: r.get_in(1..)?,
            error_code: r.get()?,
            protocol_type: r.get_in(5..)?,
            protocol_name: r.get_in(5..)?,
            assignment: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}
