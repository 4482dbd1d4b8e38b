//! In __consumer_offsets: the last generation of a classic group.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// In __consumer_offsets: the last generation of a classic group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupMetadataValue {
    pub protocol_type: String,
    pub generation: i32,
    pub protocol: Option<String>,
    pub leader: Option<String>,
    /// Versions 2+.
    pub current_state_timestamp: i64,
    pub members: Vec<MemberMetadata>,
}

impl Default for GroupMetadataValue {
    fn default() -> Self {
        Self {
            protocol_type: String::new(),
            generation: 0,
            protocol: Some(String::new()),
            leader: Some(String::new()),
            current_state_timestamp: -1,
            members: Vec::new(),
        }
    }
}

impl Wire for GroupMetadataValue {
    const MIN_SIZE: usize = 14;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.protocol_type)?;
        w.put(&self.generation)?;
        w.put(&self.protocol)?;
        w.put(&self.leader)?;
        w.put_in(2.., &self.current_state_timestamp)?;
        w.put(&self.members)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            protocol_type: r.get()?,
            generation: r.get()?,
            protocol: r.get()?,
            leader: r.get()?,
            current_state_timestamp: r.get_in_or(2.., -1)?,
            members: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`GroupMetadataValue`].
#[derive(Clone, Debug, PartialEq)]
pub struct MemberMetadata {
    pub member_id: String,
    /// Versions 3+.
    pub group_instance_id: Option<String>,
    pub client_id: String,
    pub client_host: String,
    /// Versions 1+.
    pub rebalance_timeout: i32,
    pub session_timeout: i32,
    pub subscription: Bytes,
    pub assignment: Bytes,
}

impl Default for MemberMetadata {
    fn default() -> Self {
        Self {
            member_id: String::new(),
            group_instance_id: None,
            client_id: String::new(),
            client_host: String::new(),
            rebalance_timeout: -1,
            session_timeout: 0,
            subscription: Bytes::new(),
            assignment: Bytes::new(),
        }
    }
}

impl Wire for MemberMetadata {
    const MIN_SIZE: usize = 15;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.member_id)?;
        w.put_in(3.., &self.group_instance_id)?;
        w.put(&self.client_id)?;
        w.put(&self.client_host)?;
        w.put_in(1.., &self.rebalance_timeout)?;
        w.put(&self.session_timeout)?;
        w.put(&self.subscription)?;
        w.put(&self.assignment)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            member_id: r.get()?,
            group_instance_id: r.get_in(3..)?,
            client_id: r.get()?,
            client_host: r.get()?,
            rebalance_timeout: r.get_in_or(1.., -1)?,
            session_timeout: r.get()?,
            subscription: r.get()?,
            assignment: r.get()?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

impl Body for GroupMetadataValue {
    const NAME: &'static str = "GroupMetadataValue";
    const VERSIONS: VersionRange = VersionRange::new(0, 4);
    const FLEXIBLE_FROM: i16 = 4;
}
