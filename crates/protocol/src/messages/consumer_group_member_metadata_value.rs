//! In __consumer_offsets: what a member of a consumer group wants.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// In __consumer_offsets: what a member of a consumer group wants.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsumerGroupMemberMetadataValue {
    pub instance_id: Option<String>,
    pub rack_id: Option<String>,
    pub client_id: String,
    pub client_host: String,
    pub subscribed_topic_names: Vec<String>,
    pub subscribed_topic_regex: Option<String>,
    pub rebalance_timeout_ms: i32,
    pub server_assignor: Option<String>,
    pub classic_member_metadata: Option<ClassicMemberMetadata>,
}

impl Default for ConsumerGroupMemberMetadataValue {
    fn default() -> Self {
        Self {
            instance_id: Some(String::new()),
            rack_id: Some(String::new()),
            client_id: String::new(),
            client_host: String::new(),
            subscribed_topic_names: Vec::new(),
            subscribed_topic_regex: Some(String::new()),
            rebalance_timeout_ms: -1,
            server_assignor: Some(String::new()),
            classic_member_metadata: Some(ClassicMemberMetadata::default()),
        }
    }
}

impl Wire for ConsumerGroupMemberMetadataValue {
    const MIN_SIZE: usize = 12;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.instance_id)?;
        w.put(&self.rack_id)?;
        w.put(&self.client_id)?;
        w.put(&self.client_host)?;
        w.put(&self.subscribed_topic_names)?;
        w.put(&self.subscribed_topic_regex)?;
        w.put(&self.rebalance_timeout_ms)?;
        w.put(&self.server_assignor)?;
        w.tags(|t| {
            t.need_or(
                0,
                ..=0,
                "classic_member_metadata",
                &self.classic_member_metadata,
                &Some(ClassicMemberMetadata::default()),
            )?;
            Ok(())
        })
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let mut value = Self {
            instance_id: r.get()?,
            rack_id: r.get()?,
            client_id: r.get()?,
            client_host: r.get()?,
            subscribed_topic_names: r.get()?,
            subscribed_topic_regex: r.get()?,
            rebalance_timeout_ms: r.get()?,
            server_assignor: r.get()?,
            classic_member_metadata: Some(ClassicMemberMetadata::default()),
        };
        r.tags(|r, tag| {
            match tag {
                0 => value.classic_member_metadata = r.get()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(value)
    }
}

/// In [`ConsumerGroupMemberMetadataValue`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassicMemberMetadata {
    pub session_timeout_ms: i32,
    pub supported_protocols: Vec<ClassicProtocol>,
}

plain!(ClassicMemberMetadata, min 6, session_timeout_ms, supported_protocols);

/// In [`ConsumerGroupMemberMetadataValue`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassicProtocol {
    pub name: String,
    pub metadata: Bytes,
}

plain!(ClassicProtocol, min 3, name, metadata);

impl Body for ConsumerGroupMemberMetadataValue {
    const NAME: &'static str = "ConsumerGroupMemberMetadataValue";
    const VERSIONS: VersionRange = VersionRange::new(0, 0);
    const FLEXIBLE_FROM: i16 = 0;
}
