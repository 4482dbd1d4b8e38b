//! JoinGroup: enters a classic group, or its next generation.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for JoinGroup (key 11).
#[derive(Clone, Debug, PartialEq)]
pub struct JoinGroupRequest {
    pub group_id: String,
    pub session_timeout_ms: i32,
    /// Versions 1+.
    pub rebalance_timeout_ms: i32,
    pub member_id: String,
    /// Versions 5+.
    pub group_instance_id: Option<String>,
    pub protocol_type: String,
    pub protocols: Vec<JoinGroupRequestProtocol>,
    /// Versions 8+.
    pub reason: Option<String>,
}

impl Default for JoinGroupRequest {
    fn default() -> Self {
        Self {
            group_id: String::new(),
            session_timeout_ms: 0,
            rebalance_timeout_ms: -1,
            member_id: String::new(),
            group_instance_id: None,
            protocol_type: String::new(),
            protocols: Vec::new(),
            reason: None,
        }
    }
}

impl Wire for JoinGroupRequest {
    const MIN_SIZE: usize = 14;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.group_id)?;
        w.put(&self.session_timeout_ms)?;
        w.put_in(1.., &self.rebalance_timeout_ms)?;
        w.put(&self.member_id)?;
        w.need_in(5.., "group_instance_id", &self.group_instance_id)?;
        w.put(&self.protocol_type)?;
        w.put(&self.protocols)?;
        w.put_in(8.., &self.reason)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            group_id: r.get()?,
            session_timeout_ms: r.get()?,
            rebalance_timeout_ms: r.get_in_or(1.., -1)?,
            member_id: r.get()?,
            group_instance_id: r.get_in(5..)?,
            protocol_type: r.get()?,
            protocols: r.get()?,
            reason: r.get_in(8..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`JoinGroupRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JoinGroupRequestProtocol {
    pub name: String,
    pub metadata: Bytes,
}

plain!(JoinGroupRequestProtocol, min 3, name, metadata);

/// Answers [`JoinGroupRequest`].
#[derive(Clone, Debug, PartialEq)]
pub struct JoinGroupResponse {
    /// Versions 2+.
    pub throttle_time_ms: i32,
    pub error_code: ErrorCode,
    pub generation_id: i32,
    /// Versions 7+.
    pub protocol_type: Option<String>,
    /// Null in versions 7+.
    pub protocol_name: Option<String>,
    pub leader: String,
    /// Versions 9+.
    pub skip_assignment: bool,
    pub member_id: String,
    pub members: Vec<JoinGroupResponseMember>,
}

impl Default for JoinGroupResponse {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            error_code: ErrorCode::NONE,
            generation_id: -1,
            protocol_type: None,
            protocol_name: Some(String::new()),
            leader: String::new(),
            skip_assignment: false,
            member_id: String::new(),
            members: Vec::new(),
        }
    }
}

impl Wire for JoinGroupResponse {
    const MIN_SIZE: usize = 15;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_in(2.., &self.throttle_time_ms)?;
        w.put(&self.error_code)?;
        w.put(&self.generation_id)?;
        w.put_in(7.., &self.protocol_type)?;
        w.put_nullable_from(7, "protocol_name", &self.protocol_name)?;
        w.put(&self.leader)?;
        w.need_in(9.., "skip_assignment", &self.skip_assignment)?;
        w.put(&self.member_id)?;
        w.put(&self.members)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            throttle_time_ms: r.get_in(2..)?,
            error_code: r.get()?,
            generation_id: r.get()?,
            protocol_type: r.get_in(7..)?,
            protocol_name: r.get_nullable_from(7)?,
            leader: r.get()?,
            skip_assignment: r.get_in(9..)?,
            member_id: r.get()?,
            members: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`JoinGroupResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JoinGroupResponseMember {
    pub member_id: String,
    /// Versions 5+.
    pub group_instance_id: Option<String>,
    pub metadata: Bytes,
}

impl Wire for JoinGroupResponseMember {
    const MIN_SIZE: usize = 4;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.member_id)?;
        w.put_in(5.., &self.group_instance_id)?;
        w.put(&self.metadata)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            member_id: r.get()?,
            group_instance_id: r.get_in(5..)?,
            metadata: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}
