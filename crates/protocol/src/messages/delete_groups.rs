//! DeleteGroups: deletes empty groups.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for DeleteGroups (key 42).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeleteGroupsRequest {
    pub groups_names: Vec<String>,
}

plain!(DeleteGroupsRequest, min 2, groups_names);

/// Answers [`DeleteGroupsRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeleteGroupsResponse {
    pub throttle_time_ms: i32,
    pub results: Vec<DeletableGroupResult>,
}

plain!(DeleteGroupsResponse, min 6, throttle_time_ms, results);

/// In [`DeleteGroupsResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeletableGroupResult {
    pub group_id: String,
    pub error_code: ErrorCode,
    /// Versions 3+.
    pub error_message: Option<String>,
}

impl Wire for DeletableGroupResult {
    const MIN_SIZE: usize = 4;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.group_id)?;
        w.put(&self.error_code)?;
        w.put_in(3.., &self.error_message)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            group_id: r.get()?,
            error_code: r.get()?,
            error_message: r.get_in(3..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}
