//! FindCoordinator: which broker coordinates a group or a transactional id.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for FindCoordinator (key 10).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FindCoordinatorRequest {
    /// Versions 0-3.
    pub key: String,
    /// Versions 1+.
    pub key_type: i8,
    /// Versions 4+.
    pub coordinator_keys: Vec<String>,
}

impl Wire for FindCoordinatorRequest {
    const MIN_SIZE: usize = 2;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.need_in(..=3, "key", &self.key)?;
        w.need_in(1.., "key_type", &self.key_type)?;
        w.need_in(4.., "coordinator_keys", &self.coordinator_keys)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            key: r.get_in(..=3)?,
            key_type: r.get_in(1..)?,
            coordinator_keys: r.get_in(4..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// Answers [`FindCoordinatorRequest`].
#[derive(Clone, Debug, PartialEq)]
pub struct FindCoordinatorResponse {
    /// Versions 1+.
    pub throttle_time_ms: i32,
    /// Versions 0-3.
    pub error_code: ErrorCode,
    /// Versions 1-3.
    pub error_message: Option<String>,
    /// Versions 0-3.
    pub node_id: i32,
    /// Versions 0-3.
    pub host: String,
    /// Versions 0-3.
    pub port: i32,
    /// Versions 4+.
    pub coordinators: Vec<Coordinator>,
}

impl Default for FindCoordinatorResponse {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            error_code: ErrorCode::NONE,
            error_message: Some(String::new()),
            node_id: 0,
            host: String::new(),
            port: 0,
            coordinators: Vec::new(),
        }
    }
}

impl Wire for FindCoordinatorResponse {
    const MIN_SIZE: usize = 6;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put_in(1.., &self.throttle_time_ms)?;
        w.need_in(..=3, "error_code", &self.error_code)?;
        w.put_in(1..=3, &self.error_message)?;
        w.need_in(..=3, "node_id", &self.node_id)?;
        w.need_in(..=3, "host", &self.host)?;
        w.need_in(..=3, "port", &self.port)?;
        w.need_in(4.., "coordinators", &self.coordinators)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            throttle_time_ms: r.get_in(1..)?,
            error_code: r.get_in(..=3)?,
            error_message: r.get_in_or(1..=3, Some(String::new()))?,
            node_id: r.get_in(..=3)?,
            host: r.get_in(..=3)?,
            port: r.get_in(..=3)?,
            coordinators: r.get_in(4..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`FindCoordinatorResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coordinator {
    pub key: String,
    pub node_id: i32,
    pub host: String,
    pub port: i32,
    pub error_code: ErrorCode,
    pub error_message: Option<String>,
}

plain!(Coordinator, min 14, key, node_id, host, port, error_code, error_message);
