//! ListGroups: groups that a broker coordinates.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for ListGroups (key 16).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListGroupsRequest {
    /// Versions 4+.
    pub states_filter: Vec<String>,
    /// Versions 5+.
    pub types_filter: Vec<String>,
}

impl Wire for ListGroupsRequest {
    const MIN_SIZE: usize = 0;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.need_in(4.., "states_filter", &self.states_filter)?;
        w.need_in(5.., "types_filter", &self.types_filter)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            states_filter: r.get_in(4..)?,
            types_filter: r.get_in(5..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// Answers [`ListGroupsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListGroupsResponse {
    /// Versions 1+.
    pub throttle_time_ms: i32,
    pub error_code: ErrorCode,
    pub groups: Vec<ListedGroup>,
}

impl Wire for ListGroupsResponse {
    const MIN_SIZE: usize = 6;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_in(1.., &self.throttle_time_ms)?;
        w.put(&self.error_code)?;
        w.put(&self.groups)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            throttle_time_ms: r.get_in(1..)?,
            error_code: r.get()?,
            groups: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`ListGroupsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListedGroup {
    pub group_id: String,
    pub protocol_type: String,
    /// Versions 4+.
    pub group_state: String,
    /// Versions 5+.
    pub group_type: String,
}

impl Wire for ListedGroup {
    const MIN_SIZE: usize = 3;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.group_id)?;
        w.put(&self.protocol_type)?;
        w.put_in(4.., &self.group_state)?;
        w.put_in(5.., &self.group_type)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            group_id: r.get()?,
            protocol_type: r.get()?,
            group_state: r.get_in(4..)?,
            group_type: r.get_in(5..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}
