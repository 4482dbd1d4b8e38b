//! What a classic consumer tells its group when it joins.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// What a classic consumer tells its group when it joins.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsumerProtocolSubscription {
    pub topics: Vec<String>,
    pub user_data: Option<Bytes>,
    /// Versions 1+.
    pub owned_partitions: Vec<TopicPartition>,
    /// Versions 2+.
    pub generation_id: i32,
    /// Versions 3+.
    pub rack_id: Option<String>,
}

impl Default for ConsumerProtocolSubscription {
    fn default() -> Self {
        Self {
            topics: Vec::new(),
            user_data: None,
            owned_partitions: Vec::new(),
            generation_id: -1,
            rack_id: None,
        }
    }
}

impl Wire for ConsumerProtocolSubscription {
    const MIN_SIZE: usize = 8;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.topics)?;
        w.put(&self.user_data)?;
        w.put_in(1.., &self.owned_partitions)?;
        w.put_in(2.., &self.generation_id)?;
        w.put_in(3.., &self.rack_id)?;
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        Ok(Self {
            topics: r.get()?,
            user_data: r.get()?,
            owned_partitions: r.get_in(1..)?,
            generation_id: r.get_in_or(2.., -1)?,
            rack_id: r.get_in(3..)?,
        })
    }
}

/// In [`ConsumerProtocolSubscription`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopicPartition {
    pub topic: String,
    pub partitions: Vec<i32>,
}

plain!(TopicPartition, min 6, topic, partitions);

impl Body for ConsumerProtocolSubscription {
    const NAME: &'static str = "ConsumerProtocolSubscription";
    const VERSIONS: VersionRange = VersionRange::new(0, 3);
    const FLEXIBLE_FROM: i16 = i16::MAX;
}
