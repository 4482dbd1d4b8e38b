//! ListConfigResources: resources that have settings.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for ListConfigResources (key 74).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListConfigResourcesRequest {
    /// Versions 1+.
    pub resource_types: Vec<i8>,
}

impl Wire for ListConfigResourcesRequest {
    const MIN_SIZE: usize = 1;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.need_in(1.., "resource_types", &self.resource_types)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            resource_types: r.get_in(1..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// Answers [`ListConfigResourcesRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListConfigResourcesResponse {
    pub throttle_time_ms: i32,
    pub error_code: ErrorCode,
    pub config_resources: Vec<ConfigResource>,
}

plain!(ListConfigResourcesResponse, min 8, throttle_time_ms, error_code, config_resources);

/// In [`ListConfigResourcesResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigResource {
    pub resource_name: String,
    /// Versions 1+.
    pub resource_type: i8,
}

impl Default for ConfigResource {
    fn default() -> Self {
        Self {
            resource_name: String::new(),
            resource_type: 16,
        }
    }
}

impl Wire for ConfigResource {
    const MIN_SIZE: usize = 2;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.resource_name)?;
        w.put_in(1.., &self.resource_type)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            resource_name: r.get()?,
            resource_type: r.get_in_or(1.., 16)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}
