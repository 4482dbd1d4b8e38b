//! DescribeGroups: state and members of classic groups.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for DescribeGroups (key 15).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescribeGroupsRequest {
    pub groups: Vec<String>,
    /// Versions 3+.
    pub include_authorized_operations: bool,
}

impl Wire for DescribeGroupsRequest {
    const MIN_SIZE: usize = 3;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.groups)?;
        w.need_in(
            3..,
            "include_authorized_operations",
            &self.include_authorized_operations,
        )?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            groups: r.get()?,
            include_authorized_operations: r.get_in(3..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// Answers [`DescribeGroupsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescribeGroupsResponse {
    /// Versions 1+.
    pub throttle_time_ms: i32,
    pub groups: Vec<DescribedGroup>,
}

impl Wire for DescribeGroupsResponse {
    const MIN_SIZE: usize = 4;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_in(1.., &self.throttle_time_ms)?;
        w.put(&self.groups)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            throttle_time_ms: r.get_in(1..)?,
            groups: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`DescribeGroupsResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct DescribedGroup {
    pub error_code: ErrorCode,
    /// Versions 6+.
    pub error_message: Option<String>,
    pub group_id: String,
    pub group_state: String,
    pub protocol_type: String,
    pub protocol_data: String,
    pub members: Vec<DescribedGroupMember>,
    /// Versions 3+.
    pub authorized_operations: i32,
}

impl Default for DescribedGroup {
    fn default() -> Self {
        Self {
            error_code: ErrorCode::NONE,
            error_message: None,
            group_id: String::new(),
            group_state: String::new(),
            protocol_type: String::new(),
            protocol_data: String::new(),
            members: Vec::new(),
            authorized_operations: i32::MIN,
        }
    }
}

impl Wire for DescribedGroup {
    const MIN_SIZE: usize = 12;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.error_code)?;
        w.need_in(6.., "error_message", &self.error_message)?;
        w.put(&self.group_id)?;
        w.put(&self.group_state)?;
        w.put(&self.protocol_type)?;
        w.put(&self.protocol_data)?;
        w.put(&self.members)?;
        w.need_in_or(
            3..,
            "authorized_operations",
            &self.authorized_operations,
            &i32::MIN,
        )?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            error_code: r.get()?,
            error_message: r.get_in(6..)?,
            group_id: r.get()?,
            group_state: r.get()?,
            protocol_type: r.get()?,
            protocol_data: r.get()?,
            members: r.get()?,
            authorized_operations: r.get_in_or(3.., i32::MIN)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`DescribeGroupsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescribedGroupMember {
    pub member_id: String,
    /// Versions 4+.
    pub group_instance_id: Option<String>,
    pub client_id: String,
    pub client_host: String,
    pub member_metadata: Bytes,
    pub member_assignment: Bytes,
}

impl Wire for DescribedGroupMember {
    const MIN_SIZE: usize = 7;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.member_id)?;
        w.put_in(4.., &self.group_instance_id)?;
        w.put(&self.client_id)?;
        w.put(&self.client_host)?;
        w.put(&self.member_metadata)?;
        w.put(&self.member_assignment)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            member_id: r.get()?,
            group_instance_id: r.get_in(4..)?,
            client_id: r.get()?,
            client_host: r.get()?,
            member_metadata: r.get()?,
            member_assignment: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}
