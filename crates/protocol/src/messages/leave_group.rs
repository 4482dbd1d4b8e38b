//! LeaveGroup: takes members out of a classic group.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for LeaveGroup (key 13).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeaveGroupRequest {
    pub group_id: String,
    /// Versions 0-2.
    pub member_id: String,
    /// Versions 3+.
    pub members: Vec<MemberIdentity>,
}

impl Wire for LeaveGroupRequest {
    const MIN_SIZE: usize = 3;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.group_id)?;
        w.need_in(..=2, "member_id", &self.member_id)?;
        w.need_in(3.., "members", &self.members)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            group_id: r.get()?,
            member_id: r.get_in(..=2)?,
            members: r.get_in(3..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`LeaveGroupRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemberIdentity {
    pub member_id: String,
    pub group_instance_id: Option<String>,
    /// Versions 5+.
    pub reason: Option<String>,
}

impl Wire for MemberIdentity {
    const MIN_SIZE: usize = 3;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.member_id)?;
        w.put(&self.group_instance_id)?;
        w.put_in(5.., &self.reason)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            member_id: r.get()?,
            group_instance_id: r.get()?,
            reason: r.get_in(5..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// Answers [`LeaveGroupRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeaveGroupResponse {
    /// Versions 1+.
    pub throttle_time_ms: i32,
    pub error_code: ErrorCode,
    /// Versions 3+.
    pub members: Vec<MemberResponse>,
}

impl Wire for LeaveGroupResponse {
    const MIN_SIZE: usize = 2;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_in(1.., &self.throttle_time_ms)?;
        w.put(&self.error_code)?;
        w.need_in(3.., "members", &self.members)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            throttle_time_ms: r.get_in(1..)?,
            error_code: r.get()?,
            members: r.get_in(3..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`LeaveGroupResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct MemberResponse {
    pub member_id: String,
    pub group_instance_id: Option<String>,
    pub error_code: ErrorCode,
}

impl Default for MemberResponse {
    fn default() -> Self {
        Self {
            member_id: String::new(),
            group_instance_id: Some(String::new()),
            error_code: ErrorCode::NONE,
        }
    }
}

plain!(MemberResponse, min 5, member_id, group_instance_id, error_code);
